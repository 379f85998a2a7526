// MapMembers: where the members of a map stand in JSON text; found once, looked up often.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace pawl {

// Views of the text, which has to outlive it. Used again and again, it asks for no memory.
class MapMembers {
 public:
  struct Member {
    std::string_view key;  // as it stands between its quotes
    std::string_view value;
  };

  // Takes another map, whose members are then added one by one; their keys have no escapes.
  void begin(std::string_view map) {
    map_ = map;
    members_.clear();
    has_escapes_ = false;
  }
  void add(std::string_view key, std::string_view value) { members_.push_back({key, value}); }

  // Takes another map, and finds its members; for text that was checked before.
  void read(std::string_view map);

  std::string_view map() const { return map_; }
  const std::vector<Member>& all() const { return members_; }

  // The value of a key, as it is written; the first of a key that is there twice.
  std::optional<std::string_view> find(std::string_view key) const;

 private:
  std::string_view map_;
  std::vector<Member> members_;
  bool has_escapes_ = false;  // in keys
};

// The same of a map that is looked at but once. None also of what is no map.
std::optional<std::string_view> find_member(std::string_view map, std::string_view key);

}  // namespace pawl
