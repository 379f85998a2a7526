// FieldValue: the value of a field of a document, as it is written there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl {

// For text that simdjson took before, and with what that makes of it: escapes, numbers.
class FieldValue {
 public:
  enum class Kind { null, boolean, whole, decimal, text, list, map };

  // `json`: the value without blanks around it.
  explicit FieldValue(std::string_view json) : json_(json) {}

  Kind kind() const;
  bool is_null() const { return json_.starts_with('n'); }
  bool is_text() const { return json_.starts_with('"'); }
  bool is_map() const { return json_.starts_with('{'); }
  bool is_number() const { return kind() == Kind::whole || kind() == Kind::decimal; }
  std::string_view json() const { return json_; }

  // Of a text: the characters that it says, in `room` when it has escapes.
  std::string_view text(std::string& room) const;

  // None: not whole, or more than 63 bits and the sign.
  std::optional<std::int64_t> whole() const;

  // Of a number: the nearest.
  double number() const;

  // A text, or a whole number in its shortest form, is appended; false: it is neither.
  bool append_plain_to(std::string& out) const;

 private:
  std::string_view json_;
};

// What a message says about a value: `'abc'`, `12`, `a list`; cut to a few bytes.
std::string shown(const FieldValue& value);
std::string shown(std::string_view text);

}  // namespace pawl
