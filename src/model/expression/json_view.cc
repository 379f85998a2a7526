#include "model/expression/json_view.h"

#include "base/text.h"
#include "model/expression/json_scan.h"
#include "model/expression/json_text_bytes.h"

namespace pawl {

JsonView::JsonView(std::string_view text) : text_(without_blanks_before(text)) {
  if (kind() == Kind::absent) text_ = {};
}

JsonView::Kind JsonView::kind() const {
  if (text_.empty()) return Kind::absent;
  switch (text_.front()) {
    case 'n':
      return Kind::null;
    case 't':
    case 'f':
      return Kind::boolean;
    case '"':
      return Kind::text;
    case '[':
      return Kind::list;
    case '{':
      return Kind::map;
    default:
      return is_digit(text_.front()) || text_.front() == '-' ? Kind::number : Kind::absent;
  }
}

std::string_view JsonView::json() const { return text_.substr(0, json_value_length(text_)); }

std::string_view JsonView::text(Scratch& scratch) const {
  if (kind() != Kind::text) return {};
  const std::string_view body = json_text_body(text_);
  if (body.find('\\') == std::string_view::npos) return body;
  std::string& unescaped = scratch.blank();
  JsonTextBytes bytes(body);
  while (const auto byte = bytes.next()) unescaped += *byte;
  return unescaped;
}

bool JsonView::is_text(std::string_view text) const {
  if (kind() != Kind::text) return false;
  // Without escapes this is one comparison: the text itself, then the quote.
  const std::string_view body = text_.substr(1);
  if (body.starts_with(text) && body.substr(text.size()).starts_with('"') &&
      text.find_first_of("\\\"") == std::string_view::npos)
    return true;
  if (body.empty() || (!text.empty() && body.front() != text.front() && body.front() != '\\'))
    return false;
  JsonTextBytes bytes(json_text_body(text_));
  for (const char c : text)
    if (bytes.next() != c) return false;
  return !bytes.next();
}

JsonView JsonView::member(std::string_view key) const {
  if (!text_.starts_with('{')) return {};
  for (JsonWalk walk(*this); walk.next();)
    if (walk.key().is_text(key)) return walk.value();
  return {};
}

JsonView JsonView::item(std::size_t index) const {
  if (kind() != Kind::list) return {};
  for (JsonWalk walk(*this); walk.next(); --index)
    if (index == 0) return walk.value();
  return {};
}

std::size_t JsonView::size() const {
  std::size_t count = 0;
  if (kind() == Kind::text) {
    JsonTextBytes bytes(json_text_body(text_));
    while (const auto byte = bytes.next())
      if ((static_cast<unsigned char>(*byte) & 0xc0) != 0x80) ++count;
    return count;
  }
  for (JsonWalk walk(*this); walk.next();) ++count;
  return count;
}

JsonWalk::JsonWalk(JsonView of) : map_(of.kind() == JsonView::Kind::map) {
  if (map_ || of.kind() == JsonView::Kind::list) rest_ = of.text_.substr(1);
}

bool JsonWalk::next() {
  const char* end = rest_.data() + rest_.size();
  const char* at = rest_.data();
  const auto stop = [&] {
    value_ = {};
    return false;
  };
  if (!value_.absent()) {
    at = past_json_blanks(past_json_value(at, end), end);
    if (at == end || *at++ != ',') return stop();
  }
  at = past_json_blanks(at, end);
  if (map_) {
    if (at == end || *at != '"') return stop();
    key_.text_ = {at, static_cast<std::size_t>(end - at)};
    at = past_json_blanks(past_json_text(at, end), end);
    if (at == end || *at++ != ':') return stop();
    at = past_json_blanks(at, end);
  }
  rest_ = {at, static_cast<std::size_t>(end - at)};
  value_ = JsonView(rest_);
  return !value_.absent();
}

}  // namespace pawl
