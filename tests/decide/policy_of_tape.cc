#include "policy_of_tape.h"

#include <set>

namespace pawl {
namespace {

constexpr Sees kOnError{.error = true};

}  // namespace

Policy PolicyOfTape::policy(int percent) {
  Policy policy;
  if (!tape_.chance(percent)) return policy;
  if (tape_.chance(40)) policy.timeout = words_.duration(std::chrono::seconds{1});
  if (tape_.chance(30)) policy.lease = words_.duration();
  if (tape_.chance(60)) policy.retry = delays();
  if (tape_.chance(50)) policy.errors = errors();
  if (tape_.chance(40)) policy.give_up = give_up();
  if (!targets_.waiting.empty() && tape_.chance(40))
    policy.failure = Ref(tape_.of(targets_.waiting));
  if (!policy.failure && tape_.chance(10)) policy.failure = Ref("");
  if (tape_.chance(30)) policy.count = tape_.up_to(Policy::Count::lifetime);
  if (tape_.chance(40)) policy.align = tape_.up_to(Policy::Align::whichever_first);
  return policy;
}

Delays PolicyOfTape::delays() {
  Delays delays;
  delays.kind = tape_.up_to(Delays::Kind::fixed);
  if (delays.kind == Delays::Kind::list) {
    for (int i = tape_.between(0, 3); i > 0; --i) delays.list.push_back(words_.duration());
    return delays;
  }
  delays.first = words_.duration();
  if (delays.kind == Delays::Kind::fixed) return delays;
  if (tape_.chance(40)) delays.factor_milli = tape_.chance(50) ? 1'000 : 1'500;
  if (tape_.chance(40)) delays.max = words_.duration(delays.first.fixed);
  delays.jitter = tape_.up_to(Delays::Jitter::percent);
  if (delays.jitter == Delays::Jitter::percent) delays.jitter_percent = tape_.between(1, 100);
  if (tape_.chance(80)) delays.attempts = tape_.between(1, 5);
  return delays;
}

std::vector<ErrorRows> PolicyOfTape::errors() {
  std::vector<ErrorRows> errors;
  std::set<std::string> codes;
  for (int i = tape_.between(1, 3); i > 0; --i) {
    const std::string code =
        tape_.of({"c1", "default", "c*", "timeout", "http_5*", "*", "returned", "c2"});
    if (!codes.insert(code).second) continue;
    Rows rows{error_row()};
    if (rows[0].condition) rows.push_back(error_row());
    errors.push_back({code, std::move(rows)});
  }
  return errors;
}

Row PolicyOfTape::error_row() {
  Row row;
  if (tape_.chance(30)) row.condition = words_.condition(kOnError);
  if (tape_.chance(20)) row.set.push_back(words_.assignment(kOnError, data_));
  if (tape_.chance(15)) row.effects = effects(kOnError, {}, {});
  row.action = tape_.up_to(Row::Action::give_up);
  if (row.action == Row::Action::none) {
    if (tape_.chance(60)) row.to = Ref(tape_.of(targets_.any));
    if (!row.to || tape_.chance(40)) row.hold = hold(kOnError);
  }
  const bool retries = row.action == Row::Action::retry;
  const bool asks_again = row.action == Row::Action::later;
  if (asks_again || (retries && tape_.chance(50))) row.delays = delays();
  if (asks_again && row.delays->kind == Delays::Kind::list)
    row.delays->list.push_back(words_.duration());
  if ((retries || row.action == Row::Action::give_up) && tape_.chance(25))
    row.checkpoint = Ref(tape_.of(targets_.open));
  row.transient = tape_.chance(20);
  return row;
}

// All but the last hold only sometimes.
Rows PolicyOfTape::give_up() {
  Rows rows;
  for (int left = tape_.between(1, 3); left > 0; --left) {
    Row row;
    if (tape_.chance(30)) row.condition = words_.condition(kOnError);
    if (tape_.chance(20)) row.set.push_back(words_.assignment(kOnError, data_));
    if (tape_.chance(15)) row.effects = effects(kOnError, {}, {});
    if (tape_.chance(40) || (left > 1 && !row.condition)) row.elapsed = words_.duration();
    if (tape_.chance(50)) row.to = Ref(tape_.of(targets_.any));
    if (!row.to || tape_.chance(40)) row.hold = hold(kOnError);
    if (row.hold) row.hold->code = "gave_up";
    if (tape_.chance(30)) row.alert = "oncall";
    rows.push_back(std::move(row));
  }
  return rows;
}

HoldText PolicyOfTape::hold(const Sees& sees) {
  return {tape_.of({"machine", "checked"}), words_.text(sees)};
}

// --- effects -----------------------------------------------------------------------------------

std::vector<EffectRow> PolicyOfTape::effects(Sees sees, const std::vector<std::string>& tasks,
                                             const std::vector<std::string>& events) {
  std::vector<EffectRow> effects{effect(sees, tasks, events)};
  if (tape_.chance(30)) effects.push_back(effect(sees, tasks, events));
  return effects;
}

EffectRow PolicyOfTape::effect(Sees sees, const std::vector<std::string>& tasks,
                               const std::vector<std::string>& events) {
  EffectRow effect;
  effect.verb = tape_.up_to(EffectRow::Verb::create);
  if (effect.verb == EffectRow::Verb::run && tasks.empty()) effect.verb = EffectRow::Verb::create;
  if (tape_.chance(30)) effect.each = words_.list(sees);
  sees.item = effect.each.has_value();
  if (tape_.chance(20)) effect.condition = words_.condition(sees);
  if (tape_.chance(30)) effect.with = words_.payload(sees);
  const bool creates = effect.verb == EffectRow::Verb::create;
  if (creates || tape_.chance(30)) effect.key = words_.key(sees);
  if (!creates && tape_.chance(20)) effect.in = words_.duration();
  effect.target = creates ? tape_.of({"part", "item"}) : std::string("ops");
  if (effect.verb == EffectRow::Verb::run) {
    effect.target = tape_.of(tasks);
    if (tape_.chance(40)) effect.then = Ref(tape_.of(events));
    if (tape_.chance(40)) effect.otherwise = Ref(tape_.of(events));
  }
  if (effect.verb == EffectRow::Verb::send) {
    effect.to = recipient(sees);
    effect.target = events.empty() ? std::string("restart") : tape_.of(events);
    effect.must = tape_.chance(20);
  }
  return effect;
}

Recipient PolicyOfTape::recipient(const Sees& sees) {
  Recipient to;
  to.kind = tape_.up_to(Recipient::Kind::record);
  if (to.kind == Recipient::Kind::children || to.kind == Recipient::Kind::record)
    to.machine = tape_.of({"part", "item"});
  if (to.kind == Recipient::Kind::record) to.key = words_.key(sees);
  return to;
}

}  // namespace pawl
