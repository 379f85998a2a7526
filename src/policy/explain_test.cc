#include "policy/explain.h"

#include "tests/policy/example_machine.h"

namespace pawl {
namespace {

// A machine with something of everything that has a sentence.
constexpr const char* kLoan = R"(
machine: loan
version: 4
doc: "Lends a book."
initial: asked
data: {wait: duration}
schedule: {every: 2h, tz: Europe/Berlin, anchor: "2026-03-02T08:00:00", ended: {to: over}}
policies:
  steady: {retry: [1m], give_up: {to: idle}}
  patient: {count: epoch, timeout: 1h}
  brief: {retry: [], give_up: {to: over}}
events: {approve: {by: [clerk, boss]}}
tasks:
  look: {queue: desks, policy: steady}
  post: {http: {post: "http://x"}}
  ring: {channel: bell, retry: 30s}
  call: {function: phone, errors: {default: give_up}}
on: {discard: {to: over}}
states:
  asked:
    task: look
    started: looking
    effects: [{notify: desk}]
    done: sent
    lease: 20s
    errors: {busy: {later: 5s}, default: retry}
    on: {approve: sent, cancel: over}
    after: {1h: over}
    every: {10m: {effects: [{notify: desk}]}}
    when: {if: data.wait == null, to: idle}
    resume: sent
  looking: {}
  sent: {task: post, done: rung, failure: failed, checkpoint: asked, retry: [], count: epoch}
  rung: {task: ring, done: called, count: lifetime}
  called: {task: call, done: over}
  failed: {resume: idle}
  idle: {planned: asked}
  over: {final: true}
)";

TEST(Explain, SaysEverythingAMachineDoes) {
  EXPECT_EQ(
      to_text(explain(*machine_of(kLoan))),
      R"(loan, version 4. Records begin in `asked`. Lends a book. Planned times: every 2h (Europe/Berlin), from 2026-03-02T08:00:00.

asked works on `look` (queue desks).
  On entry notifies `desk`.
  While an attempt runs, the record is in `looking`.
  Done: goes to `sent`.
  On `approve` (by `clerk` or `boss`): goes to `sent`.
  On `cancel`: goes to `over`.
  After 1h: goes to `over`.
  Every 10m: notifies `desk`.
  After every change: if data.wait == null: goes to `idle`.
  Coming back after a failure: goes to `sent`.
  When it fails:
    One attempt may take 5m.
    A worker that is silent for 20s loses its attempt.
    Error `busy`: is not a failure: asks again after 5s each time.
    Any other error: is retried.
    On the first failure, retry after 1 minute.
    When it gives up: goes to `idle`.
    If every attempt fails and is retried, counted from the first start:
      failure  waits  soonest start  latest start
      1        1m     1m             6m
      2        gives up after 1m to 11m: to `idle`, no alert
    After 1h the record leaves the state, retries or not.
    A retry that might end after the next planned time starts at that time instead; the table does not show this.

looking stands in for `asked` while its task runs.

sent works on `post` (HTTP http://x).
  Done: goes to `rung`.
  When it fails:
    One attempt may take 5m.
    A failure is not retried.
    A failed record waits in `failed`.
    It comes back to `asked`.
    Failures are counted over all states, until a new epoch.
    When it gives up: is put on hold: {error.message}, alerts the server's channel.
    If every attempt fails and is retried, counted from the first start:
      1  gives up after 0s to 5m: hold, alerts the server's channel
    A retry that might end after the next planned time starts at that time instead; the table does not show this.
    It comes back to `asked` first; the table does not include the time there.

rung works on `ring` (channel bell).
  Done: goes to `called`.
  When it fails:
    One attempt may take 5m.
    Retry after 30s each time.
    Failures are counted over the record's lifetime.
    If every attempt fails and is retried, counted from the first start:
      failure  waits  soonest start  latest start
      1        30s    30s            5m30s
      …        and so on, every 30s, without end
    A retry that might end after the next planned time starts at that time instead; the table does not show this.

called works on `call` (function phone).
  Done: goes to `over`.
  When it fails:
    One attempt may take 5m.
    Any other error: gives up at once.
    When it gives up: is put on hold: {error.message}, alerts the server's channel.

failed waits.
  Coming back after a failure: goes to `idle`.

idle waits.
  At each planned time: goes to `asked`.
  When no planned time is left: goes to `over`.

over is final.

In every open state, unless the state says otherwise:
  On `discard`: goes to `over`.

Policy steady:
  On the first failure, retry after 1 minute
  On the second failure, wait for the next planned time

Policy patient:
  Allow 1 hour to complete
  (no sentence for count: the span over which failures are counted)

Policy brief:
  (no sentence for give_up: row 1 goes to 'over')
  (no sentence for retry: none at all ([]))
)");
}

TEST(Explain, SaysNothingOfWhatAMachineHasNot) {
  EXPECT_EQ(to_text(explain(*machine_of(R"(
machine: door
initial: shut
states: {shut: {on: {open: gone}}, gone: {final: true}}
)"))),
            R"(door. Records begin in `shut`.

shut waits.
  On `open`: goes to `gone`.

gone is final.
)");
}

TEST(Explain, AGiveUpRowWithoutHoldRestsOnHold) {
  const auto machine = machine_with("retry: [], give_up: [{elapsed: 1d, to: over}, {alert: ops}]");
  EXPECT_EQ(explain(*machine).states.at(0).policy.back(),
            "When it gives up: after 1d of failures: goes to `over`; else is put on hold: "
            "{error.message}, alerts `ops`");
}

TEST(Explain, APlanWithoutZoneIsUtc) {
  EXPECT_EQ(explain(*machine_with("", "schedule: {cron: \"0 6 * * *\"}")).summary,
            "m. Records begin in `working`. Planned times: 0 6 * * * (UTC).");
}

}  // namespace
}  // namespace pawl
