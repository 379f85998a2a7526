// The API on an engine in memory whose clock stands still: every route, and what each refuses.
#include "api/api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "api/access.h"
#include "api/documents.h"
#include "api/json_body.h"
#include "api/openapi.h"
#include "base/json_text.h"
#include "base/text.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::string_literals::operator""s;
using Query = std::vector<std::pair<std::string, std::string>>;

const Instant kNine = *parse_instant("2026-03-02T09:00:00Z");

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
  paying: {task: charge, done: paid, on: {cancel: cancelled}}
  paid: {final: true}
  cancelled: {final: true}
events:
  approve: {by: [manager]}
tasks:
  charge: {queue: payments, timeout: 10m, lease: 1m, retry: [1m]}
)";

constexpr const char* kNote = R"(machine: note
initial: written
states:
  written: {on: {close: {to: closed, effects: [{notify: office}]}}}
  closed: {final: true}
)";

// --- what tests say of JSON --------------------------------------------------------------------

// The value at a path such as `items.0.key`, as it is written; a text without its quotes.
std::string at(std::string_view json, std::string_view path) {
  JsonView value(json);
  Scratch scratch;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view step = path.substr(begin, end - begin);
    begin = end + 1;
    if (value.absent()) return "(absent)";
    if (value.kind() != JsonView::Kind::list) {
      value = value.member(step);
      continue;
    }
    JsonWalk walk(value);
    for (auto i = parse_whole(step).value_or(0); i >= 0 && walk.next(); --i) value = walk.value();
    if (value.kind() == JsonView::Kind::list) return "(absent)";
  }
  if (value.absent()) return "(absent)";
  if (value.kind() == JsonView::Kind::text) return std::string(value.text(scratch));
  return std::string(value.json());
}

std::vector<std::string> all(std::string_view json, std::string_view list, std::string_view name) {
  std::vector<std::string> values;
  for (JsonWalk walk(JsonView(json).member(list)); walk.next();)
    values.push_back(at(walk.value().json(), name));
  return values;
}

using Texts = std::vector<std::string>;

class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    auto opened = Engine::open({.virtual_clock = kNine});
    EXPECT_TRUE(opened);
    engine = *std::move(opened);
    access = *Access::open(*engine);
    api.emplace(*engine, *access);
  }

  static Caller everybody() {
    return {.roles = kAdmin, .actor = {.name = "eve", .roles = {"operator"}}};
  }

  ApiReply call(const std::string& method, const std::string& path, const std::string& body = {},
                const Query& query = {}) {
    const ApiReply reply = api->handle(
        {.method = method, .path = path, .query = query, .body = body, .caller = caller});
    const bool is_json = reply.content_type == "application/json";
    EXPECT_TRUE(reply.entries || !is_json || check_json(reply.body))
        << method << " " << path << ": " << reply.body;
    return reply;
  }
  ApiReply get(const std::string& path, const Query& query = {}) {
    return call("GET", path, {}, query);
  }
  ApiReply post(const std::string& path, const std::string& body) {
    return call("POST", path, body);
  }

  // The body, once it is sure that all is well.
  std::string good(const ApiReply& reply) {
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.body;
  }
  // `400 bad_request: what is wrong`.
  static std::string error(const ApiReply& reply) {
    return std::to_string(reply.status) + " " + at(reply.body, "error.id") + ": " +
           at(reply.body, "error.message");
  }

  void apply(const Texts& texts) {
    std::string files;
    for (const std::string& text : texts)
      files += (files.empty() ? "" : ",") + std::string(R"({"path":"m.yaml","text":)") +
               json_string(text) + "}";
    good(post("/v1/machines", R"({"channels_elsewhere":true,"files":[)" + files + "]}"));
  }
  void create(const std::string& key, const std::string& data = "{}") {
    good(post("/v1/records/order/" + key, R"({"data":)" + data + "}"));
  }
  // An order that waits for a worker.
  void pay(const std::string& key, const std::string& data = R"({"amount":1})") {
    create(key, data);
    good(post("/v1/records/order/" + key + "/fire", R"({"event":"pay"})"));
  }
  std::string claim(const std::string& more = {}) {
    return good(post("/v1/claim", R"({"queues":["payments"])" + more + "}"));
  }
  // The members that name an attempt.
  static std::string named(const std::string& key, const std::string& token) {
    return R"("machine":"order","key":)" + json_string(key) + R"(,"token":)" + json_string(token);
  }
  void run_for(Duration time) { ASSERT_TRUE(engine->run_until(engine->now() + time)); }

  Caller caller = everybody();
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Access> access;
  std::optional<Api> api;
};

// --- the table of routes -----------------------------------------------------------------------

// A path of the route, of a record that is not there.
std::string path_of(const Route& route) {
  std::string path(route.path);
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"{machine}", "order"}, {"{key}", "none"}, {"{version}", "1"}})
    if (const std::size_t found = path.find(name); found != std::string::npos)
      path.replace(found, name.size(), value);
  return path;
}

TEST_F(ApiTest, ARouteIsForItsRolesAlone) {
  for (const Route& route : Api::routes()) {
    for (const unsigned role : {kViewer, kApp, kWorker, kOperator, kAdmin}) {
      caller.roles = role;
      const ApiReply reply = call(std::string(route.method), path_of(route));
      const bool is_let_in = reply.status != 403 || at(reply.body, "error.id") != "role_missing";
      EXPECT_EQ(is_let_in, is_open(route) || (route.roles & role) != 0)
          << route.method << " " << route.path << ": " << reply.body;
      EXPECT_TRUE(is_let_in || reply.status == 403);
    }
    caller.roles = 0;
    EXPECT_EQ(call(std::string(route.method), path_of(route)).status, is_open(route) ? 200 : 403)
        << route.path;
    EXPECT_EQ(Api::is_open_path(path_of(route)), is_open(route)) << route.path;
  }
}

TEST_F(ApiTest, WhoeverServesSaysWhetherItIsReady) {
  caller.roles = 0;
  EXPECT_EQ(good(get("/healthz")), R"({"ok":true})");
  EXPECT_EQ(good(call("HEAD", "/readyz")), R"({"ready":true})");
  EXPECT_EQ(call("POST", "/readyz", "{}").allow, "GET, HEAD");
  EXPECT_EQ(call("HEAD", "/v1/counts").status, 405);
  std::optional<std::string> why = "it is ending";
  Api served(*engine, *access, [&] { return why; });
  const ApiReply reply = served.handle({.path = "/readyz"});
  EXPECT_EQ(error(reply), "503 not_ready: it is ending");
  EXPECT_EQ(reply.retry_after, seconds{1});
  EXPECT_EQ(served.handle({.path = "/healthz"}).status, 200);
  why.reset();
  EXPECT_EQ(served.handle({.path = "/readyz"}).status, 200);
}

TEST_F(ApiTest, ACallerWithMachinesOfItsOwnSeesNoOthers) {
  apply({kOrder, kNote});
  create("17");
  good(post("/v1/records/note/1", ""));
  caller.machines = Texts{"note"};
  for (const Route& route : Api::routes()) {
    if (route.path.find("{machine}") == std::string_view::npos) continue;
    EXPECT_EQ(error(call(std::string(route.method), path_of(route))),
              "403 outside_scope: this access token does not cover the machine `order`")
        << route.path;
  }
  EXPECT_EQ(all(good(get("/v1/machines")), "items", "machine"), Texts{"note"});
  EXPECT_EQ(all(good(get("/v1/counts")), "items", "machine"), Texts{"note"});
  EXPECT_EQ(all(good(get("/v1/feed")), "items", "machine"), Texts{"note"});
  EXPECT_EQ(
      error(get("/v1/records")),
      "403 outside_scope: this access token covers only some machines: name one as `machine`");
  EXPECT_EQ(error(get("/v1/records", {{"machine", "order"}})),
            "403 outside_scope: this access token does not cover the machine `order`");
  EXPECT_EQ(all(good(get("/v1/records", {{"machine", "note"}})), "items", "key"), Texts{"1"});
}

// What reaches beyond the machines that a caller may see.
TEST_F(ApiTest, ACallerWithMachinesOfItsOwnCannotTouchOthersByTheWay) {
  apply({kOrder, kNote});
  create("17");
  caller.machines = Texts{"note"};
  const std::string parent = R"({"parent":{"machine":"order","key":"17"}})";
  EXPECT_EQ(post("/v1/records/note/1", parent).status, 403);
  EXPECT_EQ(post("/v1/records/note/1/fire", R"({"event":"close","create":)" + parent + "}").status,
            403);
  EXPECT_EQ(get("/v1/records", {{"machine", "note"}, {"parent", "order/17"}}).status, 403);
  EXPECT_EQ(post("/v1/machines", R"({"files":[{"path":"m","text":"x"}]})").status, 403);
  for (const char* what : {"everything", "machine:order", "queue:payments", "label:region=eu"}) {
    const std::string body = R"({"reason":"r","what":")" + std::string(what) + R"("})";
    EXPECT_EQ(post("/v1/pauses", body).status, 403) << what;
    EXPECT_EQ(post("/v1/pauses/end", R"({"what":")" + std::string(what) + R"("})").status, 403);
  }
  good(post("/v1/pauses", R"({"reason":"r","what":"machine:note"})"));
  good(post("/v1/pauses/end", R"({"what":"machine:note"})"));
  caller = everybody();
  caller.queues = Texts{"payments"};
  EXPECT_EQ(post("/v1/pauses", R"({"reason":"r","what":"queue:others"})").status, 403);
  good(post("/v1/pauses", R"({"reason":"r","what":"queue:payments"})"));
}

TEST_F(ApiTest, AWorkerWithQueuesOfItsOwnClaimsFromNoOthers) {
  apply({kOrder});
  pay("17");
  caller.queues = Texts{"mails"};
  const std::string refused =
      "403 outside_scope: this access token does not cover the queue `payments`";
  EXPECT_EQ(error(post("/v1/claim", R"({"queues":["mails","payments"]})")), refused);
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":[],"claim":{"queues":["payments"]}})")), refused);
  caller.queues = Texts{"payments"};
  EXPECT_EQ(all(claim(), "attempts", "key"), Texts{"17"});
}

// Records wait there for the engine itself.
TEST_F(ApiTest, QueuesOfTheEngineAreNobodysToClaim) {
  EXPECT_EQ(error(post("/v1/claim", R"({"queues":["send:"]})")),
            "400 bad_request: the queue `send:` is reserved for the engine");
}

TEST_F(ApiTest, WhatIsNotThereIsSaid) {
  EXPECT_EQ(error(get("/")), "404 no_such_path: there is nothing at '/'");
  EXPECT_EQ(get("").status, 404);
  EXPECT_EQ(get("/v1").status, 404);
  EXPECT_EQ(get("/v1/machines/").status, 404);
  EXPECT_EQ(get("/v1/records/order").status, 404);
  EXPECT_EQ(get("/v1/records//17").status, 404);
  EXPECT_EQ(get("/v1/records/order/17/log/1").status, 404);
  EXPECT_EQ(error(call("DELETE", "/v1/records/order/17")),
            "405 wrong_method: DELETE is not supported at this path");
  EXPECT_EQ(call("DELETE", "/v1/records/order/17").allow, "POST, GET");
  EXPECT_EQ(error(post("/v1/feed", "")), "405 wrong_method: POST is not supported at this path");
}

TEST_F(ApiTest, ParametersOfTheQueryAreStrict) {
  for (const Route& route : Api::routes()) {
    const ApiReply reply = call(std::string(route.method), path_of(route), {}, {{"colour", "x"}});
    EXPECT_EQ(error(reply), "400 bad_request: `colour` is not a parameter of this call")
        << route.path;
  }
  EXPECT_EQ(error(get("/v1/records", {{"stat", "new"}})),
            "400 bad_request: `stat` is not a parameter of this call; did you mean state?");
  EXPECT_EQ(error(get("/v1/records", {{"state", "a"}, {"state", "b"}})),
            "400 bad_request: `state` is given twice");
  // A script whose variable is empty does not mean all records.
  EXPECT_EQ(error(get("/v1/records", {{"state", ""}})), "400 bad_request: `state` is empty");
  good(get("/v1/records", {{"from", ""}}));
}

TEST_F(ApiTest, BodiesAreStrict) {
  apply({kOrder});
  create("17");
  const std::string path = "/v1/records/order/17/fire";
  EXPECT_EQ(error(post(path, R"({"event":"pay","payloads":{}})")),
            "400 bad_request: `payloads` is not a field here; did you mean payload?");
  EXPECT_EQ(error(post(path, R"({"evnt":"pay"})")),
            "400 bad_request: `evnt` is not a field here; did you mean event?");
  EXPECT_EQ(error(post(path, R"({"event":7})")), "400 bad_request: `event` must be a string");
  EXPECT_EQ(error(post(path, R"({"event":"pay","payload":[]})")),
            "400 bad_request: `payload` must be a map");
  EXPECT_EQ(error(post(path, R"({"event":"pay","dry_run":"yes"})")),
            "400 bad_request: `dry_run` must be true or false");
  EXPECT_EQ(error(post(path, R"({"event":"pay","at":"noon"})")).substr(0, 41),
            "400 bad_request: `at` must be an instant:");
  EXPECT_EQ(error(post(path, R"({"event":"pay","in":"soon"})")).substr(0, 41),
            "400 bad_request: `in` must be a duration:");
  EXPECT_EQ(error(post(path, R"({"event":"pay","event":"cancel"})")),
            "400 bad_request: `event` is given twice");
  EXPECT_EQ(error(post(path, "")), "400 bad_request: `event` is missing");
  EXPECT_EQ(error(post(path, R"({"event":""})")), "400 bad_request: `event` is missing");
  EXPECT_EQ(error(post(path, R"({"event":null})")), "400 bad_request: `event` is missing");
  EXPECT_EQ(error(post(path, "[]")), "400 bad_request: the body must be a map: {…}");
  EXPECT_EQ(error(post(path, R"({"event":"pay","create":{"date":{}}})")),
            "400 bad_request: `create.date` is not a field here; did you mean data?");
  for (const char* bad : {"{", "pay", "{\"event\":\"pay\"} {}", "{\"event\":\"\xff\"}"})
    EXPECT_EQ(error(post(path, bad)).substr(0, 44), "400 bad_request: the body: this is not JSON:")
        << bad;
  const std::string bad = post(path, "{\"event\":\"pay\",\n  \"payload\": }").body;
  EXPECT_EQ(at(bad, "error.line") + ":" + at(bad, "error.column"), "2:14");
  EXPECT_NE(at(bad, "error.hint"), "(absent)");
  EXPECT_EQ(at(post(path, R"({"event":7})").body, "error.line"), "(absent)");
  EXPECT_EQ(post(path, R"({"event":"pay","at":""})").status, 400);
  EXPECT_EQ(post(path, R"({"event":"pay","in":""})").status, 400);
  EXPECT_EQ(error(post("/v1/claim", R"({"queues":"payments"})")),
            "400 bad_request: `queues` must be a list of strings");
  EXPECT_EQ(error(post("/v1/claim", R"({"queues":["payments",1]})")),
            "400 bad_request: `queues` must be a list of strings");
  EXPECT_EQ(error(post("/v1/claim", R"({"queues":["payments"],"max":1.5})")),
            "400 bad_request: `max` must be a whole number");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "revision"), "1");
}

// --- machines ----------------------------------------------------------------------------------

std::string files_body(const std::string& text, const std::string& more = {}) {
  return R"({"files":[{"path":"order.yaml","text":)" + json_string(text) + "}]" + more + "}";
}

TEST_F(ApiTest, MachinesAreAppliedAndShown) {
  EXPECT_EQ(good(post("/v1/machines", files_body(kOrder, R"(,"dry_run":true)"))),
            R"({"ok":true,"files":[{"file":"order.yaml","machine":"order","version":1,"new":true,)"
            R"("touched":[],"findings":[]}]})");
  EXPECT_EQ(good(get("/v1/machines")), R"({"items":[]})");
  good(post("/v1/machines", files_body(kOrder)));
  EXPECT_EQ(at(good(post("/v1/machines", files_body(kOrder))), "files.0.new"), "false");
  create("17");
  std::string longer = kOrder;
  longer += "doc: Later.\n";
  EXPECT_EQ(good(post("/v1/machines", files_body(longer))),
            R"({"ok":true,"files":[{"file":"order.yaml","machine":"order","version":2,)"
            R"("version_before":1,"new":true,"touched":[{"version":1,"state":"new","records":1,)"
            R"("fate":"follows","to":"new"}],"findings":[]}]})");
  EXPECT_EQ(good(get("/v1/machines")),
            R"({"items":[{"machine":"order","version":1,"applied_at":"2026-03-02T09:00:00Z",)"
            R"("applied_by":"eve"},{"machine":"order","version":2,)"
            R"("applied_at":"2026-03-02T09:00:00Z","applied_by":"eve"}]})");
  EXPECT_EQ(at(good(get("/v1/machines/order")), "text"), longer);
  EXPECT_EQ(at(good(get("/v1/machines/order")), "version"), "2");
  EXPECT_EQ(at(good(get("/v1/machines/order/1")), "text"), kOrder);
  EXPECT_EQ(error(get("/v1/machines/ordr")), "404 no_such_machine: there is no machine `ordr`");
  EXPECT_EQ(error(get("/v1/machines/order/3")),
            "404 no_such_machine: there is no version 3 of the machine `order`");
  // 2^32 + 1 is not 1.
  for (const char* version : {"0", "-1", "x", "4294967297"})
    EXPECT_EQ(get("/v1/machines/order/" + std::string(version)).status, 404) << version;
}

TEST_F(ApiTest, FindingsKeepMachinesFromBeingApplied) {
  const ApiReply reply = post("/v1/machines", files_body("machine: order\ninitial: new\n"));
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(at(reply.body, "ok"), "false");
  EXPECT_EQ(at(reply.body, "files.0.findings.0.severity"), "error");
  EXPECT_EQ(at(reply.body, "files.0.findings.0.id"), "missing_key");
  EXPECT_EQ(at(reply.body, "files.0.findings.0.line"), "1");
  EXPECT_EQ(good(get("/v1/machines")), R"({"items":[]})");
  EXPECT_EQ(post("/v1/machines", files_body(kNote)).status, 422);  // who is the office?
  good(post("/v1/machines", files_body(kNote, R"(,"channels_elsewhere":true)")));
  EXPECT_EQ(error(post("/v1/machines", "{}")),
            "400 bad_request: `files` must have 1 to 1000 machine files");
  EXPECT_EQ(error(post("/v1/machines", R"({"files":[{"path":"x"}]})")),
            "400 bad_request: `files[0].text` is missing");
  EXPECT_EQ(error(post("/v1/machines", R"({"files":[{"path":"x","text":""}]})")).substr(0, 3),
            "422");
}

// --- records -----------------------------------------------------------------------------------

TEST_F(ApiTest, ARecordIsCreatedOnce) {
  apply({kOrder});
  EXPECT_EQ(good(post("/v1/records/order/17", R"({"data":{"amount":12},"dry_run":true})")),
            R"({"answer":"ok","state":"new","revision":1})");
  EXPECT_EQ(get("/v1/records/order/17").status, 404);
  EXPECT_EQ(good(post("/v1/records/order/17", R"({"data":{"amount":12}})")),
            R"({"answer":"ok","state":"new","revision":1})");
  EXPECT_EQ(
      good(post("/v1/records/order/17", "")),
      R"({"answer":"duplicate","reason":"a record with this key already exists","state":"new",)"
      R"("revision":1})");
  EXPECT_EQ(good(get("/v1/records/order/17")),
            R"({"machine":"order","key":"17","id":2,"version":1,"state":"new",)"
            R"("entered_at":"2026-03-02T09:00:00Z","created_at":"2026-03-02T09:00:00Z",)"
            R"("revision":1,"epoch":1,"next_at":"2026-03-09T09:00:00Z",)"
            R"("wake_at":"2026-03-09T09:00:00Z","data":{"amount":12,"region":"eu"},)"
            R"("labels":{"region":"eu"},"priority":5})");
  EXPECT_EQ(error(post("/v1/records/order/18", R"({"data":{"amount":"x"}})")).substr(0, 26),
            "400 bad_request: `data`: `");
  EXPECT_EQ(error(post("/v1/records/ordr/18", "")),
            "404 no_such_machine: there is no machine `ordr`: apply its file first; did you mean "
            "order?");
}

TEST_F(ApiTest, ARecordIsCreatedWithItsFirstEvent) {
  apply({kOrder});
  EXPECT_EQ(
      at(good(post("/v1/records/order/17", R"({"data":{"amount":1},"event":"pay","payload":{}})")),
         "state"),
      "paying");
  EXPECT_EQ(post("/v1/records/order/18", R"({"event":"pay"})").status, 409);
  EXPECT_EQ(get("/v1/records/order/18").status, 404);
  EXPECT_EQ(error(post("/v1/records/order/18", R"({"payload":{}})")),
            "400 bad_request: `payload` needs `event`");
}

TEST_F(ApiTest, KeysMayHoldAnyText) {
  apply({kOrder});
  for (const std::string key : {"a/b", "100%", "%2F", "ü ñ 漢", "a?b#c", ".", "..", "\x01\x7f"}) {
    const std::string path = "/v1/records/order/" + percent_encoded(key);
    EXPECT_EQ(percent_decoded(percent_encoded(key)), key);
    good(post(path, ""));
    EXPECT_EQ(at(good(get(path)), "key"), key);
    EXPECT_EQ(at(good(get(path + "/why")), "why"), "timer_at");
  }
  EXPECT_EQ(good(get("/v1/records/order/a%2fb")), good(get("/v1/records/order/a%2Fb")));
  for (const char* bad : {"%", "%2", "%zz", "a%00b"})
    EXPECT_EQ(post("/v1/records/order/" + std::string(bad), "").status, 404) << bad;
  EXPECT_EQ(post("/v1/records/order/%FF", "").status, 400);
  EXPECT_EQ(get("/v1/records/order/%FF").status, 404);
  EXPECT_EQ(post("/v1/records/order/" + std::string(2'000, 'k'), "").status, 400);
}

TEST_F(ApiTest, AnEventMovesARecord) {
  apply({kOrder});
  create("17", R"({"amount":1})");
  const std::string path = "/v1/records/order/17/fire";
  EXPECT_EQ(good(post(path, R"({"event":"pay","dry_run":true})")),
            R"({"answer":"ok","state":"paying","revision":2})");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "state"), "new");
  EXPECT_EQ(good(post(path, R"({"event":"pay"})")),
            R"({"answer":"ok","state":"paying","revision":2})");
  EXPECT_EQ(error(post(path, R"({"event":"pays"})")),
            "400 bad_request: the machine has no event `pays`; did you mean pay?");
  EXPECT_EQ(error(post("/v1/records/order/18/fire", R"({"event":"pay"})")),
            "404 no_such_record: there is no such record");
  EXPECT_EQ(error(post("/v1/records/ordr/18/fire", R"({"event":"pay"})")).substr(0, 19),
            "404 no_such_machine");
}

TEST_F(ApiTest, ARefusalSaysWhyAndWhatIsPermitted) {
  apply({kOrder});
  create("17");
  const ApiReply reply = post("/v1/records/order/17/fire", R"({"event":"pay"})");
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(
      reply.body,
      R"({"answer":"refused","reason":"`pay` is not accepted in `new`",)"
      R"("permitted":["cancel","discard","restart"],)"
      R"("guards":[{"event":"pay","guard":"data.amount > 0","values":["data.amount = 0"]}]})");
  // By role.
  EXPECT_EQ(error(post("/v1/records/order/17/fire", R"({"event":"approve"})")),
            "403 machine_role_missing: `approve` needs the role manager");
  EXPECT_EQ(good(get("/v1/records/order/17/events")),
            R"({"permitted":["cancel","discard","restart"]})");
  caller.actor.roles = {"manager"};
  EXPECT_EQ(at(good(get("/v1/records/order/17/events")), "permitted.0"), "approve");
  EXPECT_EQ(
      error(post("/v1/records/order/17/orders", R"({"order":"hold","reason":"r","text":"t"})")),
      "403 machine_role_missing: an order needs the role operator");
  good(post("/v1/records/order/17/fire", R"({"event":"approve"})"));
  EXPECT_EQ(error(get("/v1/records/order/18/events")),
            "404 no_such_record: there is no record order/18");
}

TEST_F(ApiTest, AnIdempotencyKeyIsCarriedOutOnce) {
  apply({kOrder});
  create("17", R"({"amount":1})");
  const std::string path = "/v1/records/order/17/fire";
  const std::string first = good(post(path, R"({"event":"pay","idempotency_key":"k"})"));
  EXPECT_EQ(good(post(path, R"({"event":"pay","idempotency_key":"k"})")), first);
  EXPECT_EQ(error(post(path, R"({"event":"cancel","idempotency_key":"k"})")),
            "400 bad_request: this idempotency key was used for another request: use a new key");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "revision"), "2");
}

TEST_F(ApiTest, CallsForLaterAreCarriedOutThen) {
  apply({kOrder});
  EXPECT_EQ(at(good(post("/v1/records/order/17", R"({"in":"1h"})")), "state"), "sending");
  EXPECT_EQ(at(good(post("/v1/records/order/18", R"({"at":"2026-03-02T11:00:00Z"})")), "answer"),
            "ok");
  EXPECT_EQ(get("/v1/records/order/17").status, 404);
  run_for(hours{1});
  good(get("/v1/records/order/17"));
  EXPECT_EQ(get("/v1/records/order/18").status, 404);
  good(post("/v1/records/order/17/fire", R"({"event":"cancel","in":"30m"})"));
  run_for(hours{1});
  good(get("/v1/records/order/18"));
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "state"), "cancelled");
  // The answer names the record that makes the call, and there the outcome is.
  const std::string late = good(post("/v1/records/order/17/fire", R"({"event":"pay","in":"1h"})"));
  EXPECT_EQ(at(late, "machine"), "send");
  run_for(hours{1});
  const std::string made = good(get("/v1/records/send/" + percent_encoded(at(late, "key"))));
  EXPECT_EQ(at(made, "error.code"), "refused");
  EXPECT_EQ(at(made, "error.message"), "`pay` is not accepted in `cancelled`");
  EXPECT_EQ(at(made, "hold.text"), "`pay` is not accepted in `cancelled`");
  EXPECT_EQ(post("/v1/records/order/17/fire", R"({"event":"peigh","in":"1h"})").status, 400);
  EXPECT_EQ(error(post("/v1/records/order/19", R"({"in":"1h","at":"2026-03-02T11:00:00Z"})")),
            "400 bad_request: give `at` or `in`, not both");
  EXPECT_EQ(error(post("/v1/records/order/19", R"({"in":"3652000d"})")),
            "400 bad_request: `in` goes beyond the year 9999");
  EXPECT_EQ(
      error(post("/v1/records/order/17/orders", R"({"order":"retry","reason":"r","in":"1h"})")),
      "400 bad_request: `in` is not a field here; the fields are dry_run, idempotency_key, order "
      "and reason");
}

TEST_F(ApiTest, CreateOrFire) {
  apply({kOrder});
  const std::string body = R"({"event":"pay","create":{"data":{"amount":3}}})";
  EXPECT_EQ(at(good(post("/v1/records/order/17/fire", body)), "state"), "paying");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "data.amount"), "3");
  EXPECT_EQ(post("/v1/records/order/17/fire", body).status, 409);  // it is there: only fired
  EXPECT_EQ(error(post("/v1/records/order/18/fire", R"({"event":"pay","create":[]})")),
            "400 bad_request: `create` must be a map");
}

TEST_F(ApiTest, AChildKnowsItsParent) {
  apply({kOrder, kNote});
  create("17");
  const std::string parent = R"("parent":{"machine":"order","key":"17"})";
  good(post("/v1/records/note/1", "{" + parent + "}"));
  good(post("/v1/records/note/2/fire", R"({"event":"close","create":{)" + parent + "}}"));
  EXPECT_EQ(at(good(get("/v1/records/note/1")), "parent.key"), "17");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "children.note"),
            R"({"all":2,"open":1,"final":1,"hold":0,"states":{"written":1,"closed":1}})");
  EXPECT_EQ(all(good(get("/v1/records", {{"parent", "order/17"}})), "items", "key"),
            (Texts{"1", "2"}));
  EXPECT_EQ(error(post("/v1/records/note/3", R"({"parent":{"machine":"order","key":"99"}})")),
            "400 bad_request: the parent order/99 does not exist");
  EXPECT_EQ(error(post("/v1/records/note/3", R"({"parent":{"machine":"order"}})")),
            "400 bad_request: `parent.key` is missing");
  EXPECT_EQ(error(post("/v1/records/note/3", R"({"parent":"order/17"})")),
            "400 bad_request: `parent` must be a map");
  EXPECT_EQ(error(get("/v1/records", {{"parent", "order/99"}})),
            "404 no_such_record: there is no record order/99");
  EXPECT_EQ(error(get("/v1/records", {{"parent", "order"}})),
            "400 bad_request: write `parent` as MACHINE/KEY");
}

TEST_F(ApiTest, OrdersOfAnOperator) {
  apply({kOrder});
  create("17");
  const auto order = [&](const std::string& members) {
    return post("/v1/records/order/17/orders", R"({"reason":"a test",)" + members + "}");
  };
  good(order(R"("order":"hold","text":"look at it")"));
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "hold"),
            R"({"code":"operator","text":"look at it","by":"operator",)"
            R"("since":"2026-03-02T09:00:00Z"})");
  EXPECT_EQ(at(good(get("/v1/records/order/17/why")), "hold.text"), "look at it");
  good(order(R"("order":"release")"));
  EXPECT_EQ(order(R"("order":"release")").status, 409);
  EXPECT_EQ(at(good(order(R"("order":"move","state":"paying","dry_run":true)")), "state"),
            "paying");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "state"), "new");
  good(order(R"("order":"move","state":"paying","idempotency_key":"m")"));
  good(order(R"("order":"move","state":"paying","idempotency_key":"m")"));
  good(order(R"("order":"patch","data":{"amount":9})"));
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "data.amount"), "9");
  EXPECT_EQ(order(R"("order":"retry")").status, 409);    // it is ready
  EXPECT_EQ(order(R"("order":"migrate")").status, 409);  // its version is the newest
  EXPECT_EQ(order(R"("order":"erase")").status, 409);    // it is not final
  good(order(R"("order":"hold","text":"look again")"));
  good(order(R"("order":"retry")"));
  good(post("/v1/records/order/17/fire", R"({"event":"cancel"})"));
  good(order(R"("order":"erase")"));
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "data"), "{}");

  EXPECT_EQ(error(order(R"("order":"hold")")), "400 bad_request: `text` is missing");
  EXPECT_EQ(error(order(R"("order":"move")")), "400 bad_request: `state` is missing");
  EXPECT_EQ(error(order(R"("order":"patch")")), "400 bad_request: `data` is missing");
  EXPECT_EQ(
      error(order(R"("order":"retry","state":"paid")")),
      "400 bad_request: `state` is not a field here; the fields are dry_run, idempotency_key, "
      "order and reason");
  EXPECT_EQ(error(order(R"("order":"retri")")),
            "400 bad_request: there is no order `retri`; did you mean retry?");
  EXPECT_EQ(error(order(R"("order":"discard")")),
            "400 bad_request: there is no order `discard`: it is an event; fire it");
  EXPECT_EQ(error(post("/v1/records/order/17/orders", R"({"order":"retry"})")),
            "400 bad_request: `reason` is missing");
  EXPECT_EQ(error(post("/v1/records/order/99/orders", R"({"order":"retry","reason":"r"})")),
            "404 no_such_record: there is no such record");
  // The role of the token lets the call in, the actor's role lets the order through.
  caller.actor.roles = {};
  EXPECT_EQ(order(R"("order":"retry")").status, 403);
}

// --- looking -----------------------------------------------------------------------------------

TEST_F(ApiTest, ListsAreFiltered) {
  apply({kOrder, kNote});
  create("a1");
  create("a2", R"({"region":"us"})");
  pay("b1");
  good(post("/v1/records/note/1", ""));
  good(post("/v1/records/note/1/fire", R"({"event":"close"})"));
  const auto keys = [&](const Query& query) {
    return all(good(get("/v1/records", query)), "items", "key");
  };
  EXPECT_EQ(keys({}), (Texts{"a1", "a2", "b1", "1"}));
  EXPECT_EQ(keys({{"machine", "order"}}), (Texts{"a1", "a2", "b1"}));
  EXPECT_EQ(keys({{"machine", "order"}, {"state", "paying"}}), Texts{"b1"});
  EXPECT_EQ(keys({{"machine", "order"}, {"key_prefix", "a"}}), (Texts{"a1", "a2"}));
  EXPECT_EQ(keys({{"label", "region=us"}}), Texts{"a2"});
  EXPECT_EQ(keys({{"label", "region=\"us\""}}), Texts{"a2"});
  EXPECT_EQ(keys({{"created_before", "2026-03-02T09:00:00Z"}}), Texts{});
  EXPECT_EQ(keys({{"created_from", "2026-03-02T09:00:00Z"}}).size(), 4U);
  EXPECT_EQ(keys({{"built_in", "true"}}).size(), 5U);  // the delivery to the office
  EXPECT_EQ(keys({{"built_in", "false"}}).size(), 4U);
  EXPECT_EQ(keys({{"machine", "delivery"}}).size(), 1U);

  EXPECT_EQ(error(get("/v1/records", {{"key_prefix", "a"}})),
            "400 bad_request: `key_prefix` needs `machine`: each machine has its own keys");
  EXPECT_EQ(error(get("/v1/records", {{"held", "yes"}})),
            "400 bad_request: `held` must be true or false");
  EXPECT_EQ(error(get("/v1/records", {{"label", "us"}})),
            "400 bad_request: write `label` as NAME=VALUE");
  EXPECT_EQ(error(get("/v1/records", {{"created_from", "today"}})).substr(0, 31),
            "400 bad_request: `created_from`");
  EXPECT_EQ(error(get("/v1/records", {{"fingerprint", "xyz"}})),
            "400 bad_request: `fingerprint` must be 16 hex digits");
  EXPECT_EQ(error(get("/v1/records", {{"machine", "ordr"}})),
            "404 no_such_machine: there is no machine `ordr`; did you mean order?");
  EXPECT_EQ(get("/v1/records", {{"from", "somewhere"}}).status, 400);
}

TEST_F(ApiTest, DeadLettersAreFoundByTheirError) {
  apply({kOrder});
  for (const char* key : {"1", "2", "3"}) pay(key);
  good(post("/v1/records/order/3/orders",
            R"({"order":"hold","reason":"r","text":"by a person: not dead"})"));
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const std::string given = claim(R"(,"max":9)");
    for (const int i : {0, 1}) {
      const std::string key = at(given, "attempts." + std::to_string(i) + ".key");
      const std::string token = at(given, "attempts." + std::to_string(i) + ".token");
      const std::string code = key == "1" ? "no_money" : "no_card";
      good(post("/v1/fail", "{" + named(key, token) + R"(,"code":")" + code +
                                R"(","message":"card 4711 is )" + key + R"("})"));
    }
    run_for(minutes{2});
  }
  const auto keys = [&](const Query& query) {
    return all(good(get("/v1/records", query)), "items", "key");
  };
  EXPECT_EQ(keys({{"held", "true"}}), (Texts{"1", "2", "3"}));
  EXPECT_EQ(keys({{"held", "false"}}), Texts{});
  EXPECT_EQ(keys({{"dead", "true"}}), (Texts{"1", "2"}));
  EXPECT_EQ(keys({{"dead", "false"}}), Texts{"3"});
  EXPECT_EQ(keys({{"error", "no_card"}}), Texts{"2"});
  const std::string errors = good(get("/v1/errors"));
  EXPECT_EQ(all(errors, "items", "code"), (Texts{"no_card", "no_money"}));
  EXPECT_EQ(all(errors, "items", "count"), (Texts{"2", "2"}));
  EXPECT_EQ(at(errors, "items.0.first_at"), "2026-03-02T09:00:00Z");
  EXPECT_EQ(at(errors, "items.0.last_at"), "2026-03-02T09:02:00Z");
  const std::string fingerprint = at(errors, "items.0.fingerprint");
  EXPECT_EQ(fingerprint.size(), 16U);
  EXPECT_EQ(at(good(get("/v1/records/order/2")), "error.fingerprint"), fingerprint);
  EXPECT_EQ(keys({{"fingerprint", fingerprint}}), Texts{"2"});
  EXPECT_EQ(good(get("/v1/counts")),
            R"({"items":[{"machine":"order","state":"paying","records":3,"held":3}]})");
  EXPECT_EQ(error(get("/v1/records", {{"dead", "true"}, {"held", "false"}})),
            "400 bad_request: dead letters are on hold: `dead` and `held` contradict each other");
}

TEST_F(ApiTest, PagesFollowEachOther) {
  apply({kOrder});
  for (const char* key : {"1", "2", "3", "4", "5"}) create(key);
  Texts keys;
  Query query{{"max", "2"}};
  for (int pages = 0; pages < 9; ++pages) {
    const std::string page = good(get("/v1/records", query));
    for (const std::string& key : all(page, "items", "key")) keys.push_back(key);
    if (at(page, "next") == "(absent)") break;
    query = {{"max", "2"}, {"from", at(page, "next")}};
  }
  EXPECT_EQ(keys, (Texts{"1", "2", "3", "4", "5"}));
  for (const char* max : {"0", "1001", "-1", "ten", "1.5"})
    EXPECT_EQ(error(get("/v1/records", {{"max", max}})),
              "400 bad_request: `max` must be a whole number from 1 to 1000");
  good(get("/v1/records", {{"max", "1000"}}));
}

TEST_F(ApiTest, ALogIsShownInPages) {
  apply({kOrder});
  pay("17");
  good(post("/v1/records/order/17/fire", R"({"event":"cancel","idempotency_key":"k"})"));
  const std::string first = good(get("/v1/records/order/17/log", {{"max", "2"}}));
  EXPECT_EQ(all(first, "items", "kind"), (Texts{"created", "event"}));
  const std::string rest =
      good(get("/v1/records/order/17/log", {{"max", "2"}, {"from", at(first, "next")}}));
  EXPECT_EQ(
      rest,
      R"({"items":[{"seq":3,"at":"2026-03-02T09:00:00Z","kind":"event","event":"cancel",)"
      R"("from":"paying","to":"cancelled","epoch":1,"actor":{"name":"eve","roles":["operator"]},"idempotency_key":"k"}]})");
  EXPECT_EQ(error(get("/v1/records/order/18/log")),
            "404 no_such_record: there is no record order/18");
  EXPECT_EQ(get("/v1/records/order/17/log", {{"max", "0"}}).status, 400);
  EXPECT_EQ(get("/v1/records/order/17/log", {{"from", "x"}}).status, 400);
}

TEST_F(ApiTest, TheFeedHasAPlaceAtItsEnd) {
  apply({kOrder, kNote});
  create("1");
  good(post("/v1/records/note/1", ""));
  create("2");
  const std::string first = good(get("/v1/feed", {{"max", "2"}}));
  EXPECT_EQ(all(first, "items", "machine"), (Texts{"order", "note"}));
  const std::string second = good(get("/v1/feed", {{"from", at(first, "next")}}));
  EXPECT_EQ(all(second, "items", "key"), Texts{"2"});
  const std::string end = at(second, "next");
  EXPECT_EQ(all(good(get("/v1/feed", {{"from", end}})), "items", "key"), Texts{});
  EXPECT_EQ(at(good(get("/v1/feed", {{"from", end}})), "next"), end);
  EXPECT_EQ(good(get("/v1/feed", {{"from", "end"}})), R"({"items":[],"next":")" + end + "\"}");
  EXPECT_EQ(get("/v1/feed/live", {{"from", "end"}}).entries->from, end);
  create("3");
  EXPECT_EQ(all(good(get("/v1/feed", {{"from", end}})), "items", "key"), Texts{"3"});
  EXPECT_EQ(all(good(get("/v1/feed", {{"machine", "order"}})), "items", "key"),
            (Texts{"1", "2", "3"}));
  EXPECT_EQ(get("/v1/feed", {{"from", "x"}}).status, 400);
  for (const char* path : {"/v1/feed", "/v1/feed/live"})
    EXPECT_EQ(
        error(get(path, {{"from", "99"}})),
        "400 bad_request: the position 99 is beyond the end of the feed, 4: it comes from another "
        "store, or from this one before an older backup was restored; start again without a "
        "position, or continue from `end`")
        << path;
  EXPECT_EQ(get("/v1/feed", {{"machine", "ordr"}}).status, 404);
}

TEST_F(ApiTest, WhyARecordIsNotMoving) {
  apply({kOrder});
  pay("17");
  EXPECT_EQ(
      good(get("/v1/records/order/17/why")),
      R"({"why":"ready_since","at":"2026-03-02T09:00:00Z","names":["charge"],"sentence":"ready since )"
      R"(2026-03-02T09:00:00Z; no worker has claimed `charge` yet"})");
  good(post("/v1/pauses", R"({"what":"queue:payments","reason":"the bank is away"})"));
  EXPECT_EQ(at(good(get("/v1/records/order/17/why")), "why"), "paused");
  EXPECT_EQ(error(get("/v1/records/order/18/why")),
            "404 no_such_record: there is no record order/18");
}

TEST_F(ApiTest, ACallerWaitsUntilARecordIsFinal) {
  apply({kOrder});
  create("17");
  const auto wait = [&](const Query& query) {
    auto waited = std::make_shared<std::optional<ApiReply>>();
    api->handle({.path = "/v1/records/order/17", .query = query, .caller = caller},
                [waited](ApiReply reply) { *waited = std::move(reply); });
    return waited;
  };
  const auto final = wait({{"wait", "30s"}});
  const auto also_final = wait({{"wait", "30s"}, {"until", "final"}});
  const auto moved = wait({{"wait", "30s"}, {"until", "revision"}, {"revision", "1"}});
  good(
      post("/v1/records/order/17/orders", R"({"order":"patch","reason":"r","data":{"amount":1}})"));
  run_for(seconds{1});
  ASSERT_TRUE(moved->has_value());
  EXPECT_EQ(at((*moved)->body, "revision"), "2");
  EXPECT_FALSE(final->has_value());
  good(post("/v1/records/order/17/fire", R"({"event":"cancel"})"));
  run_for(seconds{1});
  ASSERT_TRUE(final->has_value() && also_final->has_value());
  EXPECT_EQ(at((*final)->body, "state"), "cancelled");
}

TEST_F(ApiTest, AWaitHasAnEnd) {
  apply({kOrder});
  create("17");
  const auto waited = std::make_shared<std::optional<ApiReply>>();
  api->handle({.path = "/v1/records/order/17", .query = {{"wait", "1d"}}, .caller = caller},
              [waited](ApiReply reply) { *waited = std::move(reply); });
  run_for(seconds{59});
  EXPECT_FALSE(waited->has_value());
  run_for(seconds{2});  // no wait is longer than a minute
  ASSERT_TRUE(waited->has_value());
  EXPECT_EQ((*waited)->status, 200);
  EXPECT_EQ(at((*waited)->body, "state"), "new");
  const std::string path = "/v1/records/order/17";
  EXPECT_EQ(error(get("/v1/records/order/18", {{"wait", "1s"}})),
            "404 no_such_record: there is no record order/18");
  EXPECT_EQ(get(path, {{"wait", "long"}}).status, 400);
  EXPECT_EQ(error(get(path, {{"wait", "1s"}, {"until", "paid"}})),
            "400 bad_request: `until` must be final, state or revision");
  EXPECT_EQ(error(get(path, {{"wait", "1s"}, {"until", "revision"}})),
            "400 bad_request: `until=revision` needs `revision`, a whole number");
  EXPECT_EQ(error(get(path, {{"wait", "1s"}, {"revision", "1"}})),
            "400 bad_request: `revision` needs `until=revision`");
  EXPECT_EQ(error(get(path, {{"until", "final"}})), "400 bad_request: `until` needs `wait`");
}

TEST_F(ApiTest, ACallerWaitsUntilARecordIsInAState) {
  apply({kOrder});
  create("17", R"({"amount":1})");
  const std::string path = "/v1/records/order/17";
  const auto wait = [&](const std::string& state) {
    auto waited = std::make_shared<std::optional<ApiReply>>();
    api->handle({.path = path,
                 .query = {{"wait", "30s"}, {"until", "state"}, {"state", state}},
                 .caller = caller},
                [waited](ApiReply reply) { *waited = std::move(reply); });
    return waited;
  };
  EXPECT_EQ(at(good(get(path, {{"wait", "30s"}, {"until", "state"}, {"state", "new"}})), "state"),
            "new");  // it is there already
  const auto paying = wait("paying");
  const auto paid = wait("paid");
  good(post(path + "/orders", R"({"order":"patch","reason":"r","data":{"amount":2}})"));
  run_for(seconds{1});
  EXPECT_FALSE(paying->has_value());  // it has changed, and is not there
  good(post(path + "/fire", R"({"event":"pay"})"));
  run_for(seconds{1});
  ASSERT_TRUE(paying->has_value());
  EXPECT_EQ(at((*paying)->body, "state"), "paying");
  EXPECT_FALSE(paid->has_value());
  const auto late = wait("paid");
  good(post(path + "/fire", R"({"event":"cancel"})"));
  run_for(seconds{1});
  ASSERT_TRUE(paid->has_value() && late->has_value());  // it is final, and never will be there
  EXPECT_EQ(at((*paid)->body, "state"), "cancelled");
  create("18");
  EXPECT_EQ(error(get(path, {{"wait", "1s"}, {"until", "state"}})),
            "400 bad_request: `until=state` needs `state`");
  EXPECT_EQ(error(get(path, {{"wait", "1s"}, {"state", "new"}})),
            "400 bad_request: `state` needs `until=state`");
}

TEST_F(ApiTest, AWaitForAStateHasAnEnd) {
  apply({kOrder});
  create("17");
  const auto waited = std::make_shared<std::optional<ApiReply>>();
  api->handle({.path = "/v1/records/order/17",
               .query = {{"wait", "10s"}, {"until", "state"}, {"state", "paid"}},
               .caller = caller},
              [waited](ApiReply reply) { *waited = std::move(reply); });
  run_for(seconds{9});
  EXPECT_FALSE(waited->has_value());
  run_for(seconds{2});
  ASSERT_TRUE(waited->has_value());
  EXPECT_EQ(at((*waited)->body, "state"), "new");
}

// --- batches -----------------------------------------------------------------------------------

TEST_F(ApiTest, ABatchHasOneAnswerForEachCall) {
  apply({kOrder});
  const std::string reply = good(post("/v1/batch", R"({"calls":[
      {"call":"create","machine":"order","key":"1","data":{"amount":1}},
      {"call":"fire","machine":"order","key":"1","event":"pay","idempotency_key":"k"},
      {"call":"fire","machine":"order","key":"1","event":"pay","idempotency_key":"k"},
      {"call":"fire","machine":"order","key":"2","event":"cancel","create":{}},
      {"call":"fire","machine":"order","key":"1","event":"approve"},
      {"call":"fire","machine":"order","key":"3","event":"pay"},
      {"call":"order","machine":"order","key":"1","order":"hold","reason":"r","text":"t","dry_run":true},
      {"call":"create","machine":"order","key":"4","in":"1h"},
      {"call":"create","machine":"ordr","key":"4"},
      {"call":"create","machine":"order","key":"4","data":7},
      {"call":"settle","machine":"order","key":"4"},
      {"machine":"order","key":"4"},
      {"call":"create","machine":"order"},
      7
    ]})"));
  EXPECT_EQ(all(reply, "items", "status"),
            (Texts{"200", "200", "200", "200", "403", "404", "200", "200", "404", "400", "400",
                   "400", "400", "400"}));
  EXPECT_EQ(at(reply, "items.0"), R"({"status":200,"answer":"ok","state":"new","revision":1})");
  EXPECT_EQ(at(reply, "items.1.state"), "paying");  // it sees what came before it
  EXPECT_EQ(at(reply, "items.2.state"), "paying");
  EXPECT_EQ(at(reply, "items.3.state"), "cancelled");
  EXPECT_EQ(at(reply, "items.4.error.id"), "machine_role_missing");
  EXPECT_EQ(at(reply, "items.10.error.message"), "`call` must be create, fire or order");
  EXPECT_EQ(at(reply, "items.11.error.message"), "`call` is missing");
  EXPECT_EQ(at(reply, "items.12.error.message"), "`key` is missing");
  EXPECT_EQ(at(good(get("/v1/records/order/1")), "revision"), "2");
  EXPECT_EQ(get("/v1/records/order/4").status, 404);
  // As the single call.
  EXPECT_EQ(at(reply, "items.9"),
            R"({"status":400,)" + post("/v1/records/order/4", R"({"data":7})").body.substr(1));
}

TEST_F(ApiTest, ABatchIsBounded) {
  apply({kOrder});
  const auto calls = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i)
      list += (i == 0 ? "" : ",") +
              (R"({"call":"create","machine":"order","key":")" + std::to_string(i) + R"("})");
    return R"({"calls":[)" + list + "]}";
  };
  EXPECT_EQ(good(post("/v1/batch", calls(0))), R"({"items":[]})");
  EXPECT_EQ(all(good(post("/v1/batch", calls(1'000))), "items", "status"), Texts(1'000, "200"));
  EXPECT_EQ(error(post("/v1/batch", calls(1'001))),
            "400 too_many_items: `calls` can have at most 1000 items");
  EXPECT_EQ(error(post("/v1/batch", "{}")), "400 bad_request: `calls` is missing");
  EXPECT_EQ(error(post("/v1/batch", R"({"calls":{}})")), "400 bad_request: `calls` must be a list");
}

TEST_F(ApiTest, EveryCallOfABatchIsHeldAgainstRolesAndScopes) {
  apply({kOrder, kNote});
  caller.roles = kApp;
  caller.machines = Texts{"note"};
  const std::string reply = good(post("/v1/batch", R"({"calls":[
      {"call":"create","machine":"note","key":"1"},
      {"call":"create","machine":"order","key":"1"},
      {"call":"create","machine":"note","key":"2","parent":{"machine":"order","key":"1"}},
      {"call":"order","machine":"note","key":"1","order":"retry","reason":"r"}]})"));
  EXPECT_EQ(all(reply, "items", "status"), (Texts{"200", "403", "403", "403"}));
  EXPECT_EQ(all(reply, "items", "error.id"),
            (Texts{"(absent)", "outside_scope", "outside_scope", "role_missing"}));
}

// --- work --------------------------------------------------------------------------------------

TEST_F(ApiTest, AnAttemptIsClaimedAndDone) {
  apply({kOrder});
  pay("17", R"({"amount":5})");
  EXPECT_EQ(good(post("/v1/claim", R"({"queues":["mails"]})")), R"({"attempts":[]})");
  const std::string given = claim(R"(,"worker":"w1")");
  const std::string token = at(given, "attempts.0.token");
  EXPECT_EQ(given,
            R"({"attempts":[{"machine":"order","key":"17","task":"charge",)"
            R"("queue":"payments","attempt":1,"token":")" +
                token + R"(","fence":)" + at(given, "attempts.0.fence") +
                R"(,"idempotency_key":"1/2)"
                R"(","lease_until":"2026-03-02T09:01:00Z",)"
                R"("deadline_at":"2026-03-02T09:10:00Z","data":{"amount":5,"region":"eu"}}]})");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "running.worker"), "w1");
  run_for(seconds{30});
  EXPECT_EQ(good(post("/v1/beat", "{" + named("17", token) + R"(,"progress":{"page":3}})")),
            R"({"answer":"ok","state":"paying","revision":2,)"
            R"("lease_until":"2026-03-02T09:01:30Z"})");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "running.progress"), R"({"page":3})");
  const std::string body = "{" + named("17", token) + R"(,"result":{"paid":true}})";
  EXPECT_EQ(good(post("/v1/done", body)), R"({"answer":"ok","state":"paid","revision":3})");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "result"), R"({"paid":true})");
  // A worker that did not hear the answer asks again.
  const ApiReply again = post("/v1/done", body);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(at(again.body, "answer"), "duplicate");
  EXPECT_EQ(at(again.body, "state"), "paid");
}

TEST_F(ApiTest, AFailureSaysWhy) {
  apply({kOrder});
  pay("17");
  const std::string token = at(claim(), "attempts.0.token");
  EXPECT_EQ(at(good(get("/v1/records/order/17")), "running.worker"), "eve");
  const std::string body = "{" + named("17", token) +
                           R"(,"code":"no_money","message":"try on Monday","detail":{"a":1},)"
                           R"("retry_after":"2h"})";
  EXPECT_EQ(at(good(post("/v1/fail", body)), "answer"), "ok");
  EXPECT_EQ(at(good(post("/v1/fail", body)), "answer"), "duplicate");
  const std::string entry = at(good(get("/v1/records/order/17/log")), "items.2");
  EXPECT_EQ(at(entry, "kind"), "failed");
  EXPECT_EQ(at(entry, "error.detail"), R"({"a":1})");
  EXPECT_EQ(at(entry, "error.retry_after"), "2h");
  EXPECT_EQ(at(entry, "next_at"), "2026-03-02T11:00:00Z");
  EXPECT_EQ(error(post("/v1/fail", "{" + named("17", token) + "}")),
            "400 bad_request: `code` is missing");
  EXPECT_EQ(error(post("/v1/fail", "{" + named("17", token) + R"(,"code":"x","retry_after":7})")),
            "400 bad_request: `retry_after` must be a string");
}

TEST_F(ApiTest, ATokenThatIsOverIsStale) {
  apply({kOrder});
  pay("17");
  const std::string token = at(claim(), "attempts.0.token");
  run_for(minutes{1} + seconds{1});  // the lease is lost
  const ApiReply done = post("/v1/done", "{" + named("17", token) + "}");
  EXPECT_EQ(done.status, 409);
  EXPECT_EQ(at(done.body, "answer"), "stale");
  EXPECT_EQ(at(done.body, "permitted"), R"(["cancel","discard","restart"])");
  const ApiReply beat = post("/v1/beat", "{" + named("17", token) + "}");
  EXPECT_EQ(beat.status, 409);
  EXPECT_EQ(at(beat.body, "cancel"), "true");
  EXPECT_EQ(at(beat.body, "permitted"), R"(["cancel","discard","restart"])");
  const std::string both = R"({"attempts":[{)" + named("17", token) + "}]}";
  EXPECT_EQ(at(good(post("/v1/done", both)), "items.0.permitted.0"), "cancel");
  caller.roles = kApp | kWorker;
  caller.machines = {"another"};  // whose events it may fire
  EXPECT_EQ(at(good(post("/v1/done", both)), "items.0.permitted"), "(absent)");
  caller = everybody();
  EXPECT_EQ(post("/v1/done", "{" + named("17", "no token") + "}").status, 409);
  EXPECT_EQ(error(post("/v1/done", "{}")), "400 bad_request: `machine` is missing");
}

// Whether there is a machine or a record, whether it runs, is on hold or final: who has held no
// attempt at it is answered the same. Who has is told what became of it.
TEST_F(ApiTest, ATokenThatWasNotGivenShowsNothingOfTheRecord) {
  apply({kOrder, kNote});
  for (const char* key : {"running", "held", "final"}) pay(key);
  const std::string given = claim(R"(,"max":3)");
  ASSERT_EQ(all(given, "attempts", "key"), (Texts{"running", "held", "final"}));
  const std::string token = at(given, "attempts.0.token");
  const std::string held = named("held", at(given, "attempts.1.token"));
  good(post("/v1/fail", "{" + held + R"(,"code":"c"})"));
  good(post("/v1/records/order/held/orders", R"({"order":"hold","text":"t","reason":"r"})"));
  good(post("/v1/done", "{" + named("final", at(given, "attempts.2.token")) + "}"));
  good(post("/v1/records/note/1", "{}"));
  good(post("/v1/records/note/1/fire", R"({"event":"close"})"));
  const std::string delivery =
      at(good(get("/v1/records", {{"machine", "delivery"}})), "items.0.key");
  const std::string send = at(good(post("/v1/records/order/later", R"({"in":"1h"})")), "key");
  caller.roles = kWorker;
  const std::map<std::string, std::string> stale{
      {"/v1/beat", R"({"answer":"stale","reason":"this attempt is over, stop working: it )"
                   R"(timed out or lost its lease, or the record moved on","cancel":true})"},
      {"/v1/done",
       R"({"answer":"stale","reason":"the token does not belong to the live attempt"})"},
      {"/v1/fail",
       R"({"answer":"stale","reason":"the token does not belong to the live attempt"})"}};
  for (const auto& [path, body] : stale)
    for (const std::string& record :
         {R"("machine":"order","key":"running","token":"made up")"s,
          R"("machine":"order","key":"held","token":")" + token + "\"",
          R"("machine":"order","key":"final","token":")" + token + "\"",
          R"("machine":"order","key":"none","token":")" + token + "\"",
          R"("machine":"ordr","key":"running","token":")" + token + "\"",
          R"("machine":"delivery","key":")" + delivery + R"(","token":"made up")",
          R"("machine":"delivery","key":"none","token":"made up")"s,
          R"("machine":"send","key":")" + send + R"(","token":"made up")",
          R"("machine":"send","key":"none","token":"made up")"s,
          R"("machine":"run","key":"none","token":"made up")"s}) {
      const std::string one = "{" + record + (path == "/v1/fail" ? R"(,"code":"c"})" : "}");
      const ApiReply single = post(path, one);
      EXPECT_EQ(single.status, 409) << one;
      EXPECT_EQ(single.body, body) << one;
      EXPECT_EQ(good(post(path, R"({"attempts":[)" + one + "]}")),
                R"({"items":[{"status":409,)" + body.substr(1) + "]}");
    }
  good(post("/v1/done", "{" + named("running", token) + "}"));
  EXPECT_EQ(at(post("/v1/beat", "{" + named("running", token) + "}").body, "reason"),
            "this attempt is over, stop working: it was settled");
}

TEST_F(ApiTest, SeveralAreSettledAtOnce) {
  apply({kOrder});
  for (const char* key : {"1", "2"}) pay(key);
  const std::string given = claim(R"(,"max":2)");
  std::string items;
  for (const int i : {0, 1})
    items += "{" +
             named(at(given, "attempts." + std::to_string(i) + ".key"),
                   at(given, "attempts." + std::to_string(i) + ".token")) +
             "},";
  const std::string reply =
      good(post("/v1/done", R"({"attempts":[)" + items + "{" + named("1", "no token") + "}]}"));
  EXPECT_EQ(all(reply, "items", "status"), (Texts{"200", "200", "409"}));
  EXPECT_EQ(all(reply, "items", "answer"), (Texts{"ok", "ok", "stale"}));
  EXPECT_EQ(good(post("/v1/done", R"({"attempts":[]})")), R"({"items":[]})");
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":[{"machine":"order"}]})")),
            "400 bad_request: `attempts[0].key` is missing");
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":[7]})")),
            "400 bad_request: `attempts[0]` must be a map: {…}");
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":{}})")),
            "400 bad_request: `attempts` must be a list");
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":[],"key":"1"})")),
            "400 bad_request: `key` is not a field here; the fields are attempts and claim");
  std::string many = "{" + named("1", "t") + "}";
  for (int i = 0; i < 1'000; ++i) many += ",{" + named("1", "t") + "}";
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":[)" + many + "]}")),
            "400 too_many_items: `attempts` can have at most 1000 items");
}

TEST_F(ApiTest, ASettleClaimsTheNext) {
  apply({kOrder});
  for (const char* key : {"1", "2"}) pay(key);
  const std::string claims = R"(,"claim":{"queues":["payments"]})";
  const std::string first = claim();
  const std::string reply = good(
      post("/v1/done",
           "{" + named(at(first, "attempts.0.key"), at(first, "attempts.0.token")) + claims + "}"));
  EXPECT_EQ(at(reply, "items.0.state"), "paid");
  EXPECT_EQ(at(reply, "attempts.0.key"), "2");
  const std::string last = good(post("/v1/fail", "{" + named("2", at(reply, "attempts.0.token")) +
                                                     R"(,"code":"x")" + claims + "}"));
  EXPECT_EQ(at(last, "attempts"), "[]");
  EXPECT_EQ(good(post("/v1/done", R"({"attempts":[])" + claims + "}")),
            R"({"items":[],"attempts":[]})");
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":[],"claim":{"queue":"x"}})")),
            "400 bad_request: `claim.queue` is not a field here; did you mean queues?");
  EXPECT_EQ(error(post("/v1/done", R"({"attempts":[],"claim":[]})")),
            "400 bad_request: `claim` must be a map");
}

TEST_F(ApiTest, AClaimHasLimits) {
  apply({kOrder});
  for (const char* key : {"1", "2", "3"}) pay(key);
  EXPECT_EQ(all(claim(R"(,"max":2)"), "attempts", "key"), (Texts{"1", "2"}));
  EXPECT_EQ(all(claim(R"(,"max":1000)"), "attempts", "key"), Texts{"3"});
  EXPECT_EQ(error(post("/v1/claim", R"({"queues":["payments"],"max":0})")),
            "400 bad_request: `max` must be a whole number from 1 to 1000");
  EXPECT_EQ(post("/v1/claim", R"({"queues":["payments"],"max":1001})").status, 400);
  EXPECT_EQ(error(post("/v1/claim", R"({"queues":[]})")),
            "400 bad_request: `queues` must name at least one queue");
  EXPECT_EQ(error(post("/v1/claim", "{}")),
            "400 bad_request: `queues` must name at least one queue");
}

TEST_F(ApiTest, AClaimWaitsForWork) {
  apply({kOrder});
  const auto claims = [&] {
    auto into = std::make_shared<std::optional<ApiReply>>();
    api->handle({.method = "POST",
                 .path = "/v1/claim",
                 .body = R"({"queues":["payments"],"wait":"1d"})",
                 .caller = caller},
                [into](ApiReply reply) { *into = std::move(reply); });
    return into;
  };
  const auto empty = claims();
  run_for(seconds{59});
  EXPECT_FALSE(empty->has_value());
  run_for(seconds{2});
  ASSERT_TRUE(empty->has_value());
  EXPECT_EQ((*empty)->body, R"({"attempts":[]})");
  const auto given = claims();
  pay("17");
  run_for(seconds{1});
  ASSERT_TRUE(given->has_value());
  EXPECT_EQ(at((*given)->body, "attempts.0.key"), "17");
}

// --- pauses ------------------------------------------------------------------------------------

TEST_F(ApiTest, WhatIsPausedIsNotStarted) {
  apply({kOrder});
  pay("17");
  EXPECT_EQ(good(get("/v1/pauses")), R"({"items":[]})");
  const std::string body = R"({"what":"machine:order","reason":"stocktaking")";
  const std::string pause =
      R"({"what":"machine:order","reason":"stocktaking","actor":"eve","since":"2026-03-02T09:00:00Z"})";
  EXPECT_EQ(good(post("/v1/pauses", body + R"(,"dry_run":true})")), pause);
  EXPECT_EQ(good(get("/v1/pauses")), R"({"items":[]})");
  EXPECT_EQ(good(post("/v1/pauses", body + "}")), pause);
  EXPECT_EQ(good(get("/v1/pauses")), R"({"items":[)" + pause + "]}");
  EXPECT_EQ(claim(), R"({"attempts":[]})");
  EXPECT_EQ(good(post("/v1/pauses/end", R"({"what":"machine:order","dry_run":true})")),
            R"({"ended":true})");
  EXPECT_EQ(claim(), R"({"attempts":[]})");
  good(post("/v1/pauses/end", R"({"what":"machine:order"})"));
  EXPECT_EQ(error(post("/v1/pauses/end", R"({"what":"machine:order"})")),
            "404 not_paused: `machine:order` is not paused");
  EXPECT_EQ(error(post("/v1/pauses/end", R"({"what":"machine:order","dry_run":true})")),
            "404 not_paused: `machine:order` is not paused");
  EXPECT_EQ(at(claim(), "attempts.0.key"), "17");
}

TEST_F(ApiTest, WhatCanBePaused) {
  for (const char* what : {"everything", "queue:payments", "label:region=\"eu\"", "label:n=7"}) {
    const std::string named = R"({"what":)" + json_string(what);
    EXPECT_EQ(at(good(post("/v1/pauses", named + R"(,"reason":"r"})")), "what"), what);
    good(post("/v1/pauses/end", named + "}"));
  }
  EXPECT_EQ(at(good(post("/v1/pauses", R"({"what":"label:region=eu","reason":"r"})")), "what"),
            "label:region=\"eu\"");
  for (const char* what : {"all", "machine:", "queue", "label:region", "label:=eu", "order"})
    EXPECT_EQ(error(post("/v1/pauses", R"({"reason":"r","what":")" + std::string(what) + R"("})")),
              "400 bad_request: '" + std::string(what) +
                  "' cannot be paused; write machine:NAME, queue:NAME, label:NAME=VALUE or "
                  "everything");
  EXPECT_EQ(error(post("/v1/pauses", R"({"what":"everything"})")),
            "400 bad_request: `reason` is missing");
}

// --- the document ------------------------------------------------------------------------------

const Json& find(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = &json;
  for (const std::string_view key : path) {
    found = found->find(key);
    if (found == nullptr) {
      ADD_FAILURE() << "there is no " << key;
      return json;
    }
  }
  return *found;
}

Texts names_in(const Json& schema) {
  Texts names;
  for (const JsonMember& member : find(schema, {"properties"}).members) names.push_back(member.key);
  std::sort(names.begin(), names.end());
  return names;
}

// The reader of a body names all fields that it takes when it is given one that is none of them.
class BodySchemaTest : public ApiTest {
 protected:
  // `body` with the place of an unknown field as @; `besides` is a field of another shape that the
  // same body may have instead.
  void expect_fields(const std::string& shape, const std::string& path, std::string body,
                     const Texts& besides = {}) {
    body.replace(body.find('@'), 1, R"("no field is called like this":1)");
    const ApiReply reply = post(path, body);
    std::string message = at(reply.body, "error.message");
    if (path == "/v1/batch") message = at(reply.body, "items.0.error.message");
    const std::string there_are = "; the fields are ";
    const std::size_t found = message.find(there_are);
    ASSERT_NE(found, std::string::npos) << shape << ": " << reply.body;
    Texts names = names_in(find(document, {"components", "schemas", shape}));
    std::erase(names, "actor");  // for tokens with act_as; see access_test.cc
    names.insert(names.end(), besides.begin(), besides.end());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(message.substr(found + there_are.size()), join(names, ", ", " and ")) << shape;
    shapes.insert(shape);
  }

  Json document = openapi_document();
  std::set<std::string> shapes;
};

TEST_F(BodySchemaTest, HasTheFieldsThatTheReaderTakes) {
  const std::string record = "/v1/records/order/1";
  expect_fields("Apply", "/v1/machines", "{@}");
  expect_fields("MachineFile", "/v1/machines", R"({"files":[{@}]})");
  expect_fields("Create", record, "{@}");
  expect_fields("RecordName", record, R"({"parent":{@}})");
  expect_fields("Fire", record + "/fire", "{@}");
  expect_fields("NewRecord", record + "/fire", R"({"event":"e","create":{@}})");
  for (const std::string order : {"retry", "release", "migrate", "erase"})
    expect_fields("PlainOrder", record + "/orders", R"({"order":")" + order + R"(",@})");
  expect_fields("HoldOrder", record + "/orders", R"({"order":"hold",@})");
  expect_fields("MoveOrder", record + "/orders", R"({"order":"move",@})");
  expect_fields("PatchOrder", record + "/orders", R"({"order":"patch",@})");
  const auto batched = [](const std::string& members) {
    return R"({"calls":[{"machine":"order","key":"1",)" + members + ",@}]}";
  };
  expect_fields("BatchCreate", "/v1/batch", batched(R"("call":"create")"));
  expect_fields("BatchFire", "/v1/batch", batched(R"("call":"fire")"));
  expect_fields("BatchPlainOrder", "/v1/batch", batched(R"("call":"order","order":"retry")"));
  expect_fields("BatchHoldOrder", "/v1/batch", batched(R"("call":"order","order":"hold")"));
  expect_fields("BatchMoveOrder", "/v1/batch", batched(R"("call":"order","order":"move")"));
  expect_fields("BatchPatchOrder", "/v1/batch", batched(R"("call":"order","order":"patch")"));
  expect_fields("Claim", "/v1/claim", "{@}");
  for (const std::string word : {"beat", "done", "fail"}) {
    const std::string shape = std::string(1, to_upper(word[0])) + word.substr(1);
    expect_fields(shape + "One", "/v1/" + word, "{@}", {"attempts"});
    expect_fields(shape + "Several", "/v1/" + word, R"({"attempts":[],@})");
    expect_fields(shape + "Attempt", "/v1/" + word, R"({"attempts":[{@}]})");
  }
  expect_fields("SetPause", "/v1/pauses", "{@}");
  expect_fields("EndPause", "/v1/pauses/end", "{@}");
  expect_fields("SteerPipe", "/v1/pipes/p/t/0/pause", "{@}");
  expect_fields("SteerPipe", "/v1/pipes/p/t/0/resume", "{@}");
  expect_fields("SkipMessage", "/v1/pipes/p/t/0/skip", "{@}");
  expect_fields("Advance", "/v1/clock/advance", "{@}");
  expect_fields("NewToken", "/v1/tokens", "{@}");
  expect_fields("RevokeToken", "/v1/tokens/revoke", "{@}");
  shapes.insert("ActsAs");  // access_test.cc
  // None was forgotten here: whatever is read strictly has to be held against its reader. Of a
  // batch, all of its fields stand in its error.
  shapes.insert("Batch");
  EXPECT_EQ(error(post("/v1/batch", R"({"no field":1})")),
            "400 bad_request: `no field` is not a field here; the fields are calls");
  for (const JsonMember& schema : find(document, {"components", "schemas"}).members)
    if (schema.value.find("additionalProperties") != nullptr) {
      EXPECT_TRUE(shapes.contains(schema.key)) << schema.key;
    }
}

TEST_F(BodySchemaTest, RequiresWhatTheReaderMisses) {
  const auto required = [&](const std::string& shape) {
    Texts names;
    for (const Json& name : find(document, {"components", "schemas", shape, "required"}).items)
      names.push_back(name.text);
    return names;
  };
  EXPECT_EQ(required("Fire"), Texts{"event"});
  EXPECT_EQ(required("DoneAttempt"), (Texts{"machine", "key", "token"}));
  EXPECT_EQ(required("FailAttempt"), (Texts{"machine", "key", "token", "code"}));
  EXPECT_EQ(required("HoldOrder"), (Texts{"order", "reason", "text"}));
}

// --- the clock ---------------------------------------------------------------------------------

TEST_F(ApiTest, AVirtualClockGoesWhereItIsTold) {
  apply({R"(machine: egg
initial: boiling
states: {boiling: {after: {3m: boiled}}, boiled: {final: true}}
)"});
  const Instant start = engine->now();
  good(post("/v1/records/egg/1", ""));
  EXPECT_EQ(good(get("/v1/clock")), R"({"now":")" + to_text(start) + R"(","virtual":true})");
  const std::string later = to_text(start + minutes{2});
  EXPECT_EQ(good(post("/v1/clock/advance", R"({"by":"2m"})")),
            R"({"now":")" + later + R"(","virtual":true})");
  EXPECT_EQ(at(good(get("/v1/records/egg/1")), "state"), "boiling");
  const std::string latest = to_text(start + minutes{10});
  EXPECT_EQ(at(good(post("/v1/clock/advance", R"({"to":")" + latest + R"("})")), "now"), latest);
  const std::string egg = good(get("/v1/records/egg/1"));
  EXPECT_EQ(at(egg, "state"), "boiled");
  EXPECT_EQ(at(egg, "entered_at"), to_text(start + minutes{3}));  // at its own instant
  EXPECT_EQ(error(post("/v1/clock/advance", R"({"to":")" + later + R"("})")),
            "400 bad_request: the clock can only move forward; it is now " + latest);
  for (const char* body : {"{}", R"({"by":"1s","to":"2027-01-01T00:00:00Z"})"})
    EXPECT_EQ(error(post("/v1/clock/advance", body)),
              "400 bad_request: give `by`, a duration, or `to`, an instant");
  EXPECT_EQ(post("/v1/clock/advance", R"({"by":"9999 years"})").status, 400);
}

TEST(ApiClock, WhoMovesItIsTold) {
  std::vector<Notice> notices;
  auto engine = *Engine::open({.virtual_clock = kNine, .on_notice = [&](const Notice& notice) {
                                 notices.push_back(notice);
                               }});
  auto access = *Access::open(*engine);
  Api api(*engine, *access);
  const Caller caller{.roles = kAdmin, .actor = {.name = "eve"}, .act_as = true};
  const auto advance = [&](const std::string& body) {
    return api.handle(
        {.method = "POST", .path = "/v1/clock/advance", .body = body, .caller = caller});
  };
  EXPECT_EQ(advance(R"({"by":"1h","actor":{"name":"ann"}})").status, 200);
  EXPECT_EQ(advance(R"({"to":"2026-03-01T00:00:00Z"})").status, 400);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].kind, Notice::Kind::clock_moved);
  EXPECT_EQ(notices[0].at, kNine);
  EXPECT_EQ(notices[0].subject, to_text(kNine + hours{1}));
  EXPECT_EQ(notices[0].actor, "ann via eve");
}

TEST(ApiClock, ARealOneIsNotMoved) {
  auto engine = *Engine::open({});
  auto access = *Access::open(*engine, [] {});
  Api api(*engine, *access);
  const Caller admin{.roles = kAdmin};
  const ApiReply told = api.handle(
      {.method = "POST", .path = "/v1/clock/advance", .body = R"({"by":"1s"})", .caller = admin});
  EXPECT_EQ(told.status, 404);
  EXPECT_EQ(at(told.body, "error.id"), "no_virtual_clock");
  EXPECT_EQ(at(api.handle({.path = "/v1/clock", .caller = admin}).body, "virtual"), "false");
}

// --- metrics -----------------------------------------------------------------------------------

TEST_F(ApiTest, MetricsAreTextWithEverythingEscaped) {
  apply({R"(machine: job
initial: waiting
tasks: {work: {queue: jobs, retry: [1m]}}
states: {waiting: {task: work, done: over}, over: {final: true}}
)"});
  good(post("/v1/records/job/1", ""));
  caller.roles = kAdmin;
  const std::string claimed = good(post("/v1/claim", R"({"queues":["jobs"]})"));
  const std::string token = at(claimed, "attempts.0.token");
  good(post("/v1/fail",
            R"({"machine":"job","key":"1","token":")" + token + R"(","code":"a \"b\" \\ \n"})"));
  caller.roles = kViewer;
  const ApiReply reply = get("/metrics");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"\npawl_attempts_total{machine=\"job\"} 1\n", "\npawl_retries_total{machine=\"job\"} 1\n",
        "\npawl_failures_total{machine=\"job\",code=\"a \\\"b\\\" \\\\ \\n\"} 1\n",
        "\npawl_records{machine=\"job\",state=\"waiting\"} 1\n", "\npawl_double_applied_total 0\n",
        "\n# TYPE pawl_due_lag_seconds histogram\n", "\npawl_due_lag_seconds_count 0\n"})
    EXPECT_NE(reply.body.find(line), std::string::npos) << line << reply.body;
}

TEST_F(ApiTest, TheDocumentHasEveryRoute) {
  const Json document = openapi_document();
  caller.roles = kWorker;
  EXPECT_EQ(good(get("/v1/openapi.json")), to_text(document));
  std::size_t operations = 0;
  for (const JsonMember& path : find(document, {"paths"}).members)
    operations += path.value.members.size();
  EXPECT_EQ(operations, Api::routes().size());
  for (const Route& route : Api::routes()) {
    const Json& operation =
        find(document, {"paths", route.path, route.method == "GET" ? "get" : "post"});
    EXPECT_EQ(find(operation, {"summary"}).text, route.summary);
    EXPECT_EQ(operation.find("security") != nullptr, is_open(route)) << route.path;
    EXPECT_EQ(operation.find("requestBody") != nullptr, route.method == "POST") << route.path;
    if (route.method == "POST") find(document, {"components", "schemas", route.body});
    if (route.reply != "Events" && route.reply != "Metrics")
      find(document, {"components", "schemas", route.reply});
  }
}

// --- the page ----------------------------------------------------------------------------------

std::string roles_text(unsigned roles) {
  if ((roles & kOpen) != 0) return "no token is needed";
  Texts names;
  for (const auto& [role, name] : {std::pair{kViewer, "viewer"},
                                   {kApp, "app"},
                                   {kWorker, "worker"},
                                   {kOperator, "operator"},
                                   {kAdmin, "admin"}})
    if ((roles & role) != 0) names.emplace_back(name);
  return join(names, ", ", ", ");
}

Texts lines_of_page(const Texts& beginnings) {
  std::ifstream page(PAWL_SOURCE_DIR "/docs/reference/api.md");
  Texts lines;
  for (std::string line; std::getline(page, line);)
    for (const std::string& beginning : beginnings)
      if (line.starts_with(beginning)) lines.push_back(line);
  return lines;
}

TEST(ApiReference, HasEveryRouteWithItsRolesAndParameters) {
  Texts expected;
  for (const Route& route : Api::routes()) {
    std::string parameters;
    for (const std::string& name : query_names(route))
      parameters += (parameters.empty() ? "`" : " `") + std::string(name) + "`";
    expected.push_back("| `" + std::string(route.method) + " " + std::string(route.path) + "` | " +
                       std::string(route.summary) + " | " + roles_text(route.roles) + " | " +
                       parameters + " |");
  }
  EXPECT_EQ(lines_of_page({"| `GET /", "| `POST /"}), expected);
}

// Every member of a body or a reply is somewhere on the page.
TEST(ApiReference, HasEveryMember) {
  std::ifstream file(PAWL_SOURCE_DIR "/docs/reference/api.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Json document = openapi_document();
  for (const JsonMember& schema : find(document, {"components", "schemas"}).members) {
    const Json* properties = schema.value.find("properties");
    if (properties == nullptr) continue;
    for (const JsonMember& property : properties->members) {
      const bool is_there = page.find("`" + property.key + "`") != std::string::npos ||
                            page.find("[]." + property.key + "`") != std::string::npos ||
                            page.find("\"" + property.key + "\"") != std::string::npos;
      EXPECT_TRUE(is_there) << schema.key << "." << property.key;
    }
  }
}

// Every id of an error that a reply can carry.
TEST(ApiReference, HasEveryErrorId) {
  Texts expected;
  for (const ErrorId& id : error_ids())
    expected.push_back("| " + std::to_string(id.status) + " | `" + std::string(id.id) + "` | " +
                       std::string(id.meaning) + " |");
  EXPECT_EQ(lines_of_page({"| 4", "| 5"}), expected);
}

}  // namespace
}  // namespace pawl
