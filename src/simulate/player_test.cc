// Scenarios, played: what steps mean, what is compared, and what is said when it is not so.
#include "simulate/player.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pawl/machine_file.h"
#include "simulate/timeline.h"

namespace pawl {
namespace {

Zones zones() {
  static const Zones opened = *Zones::open();
  return opened;
}

std::shared_ptr<const Machine> machine_of(const std::string& text) {
  ReadMachine read = read_machine(text, zones());
  for (const Diagnostic& finding : read.findings)
    EXPECT_NE(finding.severity, Diagnostic::Severity::error)
        << finding.position.line << ":" << finding.position.column << ": " << finding.message;
  return read.machine;
}

std::string problems_of(const Played& played) {
  std::string text;
  for (const Problem& problem : played.problems) text += to_text(problem, "m.yaml", played.zone);
  return text;
}

// Plays the one scenario of the first file; gives all that is wrong, or nothing.
std::string problems_of(const std::string& file, const std::vector<std::string>& others = {}) {
  std::vector<std::shared_ptr<const Machine>> machines{machine_of(file)};
  for (const std::string& other : others) machines.push_back(machine_of(other));
  if (machines.front() == nullptr) return "it cannot be read";
  const Definition& definition = machines.front()->definition();
  constexpr int kDecisionsMax = 1'000;
  return problems_of(
      play(definition.scenarios.front(), definition.machine, machines, zones(), kDecisionsMax));
}

constexpr const char* kJob = R"(machine: job
initial: idle
data: {n: {type: int, default: 0}, note: string}
events:
  approve: {by: [boss]}
states:
  idle:
    on: {go: {to: working, set: [n]}, approve: over}
    after: {1d: over}
  working:
    task: work
    done: {to: over, set: {n: "{result.n}"}, effects: [{notify: mail}]}
    on: {stop: over}
  over: {final: true}
tasks:
  work: {queue: q, timeout: 10m, lease: 1m, retry: [30s, 5m], errors: {broken: give_up}}
)";

// The machine `job` with one scenario that has these steps.
std::string with_steps(const std::string& steps, const std::string& more = "") {
  return std::string(kJob) + "scenarios:\n  one:\n    at: 2026-03-02T08:00:00Z\n" + more +
         "    create: {key: j1}\n    steps:\n" + steps;
}

std::string problems_in(const std::string& steps, const std::string& more = "") {
  return problems_of(with_steps(steps, more));
}

// --- Steps ---

TEST(Player, TimesAreInstantsTimesOfDayAndDelays) {
  EXPECT_EQ(problems_in(R"(
      - {fire: go, expect: {ready_at: "08:00"}}
      - {at: +90s, start: work, expect: {deadline_at: "08:11:30", next_at: "08:02:30"}}
      - {at: "08:02", beat: 1, expect: {next_at: "08:03:00"}}
      - {at: "08:02", expect: {running: true}}
      - {at: 2026-03-02T08:02:30Z, fail: oops, expect: {next_at: 2026-03-02T08:03:00Z}}
      - {at: "07:00", expect: {ready_at: 2026-03-02T08:03:00Z}}
)"),
            "");
}

TEST(Player, TimesOfDayAreThoseOfTheZone) {
  EXPECT_EQ(problems_in(R"(
      - {at: "10:00", fire: go, expect: {ready_at: "2026-03-02T09:00:00Z", log: ["09:00:00 created: - -> idle", "10:00:00 event go: idle -> working"]}}
)",
                        "    tz: Europe/Berlin\n"),
            "");
}

TEST(Player, AnExpectedTimeOfDayIsTheNextOrOfTheSameDay) {
  EXPECT_EQ(problems_in(R"(
      - {at: "20:00", fire: go}
      - {at: "23:59:45", start: work, expect: {next_at: "00:00:45", deadline_at: "00:09:45"}}
      - {at: "23:59:50", fail: oops, expect: {ready_at: "00:00:20"}}
      - {at: "12:00", expect: {ready_at: "00:00:20"}}
      - {expect: {ready_at: ["00:00", "00:01"]}}
)"),
            "");
}

TEST(Player, TimeDoesNotGoBack) {
  EXPECT_EQ(problems_in("      - {at: 2026-03-01T08:00:00Z}\n      - {expect: {state: idle}}\n"),
            "m.yaml:22:9: step 1, 2026-03-02 08:00:00: error: it is already 2026-03-02 08:00:00, "
            "and time does not go back\n");
}

TEST(Player, TokensHaveNames) {
  EXPECT_EQ(problems_in(R"(
      - {fire: go}
      - {start: work, as: a, expect: {answer: ok}}
      - {at: +2m, expect: {error: lease_lost, failures: 1}}
      - {at: +1m, start: work, as: b, expect: {answer: ok, attempt: 2}}
      - {done: {n: 1}, token: a, expect: {answer: stale}}
      - {beat: {}, token: a, expect: {answer: stale}}
      - {done: {n: 2}, token: b, expect: {answer: ok, data: {n: 2}}}
      - {done: {n: 3}, token: b, expect: {answer: duplicate, data: {n: 2}}}
      - {done: {n: 3}, expect: {answer: duplicate}}
)"),
            "");
}

TEST(Player, AnUnknownTokenIsAnError) {
  EXPECT_EQ(problems_in(R"(
      - {fire: go}
      - {start: work, as: first}
      - {done: {}, token: frist}
      - {expect: {running: true}}
)"),
            "m.yaml:25:9: step 3, 2026-03-02 08:00:00: error: no `start` before this step has "
            "`as: frist`; did you mean first?\n");
}

TEST(Player, AWorkerGetsNoOtherTask) {
  EXPECT_EQ(problems_of(R"(machine: two
initial: a
states: {a: {task: x, done: b}, b: {task: y, done: c}, c: {final: true}}
tasks: {x: {queue: q}, y: {queue: q}}
scenarios:
  one:
    at: 2026-03-02T08:00:00Z
    create: {key: k}
    steps:
      - {start: y, expect: {answer: none, running: false}}
      - {start: x, expect: {answer: ok, running: true}}
      - {start: x, expect: {answer: none}}
)"),
            "");
}

TEST(Player, ActorsHaveRoles) {
  EXPECT_EQ(problems_in(R"(
      - {fire: approve, expect: {answer: refused, permitted: [go]}}
      - {expect: {permitted: [go]}}
      - {expect: {permitted: [approve, go]}, actor: {name: ann, roles: [boss]}}
      - {fire: approve, actor: {name: ann, roles: [boss]}, expect: {answer: ok, state: over}}
)"),
            "");
}

TEST(Player, OrdersAreAnOperators) {
  EXPECT_EQ(problems_in(R"(
      - {order: {patch: {note: hm}}, expect: {answer: ok, data: {note: hm, n: 0}}}
      - {order: {hold: "wait for me"}, expect: {hold: operator, text: wait for me}}
      - {fire: go, expect: {answer: refused}}
      - {order: release, expect: {hold: null, text: null}}
      - {order: {move: working}, expect: {state: working, log: ["08:00:00 created: - -> idle", "08:00:00 operator patch: idle -> idle", "08:00:00 operator hold: idle -> idle", "08:00:00 operator release: idle -> idle", "08:00:00 operator move: idle -> working"]}}
      - {start: work}
      - {fail: {code: broken, message: "no way", detail: {at: 3}}, expect: {hold: gave_up, text: no way, error: broken}}
      - {order: retry, expect: {hold: null, epoch: 2, next_at: "08:00"}}
      - {order: {hold: x}, actor: {name: bob}, expect: {answer: refused}}
)"),
            "");
}

constexpr const char* kFamily = R"(machine: family
initial: a
data: {names: {type: list, default: [x, y]}}
states:
  a:
    on:
      grow: {effects: [{create: kid, each: data.names, key: "{record.key}/{item}"}, {notify: mail, key: once}]}
      call: {effects: [{send: call, to: children.kid}, {run: fetch, then: fetched}]}
      fetched: {}
tasks: {fetch: {queue: q}}
scenarios:
  one:
    at: 2026-03-02T08:00:00Z
    create: {key: f}
    steps:
      - {fire: grow, expect: {effects: [create kid/f/x, create kid/f/y, notify mail], children: {kid: {all: 2, small: 2}}}}
      - {fire: grow, expect: {effects: [found kid/f/x, found kid/f/y, found mail]}}
      - {fire: call, expect: {effects: [send call kid/f/x, send call kid/f/y, run fetch, notify neighbours, notify neighbours], children: {kid: {big: [1, 2], open: 2, final: 0}, run: {running: 1}}}}
      - {record: kid/f/x, expect: {state: big, effects: []}}
      - {record: run fetch, start: fetch, expect: {answer: ok, state: running, running: true}}
      - {record: run fetch, done: {}, expect: {state: finished}}
      - {expect: {children: {run: {finished: 1, open: 0}}, effects: [], log: ["08:00:00 created: - -> a", "08:00:00 event grow: a -> a", "08:00:00 event grow: a -> a", "08:00:00 event call: a -> a"]}}
      - {create: {machine: kid, key: k2, parent: family/f}, expect: {state: small}}
      - {expect: {children: {kid: {all: 3}}, log: []}}
)";
constexpr const char* kKid = R"(machine: kid
initial: small
states:
  small: {on: {call: big}}
  big: {on: {call: {}}, effects: [{notify: neighbours}]}
)";

TEST(Player, StepsAreAboutAnyRecord) { EXPECT_EQ(problems_of(kFamily, {kKid}), ""); }

TEST(Player, ARecordThatIsNotThereIsAnError) {
  const std::string head = "m.yaml:22:9: step 1, 2026-03-02 08:00:00: error: ";
  EXPECT_EQ(problems_in("      - {record: job/j2, fire: go}\n"),
            head + "there is no record job/j2\n");
  EXPECT_EQ(problems_in("      - {record: j2, fire: go}\n"),
            head + "'j2' is not a record: write machine/key, or run task\n");
  EXPECT_EQ(problems_in("      - {record: run work, start: work}\n"),
            head + "no effect has run the task `work` yet\n");
  EXPECT_EQ(problems_in("      - {create: {machine: kid, key: k}}\n"),
            head + "none of the files has the machine `kid`\n");
  EXPECT_EQ(problems_in("      - {create: {key: k, parent: job/j9}}\n"),
            head + "there is no record job/j9\n");
  EXPECT_EQ(problems_in("      - {record: job/j2, expect: {state: idle}}\n"),
            "m.yaml:22:35: step 1, 2026-03-02 08:00:00: error: there is no record job/j2\n");
}

TEST(Player, ARecordThatCannotBeCreatedEndsTheScenario) {
  EXPECT_EQ(problems_of(R"(machine: m
initial: a
data: {n: int!}
states: {a: {on: {x: a}}}
scenarios:
  one:
    at: 2026-03-02T08:00:00Z
    create: {key: k}
    steps: [{fire: x}]
)"),
            "m.yaml:6:3: error: the record m/k could not be created: `data`: `n`: null is not "
            "allowed in int!\n");
}

TEST(Player, ARecordThatIsNotCreatedStillHasAnAnswer) {
  EXPECT_EQ(problems_in("      - {create: {key: k, data: {n: x}}, expect: {answer: error}}\n"), "");
  EXPECT_EQ(problems_in("      - {create: {key: k, data: {n: x}}, expect: {answer: ok}}\n"),
            "m.yaml:22:59: step 1, 2026-03-02 08:00:00: answer: expected ok, got error (`data`: "
            "`n`: \"x\" is not a value of the type int)\n");
}

TEST(Player, AScenarioWithoutARecordNamesThem) {
  EXPECT_EQ(problems_of(std::string(kKid) + R"(scenarios:
  one:
    at: 2026-03-02T08:00:00Z
    steps:
      - {create: {key: k}, expect: {answer: ok, state: small}}
      - {record: kid/k, fire: call, expect: {state: big}}
      - {fire: call}
)"),
            "m.yaml:12:9: step 3, 2026-03-02 08:00:00: error: the scenario creates no record of "
            "its own, so every step needs `record`\n");
}

TEST(Player, AnErrorThatNobodyExpectsIsAProblem) {
  EXPECT_EQ(problems_in("      - {record: job/j1, fire: og, expect: {state: idle}}\n"),
            "m.yaml:22:9: step 1, 2026-03-02 08:00:00: error: the answer is an error: the "
            "machine has no event `og`; did you mean go?\n");
  EXPECT_EQ(problems_in("      - {record: job/j1, fire: og, expect: {answer: error}}\n"), "");
}

TEST(Player, DecisionsWithoutEndEndTheScenario) {
  EXPECT_EQ(problems_of(R"(machine: m
initial: a
states: {a: {on: {hit: {effects: [{send: hit, to: self}]}}}}
scenarios:
  one:
    at: 2026-03-02T08:00:00Z
    create: {key: k}
    steps: [{fire: hit}, {expect: {state: a}}]
)"),
            "m.yaml:8:13: step 1, 2026-03-02 08:00:00: error: more than 1000 decisions in one "
            "step, the last at 2026-03-02T08:00:00Z: records keep each other moving, or a timer is "
            "far too short\n");
}

// --- Expectations that fail ---

// Every key of `expect`, each of them wrong.
TEST(Player, SaysWhatDiffersAndWhere) {
  EXPECT_EQ(problems_in(R"(
      - {fire: go, with: {n: 3}, expect: {answer: refused, state: idle, next_at: "08:05", ready_at: null, wake_at: "08:00", deadline_at: "08:10"}}
      - {at: "08:01", start: work, expect: {attempt: 2, failures: [1, 2], epoch: 2, running: false}}
      - {at: +10s, expect: {hold: gave_up, text: hm, error: oops, data: {n: 4, note: x}, result: {n: 1}, permitted: [go]}}
      - expect:
          children: {run: {all: 1, running: [1, 2]}}
          effects: [notify mail]
          log:
            - "08:00:00 created: - -> idle"
            - "08:00:00 event go: idle -> over"
      - {at: "08:02", expect: {next_at: ["08:00", "08:01"], log: ["08:00:00 created: - -> idle"]}}
      - {at: "08:03", done: {n: 5}, expect: {state: over}}
)"),
            R"(m.yaml:23:51: step 1, 2026-03-02 08:00:00: answer: expected refused, got ok
m.yaml:23:67: step 1, 2026-03-02 08:00:00: state: expected idle, got working
m.yaml:23:82: step 1, 2026-03-02 08:00:00: next_at: expected 2026-03-02T08:05:00+00:00, got 2026-03-02T08:00:00+00:00
m.yaml:23:101: step 1, 2026-03-02 08:00:00: ready_at: expected null, got 2026-03-02T08:00:00+00:00
m.yaml:23:116: step 1, 2026-03-02 08:00:00: wake_at: expected 2026-03-02T08:00:00+00:00, got null
m.yaml:23:138: step 1, 2026-03-02 08:00:00: deadline_at: expected 2026-03-02T08:10:00+00:00, got null
m.yaml:24:54: step 2, 2026-03-02 08:01:00: attempt: expected 2, got 1
m.yaml:24:67: step 2, 2026-03-02 08:01:00: failures: expected [1,2], got 0
m.yaml:24:82: step 2, 2026-03-02 08:01:00: epoch: expected 2, got 1
m.yaml:24:94: step 2, 2026-03-02 08:01:00: running: expected false, got true
m.yaml:25:35: step 3, 2026-03-02 08:01:10: hold: expected gave_up, got null
m.yaml:25:50: step 3, 2026-03-02 08:01:10: text: expected hm, got null
m.yaml:25:61: step 3, 2026-03-02 08:01:10: error: expected oops, got null
m.yaml:25:77: step 3, 2026-03-02 08:01:10: data.n: expected 4, got 3
m.yaml:25:86: step 3, 2026-03-02 08:01:10: data.note: expected x, got null
m.yaml:25:98: step 3, 2026-03-02 08:01:10: result: expected {"n":1}, got null
m.yaml:25:117: step 3, 2026-03-02 08:01:10: permitted: expected ["go"], got ["stop"]
m.yaml:27:33: step 4, 2026-03-02 08:01:10: children.run.all: expected 1, got 0
m.yaml:27:45: step 4, 2026-03-02 08:01:10: children.run.running: expected [1,2], got 0
m.yaml:28:20: step 4, 2026-03-02 08:01:10: effects: - expected, + got
    - notify mail
m.yaml:30:13: step 4, 2026-03-02 08:01:10: log: - expected, + got
      08:00:00 created: - -> idle
    - 08:00:00 event go: idle -> over
    + 08:00:00 event go: idle -> working
m.yaml:32:41: step 5, 2026-03-02 08:02:00: next_at: expected ["2026-03-03T08:00:00+00:00","2026-03-03T08:01:00+00:00"], got 2026-03-02T08:02:30+00:00
m.yaml:32:66: step 5, 2026-03-02 08:02:00: log: - expected, + got
    - 08:00:00 created: - -> idle
    + 08:02:00 timed_out lease_lost: working -> working
m.yaml:33:53: step 6, 2026-03-02 08:03:00: state: expected over, got working
)");
}

TEST(Player, WhatCannotBeExpectedIsAnError) {
  EXPECT_EQ(
      problems_of(R"(machine: family
initial: a
states: {a: {on: {x: a}}}
scenarios:
  one:
    at: 2026-03-02T08:00:00Z
    create: {key: f}
    steps:
      - {create: {machine: kid, key: k}}
      - {record: kid/k, expect: {state: bgi, permitted: [cal], next_at: noon}}
      - {expect: {answer: ok, children: {kid: {smal: 1}, cat: {asleep: 1}}, effects: [mail notify], attempt: [1, 2]}}
)",
                  {kKid}),
      R"(m.yaml:10:41: step 2, 2026-03-02 08:00:00: error: `bgi` is not a state of `kid`; did you mean big?
m.yaml:10:58: step 2, 2026-03-02 08:00:00: error: `cal` is not an event of `kid`; did you mean call?
m.yaml:10:73: step 2, 2026-03-02 08:00:00: error: 'noon' is not a time: write an instant (2026-03-02T08:00:00Z) or HH:MM[:SS]
m.yaml:11:27: step 3, 2026-03-02 08:00:00: error: this step has no verb, so there is no answer to expect
m.yaml:11:48: step 3, 2026-03-02 08:00:00: error: `smal` is not a state of `kid`; did you mean small?
m.yaml:11:72: step 3, 2026-03-02 08:00:00: error: none of the files has the machine `cat`
m.yaml:11:87: step 3, 2026-03-02 08:00:00: error: 'mail notify' is not an effect: write `notify CHANNEL`, `run TASK`, `create MACHINE/KEY`, `found …` or `send EVENT MACHINE/KEY`
m.yaml:11:110: step 3, 2026-03-02 08:00:00: attempt: expected [1,2], got 0
)");
}

TEST(Player, ABadZoneOrFirstInstantIsAProblem) {
  Scenario scenario{.title = "x", .at = "soon"};
  const auto machine = machine_of(kKid);
  EXPECT_FALSE(play(scenario, "kid", {machine}, zones()).passed());
  scenario.at = "2026-03-02T08:00:00Z";
  EXPECT_TRUE(play(scenario, "kid", {machine}, zones()).passed());
  scenario.tz = "Mars/Base";
  EXPECT_FALSE(play(scenario, "kid", {machine}, zones()).passed());
}

}  // namespace
}  // namespace pawl
