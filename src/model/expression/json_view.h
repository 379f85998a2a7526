// JsonView: a value inside JSON text, found where it stands.
//
// For text that was checked before: nothing is verified again, built or allocated. On other text it
// finds something or nothing, but never reads outside of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/expression/scratch.h"

namespace pawl {

class JsonView {
 public:
  enum class Kind { absent, null, boolean, number, text, list, map };

  JsonView() = default;  // absent

  // The value that begins the text, after blanks. What follows it is not looked at.
  explicit JsonView(std::string_view text);

  Kind kind() const;
  bool absent() const { return text_.empty(); }

  // The value as it is written. Linear in its length.
  std::string_view json() const;

  bool boolean() const { return text_.starts_with('t'); }

  // Of a text: the characters that it says. A view of the document unless it has escapes.
  std::string_view text(Scratch& scratch) const;
  bool is_text(std::string_view text) const;

  // Of a map: the value of the key, absent when it has none; the first of a key given twice.
  JsonView member(std::string_view key) const;

  // Of a list: absent beyond the end.
  JsonView item(std::size_t index) const;

  // Members of a map, items of a list, characters of a text; of anything else 0.
  std::size_t size() const;

 private:
  friend class JsonWalk;

  std::string_view text_;  // from the first byte of the value to the end of the document
};

// JsonWalk: goes through the items of a list or the members of a map, one by one.
//
//   for (JsonWalk walk(list); walk.next();) use(walk.value());
class JsonWalk {
 public:
  explicit JsonWalk(JsonView of);

  bool next();
  JsonView key() const { return key_; }  // of a member, a text
  JsonView value() const { return value_; }

 private:
  std::string_view rest_;
  bool map_ = false;
  JsonView key_;
  JsonView value_;
};

// Whether two JSON texts say the same: numbers by value, texts by their characters, maps whatever
// the order of their members. Linear while the members stand in one order, else n log n.
bool same_json(std::string_view a, std::string_view b);

// The same of two numbers, however long.
bool same_number(std::string_view a, std::string_view b);

}  // namespace pawl
