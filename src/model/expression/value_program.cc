#include "model/expression/value_program.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "base/text.h"
#include "model/expression/path_checker.h"

namespace pawl {

// Turns a JSON tree into a shape, and goes on after an error to find them all.
class ValueCompiler {
 public:
  using Shape = ValueProgram::Shape;

  ValueCompiler(const Scope& scope, Diagnostics& diagnostics)
      : scope_(scope), diagnostics_(diagnostics) {}

  Shape shape(const Json& json) {
    switch (json.kind) {
      case Json::Kind::text:
        return text(json);
      case Json::Kind::list:
      case Json::Kind::map:
        return container(json);
      default:
        return {.json = to_text(json), .text = to_text(json)};
    }
  }

  bool failed() const { return failed_; }

 private:
  Shape container(const Json& json) {
    const bool list = json.kind == Json::Kind::list;
    Shape shape{.kind = list ? Shape::Kind::list : Shape::Kind::map};
    for (const Json& item : json.items) shape.shapes.push_back(this->shape(item));
    for (const JsonMember& member : json.members) {
      shape.keys.push_back(json_string(member.key) + ":");
      shape.shapes.push_back(this->shape(member.value));
    }
    for (const Shape& inside : shape.shapes)
      if (inside.kind != Shape::Kind::fixed) return shape;
    return fixed(shape);
  }

  // Nothing in it depends on anything.
  static Shape fixed(const Shape& shape) {
    Shape result;
    Scratch scratch;
    ValueProgram::render(shape, Sight{}, scratch, result.json);
    result.text = result.json;
    return result;
  }

  Shape text(const Json& json) {
    Shape shape{.kind = Shape::Kind::text};
    shape.parts.emplace_back();
    for (std::size_t at = 0; at < json.text.size() && !diagnostics_.is_full();) {
      if (shape.parts.size() > kPlaceholdersMax) {
        report(json, at, "bad_template",
               "a text has at most " + std::to_string(kPlaceholdersMax) + " placeholders");
        break;
      }
      at = read(json, at, shape);
    }
    std::string& first = shape.parts.front().text;
    if (shape.parts.size() == 1) {
      Shape constant{.json = json_string(first)};
      constant.text = std::move(first);
      return constant;
    }
    if (shape.parts.size() == 2 && first.empty() && shape.parts.back().text.empty())
      shape.kind = Shape::Kind::lone;
    return shape;
  }

  // Reads what stands at `at` and says where the rest begins.
  std::size_t read(const Json& json, std::size_t at, Shape& shape) {
    const std::string_view rest = std::string_view(json.text).substr(at);
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      shape.parts.back().text += rest.front();
      return at + 2;
    }
    if (rest.front() == '{') return read_placeholder(json, at, shape);
    if (rest.front() == '}')
      report(json, at, "bad_template", "a } is unmatched; write }} for a brace");
    const std::size_t length = std::max<std::size_t>(rest.find_first_of("{}"), 1);
    shape.parts.back().text += rest.substr(0, length);
    return at + std::min(length, rest.size());
  }

  std::size_t read_placeholder(const Json& json, std::size_t at, Shape& shape) {
    const auto end = closing_brace(json.text, at + 1);
    if (!end) {
      report(json, at, "bad_template",
             "a { is not closed; write } after the expression, or {{ for a brace");
      return json.text.size();
    }
    const std::string_view expression = std::string_view(json.text).substr(at + 1, *end - at - 1);
    if (expression.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      report(
          json, at, "bad_template",
          "an expression is missing between the braces; write for example {data.amount}, or {{ and }} for braces");
    } else {
      shape.parts.back().program = compile(json, at + 1, expression);
    }
    shape.parts.emplace_back();
    return *end + 1;
  }

  // The first `}` that is not part of a text literal.
  static std::optional<std::size_t> closing_brace(std::string_view text, std::size_t at) {
    char quote = '\0';
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (quote != '\0') {
        if (c == '\\') ++at;
        if (c == quote) quote = '\0';
      } else if (c == '}') {
        return at;
      } else if (c == '\'' || c == '"') {
        quote = c;
      }
    }
    return std::nullopt;
  }

  std::shared_ptr<const Program> compile(const Json& json, std::size_t at,
                                         std::string_view expression) {
    const auto program = Program::compile(expression, scope_);
    if (program && (*program)->guard().empty()) return *program;
    const Error error = program ? unknown_name({.at = expression.find((*program)->guard()),
                                                .name = std::string((*program)->guard())})
                                : program.error();
    const auto column = static_cast<std::size_t>(error.position ? error.position->column - 1 : 0);
    report(json, at + column, "bad_expression", error.message);
    return nullptr;
  }

  void report(const Json& json, std::size_t at, std::string_view id, std::string message) {
    failed_ = true;
    if (diagnostics_.is_full()) return;
    diagnostics_.error(id, json.at.inside(json.text, static_cast<int>(at) + 1), std::move(message));
  }

  const Scope& scope_;
  Diagnostics& diagnostics_;
  bool failed_ = false;
};

namespace {

Type type_of(const Json& json) {
  switch (json.kind) {
    case Json::Kind::null:
      return Type::null;
    case Json::Kind::boolean:
      return Type::boolean;
    case Json::Kind::number: {
      const auto number = Decimal::parse(json.text);
      return number && number->is_integer() ? Type::integer : Type::decimal;
    }
    case Json::Kind::text:
      return Type::text;
    case Json::Kind::list:
      return Type::list;
    case Json::Kind::map:
      return Type::map;
  }
  return Type::any;
}

bool has_value(const Operand& operand) {
  return operand.kind != Operand::Kind::absent && operand.kind != Operand::Kind::none;
}

bool is_unreserved(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

void append_percent_encoded(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(c)) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
}

}  // namespace

std::shared_ptr<const ValueProgram> ValueProgram::compile(const Json& json, const Scope& scope,
                                                          Diagnostics& diagnostics) {
  std::shared_ptr<ValueProgram> program(new ValueProgram());
  ValueCompiler compiler(scope, diagnostics);
  program->shape_ = compiler.shape(json);
  if (compiler.failed()) return nullptr;
  const bool lone = program->shape_.kind == Shape::Kind::lone;
  program->type_ = lone ? program->shape_.parts.front().program->type() : type_of(json);
  return program;
}

template <class Insert>
void ValueProgram::append_parts(const std::vector<Part>& parts, const Sight& sight,
                                Scratch& scratch, std::string& out, Insert insert) {
  for (const Part& part : parts) {
    out += part.text;
    if (!part.program) continue;
    const Scratch::Mark mark(scratch);
    const Operand value = part.program->evaluate(sight, scratch);
    if (has_value(value)) insert(out, value);
  }
}

bool ValueProgram::render(const Sight& sight, Scratch& scratch, std::string& out) const {
  return render(shape_, sight, scratch, out);
}

bool ValueProgram::render(const Shape& shape, const Sight& sight, Scratch& scratch,
                          std::string& out) {
  const Scratch::Mark mark(scratch);
  switch (shape.kind) {
    case Shape::Kind::fixed:
      out += shape.json;
      return true;
    case Shape::Kind::lone: {
      const Operand value = shape.parts.front().program->evaluate(sight, scratch);
      if (has_value(value)) append_json(out, value);
      return has_value(value);
    }
    case Shape::Kind::text: {
      std::string& text = scratch.blank();
      append_parts(shape.parts, sight, scratch, text, append_plain);
      append_json_string(out, text);
      return true;
    }
    case Shape::Kind::list:
    case Shape::Kind::map:
      render_inside(shape, sight, scratch, out);
      return true;
  }
  return false;
}

void ValueProgram::render_inside(const Shape& shape, const Sight& sight, Scratch& scratch,
                                 std::string& out) {
  const bool list = shape.kind == Shape::Kind::list;
  out += list ? '[' : '{';
  const std::size_t begin = out.size();
  for (std::size_t i = 0; i < shape.shapes.size(); ++i) {
    const std::size_t before = out.size();
    if (before > begin) out += ',';
    if (!list) out += shape.keys[i];
    if (!render(shape.shapes[i], sight, scratch, out)) out.resize(before);
  }
  out += list ? ']' : '}';
}

bool ValueProgram::render_text(const Sight& sight, Scratch& scratch, std::string& out) const {
  return render_plain(sight, scratch, out, append_plain);
}

bool ValueProgram::render_key(const Sight& sight, Scratch& scratch, std::string& out) const {
  const Scratch::Mark mark(scratch);
  for (const Part& part : shape_.parts)
    if (part.program && !has_value(part.program->evaluate(sight, scratch))) return false;
  return render_text(sight, scratch, out);
}

bool ValueProgram::render_url(const Sight& sight, Scratch& scratch, std::string& out) const {
  std::string plain;
  return render_plain(sight, scratch, out, [&](std::string& url, const Operand& value) {
    plain.clear();
    append_plain(plain, value);
    append_percent_encoded(url, plain);
  });
}

// `insert` appends what a placeholder yields.
template <class Insert>
bool ValueProgram::render_plain(const Sight& sight, Scratch& scratch, std::string& out,
                                Insert insert) const {
  const Scratch::Mark mark(scratch);
  switch (shape_.kind) {
    case Shape::Kind::fixed:
      out += shape_.text;
      return true;
    case Shape::Kind::lone: {
      const Operand value = shape_.parts.front().program->evaluate(sight, scratch);
      if (has_value(value)) insert(out, value);
      return has_value(value);
    }
    case Shape::Kind::text:
      append_parts(shape_.parts, sight, scratch, out, insert);
      return true;
    case Shape::Kind::list:
    case Shape::Kind::map:
      return render(shape_, sight, scratch, out);
  }
  return false;
}

}  // namespace pawl
