#include "server/http_header.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

std::string request(const std::string& fields, const std::string& first = "POST / HTTP/1.1") {
  return first + "\r\n" + fields + "\r\n";
}

TEST(HttpHeader, OrdinaryOnesAreRead) {
  EXPECT_TRUE(read_header(request("Host: a\r\n", "GET /v1/records?x=1 HTTP/1.1")));
  EXPECT_TRUE(read_header(request("Host: a\r\nContent-Length: 12\r\n")));
  EXPECT_TRUE(read_header(request("host:a\r\nTransfer-Encoding: chunked\r\n")));
  EXPECT_TRUE(read_header(request("Host: a\r\nContent-Length: 0\r\n", "POST / HTTP/1.0")));
  EXPECT_TRUE(read_header(request("Host: a\r\nX-Empty:\r\nX-Tab:\tvalue \r\n")));
}

// What a proxy in front of it might read otherwise.
TEST(HttpHeader, WhatCanBeReadInTwoWaysIsRefused) {
  const char* const kFields[] = {
      "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
      "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Host: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
      "Host: a\r\nContent-Length: 5, 5\r\n",
      "Host: a\r\nContent-Length: +5\r\n",
      "Host: a\r\nContent-Length: 0x5\r\n",
      "Host: a\r\nContent-Length:\r\n",
      "Host: a\r\nContent-Length: 99999999999999999999\r\n",
      "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n",
      "Host: a\r\nTransfer-Encoding: identity\r\n",
      "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Host: a\r\nTransfer-Encoding: xchunked\r\n",
      "Host: a\r\nTransfer-Encoding : chunked\r\n",
      "Host: a\r\nX: b\r\n folded\r\n",
      "Host: a\r\nX: b\r\n\tfolded\r\n",
      "Host: a\r\nno colon\r\n",
      "Host: a\r\n: no name\r\n",
      "Host: a\r\nX: b\nY: c\r\n",
      "Host: a\r\nX: b\rY: c\r\n",
      "Host: a\r\nHost: b\r\n",
      "Host: a\r\nAuthorization: Bearer x\r\nauthorization: Bearer y\r\n",
      "Host: a\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\n",
      "Host: a\r\nExpect: something\r\n",
      ("Host: a\r\nTransfer-Encoding: \x0b"
       "chunked\r\n"),
      "Host: a\r\nContent-Length: 5 5\r\n",
      "Host: a\r\nContent-Length: -5\r\n",
      "X: y\r\n",
  };
  for (const char* fields : kFields) EXPECT_FALSE(read_header(request(fields))) << fields;
  const std::string zero("Host: a\r\nX: a\0b\r\n", 17);
  EXPECT_FALSE(read_header(request(zero)));
  EXPECT_FALSE(
      read_header(request("Host: a\r\nTransfer-Encoding: chunked\r\n", "POST / HTTP/1.0")));
}

TEST(HttpHeader, TheFirstLineIsStrictAsWell) {
  for (const char* first : {"GET /  HTTP/1.1", "GET / HTTP/2.0", "GET /", "GET / HTTP/1.1 ",
                            "G@T / HTTP/1.1", "GET http://a/ HTTP/1.1", "", " GET / HTTP/1.1",
                            "GET /\xc3\xa4 HTTP/1.1", "GET\t/\tHTTP/1.1"})
    EXPECT_FALSE(read_header(request("Host: a\r\n", first))) << first;
  EXPECT_FALSE(read_header(""));
}

TEST(HttpHeader, SaysHowTheRequestIsToBeRead) {
  const auto old = read_header(request("Host: a\r\n", "GET /a?b=1 HTTP/1.0"));
  ASSERT_TRUE(old);
  EXPECT_EQ(old->method, "GET");
  EXPECT_EQ(old->target, "/a?b=1");
  EXPECT_FALSE(old->keeps_alive);
  const auto sized = read_header(
      request("Host: a\r\nContent-Length: 12\r\nAuthorization:  Bearer x \r\nExpect: "
              "100-Continue\r\nContent-Type: application/json\r\nLast-Event-ID: 7\r\n"));
  ASSERT_TRUE(sized);
  EXPECT_EQ(sized->length, 12U);
  EXPECT_EQ(sized->authorization, "Bearer x");
  EXPECT_EQ(sized->content_type, "application/json");
  EXPECT_EQ(sized->last_event_id, "7");
  EXPECT_TRUE(sized->keeps_alive);
  EXPECT_TRUE(sized->expects_continue);
  const auto last =
      read_header(request("Host: a\r\nConnection: TE, Close\r\nTransfer-Encoding: Chunked\r\n"));
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->is_chunked);
  EXPECT_FALSE(last->keeps_alive);
}

}  // namespace
}  // namespace pawl
