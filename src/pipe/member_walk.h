// MemberWalk: goes through the members of a map in JSON text, once, and says where each stands.
//
// JsonWalk finds members as it is asked for them and reads a value again to tell its end; documents
// are longer than the data of records, and have long texts in them.
#pragma once

#include <cstring>
#include <string_view>

#include "model/expression/json_scan.h"

namespace pawl {

// For text that was checked before: a map. On other text it ends early, and never reads outside.
class MemberWalk {
 public:
  explicit MemberWalk(std::string_view map)
      : at_(past_json_blanks(map.data(), map.data() + map.size())), end_(map.data() + map.size()) {
    if (at_ != end_) ++at_;
  }

  bool next() {
    at_ = past_json_blanks(at_, end_);
    if (at_ != end_ && *at_ == ',') at_ = past_json_blanks(at_ + 1, end_);
    if (at_ == end_ || *at_ != '"') return false;
    key_ = taken(past_text(at_, end_));
    at_ = past_json_blanks(at_, end_);
    if (at_ == end_ || *at_ != ':') return false;
    at_ = past_json_blanks(at_ + 1, end_);
    value_ = taken(past_value(at_, end_));
    return !value_.empty();
  }

  std::string_view key() const { return key_; }  // with its quotes
  std::string_view value() const { return value_; }

 private:
  std::string_view taken(const char* to) {
    const std::string_view text(at_, static_cast<std::size_t>(to - at_));
    at_ = to;
    return text;
  }

  // After the text literal that begins here: behind the first quote without a backslash that is
  // itself none of a pair.
  static const char* past_text(const char* begin, const char* end) {
    for (const char* at = begin + 1; at < end; ++at) {
      at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
      if (at == nullptr) return end;
      const char* before = at;
      while (before - 1 > begin && before[-1] == '\\') --before;
      if ((at - before) % 2 == 0) return at + 1;
    }
    return end;
  }

  static const char* past_value(const char* at, const char* end) {
    std::size_t depth = 0;
    while (at != end) {
      const char c = *at;
      if (c == '"') {
        at = past_text(at, end);
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return at;
        --depth;
        ++at;
      } else if (depth == 0) {
        return past_json_word(at, end);
      } else {
        ++at;
      }
      if (depth == 0) return at;
    }
    return end;
  }

  const char* at_;
  const char* end_;
  std::string_view key_;
  std::string_view value_;
};

}  // namespace pawl
