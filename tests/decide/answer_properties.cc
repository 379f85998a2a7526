#include <algorithm>

#include "base/json_text.h"
#include "model/codec.h"
#include "properties.h"

namespace pawl {
namespace {

using Kind = Answer::Kind;

bool is_live(const Decided& step, const TokenHash& token) {
  const auto& running = step.before.running;
  return running && token != TokenHash{} && token == running->token_hash &&
         step.at() <= running->deadline_at;
}

void check_duplicate(const Decided& step, const TokenHash& token, const History& history) {
  const auto given = history.settled.find(token);
  expect(given != history.settled.end(), "only what was settled is a duplicate");
  const Answer& again = step.decision.answer;
  expect_equal(again.state, given->second.state, "a repeated settle is told the state of then");
  expect(again.revision == given->second.revision,
         "a repeated settle is told the revision of then");
}

void check_settle(const Decided& step, const TokenHash& token, Settled::Verb verb,
                  const History& history) {
  const auto& settled = step.before.settled;
  const bool is_repeated =
      settled && token != TokenHash{} && settled->token_hash == token && settled->verb == verb;
  if (is_live(step, token)) {
    expect(step.is(Kind::ok), "the live token settles");
    expect(!step.decision.record.running, "what was settled does not run any more");
  } else if (is_repeated) {
    expect(step.is(Kind::duplicate), "the settle of the last attempt, repeated, is a duplicate");
    check_duplicate(step, token, history);
  } else {
    expect(step.is(Kind::stale), "a token that is not live is stale");
  }
}

bool may_change_nothing_only(Kind kind) {
  return kind == Kind::refused || kind == Kind::stale || kind == Kind::duplicate ||
         kind == Kind::error;
}

}  // namespace

void check_answer(const Decided& step) {
  const Decision& decision = step.decision;
  const Answer& answer = decision.answer;
  expect(answer.need.empty(), "what is needed was given");
  if (may_change_nothing_only(answer.kind))
    expect(!decision.changed, "a refused, stale, repeated or wrong call changes nothing");
  if (!decision.changed) {
    expect(decision.record == step.before, "a record that is not changed is as it was");
    expect(decision.entries.empty(), "a decision without change has no entries");
    expect(decision.effects.empty(), "a decision without change asks for nothing");
    expect(!decision.to_parent, "a decision without change tells nobody");
  }
  const bool is_keyed = !step.stimulus.idempotency_key.empty() && !step.stimulus.remembered;
  expect(decision.remember.has_value() == (is_keyed && answer.kind == Kind::ok),
         "just what was accepted is remembered under its key");
  if (answer.kind != Kind::ok) expect(!answer.reason.empty(), "an answer says why");
  if (answer.kind != Kind::ok || step.stimulus.remembered) return;
  expect_equal(answer.state, decision.record.state, "the answer says where the record is");
  expect(answer.revision == decision.record.revision, "the answer says the revision");
}

void check_remembered(const Decided& step) {
  const auto& remembered = step.stimulus.remembered;
  if (!remembered) return;
  expect(!step.decision.changed, "a key that was used changes nothing");
  if (remembered->content != content_of(step.stimulus)) {
    expect(step.is(Kind::error), "another request under a key that was used is an error");
    return;
  }
  expect_equal(answer_text(step.decision.answer), remembered->answer,
               "a key that was used gets the answer given then");
}

void check_token(const Decided& step, const History& history) {
  if (!step.exists() || step.stimulus.remembered) return;
  if (const auto* done = step.given<Stimulus::Done>())
    check_settle(step, done->token_hash, Settled::Verb::done, history);
  if (const auto* fail = step.given<Stimulus::Fail>())
    check_settle(step, fail->token_hash, Settled::Verb::fail, history);
  if (const auto* beat = step.given<Stimulus::Beat>()) {
    expect(step.is(is_live(step, beat->token_hash) ? Kind::ok : Kind::stale),
           "the live token beats, and no other");
    expect(step.decision.answer.cancel == step.is(Kind::stale), "a stale beat is told to stop");
  }
  expect(step.decision.record.fence >= step.before.fence, "fences only rise");
  const auto& running = step.decision.record.running;
  if (running && running->token_hash != TokenHash{})
    expect(!history.dead.count(running->token_hash), "a token that was live is not live again");
  const bool begins =
      running && (!step.before.running || running->token_hash != step.before.running->token_hash);
  if (begins) expect(!step.before.running, "an attempt begins only when none runs");
  if (begins) expect(step.given<Stimulus::Start>() != nullptr, "only a start begins an attempt");
}

namespace {

// Its last part is the entry into the state that did not come back from a failure.
void check_outside_key(const Decided& step, const Answer& answer, const History& history) {
  const Task& task = step.machine.task(*step.machine.find_task(answer.task));
  if (task.key || step.newest) return;
  const Entered& entered = history.entered.at(step.before.state);
  if (entered.seq < 0) return;
  expect_equal(answer.outside_key,
               std::to_string(step.before.id.value) + "/" + std::to_string(entered.seq),
               "work has one key for the world, until it is entered anew");
}

}  // namespace

void check_start(const Decided& step, const History& history) {
  const auto* start = step.given<Stimulus::Start>();
  if (!start || !step.exists() || step.stimulus.remembered) return;
  const Record& before = step.before;
  const Answer& answer = step.decision.answer;
  const bool is_due = before.ready_at && *before.ready_at <= step.at() && !before.hold;
  const bool may_have_moved = step.newest != nullptr;  // to another version, before it started
  if (step.is(Kind::ok)) {
    expect(may_have_moved || is_due, "only what is ready starts");
    expect(!before.running, "one attempt at a time");
    expect(bool(check_json(answer.payload)), "what the worker gets is JSON");
    check_outside_key(step, answer, history);
    expect(answer.fence > before.fence, "each attempt has a higher fence");
    expect(answer.fence >= step.at().time_since_epoch().count(), "a fence is not below the clock");
    expect(answer.attempt == before.attempt + 1, "each start is an attempt");
    expect(answer.deadline_at && *answer.deadline_at >= step.at(), "an attempt has a deadline");
    const auto& running = step.decision.record.running;
    expect(running && running->token_hash == start->token_hash, "what starts runs under its token");
    expect(!answer.lease_until || *answer.lease_until <= *answer.deadline_at,
           "a lease ends with the deadline");
  } else if (!step.decision.changed) {
    expect(step.is(Kind::none), "a start that got nothing is none");
    expect(may_have_moved || !is_due, "what is ready starts");
  } else {
    const auto& entries = step.decision.entries;
    const bool moved_on = std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
      return entry.kind != Entry::Kind::started && entry.kind != Entry::Kind::migrated;
    });
    expect(moved_on || step.has_put_on_hold("bad_value"),
           "a start that gets nothing but changes something gave up or moved on");
  }
}

void check_wake(const Decided& step) {
  const auto* wake = step.given<Stimulus::Wake>();
  if (!wake || !step.exists() || step.newest) return;
  const Record& before = step.before;
  const auto is_due = [&](Instant at) { return at <= step.at(); };
  bool any = false;
  if (const auto& running = before.running) {
    any = step.at() > running->deadline_at || (wake->passed && is_due(running->deadline_at)) ||
          (running->lease_until && *running->lease_until < running->deadline_at &&
           is_due(*running->lease_until));
  }
  if (!before.hold) {
    any = any || (before.plan.next && is_due(*before.plan.next));
    for (const Timer& timer : before.timers) any = any || is_due(timer.at);
  }
  expect(step.is(any ? Kind::ok : Kind::none), "a wake finds just what is due");
  expect(step.decision.changed == any, "what was due is used up");
}

void check_permitted(const Decided& step) {
  const auto* fire = step.given<Stimulus::Fire>();
  if (!fire || !step.exists() || step.stimulus.remembered || step.newest) return;
  if (!step.machine.find_event(fire->event)) {
    expect(step.is(Kind::error), "an unknown event is an error");
    return;
  }
  const auto permitted =
      permitted_events(step.machine, step.before, step.stimulus.actor, step.at());
  if (step.is(Kind::refused))
    expect(step.decision.answer.permitted == permitted, "a refusal names what is permitted");
  if (fire->payload != "{}" || step.is(Kind::error)) return;
  const bool is_permitted =
      std::find(permitted.begin(), permitted.end(), fire->event) != permitted.end();
  expect(is_permitted == !step.is(Kind::refused), "what is permitted is not refused");
}

}  // namespace pawl
