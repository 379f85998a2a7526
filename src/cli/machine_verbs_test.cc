// The verbs that take machine files, run in memory on files of their own.
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

constexpr const char* kGood = R"(machine: door
initial: ajar
states:
  ajar: {on: {close: closed}, after: {1h: closed}}
  closed: {final: true}
)";
constexpr const char* kDoubtful = R"(machine: door
initial: ajar
states:
  ajar: {on: {close: closed}}
  closed: {final: true}
)";
constexpr const char* kWrong = R"(machine: door
initial: ajar
states:
  ajar: {on: {"ü": {to: clsed}, close: clsed}}
  closed: {final: true}
)";

class MachineVerbs : public testing::Test {
 protected:
  struct Ran {
    ExitCode code;
    std::string out;
    std::string err;
  };

  MachineVerbs() : folder_(std::filesystem::path(testing::TempDir()) / test_name()) {
    std::filesystem::create_directories(folder_);
  }
  ~MachineVerbs() override { std::filesystem::remove_all(folder_); }

  static std::string test_name() {
    return std::string("pawl_") + testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  static Ran run_pawl(const std::vector<std::string>& arguments, bool terminal = false) {
    std::ostringstream out;
    std::ostringstream err;
    const auto now = [] { return Instant{}; };
    const ExitCode code = run(arguments, {out, err, now, terminal});
    return {code, out.str(), err.str()};
  }

  std::filesystem::path folder_;
};

TEST_F(MachineVerbs, ValidateSaysOk) {
  const std::string path = file("door.yaml", kGood);
  const Ran ran = run_pawl({"validate", path});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_EQ(ran.out, path + ": ok, machine door, 2 states\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(MachineVerbs, ValidateSaysAllThatIsWrongWithItsPlace) {
  const std::string path = file("door.yaml", kWrong);
  const Ran ran = run_pawl({"validate", path});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out, path + ": 3 errors\n");
  EXPECT_EQ(ran.err,
            path +
                ":4:15: error: 'ü' cannot name an event: names are lower-case letters, digits "
                "and _, beginning with a letter [bad_name]\n" +
                path +
                ":4:25: error: `clsed` is not a state of this machine; did you mean closed? "
                "[unknown_state]\n" +
                path +
                ":4:40: error: `clsed` is not a state of this machine; did you mean closed? "
                "[unknown_state]\n");
}

TEST_F(MachineVerbs, OnATerminalTheLineAndACaretFollow) {
  const Ran ran = run_pawl({"validate", file("door.yaml", kWrong)}, true);
  EXPECT_NE(ran.err.find("[bad_name]\n"
                         "    ajar: {on: {\"ü\": {to: clsed}, close: clsed}}\n"
                         "                ^\n"),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("\n                          ^\n"), std::string::npos) << ran.err;
}

TEST_F(MachineVerbs, StrictMakesWarningsErrors) {
  const std::string path = file("door.yaml", kDoubtful);
  const Ran lenient = run_pawl({"validate", path});
  EXPECT_EQ(lenient.code, ExitCode::ok);
  EXPECT_EQ(lenient.out, path + ": ok, machine door, 2 states, 1 warning\n");
  EXPECT_NE(lenient.err.find(":4:3: warning: "), std::string::npos) << lenient.err;
  const Ran strict = run_pawl({"validate", path, "--strict"});
  EXPECT_EQ(strict.code, ExitCode::wrong);
  EXPECT_EQ(strict.out, path + ": 1 error\n");
  EXPECT_NE(strict.err.find(":4:3: error: "), std::string::npos) << strict.err;
}

TEST_F(MachineVerbs, ValidateAnswersInJson) {
  const Ran good = run_pawl({"validate", file("door.yaml", kGood), "--json"});
  EXPECT_TRUE(check_json(good.out));
  EXPECT_NE(good.out.find(R"("ok":true,"findings":[]})"), std::string::npos) << good.out;
  const Ran wrong = run_pawl({"validate", file("wrong.yaml", kWrong), "--json"});
  EXPECT_EQ(wrong.code, ExitCode::wrong);
  EXPECT_TRUE(check_json(wrong.out));
  EXPECT_NE(wrong.out.find(R"({"severity":"error","id":"unknown_state","line":4,"column":25,)"),
            std::string::npos)
      << wrong.out;
  EXPECT_EQ(wrong.err, "");
}

TEST_F(MachineVerbs, AFileThatCannotBeReadDoesNotHideTheOthers) {
  const std::string path = file("door.yaml", kWrong);
  const Ran ran = run_pawl({"validate", folder_ / "none.yaml", path, folder_});
  EXPECT_EQ(ran.code, ExitCode::environment);
  EXPECT_NE(ran.err.find("none.yaml: No such file"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("[unknown_state]"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("is it a directory?"), std::string::npos) << ran.err;
  for (const std::string verb : {"print", "graph", "explain"})
    EXPECT_EQ(run_pawl({verb, folder_ / "none.yaml"}).code, ExitCode::environment) << verb;
}

TEST_F(MachineVerbs, FilesMayNameEachOther) {
  const std::string parent = file("parent.yaml", R"(machine: parent
initial: going
states:
  going: {effects: [{create: door, key: "{record.key}"}], when: {if: children.door.open == 0, to: over}}
  over: {final: true}
)");
  const Ran alone = run_pawl({"validate", parent});
  EXPECT_EQ(alone.code, ExitCode::ok);
  EXPECT_NE(alone.err.find(":4:30: warning: none of these files defines the machine `door`"),
            std::string::npos)
      << alone.err;
  EXPECT_EQ(run_pawl({"validate", parent, file("door.yaml", kGood)}).err, "");
}

TEST_F(MachineVerbs, PrintIsAFixpointInBothForms) {
  const Ran yaml = run_pawl({"print", file("door.yaml", kGood)});
  EXPECT_EQ(yaml.code, ExitCode::ok);
  const Ran json = run_pawl({"print", file("door.yaml", kGood), "--json"});
  EXPECT_TRUE(check_json(json.out));
  EXPECT_EQ(run_pawl({"print", file("again.yaml", yaml.out)}).out, yaml.out);
  EXPECT_EQ(run_pawl({"print", file("again.json", json.out)}).out, yaml.out);
  const Ran wrong = run_pawl({"print", file("wrong.yaml", kWrong)});
  EXPECT_EQ(wrong.code, ExitCode::wrong);
  EXPECT_EQ(wrong.out, "");
  EXPECT_NE(wrong.err.find("[unknown_state]"), std::string::npos);
}

TEST_F(MachineVerbs, SchemaIsJson) {
  const Ran ran = run_pawl({"schema"});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_TRUE(check_json(ran.out));
  EXPECT_NE(ran.out.find("https://json-schema.org/draft/2020-12/schema"), std::string::npos);
}

TEST_F(MachineVerbs, GraphDrawsInThreeFormats) {
  const std::string path = file("door.yaml", kGood);
  EXPECT_EQ(
      run_pawl({"graph", path, "--format", "mermaid"}).out,
      "%%{init: {\"flowchart\": {\"nodeSpacing\": 30, \"rankSpacing\": 25, \"padding\": 10}}}%%\n"
      "flowchart TD\n"
      "  start((\" \")) --> s_ajar\n"
      "  s_ajar(\"ajar\")\n"
      "  s_closed([\"closed\"])\n"
      "  s_ajar --- a1[\"close\"]:::label --> s_closed\n"
      "  s_ajar -.- a2[\"after 1h\"]:::label -.-> s_closed\n"
      "  classDef label fill:none,stroke:none\n");
  EXPECT_EQ(run_pawl({"graph", path}).out,
            "door, begins in ajar\n"
            "(==> happy path, --> event or condition, ..> clock, --x failure)\n"
            "\n"
            "ajar   waits\n"
            "  --> closed   close\n"
            "  ..> closed   after 1h\n"
            "\n"
            "closed   final\n");
  const Ran dot = run_pawl({"graph", path, "--format", "dot"});
  EXPECT_NE(dot.out.find("\"ajar\" -> \"closed\" [label=\"  after 1h  \", style=dashed];"),
            std::string::npos)
      << dot.out;
  EXPECT_EQ(run_pawl({"graph", path, "--format", "png"}).code, ExitCode::usage);
}

TEST_F(MachineVerbs, MermaidPutsLabelsAndLoopsWhereTheyCoverNoArrow) {
  const std::string path = file("job.yaml", R"(machine: job
initial: working
data: {n: int}
states:
  working: {task: work, done: [{if: data.n > 1, to: over}, {to: lost}], errors: {gone: lost}}
  over: {final: true}
  lost: {final: true}
tasks: {work: {queue: q, retry: [1m]}}
)");
  const std::string drawn = run_pawl({"graph", path, "--format", "mermaid"}).out;
  const std::string_view expected =
      "  s_working[\"working<br/><i>work</i><br/><small>↻ fails</small><br/><small>↻ gives up "
      "(hold)</small>\"]\n"
      "  s_over([\"over\"])\n"
      "  s_lost([\"lost\"])\n"
      "  s_working === a1[\"done<br/>[data.n #gt; 1]\"]:::label ==> s_over\n"
      "  s_working === a2[\"done\"]:::label ==> s_lost\n"
      "  s_working --- a3[\"error gone\"]:::failure --> s_lost\n"
      "  classDef label fill:none,stroke:none\n"
      "  classDef failure fill:none,stroke:none,color:#c0392b\n"
      "  linkStyle 5,6 stroke:#c0392b\n";
  EXPECT_NE(drawn.find(expected), std::string::npos) << drawn;
}

TEST_F(MachineVerbs, ExplainSpeaksEnglish) {
  const std::string path = file("job.yaml", R"(machine: job
initial: working
states:
  working: {task: work, done: over, policy: bank, errors: {lost: over, busy: {later: 5s}}, after: {3d: over}}
  over: {final: true}
tasks: {work: {queue: q}}
policies:
  bank: |
    Allow 1 hour to complete
    On the first failure, retry immediately
    On the second failure, retry after 1 minute
    Then hold: "call the bank"
)");
  const Ran ran = run_pawl({"explain", path});
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out,
            "job. Records begin in `working`.\n"
            "\n"
            "working works on `work` (queue q).\n"
            "  Done: goes to `over`.\n"
            "  After 3d: goes to `over`.\n"
            "  When it fails:\n"
            "    One attempt may take 1h.\n"
            "    Error `lost`: goes to `over`.\n"
            "    Error `busy`: is not a failure: asks again after 5s each time.\n"
            "    On the first failure, retry immediately.\n"
            "    On the second failure, retry after 1 minute.\n"
            "    When it gives up: is put on hold: call the bank.\n"
            "    If every attempt fails and is retried, counted from the first start:\n"
            "      failure  waits  soonest start  latest start\n"
            "      1        0s     0s             1h\n"
            "      2        1m     1m             2h1m\n"
            "      3        gives up after 1m to 3h1m: hold, no alert\n"
            "    After 3d the record leaves the state, retries or not.\n"
            "\n"
            "over is final.\n"
            "\n"
            "Policy bank:\n"
            "  Allow 1 hour to complete\n"
            "  On the first failure, retry immediately\n"
            "  On the second failure, retry after 1 minute\n"
            "  Then hold: \"call the bank\"\n");
}

TEST_F(MachineVerbs, ExplainAsJsonHasTheSumsOfTheTable) {
  const std::string path = file("job.yaml", R"(machine: job
initial: working
data: {wait: duration}
schedule: {every: 1d}
states:
  working:
    task: work
    done: idle
    timeout: 1m
    retry: [5s, "{data.wait}"]
    errors: {busy: {later: 5s}}
    give_up: [{elapsed: 1h, to: idle, alert: ops}, {hold: "a"}]
  idle: {planned: working}
tasks: {work: {queue: q}}
)");
  const Ran ran = run_pawl({"explain", path, "--json"});
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(check_json(ran.out));
  EXPECT_NE(
      ran.out.find(
          R"("outlook":{"works":true,"align":"planned","runs":[{"errors":["default"],"if":null,"own_delays":false,"later":false,"transient":false,"failures":[{"failure":1,"waits":{"least":"5s","most":"5s"},"written":null,"next_start":{"least":"5s","most":"65s"}},{"failure":2,"waits":{"least":null,"most":null},"written":"{data.wait}","next_start":{"least":null,"most":null}}],"goes_on":false,"then_every":null,"gives_up":{"failure":3,"after":{"least":null,"most":null}}},{"errors":["busy"],"if":null,"own_delays":true,"later":true,"transient":false,"failures":[{"failure":1,"waits":{"least":"5s","most":"5s"},"written":null,"next_start":{"least":"5s","most":"65s"}}],"goes_on":true,"then_every":{"least":"5s","most":"5s"},"gives_up":null}],"can_give_up":true,"give_up":[{"elapsed":"1h","failures":null,"comes_late":false,"over_rounds":false,"if":null,"to":"idle","hold":false,"alert":"ops","server_alert":false,"notifies":[]},{"elapsed":null,"failures":null,"comes_late":false,"over_rounds":false,"if":null,"to":null,"hold":true,"alert":null,"server_alert":false,"notifies":[]}],"stay":null,"through":[],"unknown":["{data.wait}"]}})"),
      std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find(R"("policy":[],"outlook":null})"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace pawl::cli
