// The program that is shipped, with a pipe: alone and inside a server, seen and steered over HTTP.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "cli/cli.h"
#include "pipe/local_search.h"
#include "pipe/mock_kafka.h"
#include "tests/api/at.h"
#include "tests/support/http_client.h"
#include "tests/support/serving_program.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ServedPipes : public testing::Test {
 protected:
  ServedPipes() {
    kafka_.create("events", 1);
    kafka_.create("_errors", 1);
  }

  std::string file_of(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  std::string pipe_file() const {
    return file_of("clicks.yaml", "pipe: clicks\nkafka: {brokers: \"" + kafka_.brokers() +
                                      "\", group: g, topics: [events]}\n"
                                      "transform: {index: clicks, id: offset}\n"
                                      "elasticsearch: {url: \"" +
                                      search_.url() + "\"}\nbatch: {linger: 1ms}\n");
  }
  void put(int count, const std::string& value) {
    for (int i = 0; i < count; ++i) kafka_.put("events", 0, {.value = value});
  }

  // The partition, once its books say so.
  static std::string wait_for(HttpClient& client, const std::string& path,
                              const std::string& wanted) {
    const auto until = std::chrono::steady_clock::now() + seconds{30};
    for (;;) {
      const HttpAnswer answer = client.get("/v1/pipes/clicks/events/0");
      if (at(answer.body, path) == wanted) return answer.body;
      if (std::chrono::steady_clock::now() > until) {
        ADD_FAILURE() << path << " is not " << wanted << ": " << answer.body;
        return answer.body;
      }
      std::this_thread::sleep_for(milliseconds{20});
    }
  }

  static void expect_balance(const std::string& partition) {
    const auto number = [&](const char* path) { return std::stol("0" + at(partition, path)); };
    EXPECT_EQ(number("counts.consumed"), number("counts.indexed") + number("counts.duplicate") +
                                             number("counts.errors") + number("counts.skipped") +
                                             number("in_flight.items"));
    EXPECT_EQ(at(partition, "unaccounted"), "0");
  }

  // Everything that may be done with a pipe, wherever it runs.
  void see_and_steer(HttpClient& client) {
    put(5, R"({"a":1})");
    put(2, "no JSON");
    std::string partition = wait_for(client, "counts.consumed", "7");
    partition = wait_for(client, "offset.watermark", "7");
    EXPECT_EQ(at(partition, "counts.indexed"), "5");
    EXPECT_EQ(at(partition, "counts.errors"), "2");
    EXPECT_EQ(at(partition, "state"), "extract");
    expect_balance(partition);
    const std::string path = "/v1/pipes/clicks/events/0/";
    const HttpAnswer paused = client.post(path + "pause", R"({"reason":"a test"})");
    EXPECT_EQ(at(paused.body, "paused"), "true") << paused.body;
    put(3, R"({"a":2})");
    const HttpAnswer resumed = client.post(path + "resume", R"({"reason":"it is over"})");
    EXPECT_EQ(at(resumed.body, "paused"), "false") << resumed.body;
    expect_balance(wait_for(client, "offset.watermark", "10"));
    const HttpAnswer skipped = client.post(path + "skip", R"({"offset":3,"reason":"none waits"})");
    EXPECT_EQ(skipped.status, 400) << skipped.body;
    const std::string metrics = client.get("/metrics").body;
    const std::string labels = R"({pipe="clicks",topic="events",partition="0")";
    for (const std::string& line :
         {"pawl_pipe_messages_total" + labels + R"(,outcome="indexed"} 8)",
          "pawl_pipe_messages_total" + labels + R"(,outcome="errors"} 2)",
          "pawl_pipe_unaccounted" + labels + "} 0"})
      EXPECT_NE(metrics.find("\n" + line + "\n"), std::string::npos) << line << "\n" << metrics;
  }

  static std::string top(std::uint16_t port, const std::string& token,
                         const std::vector<std::string>& more = {}) {
    std::ostringstream out;
    std::vector<std::string> words{
        "pipe",    "top", "--once", "--url", "http://127.0.0.1:" + std::to_string(port),
        "--token", token};
    words.insert(words.end(), more.begin(), more.end());
    const cli::ExitCode code =
        cli::run(words, {out, out, [] { return *parse_instant("2026-03-02T09:00:00Z"); }});
    EXPECT_EQ(code, cli::ExitCode::ok) << out.str();
    return out.str();
  }

  TemporaryDirectory directory_;
  MockKafka kafka_;
  LocalSearch search_{[](const LocalSearch::Request& request) {
    const auto lines = std::count(request.body.begin(), request.body.end(), '\n');
    return indexed_answer(static_cast<std::size_t>(lines / 2));
  }};
};

TEST_F(ServedPipes, StandAlone) {
  ServingProgram program(PAWL_PROGRAM, {pipe_file()}, "pipe");
  HttpClient client(program.port(), program.token());
  EXPECT_EQ(client.get("/readyz").status, 200);
  see_and_steer(client);
  HttpClient nobody(program.port(), "");
  EXPECT_EQ(nobody.get("/v1/pipes").status, 401);
  EXPECT_EQ(at(client.get("/v1/records").body, "items"), "[]");
  const std::string shown = top(program.port(), program.token());
  for (const char* part : {"PARTITION", "events/0 ", "extract",
                           "consumed 10 = indexed 8 + duplicate 0 + errors 2 + skipped 0 + in "
                           "flight 0; unaccounted 0"})
    EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
  const std::string json = top(program.port(), program.token(), {"clicks", "--json"});
  EXPECT_EQ(at(json, "pipes.0.name"), "clicks") << json;
  EXPECT_EQ(at(json, "pipes.0.partitions.0.counts.indexed"), "8") << json;
  EXPECT_EQ(program.end(), 0);
}

TEST_F(ServedPipes, InsideAServer) {
  ServingProgram program(PAWL_PROGRAM, {"--memory", "--pipes", pipe_file()});
  HttpClient client(program.port(), program.token());
  EXPECT_EQ(client.get("/readyz").status, 200);
  EXPECT_EQ(at(client.get("/v1/pipes").body, "items.0.name"), "clicks");
  see_and_steer(client);
  EXPECT_EQ(program.end(), 0);
}

TEST_F(ServedPipes, ATokenInAFileIsForItsOwnerAlone) {
  const std::string path = file_of("token", "from before");
  chmod(path.c_str(), 0644);
  ServingProgram program(PAWL_PROGRAM, {pipe_file(), "--token-file", path}, "pipe");
  EXPECT_NE(program.token(), "");  // it says where the token is, not what it is
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  std::string token;
  std::ifstream(path) >> token;
  EXPECT_EQ(program.token(), path);
  HttpClient client(program.port(), token);
  EXPECT_EQ(client.get("/v1/pipes").status, 200);
}

cli::ExitCode ran(const std::vector<std::string>& words, std::string& said) {
  std::ostringstream out;
  const cli::ExitCode code =
      cli::run(words, {out, out, [] { return *parse_instant("2026-03-02T09:00:00Z"); }});
  said = out.str();
  return code;
}

TEST_F(ServedPipes, NothingStartsWithAFileThatIsWrong) {
  const std::string bad = file_of("bad.yaml", "pipe: clicks\nkafak: {}\n");
  std::string said;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"serve", "--memory", "--listen", "127.0.0.1:0", "--pipes", bad},
        {"pipe", bad, "--listen", "127.0.0.1:0"}}) {
    EXPECT_EQ(ran(words, said), cli::ExitCode::wrong);
    EXPECT_NE(said.find("bad.yaml:2:1"), std::string::npos) << said;
    EXPECT_NE(said.find("kafak"), std::string::npos) << said;
    EXPECT_EQ(said.find("pawl serves"), std::string::npos) << said;
  }
  const std::string good = pipe_file();
  EXPECT_EQ(ran({"serve", "--memory", "--listen", "127.0.0.1:0", "--pipes", good, "--pipes", good,
                 "--log-format", "json"},
                said),
            cli::ExitCode::wrong);
  EXPECT_NE(said.find(R"("event":"refused_start")"), std::string::npos) << said;
  EXPECT_NE(said.find("two pipes have the name clicks"), std::string::npos) << said;
}

// Nothing of the first has begun when something is wrong with the second.
TEST_F(ServedPipes, NothingStartsWhenOneOfThemCannot) {
  const std::string rest = "transform: {index: views}\nelasticsearch: {url: \"" + search_.url();
  const std::string begin = "pipe: views\nkafka:\n  brokers: \"" + kafka_.brokers() +
                            "\"\n  group: g\n  topics: [events]\n";
  const std::string no_option =
      file_of("option.yaml", begin + "  options: {client.idd: x}\n" + rest + "\"}\n");
  const std::string no_secret =
      file_of("secret.yaml", begin + rest + "\", user: u, password: \"file:/nowhere\"}\n");
  const std::string no_certificates =
      file_of("certificates.yaml",
              begin +
                  "transform: {index: views}\nelasticsearch: {url: \"https://127.0.0.1:1\", "
                  "certificates: /nowhere.pem}\n");
  put(1, R"({"a":1})");
  const auto expect_nothing = [&](const std::vector<std::string>& words, const char* why) {
    std::string said;
    EXPECT_NE(ran(words, said), cli::ExitCode::ok);
    EXPECT_NE(said.find(why), std::string::npos) << said;
  };
  expect_nothing({"pipe", pipe_file(), no_option}, "option.yaml:6:");
  expect_nothing({"pipe", pipe_file(), no_option}, "client.idd");
  expect_nothing({"pipe", pipe_file(), no_secret}, "secret.yaml: error: ");
  expect_nothing({"pipe", pipe_file(), no_secret}, "/nowhere");
  expect_nothing({"serve", "--memory", "--listen", "127.0.0.1:0", "--pipes", pipe_file(), "--pipes",
                  no_certificates},
                 "/nowhere.pem");
  EXPECT_TRUE(search_.requests().empty());
}

TEST_F(ServedPipes, TokensDoNotCrossANetworkInTheClear) {
  std::string said;
  EXPECT_EQ(ran({"pipe", pipe_file(), "--listen", "0.0.0.0:0"}, said), cli::ExitCode::wrong);
  EXPECT_NE(said.find("--insecure-listen"), std::string::npos) << said;
  EXPECT_EQ(ran({"pipe", pipe_file(), "--token-file", "x"}, said), cli::ExitCode::usage);
  EXPECT_EQ(ran({"pipe", "top", "--once"}, said), cli::ExitCode::usage);
  EXPECT_NE(said.find("--url"), std::string::npos) << said;
}

}  // namespace
}  // namespace pawl
