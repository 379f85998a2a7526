// JSON text, changed where it stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl {

struct NewMember {
  std::string_view name;
  std::string_view json;
};

// The map with these members set, in place where it has them, else at its end.
std::string with_members(std::string_view map, const std::vector<NewMember>& members);

// A merge patch (RFC 7396) applied to a value: null removes, maps are merged, all else replaces.
std::string merge_patch(std::string_view target, std::string_view patch);

// Writes a map member by member.
class JsonMap {
 public:
  explicit JsonMap(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonMap() { out_ += '}'; }
  JsonMap(const JsonMap&) = delete;
  JsonMap& operator=(const JsonMap&) = delete;

  // The name is a word of ours: it needs no escapes. Append the value to what is returned.
  std::string& member(std::string_view name);

  void text(std::string_view name, std::string_view value);
  void json(std::string_view name, std::string_view value) { member(name) += value; }
  void number(std::string_view name, std::int64_t value);
  void boolean(std::string_view name, bool value) { member(name) += value ? "true" : "false"; }

 private:
  std::string& out_;
  bool first_ = true;
};

void append_number(std::string& out, std::int64_t number);

}  // namespace pawl
