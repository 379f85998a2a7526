// An operator's orders.
#include <algorithm>

#include "base/nearest.h"
#include "base/text.h"
#include "decide/data.h"
#include "decide/json_edit.h"
#include "decide/turn.h"

namespace pawl {

std::string_view to_text(Stimulus::Order::Verb verb) {
  switch (verb) {
    case Stimulus::Order::Verb::retry:
      return "retry";
    case Stimulus::Order::Verb::release:
      return "release";
    case Stimulus::Order::Verb::hold:
      return "hold";
    case Stimulus::Order::Verb::move:
      return "move";
    case Stimulus::Order::Verb::patch:
      return "patch";
    case Stimulus::Order::Verb::migrate:
      return "migrate";
    case Stimulus::Order::Verb::erase:
      return "erase";
  }
  return "";
}

void Turn::on(const Stimulus::Order& order) {
  static const std::vector<std::string> kOperator{"operator"};
  static const std::vector<std::string> kEngine{"engine"};
  if (!has_role(stimulus_.actor, order.code.empty() ? kOperator : kEngine)) {
    answer(Answer::Kind::refused, "an order needs the role operator");
    out_.answer.missing = Answer::Missing::role;
    return;
  }
  if (order.reason.empty()) {
    answer(Answer::Kind::error, "an order needs a reason");
    return;
  }
  switch (order.verb) {
    case Stimulus::Order::Verb::retry:
      order_retry(order);
      break;
    case Stimulus::Order::Verb::release:
      order_release(order);
      break;
    case Stimulus::Order::Verb::hold:
      order_hold(order);
      break;
    case Stimulus::Order::Verb::move:
      order_move(order);
      break;
    case Stimulus::Order::Verb::patch:
      order_patch(order);
      break;
    case Stimulus::Order::Verb::migrate:
      if (!migrated_) refuse("there is no newer version that the record can move to now");
      break;
    case Stimulus::Order::Verb::erase:
      order_erase(order);
      break;
  }
  close();
}

void Turn::refuse(std::string reason) {
  out_.answer.permitted = permitted(stimulus_.actor);
  answer(Answer::Kind::refused, std::move(reason));
}

void Turn::open_order(const Stimulus::Order& order) {
  open({Entry::Kind::operator_, to_text(order.verb), order.reason});
}

// --- retry and release -------------------------------------------------------------------------

void Turn::order_retry(const Stimulus::Order& order) {
  const bool waits = record_.ready_at && *record_.ready_at > now_;
  if (record_.running) {
    refuse("an attempt is running");
  } else if (is_held()) {
    retry_held(order);
  } else if (waits_to_come_back()) {
    open_order(order);
    come_back();
  } else if (waits) {
    open_order(order);
    record_.task_at = now_;
  } else {
    refuse("nothing to retry: the record is neither delayed nor on hold");
  }
}

void Turn::retry_held(const Stimulus::Order& order) {
  const bool gave_up = record_.streak.gave_up;
  const bool went_on = gave_up && record_.streak.checkpoint.empty();
  if (went_on && !moves_by_itself()) {
    refuse("it gave up and moved to " + in_ticks(record_.state) +
           ", where nothing happens by itself: fire one of its events");
    return;
  }
  const bool lost_its_way = record_.hold->code == "no_way_back";
  const bool comes_back = gave_up || has_no_way_on() || waits_to_come_back() || lost_its_way;
  const std::string checkpoint = record_.streak.checkpoint;
  const std::string failed_from = record_.failed_from;
  open_order(order);
  lift_hold();
  if (gave_up) {
    failure_ = record_.error;
    begin_epoch();
    record_.failed_from = failed_from;
    record_.streak.checkpoint = checkpoint;
  }
  if (went_on) return;
  if (comes_back) {
    come_back();
  } else if (here().task && !record_.spent) {
    record_.task_at = now_;
  }
}

bool Turn::waits_to_come_back() const {
  return std::any_of(record_.timers.begin(), record_.timers.end(),
                     [](const Timer& timer) { return timer.kind == Timer::Kind::come_back; });
}

// Whether something would happen without an event: a task, a timer or the plan.
bool Turn::moves_by_itself() const {
  return here().task || !record_.timers.empty() || record_.plan.next;
}

void Turn::order_release(const Stimulus::Order& order) {
  if (!is_held()) {
    refuse("it is not on hold");
    return;
  }
  if (record_.streak.gave_up || record_.hold->code == "no_way_back" || has_no_way_on()) {
    if (record_.running) {
      refuse("an attempt is running");
    } else {
      retry_held(order);
    }
    return;
  }
  open_order(order);
  lift_hold();
}

// --- the others --------------------------------------------------------------------------------

void Turn::order_hold(const Stimulus::Order& order) {
  if (here().final) {
    refuse("it is final");
    return;
  }
  open_order(order);
  const std::string& text = order.text.empty() ? order.reason : order.text;
  if (order.code.empty()) {
    put_on_hold("operator", text, Hold::By::operator_);
  } else {
    put_on_hold(order.code, text, Hold::By::engine);
  }
}

void Turn::order_move(const Stimulus::Order& order) {
  const auto to = machine_->find_state(order.state);
  if (!to) {
    std::vector<std::string> names;
    for (StateId id = 0; id < machine_->state_count(); ++id)
      names.push_back(machine_->state(id).name);
    answer(Answer::Kind::error,
           "the machine has no state " + in_ticks(order.state) + did_you_mean(order.state, names));
    return;
  }
  if (const auto working = machine_->owner_of(*to)) {
    const std::string name = in_ticks(machine_->state(*working).name);
    refuse(in_ticks(order.state) + " is only entered while the task of " + name +
           " runs: move the record to " + name + " instead");
    return;
  }
  open_order(order);
  if (here().final) begin_epoch();
  hop(*to, By::order);
}

void Turn::order_patch(const Stimulus::Order& order) {
  std::string data = merge_patch(record_.data, order.data);
  const auto& fields = machine_->definition().data;
  if (fields) {
    auto complete = completed(data, *fields, Others::refused, machine_->zones());
    if (!complete) {
      answer(Answer::Kind::error, "`patch`: " + complete.error().message);
      return;
    }
    data = *std::move(complete);
  }
  if (JsonView(data).kind() != JsonView::Kind::map || data.size() > kDataMax) {
    answer(Answer::Kind::error,
           "`data` must be a map of at most " + std::to_string(kDataMax) + " bytes");
    return;
  }
  open_order(order);
  change_data(std::move(data));
}

// The skeleton of the log stays; the store empties the texts of its entries.
void Turn::order_erase(const Stimulus::Order& order) {
  if (!here().final) {
    refuse("only a final record can be erased");
    return;
  }
  open({Entry::Kind::erased, to_text(order.verb), order.reason});
  record_.data = "{}";
  record_.result.clear();
  record_.labels.clear();
  record_.error.reset();
  touch(kCoreData | kCoreResult | kCoreLabels | kCoreError);
}

}  // namespace pawl
