// FieldPath: the way to a field of a document, `user.name`.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

class FieldPath {
 public:
  FieldPath() = default;  // leads to the document itself

  // Fails where a name between dots is missing.
  static Result<FieldPath> parse(std::string_view text);

  const std::string& text() const { return text_; }

  // None: it leads nowhere. Of a key that is there twice the first.
  std::optional<simdjson::dom::element> find(simdjson::dom::element document) const;

 private:
  std::string text_;
  std::vector<std::string> names_;
};

// What a message says about a value: `'abc'`, `12`, `a list`; cut to a few bytes.
std::string shown(simdjson::dom::element value);
std::string shown(std::string_view text);

}  // namespace pawl
