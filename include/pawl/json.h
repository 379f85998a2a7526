// Json: a JSON value as a plain tree. Numbers are kept as they were written, so decimals stay
// exact.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/result.h"
#include "pawl/where.h"

namespace pawl {

struct JsonMember;

struct Json {
  enum class Kind { null, boolean, number, text, list, map };

  Kind kind = Kind::null;
  std::string text;                 // of a boolean (`true`), number or text
  std::vector<Json> items;          // of a list
  std::vector<JsonMember> members;  // of a map, each key once
  Where at;

  // Out of line: a member is not complete yet.
  Json();
  Json(std::nullptr_t);  // NOLINT: implicit by design, as are the next ones
  Json(std::same_as<bool> auto value) : Json(boolean(value)) {}  // NOLINT
  Json(int value);                                               // NOLINT
  Json(const char* value);                                       // NOLINT
  Json(std::string value);                                       // NOLINT
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json boolean(bool value);
  static Json number(std::string digits);
  static Json list(std::vector<Json> items);
  static Json map(std::vector<JsonMember> members);

  // The value of that key of a map, or null when there is none.
  const Json* find(std::string_view key) const;

  // Numbers are equal when they are written alike; maps when their members stand in one order.
  friend bool operator==(const Json&, const Json&) = default;
};

struct JsonMember {
  std::string key;
  Json value;
  Where at;  // of the key

  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

// The value as JSON text without blanks.
std::string to_text(const Json& json);
void append_text(std::string& out, const Json& json);

}  // namespace pawl
