// A server in memory whose clock stands still, and clients of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/json_text.h"
#include "server/server.h"
#include "tests/api/at.h"
#include "tests/support/http_client.h"

namespace pawl {

inline const Instant kNine = *parse_instant("2026-03-02T09:00:00Z");

class Served : public testing::Test {
 protected:
  explicit Served(const std::string& machines) {
    ServerOptions options{.engine = {.virtual_clock = kNine}};
    auto opened = Server::open(std::move(options));
    EXPECT_TRUE(opened);
    server = *std::move(opened);
    const std::vector<MachineText> files{{"order.yaml", machines}};
    EXPECT_TRUE(server->engine().apply(files)->is_good());
    admin = client(server->first_token()->value_or(""));
  }

  std::unique_ptr<HttpClient> client(const std::string& token) const {
    return std::make_unique<HttpClient>(server->port(), token);
  }
  // `members`: of the token, but for its name.
  std::string make_token(const std::string& name, const std::string& members) {
    const HttpAnswer made =
        admin->post("/v1/tokens", R"({"name":)" + json_string(name) + "," + members + "}");
    EXPECT_EQ(made.status, 200) << made.body;
    return at(made.body, "token");
  }
  static std::string good(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  }
  void run_for(Duration time) {
    ASSERT_TRUE(server->engine().run_until(server->engine().now() + time));
  }

  std::unique_ptr<Server> server;
  std::unique_ptr<HttpClient> admin;
};

}  // namespace pawl
