// pawl check, run in memory on files of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace pawl::cli {
namespace {

constexpr const char* kLetter = R"(machine: letter
initial: writing
data: {patient: {type: bool, default: false}}
states:
  writing:
    task: write
    done: sent
    errors: {default: [{if: data.patient, retry: 1h}, {give_up: true}]}
  sent: {final: true}
tasks: {write: {queue: desk, timeout: 10m}}
)";
constexpr const char* kRing = R"(machine: ring
initial: here
states:
  here: {task: go, done: over, give_up: {to: there}}
  there: {after: {1h: here}}
  over: {final: true}
tasks: {go: {queue: road, retry: []}}
)";
constexpr const char* kOdd = R"(machine: odd
initial: a
states:
  a: {task: t, done: z, errors: {default: [{if: record.revision < 5, to: a}, {give_up: true}]}}
  z: {final: true}
tasks: {t: {queue: q}}
)";

class CheckVerb : public testing::Test {
 protected:
  struct Ran {
    ExitCode code;
    std::string out;
    std::string err;
  };

  CheckVerb()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("pawl_check_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~CheckVerb() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  static Ran run_pawl(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = run(arguments, {out, err, [] { return Instant{}; }});
    return {code, out.str(), err.str()};
  }

  static Ran check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    return run_pawl(arguments);
  }

  std::filesystem::path folder_;
};

TEST_F(CheckVerb, SaysWhatEnds) {
  const std::string path = file("letter.yaml", kLetter);
  const Ran ran = check({path});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, "writing: ends (at most 1 failure, then on hold; longest 10m)\n" + path +
                         ": 1 state ends\n");
}

TEST_F(CheckVerb, TheDataDecides) {
  const std::string path = file("letter.yaml", kLetter);
  const Ran ran = check({path, "--data", R"({"patient": true})"});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_EQ(ran.out, "writing: repeats for ever, visibly: retry after 1h, no bound\n" + path +
                         ": 1 state repeats for ever, visibly\n");
}

TEST_F(CheckVerb, ShowsTheCounterExample) {
  const std::string path = file("ring.yaml", kRing);
  const Ran ran = check({path});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(
      ran.out,
      R"(here: NEVER ENDS: time passes, `there` goes to `here`; `here` fails with oops, then `there`; and so on
  at: 2026-03-02T08:00:00Z
  create: {key: r1}
  steps:
    - {start: go, expect: {state: here}}
    - {at: +1s, fail: oops, expect: {state: there}}
    - {at: +1h, expect: {state: here}}
    - {start: go, expect: {state: here}}
    - {at: +1s, fail: oops, expect: {state: there}}
    - {at: +1h, expect: {state: here}}
    - {start: go, expect: {state: here}}
    - {at: +1s, fail: oops, expect: {state: there}}
)" + path +
          ": 1 state NEVER ENDS\n");
}

TEST_F(CheckVerb, SimulatePlaysTheScenario) {
  const std::string path = file("ring.yaml", kRing);
  const Ran ran = check({path, "--scenario", "here"});
  EXPECT_EQ(ran.code, ExitCode::ok);
  const std::string script = file("here.yaml", ran.out);
  const Ran played = run_pawl({"simulate", path, "--script", script, "--quiet"});
  EXPECT_EQ(played.code, ExitCode::ok) << played.err;
  EXPECT_EQ(played.out, "ring: " + script + ": passed, 8 steps\n1 scenario: 1 passed, 0 failed\n");
  const Ran none = check({path, "--scenario", "there"});
  EXPECT_EQ(none.code, ExitCode::wrong);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "pawl: --scenario: error: there is no counter-example for `there`\n");
}

TEST_F(CheckVerb, WhatIsNotDecidedHasAnExitCodeOfItsOwn) {
  const std::string path = file("odd.yaml", kOdd);
  const Ran ran = check({path});
  EXPECT_EQ(ran.code, ExitCode::undecided);
  EXPECT_EQ(static_cast<int>(ran.code), 4);
  EXPECT_EQ(
      ran.out,
      "a: NOT DECIDED: it seems to loop, but does not when replayed: `a` fails with oops; and so on\n" +
          path + ": 1 state is not decided (conditions also read `record.revision`)\n");
  EXPECT_EQ(check({path, file("ring.yaml", kRing)}).code, ExitCode::wrong);
}

TEST_F(CheckVerb, IsJsonToo) {
  const std::string path = file("letter.yaml", kLetter);
  const Ran ran = check({path, "--json"});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_EQ(ran.out, R"({"files":[{"file":")" + path +
                         R"(","machine":"letter","states":[{"state":"writing","verdict":"ends",)"
                         R"("failures_max":1,"longest":"10m","bounded_by":[],"outcomes":[)"
                         R"({"kind":"hold","state":"writing","hold":"gave_up"}]}],)"
                         R"("unvaried":[],"shortened":false}]})"
                         "\n");
  const Ran ring = check({file("ring.yaml", kRing), "--json"});
  EXPECT_EQ(ring.code, ExitCode::wrong);
  EXPECT_NE(ring.out.find(R"("plays":true,"scenario":{"at":"2026-03-02T08:00:00Z")"),
            std::string::npos)
      << ring.out;
}

TEST_F(CheckVerb, BadFilesAndDataAreNoAnswer) {
  const std::string good = file("letter.yaml", kLetter);
  const std::string bad = file("bad.yaml", "machine: bad\ninitial: nowhere\nstates: {}\n");
  const Ran ran = check({good, bad});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find(bad + ":"), std::string::npos);
  EXPECT_EQ(check({folder_ / "none.yaml"}).code, ExitCode::environment);
  EXPECT_EQ(check({good, "--data", "{"}).code, ExitCode::wrong);
  const Ran wrong = check({good, "--data", R"({"patient": 7})"});
  EXPECT_EQ(wrong.code, ExitCode::wrong);
  EXPECT_EQ(wrong.err.rfind("pawl: --data: error: ", 0), 0U) << wrong.err;
}

TEST_F(CheckVerb, IsToldWhenItIsUsedWrongly) {
  EXPECT_EQ(check({}).code, ExitCode::usage);
  const std::string path = file("letter.yaml", kLetter);
  EXPECT_EQ(check({path, file("ring.yaml", kRing), "--data", "{}"}).code, ExitCode::usage);
}

}  // namespace
}  // namespace pawl::cli
