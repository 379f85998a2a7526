// FieldPath: the way to a field of a document, `user.name`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"
#include "pipe/field_value.h"
#include "pipe/map_members.h"

namespace pawl {

class FieldPath {
 public:
  FieldPath() = default;  // leads to the document itself

  // Fails where a name between dots is missing.
  static Result<FieldPath> parse(std::string_view text);

  const std::string& text() const { return text_; }

  // None: it leads nowhere. Of a key that is there twice the first.
  std::optional<FieldValue> find(const MapMembers& document) const;

 private:
  std::string text_;
  std::vector<std::string> names_;
};

}  // namespace pawl
