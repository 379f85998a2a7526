// The verbs on records: what they say, what they change, and their exit codes. What is the same in
// a directory and with a server is told of both.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/reply_text.h"
#include "outside/local_service.h"
#include "pawl/engine.h"
#include "server/server.h"
#include "tests/support/temporary_directory.h"

extern char** environ;

namespace pawl::cli {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kOrder = R"(machine: order
initial: new
data: {amount: {type: int, default: 0}, region: {type: string, default: eu}}
labels: {region: "{data.region}"}
states:
  new:
    on:
      pay: {to: paying, if: data.amount > 0}
      approve: paid
      cancel: cancelled
    after: {7d: cancelled}
  paying: {task: charge, done: paid}
  paid: {final: true}
  cancelled: {final: true}
events:
  approve: {by: [manager]}
tasks:
  charge: {queue: payments, retry: [0s]}
)";

struct RanRecords {
  ExitCode code;
  std::string out;
  std::string err;
};

// `dead list` is one verb, and so is `token create`.
std::ptrdiff_t words_of_verb(const Words& arguments) {
  return arguments[0] == "dead" || arguments[0] == "token" ? 2 : 1;
}

// Instants differ from run to run.
std::string timeless(const std::string& text) {
  // By hand: GCC 12 takes parts of std::regex for uninitialised under AddressSanitizer.
  const std::string_view shape = "dddd-dd-ddTdd:dd:dd";
  const auto is_instant = [&](std::size_t at) {
    if (at + shape.size() > text.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const char c = text[at + i];
      const bool fits = shape[i] == 'd'   ? is_digit(c)
                        : shape[i] == 'T' ? c == ' ' || c == 'T'
                                          : c == shape[i];
      if (!fits) return false;
    }
    return true;
  };
  std::string without;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_instant(at)) {
      without += text[at++];
      continue;
    }
    without += "TIME";
    at += shape.size();
    if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1]))
      for (++at; at < text.size() && is_digit(text[at]);) ++at;
    if (at < text.size() && text[at] == 'Z') ++at;
  }
  return without;
}

class RecordVerbsTest : public testing::Test {
 protected:
  RanRecords run_as_given(const Words& arguments, bool terminal = false) {
    std::ostringstream out;
    std::ostringstream err;
    const auto now = [] { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); };
    const ExitCode code = run(arguments, {out, err, now, terminal});
    return {code, out.str(), err.str()};
  }
  // On the directory of the test, or with its server, which says who called in the name of others.
  RanRecords pawl(Words arguments, bool terminal = false) {
    const auto verb = arguments.begin() + words_of_verb(arguments);
    if (!server) {
      arguments.insert(verb, {"--dir", dir});
      return run_as_given(arguments, terminal);
    }
    arguments.insert(verb, {"--url", url(), "--token", token});
    RanRecords ran = run_as_given(arguments, terminal);
    const std::string via = " via cli";
    for (std::size_t at = ran.out.find(via); at != std::string::npos; at = ran.out.find(via))
      ran.out.erase(at, via.size());
    return ran;
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server->port()); }
  // What it prints, once it is sure that all is well.
  std::string good(const Words& arguments) {
    const RanRecords ran = pawl(arguments);
    EXPECT_EQ(ran.code, ExitCode::ok) << arguments[0] << ": " << ran.out << ran.err;
    return ran.out;
  }
  std::string json(Words arguments) {
    arguments.insert(arguments.begin() + words_of_verb(arguments), "--json");
    const RanRecords ran = pawl(arguments);
    EXPECT_TRUE(check_json(ran.out)) << arguments[0] << ": " << ran.out;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
    return ran.out;
  }
  // `1: what is wrong`.
  std::string bad(const Words& arguments) {
    const RanRecords ran = pawl(arguments);
    EXPECT_EQ(ran.out, "");
    return std::to_string(static_cast<int>(ran.code)) + ": " + ran.err;
  }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (temporary.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  void make_store() {
    ASSERT_EQ(run_as_given({"init", dir}).code, ExitCode::ok);
    if (is_served) serve();
  }
  void serve() {
    ServerOptions options{.engine = {.directory = dir}};
    options.engine.channels["office"] = log_channel([](const std::string&) {});
    auto opened = Server::open(std::move(options));
    ASSERT_TRUE(opened);
    server = *std::move(opened);
    token = server->first_token()->value_or(token);
    token =
        said(json({"token", "create", "cli", "--role", "admin", "--role", "worker", "--act-as"}),
             "token");
  }
  void init(const std::string& machine = kOrder) {
    make_store();
    good({"apply", write("m.yaml", machine)});
  }
  // All that is kept, to see that nothing was changed.
  std::string everything() {
    const RanRecords ran = run_as_given({"export", dir});
    EXPECT_EQ(ran.code, ExitCode::ok);
    return ran.out;
  }
  std::string state_of(const std::string& record) { return said(json({"show", record}), "state"); }

  TemporaryDirectory temporary;
  std::string dir = (temporary.path() / "data").string();
  bool is_served = false;
  std::unique_ptr<Server> server;
  std::string token;
};

class EverywhereTest : public RecordVerbsTest, public testing::WithParamInterface<bool> {
 protected:
  EverywhereTest() { is_served = GetParam(); }
};
std::string place_name(const testing::TestParamInfo<bool>& is_served) {
  return is_served.param ? "server" : "directory";
}
INSTANTIATE_TEST_SUITE_P(, EverywhereTest, testing::Bool(), place_name);

// --- the directory -----------------------------------------------------------------------------

TEST_F(RecordVerbsTest, InitMakesADirectoryOnce) {
  EXPECT_EQ(run_as_given({"init", dir, "--dry-run"}).out, dir + ": would be created\n");
  EXPECT_FALSE(std::filesystem::exists(dir));
  EXPECT_EQ(run_as_given({"init", dir}).out,
            dir + ": created. Next:\n  pawl apply FILE.yaml --dir " + dir +
                "\n  pawl create MACHINE/KEY --data '{…}' --dir " + dir + "\n");
  EXPECT_EQ(run_as_given({"init", dir}).out, dir + ": already has a store, nothing to do\n");
  EXPECT_EQ(run_as_given({"init", dir, "--json"}).out,
            R"({"directory":)" + json_string(dir) + R"(,"new":false})" + "\n");
}

// A directory without a store is not one that has a store.
TEST_F(RecordVerbsTest, InitOfAnEmptyDirectory) {
  std::filesystem::create_directory(dir);
  EXPECT_EQ(run_as_given({"init", dir, "--dry-run"}).out, dir + ": would be created\n");
  EXPECT_TRUE(std::filesystem::is_empty(dir));
  EXPECT_EQ(run_as_given({"init", dir, "--json"}).out,
            R"({"directory":)" + json_string(dir) + R"(,"new":true})" + "\n");
  const std::string file = write("file", "");
  EXPECT_EQ(run_as_given({"init", file}).code, ExitCode::environment);
  EXPECT_EQ(run_as_given({"init", ""}).code, ExitCode::usage);
}

const std::vector<Words>& every_verb() {
  static const std::vector<Words> kVerbs = {{"apply", "m.yaml"},
                                            {"create", "order/1"},
                                            {"fire", "order/1", "pay"},
                                            {"list"},
                                            {"show", "order/1"},
                                            {"log", "order/1"},
                                            {"why", "order/1"},
                                            {"retry", "order/1", "--reason", "r"},
                                            {"release", "order/1", "--reason", "r"},
                                            {"hold", "order/1", "t", "--reason", "r"},
                                            {"move", "order/1", "paid", "--reason", "r"},
                                            {"patch", "order/1", "{}", "--reason", "r"},
                                            {"erase", "order/1", "--reason", "r"},
                                            {"restart", "order/1"},
                                            {"discard", "order/1"},
                                            {"pause"},
                                            {"pause", "everything", "--reason", "r"},
                                            {"unpause", "everything"},
                                            {"tail", "--once"},
                                            {"top", "--once"},
                                            {"dead", "list"},
                                            {"dead", "retry", "--all", "--reason", "r"},
                                            {"dead", "discard", "--all"},
                                            {"token", "create", "shop", "--role", "app"},
                                            {"token", "list"},
                                            {"token", "revoke", "shop"},
                                            {"work", "--queue", "q", "--until-idle", "--", "true"}};
  return kVerbs;
}

TEST_F(RecordVerbsTest, ADirectoryThatIsNotThereOrInUseIsSaid) {
  std::vector<Words> verbs = every_verb();
  verbs[0][1] = write("m.yaml", kOrder);
  for (const Words& verb : verbs)
    EXPECT_EQ(bad(verb), "1: pawl: error: there is no directory " + dir +
                             ": create one with `pawl init`, name another with --dir, or set "
                             "PAWL_URL to use a server\n")
        << verb[0];
  std::filesystem::create_directory(dir);
  for (const Words& verb : verbs)
    EXPECT_EQ(bad(verb), "1: pawl: error: there is no store in " + dir +
                             ": create one with `pawl init`, name another with --dir, or set "
                             "PAWL_URL to use a server\n")
        << verb[0];
  const auto engine = Engine::open({.directory = dir});
  ASSERT_TRUE(engine);
  for (const Words& verb : verbs)
    EXPECT_EQ(bad(verb).substr(0, 16 + dir.size() + 22),
              "3: pawl: error: " + dir + " is in use by process ")
        << verb[0];
  EXPECT_TRUE(bad({"list"}).ends_with(
      ": stop it first, or, if it is a server, use it through PAWL_URL and PAWL_TOKEN\n"))
      << bad({"list"});
}

// --- servers -----------------------------------------------------------------------------------

class ServerTest : public RecordVerbsTest {
 protected:
  ServerTest() { is_served = true; }
  // As it is printed, with who called in the name of others.
  RanRecords run_on_server(Words arguments) {
    arguments.insert(arguments.begin() + words_of_verb(arguments),
                     {"--url", url(), "--token", token});
    return run_as_given(arguments);
  }

  int tokens = 0;
};

TEST_F(ServerTest, AServerThatIsNotThereIsSaid) {
  make_store();
  const std::string away = url();
  server.reset();
  std::vector<Words> verbs = every_verb();
  verbs[0][1] = write("m.yaml", kOrder);
  for (Words verb : verbs) {
    verb.insert(verb.begin() + words_of_verb(verb), {"--url", away, "--token", token});
    const RanRecords ran = run_as_given(verb);
    EXPECT_EQ(ran.code, ExitCode::environment) << verb[0];
    EXPECT_NE(ran.err.find("error: cannot reach " + away + ": "), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find(token), std::string::npos) << ran.err;
    verb.insert(verb.begin() + words_of_verb(verb), "--json");
    if (verb[0] != "work" && (verb[0] != "dead" || verb[1] == "list")) {
      EXPECT_EQ(run_as_given(verb).out, "") << verb[0];
    }
  }
}

TEST_F(ServerTest, WhatTheTokenDoesNotAllowIsSaid) {
  init();
  const auto made = [&](const Words& roles) {
    Words words{"token", "create", "t" + std::to_string(++tokens)};
    words.insert(words.end(), roles.begin(), roles.end());
    return said(json(words), "token");
  };
  const std::string viewer = made({"--role", "viewer"});
  const std::string scoped = made({"--role", "app", "--machine", "parcel"});
  const std::string plain = made({"--role", "admin"});
  token = viewer;
  EXPECT_EQ(good({"list"}), "no records\n");
  EXPECT_EQ(
      bad({"create", "order/1"}),
      "1: pawl: order/1: error: this call needs an access token with the role app, operator or "
      "admin\n");
  token = scoped;
  EXPECT_EQ(bad({"create", "order/1"}).substr(0, 25), "1: pawl: order/1: error: ");
  token = plain;
  EXPECT_EQ(
      bad({"create", "order/1", "--actor", "ann"}),
      "1: pawl: order/1: error: this access token may not act as somebody else: leave `actor` "
      "out, or use a token created with act_as\n");
  EXPECT_EQ(bad({"create", "order/1", "--role", "manager"}),
            "1: pawl: error: a server takes roles from the access token: --role needs --actor, and "
            "a token created with --act-as\n");
  good({"token", "revoke", "t1"});
  token = viewer;
  EXPECT_EQ(bad({"list"}), "1: pawl: error: " + url() +
                               " rejected the access token: it is unknown, revoked or expired; "
                               "check PAWL_TOKEN\n");
  EXPECT_EQ(said(json({"list"}), "error.id"), "no_access");
}

// The log names the token, and whoever it calls for.
TEST_F(ServerTest, TheTokenSaysWhoActs) {
  init();
  const auto log = [&] { return timeless(run_on_server({"log", "order/1"}).out); };
  good({"create", "order/1"});
  EXPECT_EQ(log(), "TIME  created: - -> new  [cli]\n");
  good({"hold", "order/1", "t", "--reason", "r", "--actor", "ann"});
  EXPECT_TRUE(log().ends_with("  [ann via cli]\n")) << log();
}

TEST_F(ServerTest, TokensAreMadeListedAndRevoked) {
  init();
  const std::string shop =
      said(json({"token", "create", "shop", "--role", "app", "--actor", "ann", "--expires", "30d"}),
           "token");
  EXPECT_EQ(
      timeless(run_on_server({"token", "list"}).out),
      "NAME           ROLES         MACHINE ROLES  MACHINES  QUEUES  EXPIRES              CREATED "
      "BY\n"
      "admin          worker,admin  -              all       all     never                the "
      "first start\n"
      "cli (acts as)  worker,admin  -              all       all     never                admin\n"
      "shop           app           -              all       all     TIME  ann via cli\n");
  EXPECT_EQ(good({"token", "revoke", "shop"}), "shop: revoked\n");
}

// Deliveries are the server's own.
TEST_F(ServerTest, ChannelsAreThoseOfTheServer) {
  make_store();
  const std::string machine = R"(machine: m
initial: a
states:
  a: {on: {go: {to: b, effects: [{notify: nobody}]}}}
  b: {final: true}
)";
  EXPECT_EQ(pawl({"apply", write("n.yaml", machine)}).code, ExitCode::wrong);
  EXPECT_EQ(bad({"work", "--queue", "q", "--log-channel", "office", "--", "true"}),
            "1: pawl: error: a server makes its own deliveries: give --log-channel to "
            "`pawl serve` instead\n");
}

TEST_F(RecordVerbsTest, TheHelpOfEveryVerbHasAnExampleAndJson) {
  for (Words verb : every_verb()) {
    verb.resize(static_cast<std::size_t>(words_of_verb(verb)));
    verb.emplace_back("--help");
    const RanRecords ran = run_as_given(verb);
    EXPECT_EQ(ran.code, ExitCode::ok);
    EXPECT_NE(ran.out.find("Example:\n  pawl " + verb[0]), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("--json"), std::string::npos) << ran.out;
  }
}

// --- machines ----------------------------------------------------------------------------------

TEST_P(EverywhereTest, ApplySaysWhatChanges) {
  make_store();
  const std::string file = write("m.yaml", kOrder);
  EXPECT_EQ(good({"apply", file, "--dry-run"}), file + ": order would become version 1\n");
  EXPECT_EQ(bad({"create", "order/1"}).substr(0, 52),
            "1: pawl: order/1: error: there is no machine `order`");
  EXPECT_EQ(good({"apply", file}), file + ": order is version 1\n");
  EXPECT_EQ(good({"apply", file}), file + ": order is already at version 1\n");
  good({"create", "order/1"});
  write("m.yaml", std::string(kOrder) + "doc: Later.\n");
  EXPECT_EQ(good({"apply", file}),
            file + ": order is version 2\n" +
                "  1 record in new of version 1 will switch to the new version at their next "
                "stimulus\n");
  EXPECT_EQ(said(json({"apply", file}), "ok"), "true");
  EXPECT_EQ(bad({"apply", file + "x"}),
            "3: pawl: error: cannot read " + file + "x: No such file or directory\n");
}

// As `pawl validate` does.
TEST_P(EverywhereTest, ApplyPointsAtWhatIsWrong) {
  init();
  const std::string file =
      write("m.yaml", "machine: order\ninitial: nwe\nstates:\n  new: {final: true}\n");
  const std::string finding =
      file +
      ":2:10: error: `initial`: there is no state `nwe`; did you mean new? [unknown_state]\n";
  const RanRecords ran = pawl({"apply", file});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out, file + ": not applied\n");
  EXPECT_EQ(ran.err, run_as_given({"validate", file}).err);
  EXPECT_EQ(pawl({"apply", file}, true).err, run_as_given({"validate", file}, true).err);
  EXPECT_NE(pawl({"apply", file}, true).err.find("  initial: nwe\n           ^\n"),
            std::string::npos);
  EXPECT_EQ(said(json({"apply", file}), "ok"), "false");
}

// --- one record --------------------------------------------------------------------------------

TEST_P(EverywhereTest, ARecordIsCreatedOnce) {
  init();
  EXPECT_EQ(good({"create", "order/17", "--dry-run"}), "order/17: dry run: ok, new, revision 1\n");
  EXPECT_EQ(bad({"show", "order/17"}), "1: pawl: error: there is no record order/17\n");
  EXPECT_EQ(good({"create", "order/17", "--data", R"({"amount": 3})"}),
            "order/17: ok, new, revision 1\n");
  EXPECT_EQ(good({"create", "order/17"}),
            "order/17: duplicate, new, revision 1: a record with this key already exists\n");
  EXPECT_EQ(json({"create", "order/18", "--data", "@" + write("d.json", R"({"amount":4})"),
                  "--event", "pay", "--payload", "{}"}),
            R"({"answer":"ok","state":"paying","revision":2})"
            "\n");
  EXPECT_EQ(good({"create", "order/a/b", "--parent", "order/17"}),
            "order/a/b: ok, new, revision 1\n");
  EXPECT_EQ(said(json({"show", "order/a/b"}), "parent.key"), "17");
}

TEST_P(EverywhereTest, WhatIsGivenWronglyIsSaid) {
  init();
  for (const char* name : {"order", "/17", "order/", ""})
    EXPECT_EQ(bad({"show", name}),
              "1: pawl: error: '" + std::string(name) +
                  "' is not a record name; write MACHINE/KEY, e.g. order/17\n");
  EXPECT_EQ(bad({"create", "order/1", "--data", "{"}).substr(0, 42),
            "1: pawl: error: --data: this is not JSON: ");
  EXPECT_EQ(bad({"create", "order/1", "--data", "[]"}),
            "1: pawl: order/1: error: `data` must be a map\n");
  EXPECT_EQ(bad({"create", "order/1", "--data", "@/none.json"}),
            "3: pawl: error: cannot read /none.json: No such file or directory\n");
  EXPECT_EQ(bad({"create", "order/1", "--in", "soon"}).substr(0, 53),
            "1: pawl: order/1: error: `in` must be a duration: a n");
  EXPECT_EQ(bad({"create", "order/1", "--payload", "{}"}),
            "2: pawl: --payload requires --event\nRun 'pawl create --help' for usage.\n");
  EXPECT_EQ(bad({"create", "order/1", "--in", "1h", "--at", "2030-01-01T00:00:00Z"}).substr(0, 26),
            "2: pawl: --at excludes --i");
  EXPECT_EQ(
      bad({"fire", "order/1", "pay", "--idempotency-key", ""}),
      "2: pawl: --idempotency-key: the value is empty; give one or leave the option out\nRun 'pawl fire --help' for usage.\n");
  EXPECT_EQ(json({"show", "order/1"}),
            R"({"error":{"id":"no_such_record","message":"there is no record order/1",)"
            R"("hint":"create it, or see GET /v1/records for a list"}})"
            "\n");
}

TEST_P(EverywhereTest, ARefusalSaysWhyOnLinesOfItsOwn) {
  init();
  good({"create", "order/17"});
  EXPECT_EQ(bad({"fire", "order/17", "pay"}),
            "1: pawl: order/17: refused: `pay` is not accepted in `new`\n"
            "  pay needs: data.amount > 0; data.amount = 0\n"
            "  permitted now: cancel, discard and restart\n");
  EXPECT_EQ(said(json({"fire", "order/17", "pay"}), "answer"), "refused");
  EXPECT_EQ(bad({"fire", "order/17", "pya"}),
            "1: pawl: order/17: error: the machine has no event `pya`; did you mean pay?\n");
  EXPECT_EQ(pawl({"fire", "order/17", "approve"}).code, ExitCode::wrong);
  EXPECT_EQ(good({"fire", "order/17", "approve", "--role", "manager", "--actor", "ann"}),
            "order/17: ok, paid, revision 2\n");
  EXPECT_NE(good({"log", "order/17"}).find("[ann]"), std::string::npos);
}

// What others have chosen must not steer the terminal.
TEST_P(EverywhereTest, WhatIsPrintedIsPrintable) {
  init();
  const std::string record = "order/\x1b[31mred";
  const std::string shown = "order/\\x1b[31mred";
  EXPECT_EQ(good({"create", record}), shown + ": ok, new, revision 1\n");
  EXPECT_EQ(bad({"fire", record, "pay"}).substr(0, 9 + shown.size() + 11),
            "1: pawl: " + shown + ": refused: ");
  EXPECT_EQ(bad({"fire", record, "p\x07"}),
            "1: pawl: " + shown + ": error: the machine has no event `p\\x07`\n");
  good({"hold", record, "a\nb\x1b", "--reason", "r"});
  for (const Words& verb : {Words{"list"}, {"show", record}, {"log", record}, {"why", record}})
    EXPECT_EQ(good(verb).find('\x1b'), std::string::npos) << verb[0];
  EXPECT_EQ(bad({"show", "order/\x1b"}), "1: pawl: error: there is no record order/\\x1b\n");
  EXPECT_EQ(timeless(good({"list"})),
            "RECORD             STATE  SINCE                NEXT\n"
            "order/\\x1b[31mred  new    TIME        on hold (operator): a\\x0ab\\x1b\n");
}

TEST_P(EverywhereTest, AnIdempotencyKeyIsCarriedOutOnce) {
  init();
  good({"create", "order/17", "--data", R"({"amount":1})"});
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(good({"fire", "order/17", "pay", "--idempotency-key", "k"}),
              "order/17: ok, paying, revision 2\n");
  EXPECT_EQ(good({"fire", "order/18", "pay", "--create", R"({"amount":1})"}),
            "order/18: ok, paying, revision 2\n");
}

TEST_P(EverywhereTest, WhatIsForLaterWaits) {
  init();
  EXPECT_EQ(good({"create", "order/17", "--in", "1h"}),
            "order/17: ok, scheduled; `pawl show send/call/1` shows the outcome\n");
  EXPECT_EQ(good({"list"}), "no records\n");
  EXPECT_NE(good({"list", "send"}).find("send/call/1  sending"), std::string::npos);
}

TEST_P(EverywhereTest, ARecordIsShown) {
  init();
  good({"create", "order/17", "--data", R"({"amount":5})", "--actor", "ann"});
  EXPECT_EQ(timeless(good({"show", "order/17"})),
            "machine     order\n"
            "key         17\n"
            "id          1\n"
            "version     1\n"
            "state       new\n"
            "entered_at  TIME\n"
            "created_at  TIME\n"
            "revision    1\n"
            "epoch       1\n"
            "next_at     TIME\n"
            "wake_at     TIME\n"
            "data        {\"amount\":5,\"region\":\"eu\"}\n"
            "labels      {\"region\":\"eu\"}\n"
            "priority    5\n");
  EXPECT_EQ(timeless(good({"why", "order/17"})),
            "order/17: waiting for a timer at TIME; also accepts approve, cancel and pay\n");
  EXPECT_EQ(said(json({"why", "order/17"}), "why"), "timer_at");
  EXPECT_EQ(timeless(good({"log", "order/17"})), "TIME  created: - -> new  [ann]\n");
  const std::string log = json({"log", "order/17"});
  ASSERT_EQ(items_of(log).size(), 1U);
  EXPECT_EQ(said(items_of(log)[0], "kind"), "created");
  EXPECT_EQ(json({"log", "order/18"}),
            R"({"error":{"id":"no_such_record","message":"there is no record order/18",)"
            R"("hint":"create it, or see GET /v1/records for a list"}})"
            "\n");
  EXPECT_EQ(pawl({"log", "order/18", "--json"}).code, ExitCode::wrong);
  EXPECT_EQ(bad({"log", "order/18"}), "1: pawl: error: there is no record order/18\n");
  EXPECT_EQ(bad({"why", "order/18"}), "1: pawl: error: there is no record order/18\n");
}

TEST_P(EverywhereTest, ShowWaitsForTheEnd) {
  init(R"(machine: lamp
initial: lit
states:
  lit: {after: {50ms: dark}, on: {keep: kept}}
  dark: {final: true}
  kept: {on: {light: lit}}
)");
  good({"create", "lamp/1"});
  good({"create", "lamp/2", "--event", "keep"});
  EXPECT_EQ(said(json({"show", "lamp/1", "--wait", "1m"}), "state"), "dark");
  EXPECT_EQ(good({"show", "lamp/1", "--wait", "9999d"}), good({"show", "lamp/1"}));
  const RanRecords ran = pawl({"show", "lamp/2", "--wait", "1ms"});
  EXPECT_EQ(ran.code, ExitCode::undecided);
  EXPECT_EQ(ran.out, good({"show", "lamp/2"}));
  EXPECT_EQ(ran.err, "pawl: lamp/2 is not final yet\n");
  EXPECT_EQ(bad({"show", "lamp/3", "--wait", "1m"}), "1: pawl: error: there is no record lamp/3\n");
  EXPECT_EQ(bad({"show", "lamp/1", "--wait", "long"}).substr(0, 31),
            "1: pawl: --wait:1:1: error: a n");
}

TEST_P(EverywhereTest, RecordsAreListed) {
  init();
  EXPECT_EQ(good({"list"}), "no records\n");
  EXPECT_EQ(json({"list"}), "{\"items\":[],\"more\":false}\n");
  good({"create", "order/a1", "--data", R"({"region":"us"})"});
  good({"create", "order/a2", "--data", R"({"amount":1})", "--event", "pay"});
  good({"create", "order/b1", "--parent", "order/a1"});
  good({"hold", "order/b1", "look at it", "--reason", "r"});
  EXPECT_EQ(timeless(good({"list"})),
            "RECORD    STATE   SINCE                NEXT\n"
            "order/a1  new     TIME  TIME\n"
            "order/a2  paying  TIME  TIME\n"
            "order/b1  new     TIME                       on hold (operator): look at it\n");
  const auto keys = [&](Words arguments) {
    arguments.insert(arguments.begin(), "list");
    Words found;
    for (const std::string& record : items_of(json(arguments)))
      found.push_back(said(record, "key"));
    return found;
  };
  EXPECT_EQ(keys({"order"}).size(), 3U);
  EXPECT_EQ(keys({"--state", "paying"}), Words{"a2"});
  EXPECT_EQ(keys({"order", "--prefix", "a"}), (Words{"a1", "a2"}));
  EXPECT_EQ(keys({"--label", "region=us"}), Words{"a1"});
  EXPECT_EQ(keys({"--parent", "order/a1"}), Words{"b1"});
  EXPECT_EQ(keys({"--held"}), Words{"b1"});
  EXPECT_EQ(keys({"--error", "oops"}), Words{});
  EXPECT_EQ(keys({"--fingerprint", "0123456789abcdef"}), Words{});
  EXPECT_EQ(keys({"--created-before", "2026-01-01T00:00:00Z"}), Words{});
  EXPECT_EQ(keys({"--created-from", "2026-01-01T00:00:00Z"}).size(), 3U);
  const std::string two = good({"list", "--max", "2"});
  EXPECT_TRUE(two.ends_with("there are more: add a filter, or raise --max\n")) << two;
  EXPECT_EQ(said(json({"list", "--max", "2"}), "more"), "true");
  EXPECT_EQ(said(json({"list", "--max", "3"}), "more"), "false");
  EXPECT_EQ(bad({"list", "ordr"}),
            "1: pawl: error: there is no machine `ordr`; did you mean order?\n");
  EXPECT_EQ(bad({"list", "--prefix", "a"}),
            "2: pawl: --prefix requires MACHINE\nRun 'pawl list --help' for usage.\n");
  EXPECT_EQ(
      bad({"list", "--state", ""}),
      "2: pawl: --state: the value is empty; give one or leave the option out\nRun 'pawl list --help' for usage.\n");
  EXPECT_EQ(bad({"list", "--max", "0"}).substr(0, 3), "2: ");
}

// --- all records -------------------------------------------------------------------------------

TEST_P(EverywhereTest, TailShowsEntries) {
  init();
  EXPECT_EQ(good({"tail", "--once", "--from", "start"}), "");
  good({"create", "order/1", "--actor", "ann"});
  good({"create", "order/2", "--data", R"({"amount":1})", "--event", "pay", "--actor", "ann"});
  good({"create", "order/3", "--event", "cancel", "--actor", "ann"});
  const auto shown = [&](Words arguments) {
    arguments.insert(arguments.begin(), {"tail", "--once", "--from", "start"});
    return timeless(good(arguments));
  };
  const std::string all =
      "TIME  order/1  created: - -> new  [ann]\n"
      "TIME  order/2  created: - -> new  [ann]\n"
      "TIME  order/2  event pay: new -> paying  [ann]\n"
      "TIME  order/3  created: - -> new  [ann]\n"
      "TIME  order/3  event cancel: new -> cancelled  [ann]\n";
  EXPECT_EQ(shown({}), all);
  EXPECT_EQ(shown({"order"}), all);
  EXPECT_EQ(shown({"--max", "1"}), "TIME  order/1  created: - -> new  [ann]\n");
  EXPECT_EQ(shown({"order/3", "--state", "cancelled"}),
            "TIME  order/3  event cancel: new -> cancelled  [ann]\n");
  EXPECT_EQ(shown({"--kind", "event", "--kind", "failed", "--state", "paying"}),
            "TIME  order/2  event pay: new -> paying  [ann]\n");
  const std::string last = shown({"--json", "--kind", "event", "order/3"});
  EXPECT_EQ(said(last, "machine") + said(last, "key") + said(last, "to"), "order3cancelled");
  EXPECT_EQ(bad({"tail", "--once", "ordr"}),
            "1: pawl: error: there is no machine `ordr`; did you mean order?\n");
  EXPECT_EQ(bad({"tail", "--kind", "vent"}).substr(0, 16), "2: pawl: --kind:");
  EXPECT_EQ(bad({"tail", "--once", "--from", "x"}).substr(0, 16), "1: pawl: error: ");
}

TEST_P(EverywhereTest, TopShowsWhereRecordsAre) {
  init();
  const std::string place = server ? url() : dir;
  const auto top = [&] { return timeless(good({"top", "--once", "--every", "1ms"})); };
  EXPECT_EQ(top(),
            place +
                "  TIME\nrecords: 0, retrying: 0, on hold: 0\n"
                "per second: 0.0 entries, 0.0 created, 0.0 done, 0.0 failed\n\nno records\n");
  write("m.yaml", std::string(kOrder).replace(std::string(kOrder).find("[0s]"), 4, "[1h]"));
  good({"apply", (temporary.path() / "m.yaml").string()});
  for (const char* record : {"order/1", "order/2", "order/3"})
    good({"create", record, "--data", R"({"amount":1})", "--event", "pay"});
  good({"work", "--queue", "payments", "--until-idle", "--", "sh", "-c",
        "test $PAWL_KEY = 3 || { echo no money >&2; exit 1; }"});
  good({"hold", "order/2", "t", "--reason", "r"});
  good({"create", "order/4"});
  good({"pause", "queue:payments", "--reason", "the bank is away"});
  EXPECT_EQ(top(), place +
                       "  TIME\nrecords: 4, retrying: 1, on hold: 1\n"
                       "per second: 0.0 entries, 0.0 created, 0.0 done, 0.0 failed\n"
                       "paused: queue:payments: the bank is away\n\n"
                       "MACHINE  STATE   RECORDS  RETRYING  ON HOLD\n"
                       "order    new     1        -         -\n"
                       "order    paid    1        -         -\n"
                       "order    paying  2        1         1\n\n"
                       "ERRORS  MACHINE  STATE   CODE    LAST                 MESSAGE\n"
                       "2       order    paying  exit_1  TIME  no money\n");
  const std::string view = json({"top", "order", "--once", "--every", "1ms"});
  EXPECT_EQ(said(view, "retrying") + said(view, "held") + said(view, "complete"), "11true") << view;
  ASSERT_EQ(items_of(view, "states").size(), 3U);
  EXPECT_EQ(items_of(view, "states")[2],
            R"({"machine":"order","state":"paying","records":2,"held":1,"retrying":1})");
  EXPECT_EQ(items_of(view, "errors").size(), 1U);
  EXPECT_EQ(items_of(view, "pauses").size(), 1U);
  EXPECT_EQ(bad({"top", "ordr", "--once", "--every", "1ms"}),
            "1: pawl: error: there is no machine `ordr`; did you mean order?\n");
  EXPECT_EQ(bad({"top", "--once", "--every", "often"}).substr(0, 28),
            "1: pawl: --every:1:1: error:");
}

// --- steering ----------------------------------------------------------------------------------

TEST_P(EverywhereTest, OrdersOfAnOperator) {
  init();
  good({"create", "order/17"});
  EXPECT_EQ(good({"hold", "order/17", "look at it", "--reason", "r"}),
            "order/17: ok, new, revision 2\n");
  EXPECT_EQ(said(json({"show", "order/17"}), "hold.text"), "look at it");
  EXPECT_EQ(good({"release", "order/17", "--reason", "r"}), "order/17: ok, new, revision 3\n");
  EXPECT_EQ(bad({"release", "order/17", "--reason", "r"}),
            "1: pawl: order/17: refused: it is not on hold\n"
            "  permitted now: cancel, discard and restart\n");
  EXPECT_EQ(good({"patch", "order/17", R"({"amount":7})", "--reason", "r"}),
            "order/17: ok, new, revision 4\n");
  EXPECT_EQ(bad({"patch", "order/17", "{", "--reason", "r"}).substr(0, 41),
            "1: pawl: error: PATCH: this is not JSON: ");
  EXPECT_EQ(good({"move", "order/17", "paying", "--reason", "r"}),
            "order/17: ok, paying, revision 5\n");
  EXPECT_EQ(bad({"move", "order/17", "payed", "--reason", "r"}),
            "1: pawl: order/17: error: the machine has no state `payed`; did you mean paid?\n");
  EXPECT_EQ(pawl({"retry", "order/17", "--reason", "r"}).code, ExitCode::wrong);  // it is ready
  EXPECT_EQ(bad({"retry", "order/17"}).substr(0, 30), "2: pawl: --reason is required\n");
  EXPECT_EQ(bad({"retry", "order/17", "--reason", ""}).substr(0, 32),
            "2: pawl: --reason: the value is ");
  EXPECT_EQ(good({"restart", "order/17"}), "order/17: ok, new, revision 6\n");
  EXPECT_EQ(good({"discard", "order/17"}), "order/17: ok, discarded, revision 7\n");
  EXPECT_EQ(good({"erase", "order/17", "--reason", "r"}), "order/17: ok, discarded, revision 8\n");
  EXPECT_EQ(said(json({"show", "order/17"}), "data"), "{}");
}

TEST_P(EverywhereTest, WhatIsPausedIsListed) {
  init();
  EXPECT_EQ(good({"pause"}), "nothing is paused\n");
  EXPECT_EQ(timeless(good({"pause", "machine:order", "--reason", "stocktaking", "--actor", "ann",
                           "--dry-run"})),
            "dry run: machine:order: paused since TIME by ann: stocktaking\n");
  EXPECT_EQ(timeless(good({"pause", "label:region=eu", "--reason", "customs", "--actor", "ann"})),
            "label:region=\"eu\": paused since TIME by ann: customs\n");
  EXPECT_EQ(items_of(json({"pause"})).size(), 1U);
  EXPECT_EQ(good({"unpause", "label:region=eu", "--dry-run"}),
            "dry run: label:region=eu: resumed\n");
  EXPECT_EQ(good({"unpause", "label:region=eu"}), "label:region=eu: resumed\n");
  EXPECT_EQ(bad({"unpause", "label:region=eu"}),
            "1: pawl: error: `label:region=\"eu\"` is not paused\n");
  EXPECT_EQ(bad({"pause", "order", "--reason", "r"}),
            "1: pawl: error: 'order' cannot be paused; write machine:NAME, queue:NAME, "
            "label:NAME=VALUE or everything\n");
  EXPECT_EQ(bad({"pause", "everything"}).substr(0, 38), "2: pawl: a pause needs a --reason, whi");
  EXPECT_EQ(bad({"pause", "--reason", "all is lost"}).substr(0, 27), "2: pawl: say what to pause:");
}

// --- access tokens -----------------------------------------------------------------------------

TEST_F(RecordVerbsTest, TokensAreMadeListedAndRevoked) {
  init();
  EXPECT_EQ(good({"token", "list"}), "no access tokens\n");
  const std::string made =
      good({"token", "create", "shop", "--role", "app", "--role", "viewer", "--machine", "order",
            "--machine-role", "manager", "--act-as", "--expires", "30d", "--actor", "ann"});
  EXPECT_EQ(timeless(made).substr(0, 65),
            "shop: created, expires TIME\naccess token (shown only once): pawl_");
  const std::string shown = made.substr(made.find("pawl_"), 37);
  EXPECT_EQ(made.substr(made.find("pawl_") + 37), "\n");
  const std::string worker =
      json({"token", "create", "ci", "--role", "worker", "--queue", "q", "--actor", "bob"});
  EXPECT_EQ(said(worker, "token").size(), 37U);
  EXPECT_EQ(
      timeless(good({"token", "list"})),
      "NAME            ROLES       MACHINE ROLES  MACHINES  QUEUES  EXPIRES              CREATED BY\n"
      "ci              worker      -              all       q       never                bob\n"
      "shop (acts as)  viewer,app  manager        order     all     TIME  ann\n");
  EXPECT_EQ(items_of(json({"token", "list"})).size(), 2U);
  EXPECT_EQ(everything().find(shown.substr(5)), std::string::npos);
  EXPECT_EQ(bad({"token", "create", "shop", "--role", "app"}),
            "1: pawl: error: the access token `shop` already exists: revoke it, or choose another "
            "name\n");
  EXPECT_EQ(bad({"token", "create", "x", "--role", "boss"}).substr(0, 41),
            "1: pawl: error: there is no role `boss`; ");
  EXPECT_EQ(bad({"token", "create", "x"}).substr(0, 28), "2: pawl: --role is required\n");
  EXPECT_EQ(bad({"token", "create", "x", "--role", "app", "--expires", "soon"}).substr(0, 49),
            "1: pawl: error: `expires_in` must be a duration: ");
  EXPECT_EQ(good({"token", "revoke", "shop"}), "shop: revoked\n");
  EXPECT_EQ(bad({"token", "revoke", "shop"}), "1: pawl: error: there is no access token `shop`\n");
  EXPECT_EQ(said(items_of(json({"token", "list"}))[0], "name"), "ci");
}

TEST_F(RecordVerbsTest, ADryRunChangesNothing) {
  init();
  good({"create", "order/1", "--data", R"({"amount":1})"});
  good({"create", "order/2", "--data", R"({"amount":1})", "--event", "pay"});
  good({"work", "--queue", "payments", "--until-idle", "--", "false"});
  good({"pause", "queue:q", "--reason", "r"});
  good({"create", "order/3", "--event", "cancel"});
  good({"create", "order/4"});
  good({"hold", "order/1", "t", "--reason", "r"});
  good({"token", "create", "ci", "--role", "worker"});
  const std::string file = write("n.yaml", std::string(kOrder) + "doc: Later.\n");
  const std::string before = everything();
  for (Words verb : {Words{"apply", file},
                     {"create", "order/9"},
                     {"fire", "order/4", "cancel"},
                     {"retry", "order/2", "--reason", "r"},
                     {"release", "order/1", "--reason", "r"},
                     {"hold", "order/2", "t", "--reason", "r"},
                     {"move", "order/1", "paid", "--reason", "r"},
                     {"patch", "order/1", R"({"amount":2})", "--reason", "r"},
                     {"erase", "order/3", "--reason", "r"},
                     {"restart", "order/1"},
                     {"discard", "order/1"},
                     {"pause", "everything", "--reason", "r"},
                     {"unpause", "queue:q"},
                     {"dead", "retry", "--all", "--reason", "r"},
                     {"dead", "discard", "--all"},
                     {"token", "create", "shop", "--role", "app"},
                     {"token", "revoke", "ci"}}) {
    verb.emplace_back("--dry-run");
    const RanRecords ran = pawl(verb);
    EXPECT_EQ(ran.code, ExitCode::ok) << verb[0] << ": " << ran.err;
    EXPECT_TRUE(ran.out.find("dry run") != std::string::npos ||
                ran.out.find("would be") != std::string::npos)
        << verb[0] << ": " << ran.out;
    EXPECT_EQ(everything(), before) << verb[0];
  }
}

TEST_P(EverywhereTest, DeadLettersAreListedAndSteered) {
  init();
  EXPECT_EQ(good({"dead", "list"}), "no dead letters\n");
  EXPECT_EQ(good({"dead", "list", "--grouped"}), "no dead letters\n");
  for (const char* record : {"order/1", "order/2", "order/3"})
    good({"create", record, "--data", R"({"amount":1})", "--event", "pay"});
  good({"work", "--queue", "payments", "--until-idle", "--", "sh", "-c",
        "test $PAWL_KEY = 3 && exit 3; echo no money >&2; exit 1"});
  const std::string listed = timeless(good({"dead", "list"}));
  EXPECT_TRUE(
      listed.starts_with("RECORD   STATE   SINCE                FINGERPRINT\norder/1  "
                         "paying  TIME  "))
      << listed;
  EXPECT_NE(listed.find("on hold (gave_up): no money\n"), std::string::npos) << listed;
  const std::string items = json({"dead", "list"});
  EXPECT_EQ(items_of(items).size(), 3U);
  EXPECT_EQ(said(items, "more"), "false");
  const std::string cut = good({"dead", "list", "--max", "2"});
  EXPECT_TRUE(cut.ends_with("there are more: use --grouped, or raise --max\n")) << cut;
  EXPECT_EQ(items_of(json({"dead", "list", "--max", "2"})).size(), 2U);
  EXPECT_EQ(said(json({"dead", "list", "--max", "2"}), "more"), "true");

  const std::string grouped = json({"dead", "list", "--grouped"});
  const auto groups = items_of(grouped, "groups");
  ASSERT_EQ(groups.size(), 2U) << grouped;
  const std::string& money = said(groups[0], "code") == "exit_1" ? groups[0] : groups[1];
  EXPECT_EQ(said(money, "records"), "2");
  EXPECT_EQ(said(money, "message"), "no money");
  EXPECT_NE(good({"dead", "list", "--grouped"}).find("no money\n"), std::string::npos);

  EXPECT_EQ(bad({"dead", "discard"}),
            "2: pawl: choose which dead letters: --machine, --fingerprint or --all\n"
            "Run 'pawl dead discard --help' for usage.\n");
  EXPECT_EQ(bad({"dead", "retry", "--machine", "", "--reason", "r"}).substr(0, 38),
            "2: pawl: --machine: the value is empty");
  EXPECT_EQ(bad({"dead", "retry", "--machine", "ordr", "--reason", "r"}),
            "1: pawl: error: there is no machine `ordr`; did you mean order?\n");
  EXPECT_EQ(bad({"dead", "discard", "--fingerprint", "x"}),
            "1: pawl: error: `fingerprint` must be 16 hex digits\n");
  EXPECT_EQ(good({"dead", "retry", "--machine", "order", "--reason", "r", "--dry-run"}),
            "dry run: 3 records retried\n");
  EXPECT_EQ(good({"dead", "discard", "--fingerprint", said(money, "fingerprint")}),
            "2 records discarded\n");
  EXPECT_EQ(json({"dead", "retry", "--all", "--reason", "the bank is back"}),
            "{\"done\":1,\"refused\":0,\"of\":1}\n");
  EXPECT_EQ(good({"dead", "retry", "--all", "--reason", "r"}), "0 records retried\n");
  EXPECT_EQ(state_of("order/1"), "discarded");
  EXPECT_EQ(said(json({"why", "order/3"}), "why"), "ready_since");
}

// More than one page, more threads than one, and what is said meanwhile.
TEST_F(RecordVerbsTest, ManyDeadLetters) {
  init();
  constexpr std::size_t kMany = 1'200;
  {
    auto engine = Engine::open({.directory = dir, .creates = false});
    ASSERT_TRUE(engine);
    std::vector<Stimulus> stimuli;
    for (std::size_t i = 0; i < kMany; ++i) {
      const std::string key = std::to_string(i);
      const Actor actor{.name = "ann", .roles = {"operator"}};
      stimuli.push_back({.what = Stimulus::Create{.data = R"({"amount":1})", .event = "pay"},
                         .machine = "order",
                         .key = key,
                         .actor = actor});
    }
    std::atomic<std::size_t> open = stimuli.size();
    (*engine)->submit(stimuli, [&](std::size_t, const Result<Answer>& answer) {
      EXPECT_TRUE(answer && answer->kind == Answer::Kind::ok);
      --open;
      open.notify_all();
    });
    for (std::size_t left = open; left > 0; left = open) open.wait(left);
    for (int round = 0; round < 2; ++round) {
      std::vector<Stimulus> failures;
      for (int page = 0; page < 2; ++page) {
        const auto given = (*engine)->claim({.queues = {"payments"}, .max = kClaimMax});
        ASSERT_TRUE(given);
        for (const GivenAttempt& one : *given)
          failures.push_back({.what = Stimulus::Fail{hash_of_token(one.token), {.code = "oops"}},
                              .machine = "order",
                              .key = one.given.key});
      }
      ASSERT_EQ(failures.size(), kMany);
      open = kMany;
      (*engine)->submit(failures, [&](std::size_t, const Result<Answer>&) {
        --open;
        open.notify_all();
      });
      for (std::size_t left = open; left > 0; left = open) open.wait(left);
    }
  }
  EXPECT_EQ(items_of(json({"dead", "list", "--max", "100000"})).size(), kMany);
  const RanRecords grouped = pawl({"dead", "list", "--grouped"}, true);
  EXPECT_NE(grouped.out.find("1200     order    paying  oops"), std::string::npos) << grouped.out;
  EXPECT_NE(grouped.err.find("\rdead letters found: 1200"), std::string::npos) << grouped.err;
  const RanRecords retried = pawl({"dead", "retry", "--all", "--reason", "r"}, true);
  EXPECT_EQ(retried.out, "1200 records retried\n");
  EXPECT_NE(retried.err.find("\rretried: 1100 of 1200"), std::string::npos) << retried.err;
  EXPECT_TRUE(retried.err.ends_with("\r\x1b[K")) << retried.err;
  EXPECT_EQ(good({"dead", "list"}), "no dead letters\n");
}

// --- work --------------------------------------------------------------------------------------

class WorkTest : public EverywhereTest {
 protected:
  void start(const std::string& task = "{queue: q, retry: [0s]}", int records = 1) {
    init(
        "machine: job\ninitial: working\ndata: {n: {type: int, default: 1}}\nstates:\n"
        "  working: {task: work, done: {to: finished, effects: [{notify: office}]}}\n"
        "  finished: {final: true}\ntasks:\n  work: " +
        task + "\n");
    for (int i = 1; i <= records; ++i) good({"create", "job/" + std::to_string(i)});
  }
  RanRecords work(const Words& command, const Words& options = {}) {
    Words arguments{"work", "--queue", "q", "--until-idle"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return pawl(arguments);
  }
  RanRecords work(const std::string& script, const Words& options = {}) {
    return work(Words{"sh", "-c", script}, options);
  }
};

INSTANTIATE_TEST_SUITE_P(, WorkTest, testing::Bool(), place_name);

class DirectoryWorkTest : public WorkTest {};
INSTANTIATE_TEST_SUITE_P(, DirectoryWorkTest, testing::Values(false), place_name);

TEST_P(WorkTest, ExitCodeZeroIsDoneWithItsOutputAsTheResult) {
  start();
  const RanRecords ran = work("cat; echo");
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_EQ(ran.out, "job/1 work 1: done: finished\n1 done, 0 failed\n");
  EXPECT_EQ(said(json({"show", "job/1"}), "result"), R"({"n":1})");
  EXPECT_EQ(work("true").out, "0 done, 0 failed\n");
}

TEST_P(WorkTest, OutputThatIsNoJsonIsAText) {
  start("{queue: q}", 2);
  EXPECT_EQ(work("test $PAWL_KEY = 2 || echo 'hello \"you\"'", {"--json"}).out,
            "{\"done\":2,\"failed\":0,\"returned\":0,\"stale\":0}\n");
  EXPECT_EQ(said(json({"show", "job/1"}), "result"), R"({"output":"hello \"you\""})");
  EXPECT_EQ(said(json({"show", "job/2"}), "result"), "{}");
}

TEST_P(WorkTest, TheCommandKnowsWhatItWorksOn) {
  start();
  work(
      "echo $PAWL_MACHINE/$PAWL_KEY $PAWL_TASK $PAWL_QUEUE $PAWL_ATTEMPT $PAWL_IDEMPOTENCY_KEY "
      "${#PAWL_ATTEMPT_TOKEN} ${PAWL_DEADLINE_AT%-*}");
  const std::string output = said(json({"show", "job/1"}), "result.output");
  EXPECT_TRUE(output.starts_with("job/1 work q 1 1/1 32 2") && output.size() == 29) << output;
}

TEST_P(WorkTest, AnotherExitCodeIsAFailure) {
  start();
  const RanRecords ran = work("echo line >&2; echo no money >&2; exit 7");
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_EQ(ran.out,
            "job/1 work 1: failed: exit_7 (line\\x0ano money): working\n"
            "job/1 work 2: failed: exit_7 (line\\x0ano money): working\n"
            "0 done, 2 failed\n");
  EXPECT_EQ(said(json({"show", "job/1"}), "error.code"), "exit_7");
  good({"retry", "job/1", "--reason", "r"});
  EXPECT_EQ(work("kill -TERM $$").out.substr(0, 34), "job/1 work 1: failed: signal_15: w");
}

TEST_P(WorkTest, AFailureMaySayMore) {
  start();
  const RanRecords ran = work(
      R"(echo '{"code":"busy","message":"try later","retry_after":"2h","detail":{"a":1}}'; exit 1)");
  EXPECT_EQ(ran.out, "job/1 work 1: failed: busy (try later): working\n0 done, 1 failed\n");
  const std::string record = json({"show", "job/1"});
  EXPECT_EQ(said(record, "error.code"), "busy");
  EXPECT_EQ(said(record, "error.detail.a"), "1");
  EXPECT_EQ(said(record, "error.retry_after"), "2h");
  EXPECT_EQ(said(json({"why", "job/1"}), "why"), "backing_off_until");
}

// What a command prints must not leave its attempt open.
TEST_P(WorkTest, AFailureThatCannotBeTakenIsAFailure) {
  start("{queue: q, retry: [0s, 0s, 0s]}");
  const std::string number = R"(echo '{"code":"busy","retry_after":7200}'; exit 1)";
  EXPECT_EQ(work(number).out, "job/1 work 1: failed: busy: working\n0 done, 1 failed\n");
  EXPECT_EQ(said(json({"show", "job/1"}), "error.retry_after"), "2h");
  good({"retry", "job/1", "--reason", "r"});
  const RanRecords ran =
      work(R"(test $PAWL_ATTEMPT = 3 || echo '{"code":"busy","retry_after":"soon"}'; exit 1)");
  EXPECT_NE(ran.out.find("work 2: failed: bad_result (`retry_after` must be a duration: "),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("work 3: failed: exit_1: working\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("too late"), std::string::npos) << ran.out;
}

TEST_P(WorkTest, TooMuchOutputIsNoResult) {
  start("{queue: q}");
  EXPECT_EQ(work("head -c 300000 /dev/zero | tr '\\0' x").out.substr(0, 70),
            "job/1 work 1: failed: bad_result (the output is larger than 256 KiB): ");
}

// A misspelt command is not the fault of the records.
TEST_P(WorkTest, ACommandThatCannotBeRunCostsNoAttempt) {
  start("{queue: q}", 3);
  const RanRecords ran = work(Words{"/none/at/all"});
  EXPECT_EQ(ran.code, ExitCode::environment);
  EXPECT_EQ(ran.err, "pawl: error: cannot run /none/at/all: No such file or directory\n");
  EXPECT_TRUE(ran.out.ends_with("0 done, 0 failed, 1 handed back\n")) << ran.out;
  EXPECT_EQ(said(json({"show", "job/1"}), "failures"), "");
  EXPECT_EQ(work("true").out.substr(0, 14), "job/2 work 1: ");
  EXPECT_EQ(state_of("job/1"), "finished");
}

TEST_P(WorkTest, ACommandIsKilledAtTheDeadline) {
  start("{queue: q, timeout: 100ms}");
  const RanRecords ran = work("sleep 60");
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_TRUE(ran.out.starts_with("job/1 work 1: failed: timeout")) << ran.out;
  EXPECT_TRUE(ran.out.ends_with("0 done, 1 failed\n")) << ran.out;
  EXPECT_EQ(said(json({"show", "job/1"}), "error.code"), "timeout");
}

// The server is played, so that it does not matter how long anything takes: the command ends once
// its lease has been prolonged for the third time.
TEST_F(RecordVerbsTest, ALeaseIsKeptByBeats) {
  const std::string fifo = (temporary.path() / "beaten").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int beaten = open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  std::atomic<int> claims = 0;
  std::atomic<int> beats = 0;
  LocalService service([&](const std::string& request) {
    std::string body = R"({"answer":"ok","state":"finished","revision":2})";
    if (request.starts_with("POST /v1/claim ")) {
      const Instant lease_until = std::chrono::floor<Duration>(std::chrono::system_clock::now()) +
                                  std::chrono::milliseconds{30};
      const std::string attempt =
          R"({"machine":"job","key":"1","task":"work","attempt":1,"token":"t","lease_until":")" +
          to_text(lease_until) + R"("})";
      body = R"({"attempts":[)" + (++claims == 1 ? attempt : "") + "]}";
    }
    if (request.starts_with("POST /v1/beat ") && ++beats == 3) {
      EXPECT_EQ(::write(beaten, "\n", 1), 1);
    }
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nConnection: close\r\n\r\n" + body;
  });
  const RanRecords ran =
      run_as_given({"work", "--url", service.url(""), "--token", "t", "--queue", "q",
                    "--until-idle", "--", "timeout", "30", "sh", "-c", "read line < " + fifo});
  close(beaten);
  EXPECT_EQ(ran.out, "job/1 work 1: done: finished\n1 done, 0 failed\n") << ran.err;
  EXPECT_GE(beats, 3);
}

TEST_P(WorkTest, SeveralRunAtOnce) {
  start("{queue: q}", 2);
  // Each waits for the other.
  const std::string here = temporary.path().string();
  ASSERT_EQ(mkfifo((here + "/1").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((here + "/2").c_str(), 0600), 0);
  const RanRecords ran =
      work("cd " + here +
               "; if test $PAWL_KEY = 1; then echo > 1; read x < 2; else read x < 1; "
               "echo > 2; fi",
           {"--parallel", "2"});
  EXPECT_TRUE(ran.out.ends_with("2 done, 0 failed\n")) << ran.out;
}

TEST_P(WorkTest, ADryRunSaysWhatWouldBeRun) {
  start("{queue: q, concurrency: 2}", 3);
  const std::string before = json({"show", "job/1"});
  EXPECT_EQ(work("true", {"--dry-run"}).out,
            "job/1 work 1\njob/2 work 1\ndry run: 2 ready to run\n");
  const std::string body = work("true", {"--dry-run", "--json"}).out;
  EXPECT_EQ(items_of(body, "attempts").size(), 2U) << body;
  EXPECT_EQ(said(items_of(body, "attempts")[0], "token"), "");
  EXPECT_EQ(json({"show", "job/1"}), before);
  EXPECT_TRUE(work("true").out.ends_with("3 done, 0 failed\n"));
  EXPECT_EQ(work("true", {"--dry-run"}).out, "dry run: 0 ready to run\n");
}

TEST_P(DirectoryWorkTest, DeliveriesArePrinted) {
  start();
  const RanRecords ran = work("true", {"--log-channel", "office"});
  EXPECT_EQ(ran.out, "job/1 work 1: done: finished\n1 done, 0 failed\n");
  EXPECT_TRUE(check_json(ran.err)) << ran.err;
  EXPECT_EQ(said(ran.err, "channel"), "office");
}

TEST_P(WorkTest, WhatIsAskedForWronglyIsSaid) {
  start();
  EXPECT_EQ(bad({"work", "--queue", "q"}).substr(0, 3), "2: ");
  EXPECT_EQ(bad({"work", "--", "true"}).substr(0, 29), "2: pawl: --queue is required\n");
  const RanRecords ran = pawl({"work", "--queue", "send:", "--until-idle", "--", "true"});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.err, "pawl: error: the queue `send:` is reserved for the engine\n");
}

// The real program, as a service manager stops it.
TEST_P(DirectoryWorkTest, AWorkerThatIsStoppedHandsItsAttemptBack) {
  start("{queue: q, lease: 1h}");
  const std::string fifo = (temporary.path() / "started").string();
  const std::string output = (temporary.path() / "output").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int started = open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  Words words{PAWL_PROGRAM, "work", "--queue", "q",  "--dir",
              dir,          "--",   "sh",      "-c", "echo > " + fifo + "; sleep 60"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, PAWL_PROGRAM, &actions, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  pollfd command{started, POLLIN, 0};
  EXPECT_EQ(poll(&command, 1, 30'000), 1) << "the command does not run";
  EXPECT_NE(bad({"list"}).find("is in use by process " + std::to_string(child)), std::string::npos);
  const auto asked = std::chrono::steady_clock::now();
  kill(child, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  close(started);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds{10});
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  std::ifstream file(output);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "job/1 work 1: handed back (the worker was stopped): working\n"
            "0 done, 0 failed, 1 handed back\n");
  const std::string record = json({"show", "job/1"});
  EXPECT_EQ(said(record, "failures"), "");
  EXPECT_EQ(said(json({"why", "job/1"}), "why"), "ready_since");
}

}  // namespace
}  // namespace pawl::cli
