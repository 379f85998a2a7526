#include "decide/json_edit.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json_text.h"
#include "model/expression/json_view.h"

namespace pawl {

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

std::string& JsonMap::member(std::string_view name) {
  const std::size_t begin = out_.size();
  out_.resize(begin + name.size() + (first_ ? 3 : 4));
  char* to = out_.data() + begin;
  if (!first_) *to++ = ',';
  first_ = false;
  *to++ = '"';
  to = std::copy(name.begin(), name.end(), to);
  *to++ = '"';
  *to = ':';
  return out_;
}

void JsonMap::text(std::string_view name, std::string_view value) {
  append_json_string(member(name), value);
}

void JsonMap::number(std::string_view name, std::int64_t value) {
  append_number(member(name), value);
}

namespace {

void append_member(std::string& out, std::string_view key_json, std::string_view value) {
  if (out.back() != '{') out += ',';
  out += key_json;
  out += ':';
  out += value;
}

void append_patched(std::string& out, JsonView target, JsonView patch) {
  if (patch.kind() != JsonView::Kind::map) {
    out += patch.json();
    return;
  }
  Scratch scratch;
  out += '{';
  const bool merges = target.kind() == JsonView::Kind::map;
  if (merges) {
    for (JsonWalk walk(target); walk.next();) {
      const JsonView change = patch.member(walk.key().text(scratch));
      if (change.kind() == JsonView::Kind::null) continue;
      append_member(out, walk.key().json(), "");
      if (change.absent()) {
        out += walk.value().json();
      } else {
        append_patched(out, walk.value(), change);
      }
    }
  }
  for (JsonWalk walk(patch); walk.next();) {
    if (walk.value().kind() == JsonView::Kind::null) continue;
    if (merges && !target.member(walk.key().text(scratch)).absent()) continue;
    append_member(out, walk.key().json(), "");
    append_patched(out, JsonView(), walk.value());
  }
  out += '}';
}

}  // namespace

std::string with_members(std::string_view map, const std::vector<NewMember>& members) {
  std::string out = "{";
  std::vector<bool> written(members.size());
  for (JsonWalk walk{JsonView(map)}; walk.next();) {
    std::string_view value = walk.value().json();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!walk.key().is_text(members[i].name)) continue;
      value = members[i].json;
      written[i] = true;
    }
    append_member(out, walk.key().json(), value);
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!written[i]) append_member(out, json_string(members[i].name), members[i].json);
  out += '}';
  return out;
}

std::string merge_patch(std::string_view target, std::string_view patch) {
  std::string out;
  append_patched(out, JsonView(target), JsonView(patch));
  return out;
}

}  // namespace pawl
