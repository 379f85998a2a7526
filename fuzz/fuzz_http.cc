// HTTP as bytes: however they are cut into pieces, the same requests come of them and the same
// refusal, and nothing after it. What Beast's parser takes as well, it reads alike: it has the same
// first line and body, and ends with the same byte.
//
// The first two bytes of an input say how the others are cut.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/assert.h"
#include "server/http_reader.h"

namespace {

using namespace pawl;
namespace http = boost::beast::http;
using State = HttpReader::State;

constexpr std::size_t kBodyMax = 2'000;

struct Request {
  std::string method;
  std::string target;
  std::string body;

  friend bool operator==(const Request&, const Request&) = default;
};

struct Outcome {
  std::vector<Request> requests;
  State state = State::idle;
  std::string refusal = {};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// In pieces of 1 to `most` bytes, drawn from `seed`; 0: at once.
Outcome read(std::string_view bytes, std::size_t most, std::uint32_t seed) {
  HttpReader reader(kBodyMax);
  Outcome outcome;
  while (!bytes.empty()) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    const std::size_t drawn = most == 0 ? bytes.size() : 1 + (seed >> 8U) % most;
    const std::size_t size = std::min(drawn, bytes.size());
    reader.add(bytes.substr(0, size));
    bytes.remove_prefix(size);
    while (reader.state() == State::whole) {
      auto [header, body] = reader.take();
      PAWL_ASSERT(body.size() <= kBodyMax, "a body is never longer than it may be");
      outcome.requests.push_back({header.method, header.target, body});
    }
  }
  outcome.state = reader.state();
  if (outcome.state == State::refused)
    outcome.refusal = std::string(reader.refusal().id) + ": " + reader.refusal().why;
  return outcome;
}

// As far as it takes them.
void compare_with_beast(std::string_view bytes, const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    http::request_parser<http::string_body> parser;
    parser.eager(true);
    parser.header_limit(kHeaderMax + 1);
    parser.body_limit(kBodyMax);
    boost::system::error_code failed;
    std::string_view rest = bytes;
    while (!parser.is_done() && !rest.empty() && !failed) {
      const std::size_t used =
          parser.put(boost::asio::const_buffer(rest.data(), rest.size()), failed);
      rest.remove_prefix(used);
      if (used == 0) break;
    }
    if (failed && failed != http::error::need_more) return;
    PAWL_ASSERT(parser.is_done(), "a request ends with the same byte");
    const auto& message = parser.get();
    PAWL_ASSERT(std::string_view(message.method_string().data(), message.method_string().size()) ==
                    request.method,
                "methods are alike");
    PAWL_ASSERT(
        std::string_view(message.target().data(), message.target().size()) == request.target,
        "targets are alike");
    PAWL_ASSERT(message.body() == request.body, "bodies are alike");
    bytes = rest;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Outcome whole = read(bytes, 0, 0);
  const std::uint32_t seed = data[0];
  PAWL_ASSERT(read(bytes, 1U + data[1], seed) == whole, "cut in pieces it is read alike");
  PAWL_ASSERT(read(bytes, 1, seed) == whole, "byte by byte it is read alike");
  compare_with_beast(bytes, whole.requests);
  return 0;
}
