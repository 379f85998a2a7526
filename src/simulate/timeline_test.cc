// What people see of a played scenario: the timeline, the gantt, JSON.
#include "simulate/timeline.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "pawl/machine_file.h"
#include "simulate/gantt.h"
#include "simulate/played_json.h"
#include "simulate/player.h"

namespace pawl {
namespace {

Played played(const std::string& file) {
  const Zones zones = *Zones::open();
  const ReadMachine read = read_machine(file, zones);
  for (const Diagnostic& finding : read.findings)
    EXPECT_NE(finding.severity, Diagnostic::Severity::error)
        << finding.position.line << ":" << finding.position.column << ": " << finding.message;
  const Definition& definition = read.machine->definition();
  return play(definition.scenarios.front(), definition.machine, {read.machine}, zones);
}

constexpr const char* kTable = R"(machine: table
initial: idle
schedule: {rrule: "FREQ=HOURLY;BYMINUTE=0;BYSECOND=0", tz: Europe/Berlin, anchor: 2026-01-01T00:00:00}
states:
  idle:
    planned: refreshing
    on: {refresh: refreshing, drop: gone}
  refreshing:
    task: refresh
    done: idle
    on: {drop: {to: gone, effects: [{notify: owners}, {send: sorry, to: {machine: table, key: t2}}]}}
  gone: {final: true}
tasks: {refresh: {queue: q, timeout: 5m, retry: [0s, 1m], errors: {busy: {later: 10s}}, give_up: {to: idle, hold: {code: off, text: "Broken: {error.code}"}}}}
)";

const Played& story() {
  static const Played one = played(std::string(kTable) + R"(scenarios:
  "good, bad: #1":
    at: 2026-03-02T08:30:00
    tz: Europe/Berlin
    create: {key: t1}
    steps:
      - {at: "09:00:00", start: refresh}
      - {at: +1m, fail: busy}
      - {at: +30s, start: refresh}
      - {at: +1m, fail: oops}
      - {start: refresh}
      - {at: +1m, fail: oops}
      - {at: +1m, start: refresh}
      - {at: +6m}
      - {at: +1m, fire: refresh}
      - {order: retry}
      - {at: "10:00:00", start: refresh, as: a}
      - {at: +1m, beat: half}
      - {fire: drop}
      - {done: {}, token: a}
)");
  return one;
}

TEST(Timeline, IsALineForEachMoment) {
  EXPECT_TRUE(story().passed());
  EXPECT_EQ(to_timeline(story()),
            R"(2026-03-02 08:30:00  table/t1  create           - -> idle           next 09:00:00
2026-03-02 09:00:00  table/t1  schedule         idle -> refreshing  next 09:00:00
2026-03-02 09:00:00  table/t1  start refresh    refreshing          attempt 1, next 09:05:00
2026-03-02 09:01:00  table/t1  fail busy        refreshing          next 09:01:10
2026-03-02 09:01:30  table/t1  start refresh    refreshing          attempt 1, next 09:06:30
2026-03-02 09:02:30  table/t1  fail oops        refreshing          next 09:02:30
2026-03-02 09:02:30  table/t1  start refresh    refreshing          attempt 2, next 09:07:30
2026-03-02 09:03:30  table/t1  fail oops        refreshing          next 09:04:30
2026-03-02 09:04:30  table/t1  start refresh    refreshing          attempt 3, next 09:09:30
2026-03-02 09:09:30  table/t1  gave_up timeout  refreshing -> idle  gave up, on hold: off (Broken: timeout)
2026-03-02 09:11:30  table/t1  fire refresh     idle                refused: `refresh` is not accepted in `idle` while on hold
2026-03-02 09:11:30  table/t1  order retry      idle                next 10:00:00
2026-03-02 10:00:00  table/t1  schedule         idle -> refreshing  next 10:00:00
2026-03-02 10:00:00  table/t1  start refresh    refreshing          attempt 1, next 10:05:00
2026-03-02 10:01:00  table/t1  beat             refreshing          next 10:05:00
2026-03-02 10:01:00  table/t1  fire drop        refreshing -> gone
                                                  notify owners
                                                  send sorry table/t2
                                                  note: there is no record table/t2: the message is dropped
2026-03-02 10:01:00  table/t1  done             gone                stale: the token does not belong to the live attempt
)");
}

TEST(Gantt, HasABarForEachAttemptAndWait) {
  EXPECT_EQ(to_gantt(story()), R"(gantt
    title table: good, bad:  1
    dateFormat YYYY-MM-DD HH:mm:ss
    axisFormat %H:%M

    section table/t1
    idle : 2026-03-02 08:30:00, 2026-03-02 09:00:00
    planned : milestone, 2026-03-02 09:00:00, 0s
    refresh 1 (busy) : 2026-03-02 09:00:00, 2026-03-02 09:01:00
    back-off : 2026-03-02 09:01:00, 2026-03-02 09:01:10
    refresh ready : 2026-03-02 09:01:10, 2026-03-02 09:01:30
    refresh 1 (oops) : crit, 2026-03-02 09:01:30, 2026-03-02 09:02:30
    refresh 2 (oops) : crit, 2026-03-02 09:02:30, 2026-03-02 09:03:30
    back-off : 2026-03-02 09:03:30, 2026-03-02 09:04:30
    refresh 3 (timeout) : crit, 2026-03-02 09:04:30, 2026-03-02 09:09:30
    deadline : milestone, 2026-03-02 09:09:30, 0s
    on hold (off) : active, 2026-03-02 09:09:30, 2026-03-02 09:11:30
    idle : 2026-03-02 09:11:30, 2026-03-02 10:00:00
    planned : milestone, 2026-03-02 10:00:00, 0s
    refresh 1 (revoked) : 2026-03-02 10:00:00, 2026-03-02 10:01:00
    gone : milestone, 2026-03-02 10:01:00, 0s
)");
}

TEST(Gantt, WhatIsNotOverAtTheEndIsActive) {
  EXPECT_EQ(to_gantt(played(std::string(kTable) + R"(scenarios:
  x:
    at: 2026-03-02T08:30:00Z
    create: {key: t1}
    steps:
      - {create: {key: t2}}
      - {at: "09:01:00", start: refresh}
      - {at: "09:02:00"}
)")),
            R"(gantt
    title table: x
    dateFormat YYYY-MM-DD HH:mm:ss
    axisFormat %H:%M:%S

    section table/t1
    idle : 2026-03-02 08:30:00, 2026-03-02 09:00:00
    planned : milestone, 2026-03-02 09:00:00, 0s
    refresh ready : 2026-03-02 09:00:00, 2026-03-02 09:01:00
    refresh 1 : active, 2026-03-02 09:01:00, 2026-03-02 09:02:00
    deadline : milestone, 2026-03-02 09:06:00, 0s

    section table/t2
    idle : 2026-03-02 08:30:00, 2026-03-02 09:00:00
    planned : milestone, 2026-03-02 09:00:00, 0s
    refresh ready : active, 2026-03-02 09:00:00, 2026-03-02 09:02:00
)");
}

TEST(Gantt, HasDecimalsWhereTheyAreNeeded) {
  EXPECT_EQ(to_gantt(played(R"(machine: m
initial: a
states: {a: {after: {250ms: b}}, b: {after: {2d: c}}, c: {final: true}}
scenarios: {x: {at: 2026-03-02T08:00:00Z, create: {key: k}, steps: [{at: +3d}]}}
)")),
            R"(gantt
    title m: x
    dateFormat YYYY-MM-DD HH:mm:ss.SSS
    axisFormat %Y-%m-%d %H:%M

    section m/k
    a : 2026-03-02 08:00:00.000, 2026-03-02 08:00:00.250
    b : 2026-03-02 08:00:00.250, 2026-03-04 08:00:00.250
    c : milestone, 2026-03-04 08:00:00.250, 0s
)");
}

TEST(PlayedJson, HoldsEverything) {
  EXPECT_TRUE(check_json(to_text(to_json(story()))));
  const Played one = played(R"(machine: m
initial: a
states: {a: {on: {go: {to: b, effects: [{notify: log}]}}}, b: {final: true}}
scenarios:
  x:
    at: 2026-03-02T08:00:00Z
    create: {key: k}
    steps:
      - {at: +1m, fire: go, expect: {state: a}}
      - {done: {}, token: t}
)");
  EXPECT_EQ(
      to_text(to_json(one)),
      R"({"machine":"m","scenario":"x","tz":"UTC","steps":2,"passed":false,"timeline":[)"
      R"({"at":"2026-03-02T08:00:00+00:00","step":0,"machine":"m","key":"k","stimulus":"create","answer":"ok",)"
      R"("entries":[{"seq":1,"kind":"created","from":null,"to":"a"}],"state":"a","attempt":0,"failures":0,)"
      R"("running":false,"hold":null,"next_at":null,"effects":[]},)"
      R"({"at":"2026-03-02T08:01:00+00:00","step":1,"machine":"m","key":"k","stimulus":"fire go","answer":"ok",)"
      R"("entries":[{"seq":2,"kind":"event","event":"go","from":"a","to":"b"}],"state":"b","attempt":0,"failures":0,)"
      R"("running":false,"hold":null,"next_at":null,"effects":["notify log"]}],"differences":[)"
      R"({"step":1,"line":9,"column":45,"at":"2026-03-02T08:01:00+00:00","key":"state","expected":"a","got":"b"},)"
      R"({"step":2,"line":10,"column":9,"at":"2026-03-02T08:01:00+00:00",)"
      R"("error":"no `start` before this step has `as: t`"}]})");
}

}  // namespace
}  // namespace pawl
