#include "cli/listen_address.h"

#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

std::string parsed(std::string_view text) {
  const auto listen = parse_listen_address(text);
  if (!listen) return listen.error().message;
  return listen->host() + " " + std::to_string(listen->port) +
         (listen->is_loopback() ? " loopback" : "");
}

TEST(ListenAddress, AnAddressAndAPort) {
  EXPECT_EQ(parsed("127.0.0.1:7295"), "127.0.0.1 7295 loopback");
  EXPECT_EQ(parsed("127.1.2.3:0"), "127.1.2.3 0 loopback");
  EXPECT_EQ(parsed("[::1]:80"), "[::1] 80 loopback");
  EXPECT_EQ(parsed("0.0.0.0:65535"), "0.0.0.0 65535");
  EXPECT_EQ(parsed("[::]:80"), "[::] 80");
  EXPECT_EQ(parsed("[fe80::1%eth0]:80"), "[fe80::1%eth0] 80");
}

TEST(ListenAddress, LocalhostIsThisMachine) {
  EXPECT_EQ(parsed("localhost:7295"), "127.0.0.1 7295 loopback");
}

TEST(ListenAddress, WhatIsMissingIsSaidWithWhatToWrite) {
  EXPECT_EQ(parsed("localhost"), "'localhost' has no port: write localhost:7295");
  EXPECT_EQ(parsed("10.0.0.1"), "'10.0.0.1' has no port: write 10.0.0.1:7295");
  EXPECT_EQ(parsed("::1"), "'::1' has no port: write [::1]:7295");
  EXPECT_EQ(parsed("[::1]"), "'[::1]' has no port: write [::1]:7295");
  EXPECT_EQ(parsed("8080"), "'8080' has no address: write 127.0.0.1:8080");
  EXPECT_EQ(parsed(":8080"), "':8080' has no address: write 127.0.0.1:8080");
  EXPECT_EQ(parsed("fe80::1%eth0:80"), "'fe80::1%eth0:80' needs brackets: write [fe80::1%eth0]:80");
  EXPECT_EQ(parsed(""), "'' is not ADDRESS:PORT: write 127.0.0.1:7295");
  for (const char* bad : {"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:http"})
    EXPECT_EQ(parsed(bad), "'" + std::string(bad) +
                               "' has no port from 0 to 65535 after its last colon: write "
                               "127.0.0.1:7295");
}

TEST(ListenAddress, ANameIsNotLookedUp) {
  EXPECT_EQ(parsed("pawl.example.org:80"),
            "'pawl.example.org:80' is not an IP address, and host names are not resolved: write "
            "127.0.0.1:80 for this computer only, 0.0.0.0:80 for all networks");
  for (const char* bad : {"*:80", "localhost.example:80", "[localhost]:80", "127.0.0.1.example:80"})
    EXPECT_NE(parsed(bad).find("host names are not resolved"), std::string::npos) << bad;
}

}  // namespace
}  // namespace pawl::cli
