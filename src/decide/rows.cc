// Which row holds.
#include <algorithm>

#include "decide/data.h"
#include "decide/turn.h"
#include "model/expression/json_view.h"
#include "model/expression/program.h"

namespace pawl {

std::string_view Turn::data_in_sight() const {
  if (!machine_->is_side_job()) return record_.data;
  const JsonView asked_with = JsonView(record_.data).member("data");
  return asked_with.absent() ? std::string_view("{}") : asked_with.json();
}

Sight Turn::sight(std::string_view data) const {
  return {.record = &record_,
          .data = data,
          .event = event_,
          .result = result_,
          .item = item_,
          .actor = actor_,
          .error = failure_ ? &*failure_ : nullptr,
          .now = now_,
          .zone = zone_ ? &*zone_ : nullptr};
}

bool Turn::holds(const Expression& condition, const Sight& sight) {
  const Program& program = *condition.program;
  if (program.guard().empty()) {
    const bool holds = program.holds(sight, scratch_);
    if (!scratch_.why.empty()) out_.reports.push_back(condition.text + ": " + scratch_.why);
    return holds;
  }
  const Guard* guard = machine_->find_guard(program.guard());
  if (!guard) {
    out_.reports.push_back(condition.text + ": this program has no guard with that name");
    return false;
  }
  return (*guard)({.record = record_,
                   .data = sight.data,
                   .event = sight.event.value_or(std::string_view()),
                   .actor = sight.actor,
                   .now = sight.now});
}

bool Turn::holds(const Row& row, const Sight& sight) {
  return !row.condition || holds(*row.condition, sight);
}

Turn::Choice Turn::choose(std::span<const Row> rows) {
  for (const Row& row : rows) {
    Choice choice{.row = &row};
    if (holds(row, sight()) && accepts(row, choice)) return choice;
  }
  return {};
}

// Whether the event that the row fires, if it fires one, finds a row. Its guards see the data as
// this row sets it, and an empty payload; roles and holds do not apply.
bool Turn::accepts(const Row& row, Choice& choice) {
  if (!row.event) return true;
  std::string data;
  Sight seen = sight();
  if (!row.set.empty()) {
    auto changed = data_after(row.set);
    if (!changed) return true;  // it is a bad value, and will be said
    data = std::move(changed->data);
    seen.data = data;
  }
  seen.actor = &stimulus_.actor;
  seen.result.reset();
  if (row.event->name != "only") {
    const auto payload = empty_payload(row.event->id);
    if (!payload) return false;
    seen.event = *payload;
    choice.event = row.event->id;
    choice.event_row = event_row(choice.event, seen, false);
    return choice.event_row != nullptr;
  }
  for (const EventRows& on : here().on) {
    const auto payload = empty_payload(on.event.id);
    if (!payload) continue;
    seen.event = *payload;
    const Row* found = own_event_row(on.event.id, seen, false);
    if (!found) continue;
    if (choice.event_row) return false;  // there are two
    choice.event = on.event.id;
    choice.event_row = found;
  }
  return choice.event_row != nullptr;
}

// With its defaults; none when the event cannot be fired without a payload.
std::optional<std::string> Turn::empty_payload(EventId event) const {
  const EventDefinition* declared = machine_->declared(event);
  if (!declared || !declared->with) return "{}";
  auto complete = completed("{}", *declared->with, Others::allowed, machine_->zones());
  return complete ? std::optional(*std::move(complete)) : std::nullopt;
}

namespace {

bool fits_hold(Row::Held held, bool is_held) {
  return held == Row::Held::any || (held == Row::Held::yes) == is_held;
}

}  // namespace

const Row* Turn::own_event_row(EventId event, const Sight& sight, bool is_held) {
  for (const Row& row : machine_->rows(state_, event))
    if (fits_hold(row.held, is_held) && holds(row, sight)) return &row;
  return nullptr;
}

const Row* Turn::event_row(EventId event, const Sight& sight, bool is_held) {
  if (const Row* own = own_event_row(event, sight, is_held)) return own;
  for (const MachineRow& row : machine_->machine_rows(event))
    if (row.in[state_] && fits_hold(row.row->held, is_held) && holds(*row.row, sight))
      return row.row;
  return nullptr;
}

// The guards of that event which failed here, with what they saw.
void Turn::explain_refusal(EventId event) {
  const auto explain = [&](const Row& row) {
    if (!row.condition || !fits_hold(row.held, is_held())) return;
    out_.answer.guards.push_back({.event = machine_->event_name(event),
                                  .guard = row.condition->text,
                                  .values = row.condition->program->values(sight(), scratch_)});
  };
  for (const Row& row : machine_->rows(state_, event)) explain(row);
  for (const MachineRow& row : machine_->machine_rows(event))
    if (row.in[state_]) explain(*row.row);
}

bool has_role(const Actor& actor, std::span<const std::string> roles) {
  return std::any_of(roles.begin(), roles.end(), [&](const std::string& role) {
    return std::find(actor.roles.begin(), actor.roles.end(), role) != actor.roles.end();
  });
}

const Row* Turn::permitted_row(EventId event, const Actor& actor, std::string_view payload) {
  const EventDefinition* declared = machine_->declared(event);
  if (declared && !declared->by.empty() && !has_role(actor, declared->by)) return nullptr;
  Sight seen = sight();
  seen.event = payload;
  seen.actor = &actor;
  return event_row(event, seen, is_held());
}

std::vector<std::string> Turn::permitted(const Actor& actor) {
  const std::size_t reports = out_.reports.size();
  std::vector<std::string> events;
  for (EventId event = 0; event < machine_->event_count(); ++event)
    if (permitted_row(event, actor, empty_payload(event).value_or("{}")))
      events.push_back(machine_->event_name(event));
  out_.reports.resize(reports);  // nobody asked for these events
  std::sort(events.begin(), events.end());
  return events;
}

}  // namespace pawl
