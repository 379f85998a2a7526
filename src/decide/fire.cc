// Events: fired from outside, or sent by another record.
#include "base/nearest.h"
#include "base/text.h"
#include "decide/data.h"
#include "decide/turn.h"

namespace pawl {

void Turn::on(const Stimulus::Fire& fired) {
  if (before_.id.value == 0) {
    if (!fired.create) {
      answer_no_such_record();
      return;
    }
    if (!create_record(*fired.create)) return;
  }
  fire(fired.event, fired.payload, stimulus_.actor);
}

void Turn::on(const Stimulus::Sent& sent) {
  if (sent.epoch_only && *sent.epoch_only != record_.epoch) {
    answer(Answer::Kind::refused, "the event was sent to an earlier epoch");
    return;
  }
  fire(sent.event, sent.payload, stimulus_.actor);
  const bool may_take_it_later =
      out_.answer.kind == Answer::Kind::refused && is_held() && !here().final;
  if (!may_take_it_later) return;
  out_.answer.kind = Answer::Kind::none;
  out_.answer.reason = "it waits until the hold ends";
  out_.answer.waits = true;
}

void Turn::fire(std::string_view name, std::string_view payload, const Actor& actor) {
  std::string complete;
  const auto event = event_that_fits(name, payload, complete);
  if (!event) return;
  event_ = payload;
  actor_ = &actor;
  const Row* row = permitted_row(*event, actor, payload);
  if (!row) {
    refuse_event(*event, actor);
    return;
  }
  take({.row = row}, {Entry::Kind::event, name, {}}, By::event);
  event_.reset();
}

// None when there is no such event or the payload is not one of it, and the answer says so.
std::optional<EventId> Turn::event_that_fits(std::string_view name, std::string_view& payload,
                                             std::string& complete) {
  const auto event = machine_->find_event(name);
  if (!event) {
    std::vector<std::string> events;
    for (EventId id = 0; id < machine_->event_count(); ++id)
      events.push_back(machine_->event_name(id));
    answer(Answer::Kind::error,
           "the machine has no event " + in_ticks(name) + did_you_mean(name, events));
    return std::nullopt;
  }
  if (!fits(*event, payload, complete)) return std::nullopt;
  return event;
}

// The payload with its defaults, held against the declaration.
bool Turn::fits(EventId event, std::string_view& payload, std::string& complete) {
  const EventDefinition* declared = machine_->declared(event);
  if (!declared || !declared->with) return true;
  auto fitted = completed(payload, *declared->with, Others::allowed, machine_->zones());
  if (!fitted) {
    answer(Answer::Kind::error, "`" + declared->name + "`: " + fitted.error().message);
    return false;
  }
  complete = *std::move(fitted);
  payload = complete;
  return true;
}

// Then the answer says which one is needed.
bool Turn::lacks_role(EventId event, const Actor& actor) {
  const EventDefinition* declared = machine_->declared(event);
  if (!declared || declared->by.empty() || has_role(actor, declared->by)) return false;
  answer(Answer::Kind::refused,
         in_ticks(declared->name) + " needs the role " + join(declared->by, ", ", " or "));
  out_.answer.missing = Answer::Missing::role;
  return true;
}

void Turn::refuse_event(EventId event, const Actor& actor) {
  const std::string state = record_.state;
  out_.answer.permitted = permitted(actor);
  if (lacks_role(event, actor)) return;
  explain_refusal(event);
  std::string reason =
      in_ticks(machine_->event_name(event)) + " is not accepted in " + in_ticks(state);
  if (is_held()) reason += " while on hold";
  answer(Answer::Kind::refused, std::move(reason));
}

// --- ahead of time -----------------------------------------------------------------------------

void Turn::check_ahead() {
  if (const auto* create = std::get_if<Stimulus::Create>(&stimulus_.what)) {
    if (data_of_new(*create) && !create->event.empty())
      check_event_ahead(create->event, create->payload);
  } else if (const auto* fired = std::get_if<Stimulus::Fire>(&stimulus_.what)) {
    const bool creates = before_.id.value == 0 && fired->create;
    if (!creates || data_of_new(*fired->create)) check_event_ahead(fired->event, fired->payload);
  }
}

void Turn::check_event_ahead(std::string_view name, std::string_view payload) {
  std::string complete;
  if (const auto event = event_that_fits(name, payload, complete))
    lacks_role(*event, stimulus_.actor);
}

}  // namespace pawl
