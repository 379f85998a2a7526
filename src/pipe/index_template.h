// IndexTemplate: the name of the index a document goes to: `events-{time:%Y.%m.%d}`,
// `{data.kind}-events`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"
#include "pipe/date_pattern.h"
#include "pipe/field_path.h"

namespace pawl {

class IndexTemplate {
 public:
  struct Part {
    enum class Kind { text, time, topic, partition, field };
    Kind kind = Kind::text;
    std::string text = {};                 // of a text
    std::optional<DatePattern> date = {};  // of a time
    FieldPath field = {};                  // of a field
  };

  // Fails at what is no placeholder, and where no name that it makes could be one of an index.
  static Result<IndexTemplate> parse(std::string_view text);

  const std::vector<Part>& parts() const { return parts_; }
  bool has(Part::Kind kind) const;

  // Whether there is nothing in it but text.
  bool is_fixed() const { return parts_.size() == 1 && parts_[0].kind == Part::Kind::text; }

  // Whether names have to be checked one by one: what they are made of may be anything.
  bool is_open() const { return has(Part::Kind::topic) || has(Part::Kind::field); }

 private:
  std::vector<Part> parts_;
};

// Why the search engine would not take this as the name of an index; none when it would.
std::optional<std::string> index_fault(std::string_view name);

}  // namespace pawl
