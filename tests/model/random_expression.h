// Random expressions and values that type-check where they stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "draw.h"
#include "pawl/definition.h"

namespace pawl {

// Texts that are hard to print: quotes, colons, line ends, what YAML takes for something else.
std::string nasty_text(Draw& draw);

// A JSON literal; no text in it has braces.
Json random_json(Draw& draw, int depth);

// A literal that fits the type.
Json fitting_json(Draw& draw, const FieldType& type);

// What may be named where an expression stands.
struct Seen {
  const std::optional<Fields>* data = nullptr;
  const std::vector<std::string>* states = nullptr;
  const std::vector<Ref>* order = nullptr;
  bool event = false;
  const Fields* event_fields = nullptr;  // null: anything
  bool result = false;
  const Fields* result_fields = nullptr;
  bool error = false;
  bool now = true;
  bool item = false;
};

class RandomExpression {
 public:
  RandomExpression(Draw& draw, const Seen& seen) : draw_(draw), seen_(seen) {}

  // For `if`: a condition, or the lone name of a guard.
  std::string condition();
  // For `each`.
  std::string list();

  // A value without a type to fit: a literal, perhaps with placeholders inside.
  Value value();
  // A text, perhaps with placeholders.
  Value text_value();
  // A value for a field of that type.
  Value value_for(const FieldType& type);
  // The text of a duration with a placeholder.
  std::string duration_template();

 private:
  std::string boolean(int depth);
  std::string comparison(int depth);
  std::string number(int depth);
  std::string text();
  std::string time();
  std::string duration();
  std::string any();
  std::string of_type(const FieldType& type);
  Json json(int depth);
  std::string text_with_placeholders();

  // `data.x` and the like, of a field of that kind; none when there is no such field.
  std::optional<std::string> path(FieldType::Kind kind);
  void add_paths(std::vector<std::string>& paths, std::string_view root, const Fields* fields,
                 FieldType::Kind kind);

  Draw& draw_;
  const Seen& seen_;
};

}  // namespace pawl
