// Who may call: access tokens, what becomes of them, and calls in the name of others.
#include "api/access.h"

#include <gtest/gtest.h>

#include "api/api.h"
#include "base/json_text.h"
#include "base/text.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using Texts = std::vector<std::string>;
using Query = std::vector<std::pair<std::string, std::string>>;

const Instant kAccessStart = *parse_instant("2026-03-02T09:00:00Z");

constexpr const char* kScopedOrder = R"(machine: order
initial: new
states:
  new: {on: {approve: paying, cancel: cancelled}}
  paying: {task: charge, done: paid}
  paid: {final: true}
  cancelled: {final: true}
events:
  approve: {by: [manager]}
tasks:
  charge: {queue: payments}
)";

std::string member_at(std::string_view json, std::string_view name) {
  const JsonView value = JsonView(json).member(name);
  Scratch scratch;
  if (value.absent()) return "(absent)";
  if (value.kind() == JsonView::Kind::text) return std::string(value.text(scratch));
  return std::string(value.json());
}

std::string error_of(const ApiReply& reply) {
  const std::string error = member_at(reply.body, "error");
  return error == "(absent)" ? reply.body
                             : std::to_string(reply.status) + " " + member_at(error, "id") + ": " +
                                   member_at(error, "message");
}

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    engine = *Engine::open({.virtual_clock = kAccessStart});
    open();
    const std::vector<MachineText> files{{"order.yaml", kScopedOrder}};
    EXPECT_TRUE(engine->apply(files)->is_good());
    token = *access->create({.name = "root", .roles = kAdmin | kWorker});
  }
  // As a new process would.
  void open() {
    api.reset();
    access = *Access::open(*engine, [this] { ++revoked; });
    api.emplace(*engine, *access);
  }
  std::string create(AccessToken of) { return *access->create(std::move(of)); }

  // In the name of the token that is shown; one that lets nobody in is 401, as it is for a server.
  ApiReply call(const std::string& method, const std::string& path, const std::string& body = {},
                const Query& query = {}) {
    const auto caller = access->find(token, engine->now());
    if (!caller) return error_reply("no_access", "nobody");
    return api->handle(
        {.method = method, .path = path, .query = query, .body = body, .caller = *caller});
  }
  ApiReply get(const std::string& path, const Query& query = {}) {
    return call("GET", path, {}, query);
  }
  ApiReply post(const std::string& path, const std::string& body) {
    return call("POST", path, body);
  }
  std::string good(const ApiReply& reply) {
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.body;
  }
  bool lets_in(const std::string& text) const {
    return access->find(text, engine->now()).has_value();
  }

  std::unique_ptr<Engine> engine;
  std::unique_ptr<Access> access;
  std::optional<Api> api;
  std::string token;
  int revoked = 0;
};

TEST_F(AccessTest, ATokenIsShownOnceAndKeptAsItsHash) {
  const std::string made =
      good(post("/v1/tokens", R"({"name":"shop","roles":["app","viewer"],"machines":["order"],)"
                              R"("queues":[],"machine_roles":["manager"],"act_as":true,)"
                              R"("expires_in":"30d"})"));
  const std::string text = member_at(made, "token");
  const std::string shown =
      R"({"name":"shop","roles":["viewer","app"],"machine_roles":["manager"],"machines":["order"],)"
      R"("queues":[],"act_as":true,"created_at":"2026-03-02T09:00:00Z",)"
      R"("expires_at":"2026-04-01T09:00:00Z","made_by":"root")";
  EXPECT_EQ(made, shown + R"(,"token":")" + text + R"("})");
  EXPECT_EQ(text.size(), 5U + 32U);
  EXPECT_NE(good(get("/v1/tokens")).find(shown + "}"), std::string::npos);
  EXPECT_EQ(good(get("/v1/tokens")).find(text), std::string::npos);
  for (const Setting& setting : *engine->settings("")) {
    EXPECT_EQ((setting.name + setting.value).find(text.substr(5)), std::string::npos);
  }
  open();
  const auto caller = access->find(text, engine->now());
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->roles, kApp | kViewer);
  EXPECT_EQ(caller->machines, Texts{"order"});
  EXPECT_EQ(caller->queues, Texts{});
  EXPECT_TRUE(caller->act_as);
  EXPECT_EQ(caller->actor, (Actor{.name = "shop", .roles = {"manager"}}));
}

TEST_F(AccessTest, WhatIsNoTokenIsNotMade) {
  const auto error = [&](const std::string& body) { return error_of(post("/v1/tokens", body)); };
  EXPECT_EQ(error("{}"), "400 bad_request: `name` is missing");
  EXPECT_EQ(
      error(R"({"name":"x"})"),
      "400 bad_request: an access token needs a role: viewer, app, worker, operator or admin");
  EXPECT_EQ(
      error(R"({"name":"x","roles":["vewer"]})"),
      "400 bad_request: there is no role `vewer`; did you mean viewer?; the roles of a machine go into "
      "`machine_roles` (--machine-role)");
  EXPECT_EQ(error(R"({"name":"x","roles":["app"],"role":"app"})"),
            "400 bad_request: `role` is not a field here; did you mean roles?");
  for (const char* role : {"operator", "engine"})
    EXPECT_EQ(
        error(R"({"name":"x","roles":["app"],"machine_roles":[")" + std::string(role) + R"("]})")
            .substr(0, 15),
        "400 bad_request")
        << role;
  EXPECT_EQ(error(R"({"name":"engine","roles":["app"]})"),
            "400 bad_request: the name `engine` is reserved");
  EXPECT_EQ(
      error(R"({"name":"root","roles":["app"]})"),
      "400 bad_request: the access token `root` already exists: revoke it, or choose another name");
  EXPECT_EQ(error(R"({"name":"x","roles":["app"],"machines":[""]})"),
            "400 bad_request: `machines`: a name must have 1 to 256 bytes");
  EXPECT_EQ(error(R"({"name":")" + std::string(257, 'x') + R"(","roles":["app"]})"),
            "400 bad_request: a name must have 1 to 256 bytes");
  std::string many = R"("q")";
  for (int i = 0; i < 1'000; ++i) many += R"(,"q")";
  EXPECT_EQ(error(R"({"name":"x","roles":["app"],"queues":[)" + many + "]}"),
            "400 bad_request: `queues` can have at most 1000 items");
  EXPECT_EQ(error(R"({"name":"x","roles":["app"],"expires_at":"2026-03-02T09:00:00Z"})"),
            "400 bad_request: the token would have expired already");
  EXPECT_EQ(error(R"({"name":"x","roles":["app"],"expires_at":"2026-04-02T09:00:00Z",)"
                  R"("expires_in":"1d"})"),
            "400 bad_request: give `expires_at` or `expires_in`, not both");
  good(post("/v1/tokens", R"({"name":"x","roles":["app"],"dry_run":true})"));
  EXPECT_EQ(access->all().size(), 1U);
}

TEST_F(AccessTest, ThereIsABoundOnTokens) {
  for (int i = 1; i < 1'000; ++i) create({.name = std::to_string(i), .roles = kViewer});
  EXPECT_EQ(error_of(post("/v1/tokens", R"({"name":"x","roles":["app"]})")),
            "400 bad_request: there are 1000 access tokens already: revoke some");
}

TEST_F(AccessTest, ARevokedTokenLetsNobodyInFromThenOn) {
  const std::string text = create({.name = "shop", .roles = kApp});
  const auto caller = access->find(text, engine->now());
  ASSERT_TRUE(caller);
  EXPECT_EQ(good(post("/v1/tokens/revoke", R"({"name":"shop","dry_run":true})")),
            R"({"revoked":true})");
  EXPECT_TRUE(lets_in(text) && caller->in_force());
  EXPECT_EQ(revoked, 0);
  EXPECT_EQ(good(post("/v1/tokens/revoke", R"({"name":"shop"})")), R"({"revoked":true})");
  EXPECT_FALSE(lets_in(text));
  EXPECT_FALSE(caller->in_force());
  EXPECT_EQ(revoked, 1);
  EXPECT_EQ(error_of(post("/v1/tokens/revoke", R"({"name":"shop"})")),
            "404 no_such_token: there is no access token `shop`");
  EXPECT_EQ(post("/v1/tokens/revoke", R"({"name":"shop","dry_run":true})").status, 404);
  EXPECT_EQ(error_of(post("/v1/tokens/revoke", "{}")), "400 bad_request: `name` is missing");
  open();
  EXPECT_FALSE(lets_in(text));
  EXPECT_TRUE(lets_in(token));
  EXPECT_TRUE(lets_in(create({.name = "shop", .roles = kApp})));  // the name is free again
}

// Somebody else has written the setting: what is revoked must be gone nevertheless.
// Every change has its actor, also those of no record.
TEST_F(AccessTest, WhoRevokedAppliedAndLetGoOnIsKept) {
  create({.name = "shop", .roles = kApp, .created_at = kAccessStart, .made_by = "root"});
  token = create({.name = "desk", .roles = kAdmin, .act_as = true});
  const std::string ann = R"("actor":{"name":"ann"})";
  good(post("/v1/tokens/revoke", R"({"name":"shop",)" + ann + "}"));
  good(post("/v1/pauses", R"({"what":"queue:q","reason":"r"})"));
  good(post("/v1/pauses/end", R"({"what":"queue:q",)" + ann + "}"));
  const std::string file = json_string("machine: memo\ninitial: a\nstates: {a: {final: true}}\n");
  good(post("/v1/machines", R"({"files":[{"path":"memo.yaml","text":)" + file + "}]," + ann + "}"));
  const auto look = [&] {
    EXPECT_EQ(member_at(good(get("/v1/tokens")), "revoked"),
              R"([{"name":"shop","roles":["app"],"created_at":"2026-03-02T09:00:00Z",)"
              R"("made_by":"root","revoked_at":"2026-03-02T09:00:00Z",)"
              R"("revoked_by":"ann via desk"}])");
    EXPECT_EQ(good(get("/v1/pauses")),
              R"({"items":[],"ended":[{"what":"queue:q","reason":"r","actor":"desk",)"
              R"("since":"2026-03-02T09:00:00Z","ended_at":"2026-03-02T09:00:00Z",)"
              R"("ended_by":"ann via desk"}]})");
    const std::string applied = R"("applied_at":"2026-03-02T09:00:00Z","applied_by":)";
    EXPECT_EQ(good(get("/v1/machines")),
              R"({"items":[{"machine":"memo","version":1,)" + applied + R"("ann via desk"},)" +
                  R"({"machine":"order","version":1,)" + applied + R"("embedder"}]})");
    EXPECT_EQ(member_at(good(get("/v1/machines/memo")), "applied_by"), "ann via desk");
    EXPECT_EQ(member_at(good(get("/v1/machines/memo/1")), "applied_by"), "ann via desk");
  };
  look();
  open();
  look();
  // The name is free again, and so is what was paused.
  create({.name = "shop", .roles = kViewer});
  good(post("/v1/pauses", R"({"what":"queue:q","reason":"again"})"));
  EXPECT_EQ(member_at(good(get("/v1/pauses")), "ended"), "(absent)");
  EXPECT_EQ(access->revoked().size(), 1U);
}

TEST_F(AccessTest, SoManyRevokedTokensAreKept) {
  for (std::size_t i = 0; i <= Access::kRevokedMax; ++i) {
    create({.name = "t" + std::to_string(i), .roles = kViewer});
    ASSERT_TRUE(engine->run_until(kAccessStart + seconds{i}));
    ASSERT_TRUE(*access->revoke("t" + std::to_string(i), "root"));
  }
  open();
  ASSERT_EQ(access->revoked().size(), Access::kRevokedMax);
  EXPECT_EQ(access->revoked().front().name, "t" + std::to_string(Access::kRevokedMax));
  EXPECT_EQ(access->revoked().back().name, "t1");
}

TEST_F(AccessTest, ATokenThatOthersHaveWrittenIsRevokedAsWell) {
  const std::string text = create({.name = "shop", .roles = kApp});
  for (const Setting& setting : *engine->settings("access:"))
    ASSERT_EQ(engine->put_setting(setting)->revision, setting.revision + 1);
  const auto gone = access->revoke("shop", "root");
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_TRUE(*gone);
  open();
  EXPECT_FALSE(lets_in(text));
}

TEST_F(AccessTest, AnExpiredTokenLetsNobodyIn) {
  const std::string text =
      create({.name = "shop", .roles = kApp, .expires_at = kAccessStart + hours{1}});
  const auto caller = access->find(text, engine->now());
  ASSERT_TRUE(engine->run_until(kAccessStart + hours{1} - Duration{1}));
  EXPECT_TRUE(lets_in(text) && caller->in_force());
  ASSERT_TRUE(engine->run_until(kAccessStart + hours{1}));
  EXPECT_FALSE(lets_in(text) || caller->in_force());
}

TEST_F(AccessTest, WhatLooksLikeATokenLetsNobodyIn) {
  ASSERT_TRUE(lets_in(token));
  for (const std::string& wrong :
       {std::string(), std::string("nothing"), std::string("pawl_"), token.substr(0, 36),
        token.substr(5), token + "0", " " + token, token + " ", "\t" + token, to_upper(token),
        std::string(1, '\0'), token + std::string(1, '\0')})
    EXPECT_FALSE(lets_in(wrong)) << wrong;
  // Nor does what is stored.
  for (const Setting& setting : *engine->settings("access:"))
    EXPECT_FALSE(lets_in(setting.name) || lets_in(setting.name.substr(7)));
}

// Or a token for one machine could make one for all of them.
TEST_F(AccessTest, AnAdministratorOfSomeMachinesMakesNoTokens) {
  for (const bool by_queue : {false, true}) {
    AccessToken some{.name = by_queue ? "a" : "b", .roles = kAdmin};
    (by_queue ? some.queues : some.machines) = Texts{"order"};
    token = create(some);
    const std::string refused =
        "403 outside_scope: this call needs an access token for all machines and queues";
    EXPECT_EQ(error_of(get("/v1/tokens")), refused);
    EXPECT_EQ(error_of(post("/v1/tokens", R"({"name":"x","roles":["admin"]})")), refused);
    EXPECT_EQ(error_of(post("/v1/tokens/revoke", R"({"name":"root"})")), refused);
    token = create({.name = by_queue ? "c" : "d", .roles = kAdmin});
  }
}

TEST_F(AccessTest, AWorkerOfSomeMachinesNeedsQueuesOfItsOwn) {
  const std::string body = R"({"queues":["payments"]})";
  token = create({.name = "a", .roles = kWorker, .machines = Texts{"order"}});
  EXPECT_EQ(error_of(post("/v1/claim", body)).substr(0, 17), "403 outside_scope");
  token = *access->create(
      {.name = "b", .roles = kWorker, .machines = Texts{"order"}, .queues = Texts{"payments"}});
  good(post("/v1/claim", body));
}

// Its outcome is on a record of `send`, which is the machine of nobody.
TEST_F(AccessTest, WhoCallsForLaterSeesWhatBecameOfIt) {
  const std::string path = "/v1/records/order/1";
  const std::string root = token;
  token = create({.name = "shop", .roles = kApp, .machines = Texts{"order"}});
  const std::string call =
      "/v1/records/send/" + percent_encoded(member_at(good(post(path, R"({"in":"1h"})")), "key"));
  EXPECT_EQ(member_at(good(get(call)), "state"), "sending");
  good(get(call + "/log"));
  EXPECT_EQ(post(call + "/fire", R"({"event":"discard"})").status, 403);
  EXPECT_EQ(get("/v1/records/send/call%2F99").status, 403) << "nor does it see that there is none";
  token = root;
  token = create({.name = "other", .roles = kApp, .machines = Texts{"parcel"}});
  EXPECT_EQ(get(call).status, 403);
}

TEST_F(AccessTest, APauseOfOthersIsNotSeen) {
  for (const char* what : {"machine:order", "queue:payments", "everything"})
    good(post("/v1/pauses", R"({"reason":"r","what":")" + std::string(what) + R"("})"));
  token =
      create({.name = "a", .roles = kViewer, .machines = Texts{"note"}, .queues = Texts{"mails"}});
  const std::string seen = good(get("/v1/pauses"));
  EXPECT_EQ(seen.find("order"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("payments"), std::string::npos) << seen;
  EXPECT_NE(seen.find("everything"), std::string::npos) << seen;
}

// --- what goes on after a call -----------------------------------------------------------------

TEST_F(AccessTest, WhoWaitsWithARevokedTokenIsGivenNothing) {
  const std::string root = std::exchange(token, create({.name = "w", .roles = kWorker | kViewer}));
  std::optional<ApiReply> claimed;
  std::optional<ApiReply> seen;
  const Caller caller = *access->find(token, engine->now());
  api->handle({.method = "POST",
               .path = "/v1/claim",
               .body = R"({"queues":["payments"],"wait":"30s"})",
               .caller = caller},
              [&](ApiReply reply) { claimed = std::move(reply); });
  token = root;
  good(post("/v1/records/order/1", "{}"));
  api->handle({.path = "/v1/records/order/1", .query = {{"wait", "20s"}}, .caller = caller},
              [&](ApiReply reply) { seen = std::move(reply); });
  ASSERT_TRUE(*access->revoke("w", "root"));
  good(post("/v1/records/order/1/orders", R"({"order":"move","state":"paying","reason":"r"})"));
  ASSERT_TRUE(engine->run_until(kAccessStart + seconds{21}));
  ASSERT_TRUE(claimed && seen);
  EXPECT_EQ(claimed->body, R"({"attempts":[]})");
  EXPECT_EQ(seen->status, 401) << seen->body;
  // Another worker gets it at once, and it counts as the first attempt.
  const std::string given = good(post("/v1/claim", R"({"queues":["payments"]})"));
  EXPECT_NE(given.find(R"("key":"1")"), std::string::npos) << given;
  EXPECT_EQ(good(get("/v1/records/order/1")).find(R"("failures")"), std::string::npos);
}

// --- in the name of others ---------------------------------------------------------------------

constexpr const char* kAnn = R"("actor":{"name":"ann","roles":["manager"]})";

TEST_F(AccessTest, TheEntryNamesWhoActedAndThroughWhom) {
  token = create({.name = "shop", .roles = kApp, .act_as = true});
  good(post("/v1/records/order/1", "{}"));
  EXPECT_EQ(post("/v1/records/order/1/fire", R"({"event":"approve"})").status / 100, 4);
  good(post("/v1/records/order/1/fire", R"({"event":"approve",)" + std::string(kAnn) + "}"));
  const std::string log = good(get("/v1/records/order/1/log"));
  EXPECT_NE(log.find(R"("actor":{"name":"shop"})"), std::string::npos) << log;
  EXPECT_NE(log.find(R"("actor":{"name":"ann","roles":["manager"],"via":"shop"})"),
            std::string::npos)
      << log;
  // What is asked for later keeps both.
  good(post("/v1/records/order/2", "{}"));
  good(post("/v1/records/order/2/fire",
            R"({"event":"approve","in":"1h",)" + std::string(kAnn) + "}"));
  ASSERT_TRUE(engine->run_until(kAccessStart + hours{1}));
  const std::string later = good(get("/v1/records/order/2/log"));
  EXPECT_NE(later.find(R"("to":"paying")"), std::string::npos) << later;
  EXPECT_NE(later.find(R"("name":"ann","roles":["manager"],"via":"shop")"), std::string::npos)
      << later;
}

TEST_F(AccessTest, ATokenWithoutActAsActsForItselfAlone) {
  token = create({.name = "shop", .roles = kApp | kOperator | kAdmin | kWorker});
  for (const Route& route : Api::routes()) {
    if (route.method != "POST") continue;
    std::string path(route.path);
    for (const char* name : {"{machine}", "{key}"})
      if (const std::size_t found = path.find(name); found != std::string::npos)
        path.replace(found, std::string_view(name).size(), "order");
    EXPECT_EQ(
        error_of(post(path, "{" + std::string(kAnn) + "}")),
        "403 may_not_act_as: this access token may not act as somebody else: leave `actor` out, "
        "or use a token created with act_as")
        << path;
  }
  // Written otherwise it is no actor either.
  EXPECT_EQ(error_of(post("/v1/records/order/1", R"({"\u0061ctor":{"name":"ann"}})")).substr(0, 15),
            "400 bad_request");
  // In what records hold the word means nothing.
  good(post("/v1/records/order/1", R"({"data":{"actor":"ann"}})"));
}

TEST_F(AccessTest, WhoActsMayNotBeMoreThanTheToken) {
  const auto act = [&](const std::string& actor) {
    return error_of(post("/v1/records/order/1", R"({"actor":)" + actor + "}"));
  };
  token = create({.name = "shop", .roles = kApp, .act_as = true});
  EXPECT_EQ(act(R"({"name":"ann","roles":["operator"]})"),
            "403 may_not_act_as: this access token cannot grant the role `operator`");
  EXPECT_EQ(act(R"({"name":"ann","roles":["engine"]})"),
            "403 may_not_act_as: this access token cannot grant the role `engine`");
  EXPECT_EQ(act(R"({"name":"engine"})"), "400 bad_request: the name `engine` is reserved");
  EXPECT_EQ(act(R"("ann")"), R"(400 bad_request: `actor` must be a map: {"name", "roles"})");
  EXPECT_EQ(act("{}"), "400 bad_request: `actor.name` is missing");
  EXPECT_EQ(act(R"({"name":"ann","role":"manager"})"),
            "400 bad_request: `actor.role` is not a field here; did you mean roles?");
  EXPECT_EQ(act(R"({"name":"ann"},"actor":{"name":"bob"})"),
            "400 bad_request: `actor` is given twice");
  EXPECT_EQ(act(R"({"name":"ann","roles":[""]})"),
            "400 bad_request: `actor.roles`: a name must have 1 to 256 bytes");
  EXPECT_EQ(get("/v1/records/order/1").status, 404);
  EXPECT_EQ(
      act("null"),
      "400 bad_request: `actor` is not a field here; the fields are at, data, dry_run, event, "
      "idempotency_key, in, parent and payload");
}

TEST_F(AccessTest, WhatSomebodyElseMayFireIsAskedInItsName) {
  good(post("/v1/records/order/1", "{}"));
  const std::string path = "/v1/records/order/1/events";
  const Query manager{{"actor", "ann"}, {"role", "clerk"}, {"role", "manager"}};
  EXPECT_EQ(
      error_of(get(path, manager)),
      "403 may_not_act_as: this access token may not act as somebody else: leave `actor` out, or "
      "use a token created with act_as");
  EXPECT_EQ(get(path, {{"role", "manager"}}).status, 403);
  token = create({.name = "shop", .roles = kViewer, .act_as = true});
  const auto may_approve = [&](const Query& query) {
    return good(get(path, query)).find("\"approve\"") != std::string::npos;
  };
  EXPECT_FALSE(may_approve({}));
  EXPECT_FALSE(may_approve({{"actor", "ann"}, {"role", "clerk"}}));
  EXPECT_TRUE(may_approve(manager));
  EXPECT_EQ(error_of(get(path, {{"role", "manager"}})), "400 bad_request: `role` needs `actor`");
  EXPECT_EQ(error_of(get(path, {{"actor", "ann"}, {"actor", "bob"}})),
            "400 bad_request: `actor` is given twice");
  EXPECT_EQ(error_of(get(path, {{"actor", "ann"}, {"role", ""}})),
            "400 bad_request: `role` is empty");
  EXPECT_EQ(error_of(get(path, {{"actor", "ann"}, {"role", "operator"}})),
            "403 may_not_act_as: this access token cannot grant the role `operator`");
  EXPECT_EQ(error_of(get("/v1/records/order/1", {{"actor", "ann"}})).substr(0, 15),
            "400 bad_request");
}

TEST_F(AccessTest, AnOperatorActsAsOneOnlyWhenItSaysSo) {
  token = create({.name = "desk", .roles = kOperator, .act_as = true});
  good(post("/v1/records/order/1", "{}"));
  const auto hold = [&](const std::string& roles) {
    return post(
        "/v1/records/order/1/orders",
        R"({"order":"hold","text":"t","reason":"r","actor":{"name":"ann","roles":)" + roles + "}}");
  };
  EXPECT_EQ(hold("[]").status / 100, 4);
  good(hold(R"(["operator"])"));
  good(post("/v1/pauses", R"({"what":"everything","reason":"r","actor":{"name":"ann"}})"));
  EXPECT_NE(good(get("/v1/pauses")).find(R"("actor":"ann via desk")"), std::string::npos);
}

}  // namespace
}  // namespace pawl
