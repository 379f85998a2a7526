// ValueProgram: a checked value of a machine file, ready to be rendered.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "model/expression/program.h"
#include "pawl/diagnostic.h"
#include "pawl/json.h"

namespace pawl {

inline constexpr std::size_t kPlaceholdersMax = 1'000;  // of one text

// A text may contain placeholders: `Order {record.key} over {data.amount} EUR`. One that is a
// placeholder and nothing else keeps the type of its value. `{{` and `}}` are braces. What is
// inserted is never expanded again. The keys of maps are taken as they are.
//
// Immutable: threads may render it at once, each with a scratch of its own.
class ValueProgram {
 public:
  // Checks every placeholder in the texts of `json`. Findings go to `diagnostics`, each with the
  // place of its character. Null when there was an error.
  static std::shared_ptr<const ValueProgram> compile(const Json& json, const Scope& scope,
                                                     Diagnostics& diagnostics);

  // Whether there is no placeholder in it.
  bool constant() const { return shape_.kind == Shape::Kind::fixed; }

  // What it is known to yield: the type of the lone placeholder, or of the literal.
  Type type() const { return type_; }

  // Each appends the value and says true; false, and nothing is appended, when the value is absent:
  // a lone placeholder whose path leads nowhere or that has no value. `scratch.why` then says
  // which.

  // As JSON. Members of a map and items of a list that are absent are left out.
  bool render(const Sight& sight, Scratch& scratch, std::string& out) const;

  // As plain text (keys, hold texts, codes): a text without quotes, anything else as JSON. What is
  // absent inside a longer text is empty.
  bool render_text(const Sight& sight, Scratch& scratch, std::string& out) const;

  // Like render_text, but absent also when anything in it is: a key with a hole is no key.
  bool render_key(const Sight& sight, Scratch& scratch, std::string& out) const;

  // Like render_text, with inserted values percent-encoded (all but RFC 3986's unreserved
  // characters).
  bool render_url(const Sight& sight, Scratch& scratch, std::string& out) const;

 private:
  friend class ValueCompiler;

  // A piece of a text, then a placeholder unless it is the last.
  struct Part {
    std::string text;
    std::shared_ptr<const Program> program;
  };

  // A value as it is to be rendered. All that has no placeholder is rendered beforehand.
  struct Shape {
    enum class Kind { fixed, lone, text, list, map };

    Kind kind = Kind::fixed;
    std::string json;               // of `fixed`
    std::string text;               // of `fixed`: the same as plain text
    std::vector<Part> parts;        // of `lone` and `text`
    std::vector<std::string> keys;  // of `map`: as JSON, with the colon
    std::vector<Shape> shapes;      // of `list` and `map`
  };

  static bool render(const Shape& shape, const Sight& sight, Scratch& scratch, std::string& out);
  static void render_inside(const Shape& shape, const Sight& sight, Scratch& scratch,
                            std::string& out);

  template <class Insert>
  static void append_parts(const std::vector<Part>& parts, const Sight& sight, Scratch& scratch,
                           std::string& out, Insert insert);

  template <class Insert>
  bool render_plain(const Sight& sight, Scratch& scratch, std::string& out, Insert insert) const;

  ValueProgram() = default;

  Type type_ = Type::any;
  Shape shape_;
};

}  // namespace pawl
