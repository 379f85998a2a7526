// Access tokens over sockets: what is no token, and what becomes of connections when one ends.
#include "tests/api/served.h"

namespace pawl {
namespace {

using std::chrono::hours;

constexpr const char* kOrder = R"(machine: order
initial: new
states: {new: {on: {cancel: cancelled}}, cancelled: {final: true}}
)";

class ServedAccess : public Served {
 protected:
  ServedAccess() : Served(kOrder) {}
};

TEST_F(ServedAccess, WhatIsNoTokenIsNotLetIn) {
  const std::string token = make_token("v", R"("roles":["viewer"])");
  ASSERT_EQ(client(token)->get("/v1/counts").status, 200);
  for (const std::string& wrong :
       {std::string("nothing"), std::string("pawl_"), token.substr(0, token.size() - 1),
        token.substr(5), token + "0", " " + token, token + " x", "x " + token, "Bearer " + token,
        token + "," + token, std::string(10'000, 'x')})
    EXPECT_EQ(client(wrong)->get("/v1/counts").status, 401) << wrong;
  EXPECT_EQ(client("")->get("/v1/counts").status, 401);
  for (const std::string& header : {std::string("Bearer"), std::string("Bearer "), "bearer" + token,
                                    "Basic " + token, token, "Bearer\t" + token}) {
    HttpClient other(server->port(), "");
    other.send_bytes("GET /v1/counts HTTP/1.1\r\nHost: x\r\nAuthorization: " + header + "\r\n\r\n");
    EXPECT_EQ(other.receive().status, 401) << header;
  }
}

// RFC 7235, 2.1.
TEST_F(ServedAccess, TheCaseOfTheSchemeDoesNotMatter) {
  const std::string token = make_token("v", R"("roles":["viewer"])");
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER ", "bEaReR "}) {
    HttpClient other(server->port(), "");
    other.send_bytes("GET /v1/counts HTTP/1.1\r\nHost: x\r\nAuthorization: " + std::string(scheme) +
                     token + "\r\n\r\n");
    EXPECT_EQ(other.receive().status, 200) << scheme;
  }
}

TEST_F(ServedAccess, ARevokedTokenIsRefusedOnAnOpenConnection) {
  const auto viewer = client(make_token("v", R"("roles":["viewer"])"));
  EXPECT_EQ(viewer->get("/v1/counts").status, 200);
  good(admin->post("/v1/tokens/revoke", R"({"name":"v"})"));
  EXPECT_EQ(viewer->get("/v1/counts").status, 401);
}

TEST_F(ServedAccess, AnExpiredTokenIsRefusedOnAnOpenConnection) {
  const auto viewer = client(make_token("v", R"("roles":["viewer"],"expires_in":"1h")"));
  EXPECT_EQ(viewer->get("/v1/counts").status, 200);
  run_for(hours{1});
  EXPECT_EQ(viewer->get("/v1/counts").status, 401);
}

TEST_F(ServedAccess, AFeedEndsWithItsToken) {
  for (const bool expires : {false, true}) {
    const std::string name = expires ? "expires" : "revoked";
    const auto listener = client(make_token(name, R"("roles":["viewer"],"expires_in":"1h")"));
    listener->send("GET", "/v1/feed/live", "");
    good(admin->post("/v1/records/order/" + name, "{}"));
    EXPECT_NE(listener->until(R"("key":")" + name).find("200 OK"), std::string::npos);
    listener->until("\n\n");
    if (expires) {
      run_for(hours{1});
      good(admin->post("/v1/records/order/later", "{}"));  // it is the first that is not sent
    } else {
      good(admin->post("/v1/tokens/revoke", R"({"name":"revoked"})"));  // nothing else happens
    }
    EXPECT_TRUE(listener->is_closed()) << name;
  }
}

// Over the network alone, with the command line only after the first token.
TEST_F(ServedAccess, TheFirstTokenMakesTheOthers) {
  const std::string app = make_token("shop", R"("roles":["app"],"machines":["order"])");
  good(client(app)->post("/v1/records/order/1", "{}"));
  EXPECT_EQ(client(app)->post("/v1/records/note/1", "{}").status, 403);
  EXPECT_EQ(client(app)->get("/v1/tokens").status, 403);
  const std::string tokens = good(admin->get("/v1/tokens"));
  EXPECT_EQ(at(tokens, "items.0.name") + " " + at(tokens, "items.1.name"), "admin shop");
  EXPECT_EQ(at(tokens, "items.1.made_by"), "admin");
  EXPECT_EQ(tokens.find(app), std::string::npos);
}

TEST_F(ServedAccess, TheEntryNamesWhoActedAndThroughWhom) {
  const auto shop = client(make_token("shop", R"("roles":["app"],"act_as":true)"));
  const std::string body = R"({"actor":{"name":"ann","roles":["clerk"]}})";
  good(shop->post("/v1/records/order/1", body));
  EXPECT_EQ(at(good(shop->get("/v1/records/order/1/log")), "items.0.actor"),
            R"({"name":"ann","roles":["clerk"],"via":"shop"})");
  const auto plain = client(make_token("plain", R"("roles":["app"])"));
  const HttpAnswer refused = plain->post("/v1/records/order/2", body);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(at(refused.body, "error.id"), "may_not_act_as");
}

}  // namespace
}  // namespace pawl
