#include "server/http_header.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

std::string request(const std::string& fields, const std::string& first = "POST / HTTP/1.1") {
  return first + "\r\n" + fields + "\r\n";
}

TEST(HttpHeader, OrdinaryOnesAreRead) {
  EXPECT_FALSE(refused_header(request("Host: a\r\n", "GET /v1/records?x=1 HTTP/1.1")));
  EXPECT_FALSE(refused_header(request("Host: a\r\nContent-Length: 12\r\n")));
  EXPECT_FALSE(refused_header(request("host:a\r\nTransfer-Encoding: chunked\r\n")));
  EXPECT_FALSE(refused_header(request("Host: a\r\nContent-Length: 0\r\n", "POST / HTTP/1.0")));
  EXPECT_FALSE(refused_header(request("Host: a\r\nX-Empty:\r\nX-Tab:\tvalue \r\n")));
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
      "X: y\r\n",
  };
  for (const char* fields : kFields) EXPECT_TRUE(refused_header(request(fields))) << fields;
  const std::string zero("Host: a\r\nX: a\0b\r\n", 17);
  EXPECT_TRUE(refused_header(request(zero)));
  EXPECT_TRUE(
      refused_header(request("Host: a\r\nTransfer-Encoding: chunked\r\n", "POST / HTTP/1.0")));
}

TEST(HttpHeader, TheFirstLineIsStrictAsWell) {
  for (const char* first : {"GET /  HTTP/1.1", "GET / HTTP/2.0", "GET /", "GET / HTTP/1.1 ",
                            "G@T / HTTP/1.1", "GET http://a/ HTTP/1.1", "", " GET / HTTP/1.1"})
    EXPECT_TRUE(refused_header(request("Host: a\r\n", first))) << first;
  EXPECT_TRUE(refused_header(""));
}

}  // namespace
}  // namespace pawl
