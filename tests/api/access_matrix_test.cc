// The real `pawl serve`: every route of the table by every role, with an access token for
// everything, for the machine and queue that the call is about, for others, and with none: as
// access_matrix.txt says. A person has read that file; a route that is new has to be given a line,
// and a role that is changed changes one.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "api/api.h"
#include "base/json_text.h"
#include "tests/api/at.h"
#include "tests/support/http_client.h"
#include "tests/support/serving_program.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

constexpr const char* kMachines = R"(machine: order
initial: new
states:
  new: {on: {cancel: cancelled}}
  paying: {task: charge, done: cancelled}
  cancelled: {final: true}
tasks:
  charge: {queue: payments, retry: [1h]}
)";
constexpr const char* kNote = R"(machine: note
initial: new
states: {new: {on: {close: closed}}, closed: {final: true}}
)";

// What is sent to a route, where it takes something. All of it is about `order`, and none of it
// takes away what the next call needs.
const std::map<std::string, std::string>& bodies() {
  static const std::map<std::string, std::string> kBodies = {
      {"POST /v1/machines",
       R"({"files":[{"path":"m","text":)" + json_string(kMachines) + R"(}],"dry_run":true})"},
      {"POST /v1/records/{machine}/{key}/fire", R"({"event":"cancel","dry_run":true})"},
      {"POST /v1/records/{machine}/{key}/orders",
       R"({"order":"hold","text":"t","reason":"r","dry_run":true})"},
      {"POST /v1/batch",
       R"({"calls":[{"call":"order","machine":"order","key":"1","order":"hold","text":"t","reason":"r","dry_run":true}]})"},
      {"POST /v1/claim", R"({"queues":["payments"]})"},
      {"POST /v1/beat", R"({"machine":"order","key":"1","token":"x"})"},
      {"POST /v1/done", R"({"machine":"order","key":"1","token":"x"})"},
      {"POST /v1/fail", R"({"machine":"order","key":"1","token":"x","code":"c"})"},
      {"POST /v1/pauses", R"({"what":"machine:order","reason":"r"})"},
      {"POST /v1/pauses/end", R"({"what":"machine:order","dry_run":true})"},
      {"POST /v1/pipes/{pipe}/{topic}/{partition}/pause", R"({"reason":"r"})"},
      {"POST /v1/pipes/{pipe}/{topic}/{partition}/resume", R"({"reason":"r"})"},
      {"POST /v1/pipes/{pipe}/{topic}/{partition}/skip", R"({"offset":1,"reason":"r"})"},
      {"POST /v1/clock/advance", R"({"by":"1s"})"},
      {"POST /v1/tokens", R"({"name":"x","roles":["admin"],"dry_run":true})"},
      {"POST /v1/tokens/revoke", R"({"name":"admin","dry_run":true})"},
  };
  return kBodies;
}

std::string path_of(const Route& route) {
  std::string path(route.path);
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"{machine}", "order"}, {"{key}", "1"}, {"{version}", "1"}})
    if (const std::size_t found = path.find(name); found != std::string::npos)
      path.replace(found, name.size(), value);
  return route.path == "/v1/records" ? path + "?machine=order" : path;
}

class AccessMatrix : public testing::Test {
 protected:
  AccessMatrix() {
    for (const char* path : {"/v1/records/order/1", "/v1/records/order/2", "/v1/records/note/1"})
      good(admin_.post(path, "{}"));
    good(admin_.post("/v1/records/order/2/orders",
                     R"({"order":"move","state":"paying","reason":"r"})"));
    const std::string given = good(admin_.post("/v1/claim", R"({"queues":["payments"]})"));
    good(admin_.post("/v1/fail", R"({"machine":"order","key":"2","code":"c","token":")" +
                                     at(given, "attempts.0.token") + R"("})"));
    good(admin_.post("/v1/pauses", R"({"what":"machine:order","reason":"r"})"));
  }

  static std::string good(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  }
  std::string file_of(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  // `members`: of the token, but for its name.
  std::string make_token(const std::string& name, const std::string& members) {
    return at(
        good(admin_.post("/v1/tokens", R"({"name":)" + json_string(name) + "," + members + "}")),
        "token");
  }

  // 401, `role` and `scope` for what is missing, `yes` when it was let in, `blind` when it was but
  // was shown nothing of `order`.
  std::string asked(const Route& route, const std::string& token) const {
    const std::string method(route.method);
    const auto body = bodies().find(method + " " + std::string(route.path));
    const bool has_body = method == "POST";
    HttpClient own(program_.port(), token);
    HttpAnswer answer = own.ask(method, path_of(route),
                                body != bodies().end() ? body->second : (has_body ? "{}" : ""));
    if (answer.status == 401) return "401";
    std::string id = at(answer.body, "error.id");
    if (answer.status == 200 && route.path == "/v1/batch") {  // each of its calls is let in or not
      id = at(answer.body, "items.0.error.id");
      answer.status = std::stoi(at(answer.body, "items.0.status"));
    }
    if (answer.status == 403 && id == "role_missing") return "role";
    if (answer.status == 403 && id == "outside_scope") return "scope";
    if (id == "no_such_pipe") return "yes";
    if (answer.status != 200 && answer.status != 409) return std::to_string(answer.status);
    if (answer.body.empty()) answer.body = own.until("\n\n");  // the first event of a feed
    static const std::set<std::string_view> kNotOfMachines{"/healthz", "/readyz", "/v1/clock",
                                                           "/v1/pipes", "/v1/tokens"};
    const bool lists = method == "GET" && !kNotOfMachines.contains(route.path) &&
                       route.path.find("{machine}") == std::string_view::npos;
    return lists && answer.body.find("order") == std::string::npos ? "blind" : "yes";
  }

  TemporaryDirectory directory_;
  ServingProgram program_{
      PAWL_PROGRAM,
      {"--memory", "--virtual-clock", "2026-03-02T09:00:00Z", "--apply",
       file_of("order.yaml", kMachines), "--apply", file_of("note.yaml", kNote)}};
  HttpClient admin_{program_.port(), program_.token()};
};

TEST_F(AccessMatrix, IsAsItWasReviewed) {
  const std::vector<std::string> roles{"viewer", "app", "worker", "operator", "admin"};
  std::map<std::string, std::vector<std::string>> tokens;
  for (const std::string& role : roles)
    for (const char* scope : {"", R"(,"machines":["order"],"queues":["payments"])",
                              R"(,"machines":["note"],"queues":["mails"])"}) {
      const std::string name = role + std::to_string(tokens[role].size());
      tokens[role].push_back(make_token(name, R"("roles":[")" + role + R"("])" + scope));
    }
  std::string found;
  for (const Route& route : Api::routes()) {
    std::string line = std::string(route.method) + " " + std::string(route.path);
    line.resize(std::max<std::size_t>(line.size() + 1, 42), ' ');
    line += asked(route, "");
    for (const std::string& role : roles) {
      std::string cell = "  ";
      for (const std::string& token : tokens[role])
        cell += (cell.size() > 2 ? "/" : "") + asked(route, token);
      cell.resize(20, ' ');
      line += cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    found += line + "\n";
  }
  std::ifstream file(PAWL_SOURCE_DIR "/tests/api/access_matrix.txt");
  std::string reviewed;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) reviewed += line + "\n";
  EXPECT_EQ(found, reviewed);
}

// Routes that nobody need be let in for.
TEST_F(AccessMatrix, WithoutATokenThereIsHealthAlone) {
  HttpClient nobody(program_.port(), "");
  for (const char* path : {"/healthz", "/readyz"}) EXPECT_EQ(nobody.get(path).status, 200) << path;
  for (const char* path : {"/", "/v1", "/v1/nothing", "/healthz/", "/healthz/x", "/metrics"})
    EXPECT_EQ(nobody.get(path).status, 401) << path;
}

}  // namespace
}  // namespace pawl
