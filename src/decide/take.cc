// What a row does: data, effects, outcome, hold.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "decide/data.h"
#include "decide/json_edit.h"
#include "decide/turn.h"
#include "model/expression/json_view.h"
#include "model/expression/value_program.h"

namespace pawl {
namespace {

bool changes_nothing(const Row& row) {
  return !row.to && !row.event && !row.fail && !row.hold && row.set.empty() &&
         row.effects.empty() && !row.new_epoch;
}

}  // namespace

void Turn::take(const Choice& choice, const Log& log, By by) {
  const Row& row = *choice.row;
  const bool is_new = !is_open();
  if (changes_nothing(row) && is_new) return;
  if (choice.event_row) {
    const auto kind = choice.event_row->fail ? Entry::Kind::failed : Entry::Kind::event;
    open({kind, machine_->event_name(choice.event), log.cause});
  } else if (row.fail) {
    open({Entry::Kind::failed, log.event, log.cause});
  } else {
    open(log);
  }
  carry_out(row, choice, log.event, by);
  if (is_new && is_empty() && bad_value_.empty()) {
    drop();
  } else {
    close();
  }
}

void Turn::carry_out(const Row& row, const Choice& choice, std::string_view event, By by) {
  apply_set(row.set);
  std::string hold_text;
  if (row.hold) row.hold->text.program->render_text(sight(), scratch_, hold_text);
  std::optional<Failure> failure;
  if (row.fail) {
    failure.emplace();
    if (!row.fail->program->render_text(sight(), scratch_, failure->code))
      bad_value("`fail`: " + scratch_.why);
    const JsonView message = event_ ? JsonView(*event_).member("message") : JsonView();
    if (message.kind() == JsonView::Kind::text) failure->message = message.text(scratch_);
  }
  ask(row.effects);
  if (row.new_epoch) begin_epoch();
  if (row.to) {
    hop(row.to->id, by);
  } else if (choice.event_row) {
    fired_payload_ = empty_payload(choice.event).value_or("{}");
    event_ = fired_payload_;
    actor_ = &stimulus_.actor;
    result_.reset();
    carry_out(*choice.event_row, {}, machine_->event_name(choice.event),
              by == By::coming_back ? by : By::done);
  } else if (failure) {
    fail_work(*std::move(failure), {Entry::Kind::failed, event, {}});
  }
  if (row.hold) put_on_hold(row.hold->code, std::move(hold_text), Hold::By::machine);
}

// --- data --------------------------------------------------------------------------------------

std::optional<Turn::Assigned> Turn::data_after(const std::vector<Assignment>& set) {
  std::vector<std::string> values(set.size());
  std::vector<NewMember> members;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Scratch::Mark mark(scratch_);
    if (!set[i].value.program->render(sight(), scratch_, values[i])) continue;
    const auto fits = check_member(machine_->definition().data, set[i].name, JsonView(values[i]),
                                   machine_->zones());
    if (!fits) {
      bad_value("`set`: " + fits.error().message);
      return std::nullopt;
    }
    members.push_back({set[i].name, values[i]});
  }
  if (members.empty()) return Assigned{record_.data, false};
  std::string data = with_members(record_.data, members);
  if (data.size() <= kDataMax) return Assigned{std::move(data), true};
  bad_value("`data` would be " + std::to_string(data.size()) + " bytes; the limit is " +
            std::to_string(kDataMax));
  return std::nullopt;
}

void Turn::apply_set(const std::vector<Assignment>& set) {
  if (set.empty()) return;
  auto assigned = data_after(set);
  if (assigned && assigned->sets_something) change_data(std::move(assigned->data));
}

void Turn::change_data(std::string data) {
  record_.data = std::move(data);
  data_changed_ = true;
  touch(kCoreData);
  if (machine_->definition().labels.empty()) return;
  const std::vector<Label> before = std::exchange(record_.labels, {});
  for (const Assignment& label : machine_->definition().labels) {
    std::string value;
    if (!label.value.program->render(sight(), scratch_, value)) continue;
    check_label(record_.labels.emplace_back(Label{label.name, std::move(value)}), before);
  }
  touch(kCoreLabels);
}

// A text counts as it is, anything else as JSON. One that is there already stays.
void Turn::check_label(const Label& label, const std::vector<Label>& before) {
  if (label.value.size() <= kLabelMax) return;
  if (std::find(before.begin(), before.end(), label) != before.end()) return;
  const Scratch::Mark mark(scratch_);
  const JsonView value(label.value);
  const bool is_text = value.kind() == JsonView::Kind::text;
  const std::size_t size = is_text ? value.text(scratch_).size() : label.value.size();
  if (size > kLabelMax)
    bad_value("the label `" + label.name + "` is " + std::to_string(size) +
              " bytes; the limit is " + std::to_string(kLabelMax));
}

// --- hold and epoch ----------------------------------------------------------------------------

void Turn::put_on_hold(std::string_view code, std::string text, Hold::By by) {
  record_.hold = Hold{std::string(code), std::move(text), now_, by};
  touch(kCoreHold);
}

void Turn::lift_hold() {
  if (!record_.hold) return;
  record_.hold.reset();
  touch(kCoreHold);
  if (!record_.plan.next) plan_due_ = true;  // `ended` had to wait
}

void Turn::begin_epoch() {
  ++record_.epoch;
  touch(kCoreEpoch | kCoreFailures | kCoreError);
  record_.error.reset();
  record_.failed_from.clear();
  const StateId counted = machine_->find_state(record_.streak.state).value_or(state_);
  record_.streak = {};
  if (machine_->policy_of_state(counted).count == Policy::Count::lifetime) return;
  record_.attempt = 0;
  record_.failures = 0;
  record_.failing_since.reset();
}

}  // namespace pawl
