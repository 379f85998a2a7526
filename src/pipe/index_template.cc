#include "pipe/index_template.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace pawl {
namespace {

using Part = IndexTemplate::Part;

constexpr std::size_t kIndexBytesMax = 255;
constexpr std::size_t kPartitionDigits = 10;
constexpr std::string_view kForbidden = "\\/*?\"<>| ,#:";
constexpr std::string_view kPlaceholders =
    "; use {time:%Y.%m.%d}, {data.field}, {topic} and {partition}, and {{ and }} for braces";

std::optional<std::string> character_fault(std::string_view text) {
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') return "contains the upper-case letter '" + std::string(1, c) + "'";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "contains a control character";
    if (kForbidden.find(c) != std::string_view::npos)
      return "contains the character '" + std::string(1, c) + "'";
  }
  return std::nullopt;
}

std::optional<std::string> beginning_fault(std::string_view text) {
  if (text.empty() || std::string_view("-_+").find(text.front()) == std::string_view::npos)
    return std::nullopt;
  return "begins with '" + std::string(1, text.front()) + "'";
}

class TemplateReader {
 public:
  explicit TemplateReader(std::string_view text) : rest_(text) {}

  Result<std::vector<Part>> read() {
    while (!rest_.empty()) {
      if (rest_.starts_with("{{") || rest_.starts_with("}}")) {
        add_text(rest_.substr(0, 1));
        rest_.remove_prefix(2);
      } else if (rest_.front() == '{') {
        PAWL_CHECK(read_placeholder());
      } else if (rest_.front() == '}') {
        return bad_input("a } has no matching {; write }} for a brace");
      } else {
        const std::size_t length = std::min(rest_.find_first_of("{}"), rest_.size());
        add_text(rest_.substr(0, length));
        rest_.remove_prefix(length);
      }
    }
    return std::move(parts_);
  }

 private:
  void add_text(std::string_view text) {
    if (parts_.empty() || parts_.back().kind != Part::Kind::text) parts_.emplace_back();
    parts_.back().text += text;
  }

  Result<void> read_placeholder() {
    const std::size_t end = rest_.find('}');
    if (end == std::string_view::npos)
      return bad_input("a { is not closed" + std::string(kPlaceholders));
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (inside == "topic") return add({.kind = Part::Kind::topic});
    if (inside == "partition") return add({.kind = Part::Kind::partition});
    if (inside.starts_with("data.")) {
      PAWL_TRY(auto path, FieldPath::parse(inside.substr(5)));
      return add({.kind = Part::Kind::field, .field = std::move(path)});
    }
    if (inside.starts_with("time:")) {
      PAWL_TRY(auto date, DatePattern::parse(inside.substr(5)));
      return add({.kind = Part::Kind::time, .date = std::move(date)});
    }
    return bad_input("{" + printable(inside.substr(0, 40)) + "} is not a known placeholder" +
                     std::string(kPlaceholders));
  }

  Result<void> add(Part part) {
    parts_.push_back(std::move(part));
    return {};
  }

  std::string_view rest_;
  std::vector<Part> parts_;
};

// Of what is there whatever the message says.
std::optional<std::string> fixed_fault(const std::vector<Part>& parts) {
  std::size_t length = 0;
  for (const Part& part : parts) {
    const std::string literals = part.date ? part.date->literals() : part.text;
    if (auto fault = character_fault(literals)) return fault;
    length += part.date ? part.date->length() : part.text.size();
    if (part.kind == Part::Kind::partition) length += kPartitionDigits;
  }
  if (length > kIndexBytesMax) return "is longer than 255 bytes";
  const Part& first = parts.front();
  // A date that begins with a conversion begins with a digit.
  const std::string_view beginning = first.date ? std::string_view(first.date->text()) : first.text;
  return beginning_fault(beginning);
}

}  // namespace

Result<IndexTemplate> IndexTemplate::parse(std::string_view text) {
  PAWL_TRY(auto parts, TemplateReader(text).read());
  if (parts.empty()) return bad_input("the index is missing; write its name, or a template");
  auto fault = fixed_fault(parts);
  IndexTemplate made;
  made.parts_ = std::move(parts);
  if (!fault && made.is_fixed()) fault = index_fault(made.parts_[0].text);
  if (fault)
    return bad_input(
        in_quotes(text) + " is not a valid index name: it " + *fault +
        "; use lower case, no \\ / * ? \" < > | , # : or blanks, and do not begin with - _ or +");
  return made;
}

bool IndexTemplate::has(Part::Kind kind) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return part.kind == kind; });
}

std::optional<std::string> index_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name == "." || name == "..") return "is '" + std::string(name) + "'";
  if (name.size() > kIndexBytesMax) return "is longer than 255 bytes";
  if (auto fault = beginning_fault(name)) return fault;
  return character_fault(name);
}

}  // namespace pawl
