#include "server/http_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace pawl {
namespace {

using ReaderState = HttpReader::State;

constexpr std::size_t kBodyMax = 1'000;

// What came of the bytes: each request, then how it ended.
struct Outcome {
  std::vector<std::string> requests;
  ReaderState state = ReaderState::idle;
  std::string refusal = {};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void take_whole(HttpReader& reader, Outcome& outcome) {
  while (reader.state() == ReaderState::whole) {
    const auto [header, body] = reader.take();
    outcome.requests.push_back(header.method + " " + header.target + " " + body);
  }
}

Outcome read(const std::vector<std::string_view>& pieces) {
  HttpReader reader(kBodyMax);
  Outcome outcome;
  for (const std::string_view piece : pieces) {
    reader.add(piece);
    take_whole(reader, outcome);
  }
  outcome.state = reader.state();
  if (outcome.state == ReaderState::refused)
    outcome.refusal = std::string(reader.refusal().id) + ": " + reader.refusal().why;
  return outcome;
}

// However they come: at once, in two pieces cut anywhere, byte by byte.
Outcome read_in_every_way(const std::string& bytes) {
  const std::string_view all = bytes;
  Outcome outcome = read({all});
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < all.size(); ++i) {
    single.push_back(all.substr(i, 1));
    EXPECT_EQ(read({all.substr(0, i), all.substr(i)}), outcome)
        << "cut at " << i << " of " << bytes;
  }
  EXPECT_EQ(read(single), outcome) << "byte by byte: " << bytes;
  return outcome;
}

std::string chunked(const std::string& body) {
  return "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body;
}

TEST(HttpReader, RequestsBehindEachOtherAreReadOneByOne) {
  const Outcome outcome = read_in_every_way(
      "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" +
      chunked("3;x=y\r\nabc\r\n01\r\nd\r\n0\r\n\r\n") +
      "GET /c HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(outcome.state, ReaderState::idle);
  EXPECT_EQ(outcome.requests,
            (std::vector<std::string>{"GET /a ", "POST /b hello", "POST / abcd", "GET /c "}));
}

// Nothing behind what is refused is ever a request.
TEST(HttpReader, WhatIsRefusedIsRefusedAlikeHoweverItComes) {
  const std::string next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string cases[] = {
      post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
      post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      post + "Content-Length: 5, 5\r\n\r\nhello",
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post +
          "Transfer-Encoding:\x0b"
          "chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      post + "X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "Host: b\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
      "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "\r\n\r\n",
      chunked("5;" + std::string(kChunkExtensionMax, 'x') + "\r\nhello\r\n0\r\n\r\n"),
      chunked("5;" + std::string(2'000, 'x') + "\r\nhello\r\n0\r\n\r\n"),
      chunked("5;\nx\r\nhello\r\n0\r\n\r\n"),
      chunked("5;\rx\r\nhello\r\n0\r\n\r\n"),
      chunked("\r\nhello\r\n0\r\n\r\n"),
      chunked("5 \r\nhello\r\n0\r\n\r\n"),
      chunked(" 5\r\nhello\r\n0\r\n\r\n"),
      chunked("+5\r\nhello\r\n0\r\n\r\n"),
      chunked("-5\r\nhello\r\n0\r\n\r\n"),
      chunked("0x5\r\nhello\r\n0\r\n\r\n"),
      chunked("000000005\r\nhello\r\n0\r\n\r\n"),
      chunked("ffffffffffffffff5\r\nhello\r\n0\r\n\r\n"),
      chunked("5\nhello\n0\n\n") + std::string(300, 'x'),
      chunked("4\r\nhello\r\n0\r\n\r\n"),
      chunked("5\r\nhelloxx0\r\n\r\n"),
      chunked("0\r\nAuthorization: Bearer x\r\n\r\n"),
      chunked("0\r\nX: y\r\n\r\n"),
  };
  for (const std::string& bytes : cases) {
    const Outcome outcome = read_in_every_way(bytes + next);
    EXPECT_EQ(outcome.state, ReaderState::refused) << bytes;
    EXPECT_TRUE(outcome.refusal.starts_with("bad_http: ")) << outcome.refusal << "\n" << bytes;
    EXPECT_TRUE(outcome.requests.empty()) << bytes;
  }
}

TEST(HttpReader, SizesHaveBounds) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  const auto header_of = [&](std::size_t size) {
    return get + std::string(size - get.size() - 4, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(read({header_of(kHeaderMax)}).requests.size(), 1U);
  EXPECT_EQ(read({header_of(kHeaderMax + 1)}).refusal.substr(0, 16), "header_too_large");
  EXPECT_EQ(read({header_of(10 * kHeaderMax)}).refusal.substr(0, 16), "header_too_large");
  const auto body_of = [](std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
  };
  EXPECT_EQ(read({body_of(kBodyMax)}).requests.size(), 1U);
  const std::string too_large =
      "body_too_large: the body is larger than 1000 bytes, the limit of this server";
  EXPECT_EQ(read({body_of(kBodyMax + 1)}).refusal, too_large);
  EXPECT_EQ(read({body_of(kBodyMax + 1).substr(0, 70)}).refusal, too_large);
  const std::string full = "3e8\r\n" + std::string(kBodyMax, 'x') + "\r\n";
  EXPECT_EQ(read({chunked(full + "0\r\n\r\n")}).requests.size(), 1U);
  EXPECT_EQ(read({chunked(full + "1\r\n")}).refusal, too_large);
  EXPECT_EQ(read({chunked("ffffffff\r\n")}).refusal, too_large);
  EXPECT_EQ(read({chunked("2;" + std::string(kChunkExtensionMax - 1, 'x') + "\r\n{}\r\n0\r\n\r\n")})
                .requests.size(),
            1U);
}

TEST(HttpReader, TinyChunksMakeOneBody) {
  std::string bytes;
  for (std::size_t i = 0; i < kBodyMax; ++i) bytes += "1\r\nx\r\n";
  const Outcome outcome = read({chunked(bytes + "0\r\n\r\n")});
  ASSERT_EQ(outcome.requests.size(), 1U);
  EXPECT_EQ(outcome.requests[0], "POST / " + std::string(kBodyMax, 'x'));
}

}  // namespace
}  // namespace pawl
