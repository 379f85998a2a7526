// RequiredFields: what a document has to have to be one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/result.h"
#include "pawl/zones.h"
#include "pipe/field_path.h"
#include "pipe/pipe_config.h"

namespace pawl {

// Immutable.
class RequiredFields {
 public:
  // Fails with the position of a field that is none.
  static Result<RequiredFields> make(const std::vector<TransformConfig::Required>& required);

  // Fails with the first field that is missing, null, or of another type.
  Result<void> check(const MapMembers& document) const;

 private:
  struct Field {
    FieldPath path;
    FieldType type;
  };

  RequiredFields() = default;

  bool fits(const FieldType& type, const FieldValue& value) const;
  bool fits_text(const FieldType& type, std::string_view text) const;

  std::vector<Field> fields_;
  std::optional<Zones> zones_;  // where one of them is a zone
};

}  // namespace pawl
