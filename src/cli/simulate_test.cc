// pawl simulate, run in memory on files of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "cli/cli.h"

namespace pawl::cli {
namespace {

constexpr const char* kLamp = R"(machine: lamp
initial: dark
states:
  dark: {on: {light: lit}}
  lit: {on: {light: {}}, after: {10m: dark}}
scenarios:
  goes out by itself:
    at: 2026-03-02T20:00:00
    tz: Europe/Berlin
    create: {key: hall}
    steps:
      - {fire: light, expect: {state: lit, next_at: "20:10"}}
      - {at: +15m, expect: {state: dark}}
  stays on:
    at: 2026-03-02T20:00:00Z
    create: {key: hall}
    steps:
      - {fire: light}
      - {at: "20:10", expect: {state: lit}}
)";
constexpr const char* kPlain = R"(machine: door
initial: ajar
states:
  ajar: {on: {close: closed}, after: {1h: closed}}
  closed: {final: true}
)";

class Simulate : public testing::Test {
 protected:
  struct Ran {
    ExitCode code;
    std::string out;
    std::string err;
  };

  Simulate()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("pawl_simulate_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Simulate() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  static Ran simulate(std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream err;
    arguments.insert(arguments.begin(), "simulate");
    const ExitCode code = run(arguments, {out, err, [] { return Instant{}; }});
    return {code, out.str(), err.str()};
  }

  std::filesystem::path folder_;
};

TEST_F(Simulate, PlaysEveryScenarioAndSaysWhatDiffers) {
  const std::string path = file("lamp.yaml", kLamp);
  const Ran ran = simulate({path});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, R"(lamp: goes out by itself
2026-03-02 20:00:00  lamp/hall  create      - -> dark
2026-03-02 20:00:00  lamp/hall  fire light  dark -> lit  next 20:10:00
2026-03-02 20:10:00  lamp/hall  timer       lit -> dark
passed, 2 steps

lamp: stays on
2026-03-02 20:00:00  lamp/hall  create      - -> dark
2026-03-02 20:00:00  lamp/hall  fire light  dark -> lit  next 20:10:00
2026-03-02 20:10:00  lamp/hall  timer       lit -> dark
)" + path + R"(:19:39: step 2, 2026-03-02 20:10:00: state: expected lit, got dark
failed, 1 difference

2 scenarios: 1 passed, 1 failed
)");
}

TEST_F(Simulate, QuietLeavesOutTheTimelines) {
  const std::string path = file("lamp.yaml", kLamp);
  const Ran ran = simulate({path, "--quiet"});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out,
            "lamp: goes out by itself: passed, 2 steps\n"
            "lamp: stays on: failed, 1 difference\n" +
                path +
                ":19:39: step 2, 2026-03-02 20:10:00: state: expected lit, got dark\n"
                "2 scenarios: 1 passed, 1 failed\n");
}

TEST_F(Simulate, PlaysTheNamedScenarios) {
  const std::string path = file("lamp.yaml", kLamp);
  const Ran one = simulate({path, "--quiet", "--scenario", "goes out by itself"});
  EXPECT_EQ(one.code, ExitCode::ok);
  EXPECT_EQ(one.out,
            "lamp: goes out by itself: passed, 2 steps\n"
            "1 scenario: 1 passed, 0 failed\n");
  const Ran wrong = simulate({path, "--scenario", "stays onn"});
  EXPECT_EQ(wrong.code, ExitCode::wrong);
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(wrong.err,
            "pawl: --scenario: error: no scenario is named 'stays onn'; did you mean stays "
            "on?\n");
}

TEST_F(Simulate, PlaysAScript) {
  const std::string door = file("door.yaml", kPlain);
  const std::string script = file("script.yaml", R"(at: 2026-03-02T08:00:00Z
create: {key: front}
steps:
  - {at: +59m, expect: {state: ajar}}
  - {at: +2m, expect: {state: ajar}}
)");
  const Ran ran = simulate({door, "--script", script, "--quiet"});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out, "door: " + script + ": failed, 1 difference\n" + script +
                         ":5:31: step 2, 2026-03-02 09:01:00: state: expected ajar, got closed\n"
                         "1 scenario: 0 passed, 1 failed\n");
  const Ran both = simulate({door, "--script", script, "--scenario", "x"});
  EXPECT_EQ(both.code, ExitCode::usage);
}

TEST_F(Simulate, SaysWhatIsWrongWithAScript) {
  const std::string door = file("door.yaml", kPlain);
  const std::string script =
      file("script.yaml", "at: 2026-03-02T08:00:00Z\nsteps: [{fire: shut}]\n");
  const Ran ran = simulate({door, "--script", script});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.err,
            script + ":2:16: error: `shut` is not an event of this machine [unknown_event]\n");
  EXPECT_EQ(simulate({door, "--script", folder_ / "none.yaml"}).code, ExitCode::environment);
}

TEST_F(Simulate, WithoutScenariosItSaysWhatToDo) {
  const Ran ran = simulate({file("door.yaml", kPlain)});
  EXPECT_EQ(ran.code, ExitCode::usage);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "pawl: none of these files has `scenarios`: add some, or give --script FILE\n"
            "Run 'pawl simulate --help' for usage.\n");
}

TEST_F(Simulate, FilesAreOneWorld) {
  const std::string house = file("house.yaml", R"(machine: house
initial: empty
states:
  empty: {on: {build: {to: built, effects: [{create: door, key: "{record.key}/front"}]}}}
  built: {when: {if: children.door.final == 1, to: shut}}
  shut: {final: true}
scenarios:
  is shut after an hour:
    at: 2026-03-02T08:00:00Z
    create: {key: h}
    steps: [{fire: build}, {at: +1h, expect: {state: shut}}]
)");
  const Ran alone = simulate({house});
  EXPECT_EQ(alone.code, ExitCode::wrong);
  EXPECT_NE(
      alone.err.find(house + ":4:54: error: none of these files defines the machine `door`; add "
                             "its file [unknown_machine]\n"),
      std::string::npos)
      << alone.err;
  const std::string door = file("door.yaml", kPlain);
  EXPECT_EQ(simulate({house, door}).code, ExitCode::ok);
  const Ran twice = simulate({house, door, file("other.yaml", kPlain)});
  EXPECT_EQ(twice.code, ExitCode::wrong);
  EXPECT_NE(twice.err.find("both define the machine `door`; give only one"), std::string::npos)
      << twice.err;
}

TEST_F(Simulate, BadFilesAreReported) {
  const Ran wrong = simulate({file("lamp.yaml", kLamp), file("bad.yaml", "machine: bad\n")});
  EXPECT_EQ(wrong.code, ExitCode::wrong);
  EXPECT_EQ(wrong.out, "");
  EXPECT_NE(wrong.err.find("[missing_key]"), std::string::npos) << wrong.err;
  EXPECT_EQ(simulate({folder_ / "none.yaml"}).code, ExitCode::environment);
  EXPECT_EQ(simulate({}).code, ExitCode::usage);
}

TEST_F(Simulate, AnswersInJson) {
  const std::string path = file("lamp.yaml", kLamp);
  const Ran ran = simulate({path, "--json", "--gantt"});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_TRUE(check_json(ran.out));
  EXPECT_EQ(ran.err, "");
  for (const std::string part : {R"("scenario":"stays on")", R"("stimulus":"fire light")",
                                 R"("key":"state","expected":"lit","got":"dark")",
                                 R"("gantt":"gantt\n)", R"("passed":1,"failed":1})"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  EXPECT_EQ(simulate({path, "--json"}).out.find("gantt"), std::string::npos);
}

TEST_F(Simulate, DrawsAGantt) {
  const std::string path = file("lamp.yaml", kLamp);
  const Ran ran = simulate({path, "--gantt", "--scenario", "stays on"});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out, R"(gantt
    title lamp: stays on
    dateFormat YYYY-MM-DD HH:mm:ss
    axisFormat %H:%M:%S

    section lamp/hall
    lit : 2026-03-02 20:00:00, 2026-03-02 20:10:00
%% )" + path + R"(:19:39: step 2, 2026-03-02 20:10:00: state: expected lit, got dark
%% failed, 1 difference

%% 1 scenario: 0 passed, 1 failed
)");
}

TEST_F(Simulate, IsTheSameEveryTime) {
  const std::string path = file("lamp.yaml", kLamp);
  for (const std::string option : {"--json", "--gantt", "--quiet"})
    EXPECT_EQ(simulate({path, option}).out, simulate({path, option}).out);
}

}  // namespace
}  // namespace pawl::cli
