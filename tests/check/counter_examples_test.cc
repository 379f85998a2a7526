// Machines whose failures never end: what goes round, played by the simulator. And the machines
// that come with Pawl.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "check/check.h"
#include "check/check_text.h"
#include "pawl/machine_file.h"
#include "played_example.h"

namespace pawl {
namespace {

const Zones& zones() {
  static const Zones zones = *Zones::open();
  return zones;
}

std::shared_ptr<const Machine> machine_of(const std::string& text) {
  const ReadMachine read = read_machine(text, zones());
  for (const Diagnostic& finding : read.findings)
    EXPECT_NE(finding.severity, Diagnostic::Severity::error) << finding.message;
  return read.machine;
}

// What goes round from the first state of a machine with these states, `z` and the task `t`. Every
// example is played.
std::string round_of(const std::string& states, const std::string& more = "") {
  const auto machine = machine_of("machine: m\ninitial: a\n" + more + "\nstates:\n" + states +
                                  "\n  z: {final: true}\n"
                                  "tasks: {t: {queue: q, timeout: 10m, retry: [1s]}}\n");
  const auto checked = check_failures(*machine);
  if (!checked) return checked.error().message;
  for (const StateVerdict& verdict : checked->states) {
    if (!verdict.example) continue;
    EXPECT_EQ(faults_of(*verdict.example, {machine}, zones()), "") << verdict.state;
  }
  const StateVerdict& first = checked->states.front();
  return first.example ? first.example->how : std::string(to_text(first.kind));
}

TEST(CounterExample, AGiveUpThatComesBack) {
  EXPECT_EQ(
      round_of("  a: {task: t, done: z, give_up: {to: cool}}\n"
               "  cool: {after: {1h: a}}"),
      "`a` fails with oops, then `cool`; time passes, `cool` goes to `a`; `a` fails with oops; and so on");
  EXPECT_EQ(round_of("  a: {task: t, done: z, retry: [], give_up: {to: b}}\n"
                     "  b: {task: t, done: z, retry: [], give_up: {to: a}}"),
            "`b` fails with oops, then `a`; `a` fails with oops, then `b`; and so on");
}

TEST(CounterExample, AnErrorThatGoesToAnotherState) {
  EXPECT_EQ(round_of("  a: {task: t, done: z, errors: {lost: {to: b}}}\n"
                     "  b: {task: t, done: z, errors: {lost: {to: a}}}"),
            "`a` fails with lost, then `b`; `b` fails with lost, then `a`; and so on");
}

// Each of the two codes begins the run of the other anew.
TEST(CounterExample, TwoCodesThatTakeTurns) {
  EXPECT_EQ(
      round_of(
          "  a: {task: t, done: z, retry: [1s], errors: {lost: {retry: [1s]}, busy: {retry: [2s]}}}"),
      "`a` fails with busy; `a` fails with lost; and so on");
}

TEST(CounterExample, AnElapsedLimitThatGoesRound) {
  EXPECT_EQ(
      round_of("  a: {task: t, done: z, retry: 10s, give_up: [{elapsed: 1d, to: b}, {hold: x}]}\n"
               "  b: {task: t, done: z, give_up: {to: a}}",
               "count: epoch"),
      "`a` gives up, then `b`; `b` fails with oops, then `a`; and so on");
}

TEST(CounterExample, AFailureStateThatDoesNotWait) {
  EXPECT_EQ(round_of("  a: {task: t, done: z, retry: 1h}\n  f: {when: {to: a}}", "failure: f"),
            "`a` fails with oops; and so on");
}

TEST(CounterExample, AWhenThatGoesBack) {
  EXPECT_EQ(round_of("  a: {task: t, done: z, errors: {lost: {to: b}}}\n  b: {when: {to: a}}"),
            "`a` fails with lost; and so on");
}

TEST(CounterExample, ResumeThatGoesToAnotherState) {
  EXPECT_EQ(
      round_of("  a: {task: t, done: z, retry: [1m], resume: b}\n"
               "  b: {task: t, done: z, retry: [1m], resume: a}\n"
               "  f: {}",
               "failure: f"),
      "time passes, `f` goes to `b`; `b` fails with oops, then `f`; time passes, `f` goes to `a`; `a` fails with oops, then `f`; and so on");
}

TEST(CounterExample, ATimerThatBeginsAnew) {
  EXPECT_EQ(
      round_of("  a: {task: t, done: z, retry: 10s, after: {1d: b}}\n  b: {after: {1m: a}}"),
      "`a` fails with oops; time passes, `a` goes to `b`; time passes, `b` goes to `a`; and so on");
}

TEST(CounterExample, ATimeout) {
  EXPECT_EQ(round_of("  a: {task: t, done: z, retry: [], errors: {timeout: {to: a}}}"),
            "`a` fails with timeout; and so on");
  EXPECT_EQ(
      round_of("  a: {task: t, done: z, retry: [], lease: 1m, errors: {lease_lost: {to: a}}}"),
      "`a` fails with lease_lost; and so on");
}

TEST(CounterExample, AnEventThatFails) {
  EXPECT_EQ(
      round_of("  a: {on: {broken: {fail: \"{event.code}\"}, ok: z}, errors: {lost: {to: a}}}"),
      "`a` fails with lost; and so on");
}

TEST(CounterExample, ATaskRunAside) {
  EXPECT_EQ(round_of("  a: {effects: [{run: t, else: failed}], on: {failed: a, ok: z}}"),
            "`t`, run on the side, fails, then `a`; and so on");
  EXPECT_EQ(round_of("  a: {task: t, done: z, retry: [], give_up: {to: b}}\n"
                     "  b: {effects: [{run: t, else: failed}], on: {failed: a, ok: z}}"),
            "`t`, run on the side, fails, then `a`; `a` fails with oops, then `b`; and so on");
}

TEST(CounterExample, AMessageToItself) {
  EXPECT_EQ(round_of("  a: {task: t, done: z, retry: [], give_up: {to: b}}\n"
                     "  b: {effects: [{send: again, to: self, in: 1h}], on: {again: a}}"),
            "time passes, `b` goes to `a`; `a` fails with oops, then `b`; and so on");
}

TEST(CounterExample, AMessageWithAKeyIsSentOnce) {
  EXPECT_EQ(
      round_of("  a: {task: t, done: z, retry: [], give_up: {to: b}}\n"
               "  b: {effects: [{send: again, to: self, in: 1h, key: once}], on: {again: a}}"),
      "ends");
}

TEST(CounterExample, ALongBudgetDoesNotComeRoundAsItIsWalked) {
  const auto machine = machine_of(R"(machine: m
initial: a
states: {a: {task: t, done: z, give_up: {to: a}}, z: {final: true}}
tasks: {t: {queue: q, retry: {first: 1s, factor: 1, attempts: 5000}}}
)");
  const auto checked = check_failures(*machine);
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->shortened);
  ASSERT_TRUE(checked->states[0].example);
  EXPECT_FALSE(checked->states[0].example->plays);
  EXPECT_EQ(checked->states[0].kind, StateVerdict::Kind::never_ends);
}

// --- The machines that come with Pawl ---

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string verdicts_of(const std::filesystem::path& path) {
  const auto machine = machine_of(text_of(path));
  const auto checked = check_failures(*machine);
  if (!checked) return checked.error().message;
  for (const StateVerdict& verdict : checked->states) {
    if (!verdict.example) continue;
    EXPECT_EQ(faults_of(*verdict.example, {machine}, zones()), "") << verdict.state;
  }
  return summary_text(*checked);
}

TEST(MachinesOfPawl, AreChecked) {
  const std::map<std::string, std::string> expected{
      {"approval.yaml", "no work can fail"},
      {"attempt.yaml", "12 states end (conditions also read `children`)"},
      {"big_table.yaml", "1 state ends"},
      {"big_table_url.yaml", "1 state ends"},
      {"big_table_week.yaml", "1 state ends"},
      {"evaluation.yaml", "1 state ends"},
      {"model.yaml", "1 state ends"},
      {"order.yaml", "2 states end (conditions also read `children`)"},
      {"parcel.yaml", "1 state ends"},
      {"qanal.yaml", "6 states repeat for ever, visibly"},
      {"qanal_configure.yaml", "1 state repeats for ever, visibly"},
      {"solve.yaml", "1 state ends"},
      {"subscription.yaml", "1 state ends"},
      {"thumbnail.yaml", "1 state ends"},
      {"turducken_assignment.yaml", "3 states end"},
      {"turducken_job.yaml", "2 states end (conditions also read `children`)"},
  };
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(PAWL_SOURCE_DIR "/machines"))
    if (entry.path().extension() == ".yaml") found[entry.path().filename()] = verdicts_of(entry);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace pawl
