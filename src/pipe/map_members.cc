#include "pipe/map_members.h"

#include <string>

#include "pipe/field_value.h"
#include "pipe/member_walk.h"

namespace pawl {
namespace {

bool has_escape(std::string_view key) { return key.find('\\') != std::string_view::npos; }

// `written`: between its quotes.
bool is_key(std::string_view written, std::string_view key) {
  if (!has_escape(written)) return written == key;
  // Its quotes are there, around what is viewed.
  std::string room;
  return FieldValue({written.data() - 1, written.size() + 2}).text(room) == key;
}

std::string_view without_quotes(std::string_view literal) {
  return literal.size() < 2 ? std::string_view() : literal.substr(1, literal.size() - 2);
}

}  // namespace

void MapMembers::read(std::string_view map) {
  begin(map);
  for (MemberWalk walk(map); walk.next();) {
    add(without_quotes(walk.key()), walk.value());
    has_escapes_ = has_escapes_ || has_escape(walk.key());
  }
}

std::optional<std::string_view> MapMembers::find(std::string_view key) const {
  for (const Member& member : members_)
    if (has_escapes_ ? is_key(member.key, key) : member.key == key) return member.value;
  return std::nullopt;
}

std::optional<std::string_view> find_member(std::string_view map, std::string_view key) {
  if (!map.starts_with('{')) return std::nullopt;
  for (MemberWalk walk(map); walk.next();)
    if (is_key(without_quotes(walk.key()), key)) return walk.value();
  return std::nullopt;
}

}  // namespace pawl
