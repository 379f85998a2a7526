#include "outside/address.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(Address, PrivateAndWrappedOnesAreNotPublic) {
  for (const char* text : {"127.0.0.1",
                           "127.255.255.255",
                           "0.0.0.0",
                           "10.0.0.1",
                           "100.64.0.1",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "192.0.2.1",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "::127.0.0.1",
                           "64:ff9b::7f00:1",
                           "64:ff9b:1::1",
                           "2001::1",
                           "2001:db8::1",
                           "2002:7f00:1::",
                           "fc00::1",
                           "fd12::1",
                           "fe80::1",
                           "fec0::1",
                           "ff02::1",
                           "100::1"})
    EXPECT_FALSE(is_public(*parse_address(text))) << text;
  for (const char* text : {"1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.0",
                           "::ffff:1.1.1.1", "2606:4700::1111", "2a00::1"})
    EXPECT_TRUE(is_public(*parse_address(text))) << text;
}

TEST(Network, HasWhatBeginsLikeIt) {
  EXPECT_TRUE(parse_network("10.0.0.0/8")->has(*parse_address("10.255.0.1")));
  EXPECT_FALSE(parse_network("10.0.0.0/8")->has(*parse_address("11.0.0.1")));
  EXPECT_TRUE(parse_network("10.1.2.0/23")->has(*parse_address("10.1.3.255")));
  EXPECT_FALSE(parse_network("10.1.2.0/23")->has(*parse_address("10.1.4.0")));
  EXPECT_TRUE(parse_network("127.0.0.1")->has(*parse_address("::ffff:127.0.0.1")));
  EXPECT_TRUE(parse_network("fd00::/8")->has(*parse_address("fdff::1")));
  EXPECT_FALSE(parse_network("::/128")->has(*parse_address("::1")));
  for (const char* text : {"", "10.0.0.0/33", "10.0.0.0/x", "10.0.0/8", "fd00::/129", "host", "/8"})
    EXPECT_FALSE(parse_network(text)) << text;
}

}  // namespace
}  // namespace pawl
