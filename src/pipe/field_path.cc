#include "pipe/field_path.h"

#include "base/piece.h"
#include "base/text.h"

namespace pawl {

Result<FieldPath> FieldPath::parse(std::string_view text) {
  FieldPath path;
  path.text_ = text;
  for (const Piece& name : split({text}, '.')) {
    if (name.text.empty())
      return name.error("a name is empty in the field " + in_quotes(text) +
                        "; join names by single dots, like user.name");
    path.names_.emplace_back(name.text);
  }
  return path;
}

std::optional<FieldValue> FieldPath::find(const MapMembers& document) const {
  if (names_.empty()) return FieldValue(document.map());
  auto value = document.find(names_.front());
  for (std::size_t i = 1; value && i < names_.size(); ++i) value = find_member(*value, names_[i]);
  return value ? std::optional(FieldValue(*value)) : std::nullopt;
}

}  // namespace pawl
