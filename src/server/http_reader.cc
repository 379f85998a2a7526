// A chunked body, of which nothing is taken but this:
//
//   chunk* "0" extension? CRLF CRLF
//   chunk = size extension? CRLF bytes CRLF
//
// A size is 1 to 8 hex digits, an extension begins with a semicolon and is not looked at. Fields
// behind the last chunk are refused: whoever put an Authorization there would hide it from a proxy.
//
// Whether a prefix of the bytes is refused, and why, depends on those bytes alone and never on how
// they came: every step either finds all it looks at, or waits.
#include "server/http_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr std::size_t kSizeDigits = 8;
constexpr std::size_t kChunkLineMax = kSizeDigits + kChunkExtensionMax;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeaderEnd = "\r\n\r\n";

}  // namespace

void HttpReader::add(std::string_view bytes) {
  PAWL_ASSERT(state_ != State::whole, "a request is taken before the next is read");
  if (state_ == State::refused) return;
  bytes_.append(bytes);
  while (step()) {
  }
}

HttpReader::Request HttpReader::take() {
  PAWL_ASSERT(state_ == State::whole, "there is a request to take");
  Request request{std::exchange(header_, {}), std::exchange(body_, {})};
  state_ = State::idle;
  chunk_ = Chunk::size;
  while (step()) {
  }
  return request;
}

bool HttpReader::step() {
  bool goes_on = false;
  switch (state_) {
    case State::idle:
    case State::header:
      goes_on = step_header();
      break;
    case State::body:
      goes_on = header_.is_chunked ? step_chunk() : step_length();
      break;
    case State::whole:
    case State::refused:
      break;
  }
  if (!goes_on) {  // the only place where bytes move, so that tiny chunks cost what they are long
    bytes_.erase(0, at_);
    at_ = 0;
    if (bytes_.empty()) bytes_.shrink_to_fit();  // thousands of connections wait with nothing read
  }
  return goes_on;
}

bool HttpReader::step_header() {
  if (!rest().empty()) state_ = State::header;
  const std::size_t end = rest().substr(0, kHeaderMax).find(kHeaderEnd);
  if (end == std::string_view::npos) {
    if (rest().size() < kHeaderMax) return false;
    return refuse("header_too_large", "the header is larger than 16 KiB");
  }
  const std::size_t size = end + kHeaderEnd.size();
  auto header = read_header(rest().substr(0, size));
  if (!header) return refuse("bad_http", header.error().message);
  header_ = *std::move(header);
  at_ += size;
  if (header_.length > body_max_) return refuse_body();
  state_ = State::body;
  return true;
}

bool HttpReader::step_length() {
  move_to_body(static_cast<std::size_t>(header_.length) - body_.size());
  if (body_.size() < header_.length) return false;
  state_ = State::whole;
  return false;
}

std::size_t HttpReader::move_to_body(std::size_t max) {
  const std::string_view some = rest().substr(0, max);
  body_.append(some);
  at_ += some.size();
  return some.size();
}

// --- chunks ------------------------------------------------------------------------------------

bool HttpReader::step_chunk() {
  switch (chunk_) {
    case Chunk::size:
      return step_chunk_size();
    case Chunk::data:
      chunk_left_ -= move_to_body(chunk_left_);
      if (chunk_left_ > 0) return false;
      chunk_ = Chunk::end;
      return true;
    case Chunk::end:
    case Chunk::last:
      break;
  }
  return step_chunk_end();
}

bool HttpReader::step_chunk_size() {
  const std::size_t end = rest().substr(0, kChunkLineMax + kLineEnd.size()).find(kLineEnd);
  if (end == std::string_view::npos) {
    if (rest().size() < kChunkLineMax + kLineEnd.size()) return false;
    return refuse("bad_http", "the first line of a chunk is too long");
  }
  const std::string_view line = rest().substr(0, end);
  const std::string_view extension = line.substr(std::min(line.find(';'), line.size()));
  const std::string_view digits = line.substr(0, line.size() - extension.size());
  if (extension.size() > kChunkExtensionMax)
    return refuse("bad_http", "a chunk extension is longer than 256 bytes");
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  };
  if (std::any_of(extension.begin(), extension.end(), is_control))
    return refuse("bad_http", "a chunk extension contains a control character");
  const auto [stopped, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), chunk_left_, 16);
  if (failed != std::errc{} || stopped != digits.data() + digits.size() ||
      digits.size() > kSizeDigits)
    return refuse("bad_http", "a chunk must begin with its size in 1 to 8 hex digits");
  if (chunk_left_ > body_max_ - body_.size()) return refuse_body();
  at_ += end + kLineEnd.size();
  chunk_ = chunk_left_ == 0 ? Chunk::last : Chunk::data;
  return true;
}

bool HttpReader::step_chunk_end() {
  if (rest().size() < kLineEnd.size()) return false;
  const bool is_last = chunk_ == Chunk::last;
  if (!rest().starts_with(kLineEnd))
    return refuse("bad_http", is_last ? "trailer fields are not supported"
                                      : "a chunk is longer than its stated size");
  at_ += kLineEnd.size();
  chunk_ = Chunk::size;
  if (is_last) state_ = State::whole;
  return !is_last;
}

bool HttpReader::refuse_body() {
  return refuse("body_too_large", "the body is larger than " + std::to_string(body_max_) +
                                      " bytes, the limit of this server");
}

bool HttpReader::refuse(std::string_view id, std::string why) {
  state_ = State::refused;
  refusal_ = {id, std::move(why)};
  at_ = bytes_.size();
  return false;
}

}  // namespace pawl
