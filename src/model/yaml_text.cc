// A text may stand without quotes in YAML only if nothing in it means something else, and what
// means something else depends on the place: `a, b` is one text in a block and two in a list. So
// what may stand bare is listed, not what may not, and all the rest is quoted as JSON quotes it:
// `"a, b"`.
//
//   block:  key: value        flow:  {key: value, key: [value, value]}
//           key:
//             - value
#include "model/yaml_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json_text.h"
#include "base/text.h"
#include "pawl/time.h"

namespace pawl {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kIndent = 2;

// YAML allows 1,024 characters before the colon; beyond that `? key` is written.
constexpr std::size_t kShortKeyBytesMax = 1'000;

// Sections of a machine file whose parts are written apart, and sections with a line for each part.
constexpr std::array<std::string_view, 4> kSectionsOfParts = {"policies", "states", "tasks",
                                                              "scenarios"};
constexpr std::array<std::string_view, 3> kSectionsOfLines = {"data", "events", "on"};

enum class Layout {
  page,   // the whole machine: a line or a section for each key
  parts,  // a section of parts, with blank lines around those of several lines
  part,   // a state, task, policy or scenario: on one line only if nothing is nested in it
  lines,  // a section with a line for each of its members
  value,  // on one line if it fits
};

enum class Style { block, flow };

bool is_map(const Json& json) { return json.kind == Json::Kind::map; }
bool is_container(const Json& json) { return is_map(json) || json.kind == Json::Kind::list; }

bool is_empty(const Json& json) { return json.items.empty() && json.members.empty(); }

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Layout layout_of_member(Layout layout, std::string_view key) {
  if (layout == Layout::parts) return Layout::part;
  if (layout != Layout::page) return Layout::value;
  if (contains(kSectionsOfParts, key)) return Layout::parts;
  if (contains(kSectionsOfLines, key)) return Layout::lines;
  return Layout::value;
}

std::string escaped(std::uint32_t character) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += kHex[(character >> shift) & 15];
  return text;
}

// A character that cannot be seen, ends a line, turns the direction of writing, or that YAML does
// not allow as it is. Those below 32 are not asked about: JSON escapes them.
bool is_invisible(std::uint32_t character) {
  const auto between = [&](std::uint32_t first, std::uint32_t last) {
    return character >= first && character <= last;
  };
  return between(0x7f, 0x9f) || between(0x2028, 0x202e) || between(0x2066, 0x2069) ||
         character == 0xfeff || between(0xfffe, 0xffff);
}

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

// The character that begins there, of a text in UTF-8.
Character character_at(std::string_view text, std::size_t at) {
  const auto bits = [&](std::size_t i, unsigned mask) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]) & mask);
  };
  const std::uint32_t lead = bits(0, 0xff);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xe0) return {bits(0, 0x1f) << 6 | bits(1, 0x3f), 2};
  if (lead < 0xf0) return {bits(0, 0x0f) << 12 | bits(1, 0x3f) << 6 | bits(2, 0x3f), 3};
  return {bits(0, 0x07) << 18 | bits(1, 0x3f) << 12 | bits(2, 0x3f) << 6 | bits(3, 0x3f), 4};
}

// In double quotes, as both JSON and YAML read it.
std::string quoted(std::string_view text) {
  const std::string json = json_string(text);
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const Character character = character_at(json, at);
    out +=
        is_invisible(character.code) ? escaped(character.code) : json.substr(at, character.bytes);
    at += character.bytes;
  }
  return out;
}

// `30s`, `+500ms`: begins like a number and is none to any reader.
bool is_measure(std::string_view text) {
  constexpr std::array<std::string_view, 5> kDurationUnits = {"d", "h", "m", "s", "ms"};
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto unit = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto digits = static_cast<std::size_t>(unit - text.begin());
  return digits > 0 && contains(kDurationUnits, text.substr(digits));
}

bool is_json_word(std::string_view text) {
  const std::string word = to_lower(text);
  return word == "true" || word == "false" || word == "null";
}

bool begins_bare(std::string_view text) {
  const char first = text.front();
  return is_letter(first) || first == '_' || first == '(' || first == '/' ||
         static_cast<unsigned char>(first) >= 0x80;
}

bool has_bare_characters(std::string_view text, Style place) {
  constexpr std::string_view kTemplate = "{}";
  constexpr std::string_view kFlow = "[],?";
  if (text.find_first_of(kTemplate) != std::string_view::npos) return false;
  if (place == Style::flow && text.find_first_of(kFlow) != std::string_view::npos) return false;
  return quoted(text).size() == text.size() + 2;  // nothing in it needs an escape
}

bool has_mark_of_yaml(std::string_view text) {
  return text.ends_with(' ') || text.ends_with(':') || text.find(": ") != std::string_view::npos ||
         text.find(" #") != std::string_view::npos;
}

// Whether the text without quotes is read as the same text.
bool may_be_bare(std::string_view text, Style place) {
  if (text.empty()) return false;
  if (is_measure(text) || (is_digit(text.front()) && parse_instant(text))) return true;
  return begins_bare(text) && has_bare_characters(text, place) && !has_mark_of_yaml(text) &&
         !is_json_word(text);
}

std::string text_in(Style place, std::string_view text) {
  return may_be_bare(text, place) ? std::string(text) : quoted(text);
}

// Keys are always texts, so whole numbers need no quotes there: `migrate: {2: …}`.
std::string key_text(std::string_view key, Style place) {
  const bool digits = !key.empty() && std::all_of(key.begin(), key.end(), is_digit);
  return digits ? std::string(key) : text_in(place, key);
}

std::string scalar_text(const Json& json, Style place) {
  if (json.kind == Json::Kind::text) return text_in(place, json.text);
  return json.kind == Json::Kind::null ? "null" : json.text;
}

// The value in one line. Only its beginning when it is wider than a line may be.
std::string flow_text(const Json& json) {
  if (!is_container(json)) return scalar_text(json, Style::flow);
  // Too wide for a line, whatever follows: a character has at most four bytes.
  const auto is_too_wide = [](const std::string& text) { return text.size() > 4 * kColumns; };
  std::string out;
  for (const JsonMember& member : json.members) {
    if (is_too_wide(out)) break;
    out += (out.empty() ? "" : ", ") + key_text(member.key, Style::flow) + ": " +
           flow_text(member.value);
  }
  for (const Json& item : json.items) {
    if (is_too_wide(out)) break;
    out += (out.empty() ? "" : ", ") + flow_text(item);
  }
  return is_map(json) ? "{" + out + "}" : "[" + out + "]";
}

// Several rows, effects or steps somewhere in it: each of them wants a line of its own.
bool has_rows(const Json& json) {
  const auto& items = json.items;
  return (items.size() > 1 && std::any_of(items.begin(), items.end(), is_map)) ||
         std::any_of(items.begin(), items.end(), has_rows) ||
         std::any_of(json.members.begin(), json.members.end(),
                     [](const JsonMember& member) { return has_rows(member.value); });
}

bool has_nested_maps(const Json& json) {
  return std::any_of(json.members.begin(), json.members.end(), [&](const JsonMember& member) {
    return (is_map(member.value) && !is_empty(member.value)) ||
           std::any_of(member.value.items.begin(), member.value.items.end(), is_map);
  });
}

bool may_be_flow(const Json& json, Layout layout) {
  switch (layout) {
    case Layout::page:
    case Layout::parts:
    case Layout::lines:
      return !is_map(json) && !has_rows(json);
    case Layout::part:
      return !has_nested_maps(json);
    case Layout::value:
      return !has_rows(json);
  }
  return false;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// The value on the rest of a line that begins at that column, or nothing if it wants more.
std::optional<std::string> on_one_line(const Json& json, Layout layout, std::size_t column) {
  if (!is_container(json)) return scalar_text(json, Style::block);
  if (is_empty(json)) return flow_text(json);
  if (!may_be_flow(json, layout)) return std::nullopt;
  std::string text = flow_text(json);
  if (column + width(text) > kColumns) return std::nullopt;
  return text;
}

void end_line(std::string& out, std::size_t indent) { out += "\n" + std::string(indent, ' '); }

void append_block(std::string& out, const Json& json, Layout layout, std::size_t indent);

// What stands before the value of a member in a block.
std::string key_in_block(std::string_view key, std::size_t indent) {
  const std::string text = key_text(key, Style::block);
  if (text.size() <= kShortKeyBytesMax) return text + ":";
  return "? " + text + "\n" + std::string(indent, ' ') + ":";
}

void append_members(std::string& out, const Json& map, Layout layout, std::size_t indent) {
  const bool apart = layout == Layout::page || layout == Layout::parts;
  bool before_was_one_line = true;
  for (const JsonMember& member : map.members) {
    const std::string key = key_in_block(member.key, indent);
    const Layout inside = layout_of_member(layout, member.key);
    const auto line = on_one_line(member.value, inside, indent + width(key) + 1);
    if (&member != &map.members.front()) {
      if (apart && !(line && before_was_one_line)) out += "\n";
      end_line(out, indent);
    }
    out += key;
    if (line) {
      out += " " + *line;
    } else {
      end_line(out, indent + kIndent);
      append_block(out, member.value, inside, indent + kIndent);
    }
    before_was_one_line = line.has_value();
  }
}

void append_items(std::string& out, const Json& list, std::size_t indent) {
  for (const Json& item : list.items) {
    if (&item != &list.items.front()) end_line(out, indent);
    out += "- ";
    if (const auto line = on_one_line(item, Layout::value, indent + kIndent)) {
      out += *line;
    } else {
      append_block(out, item, Layout::value, indent + kIndent);
    }
  }
}

// Appends a list or map in lines of that indentation; the first line is indented already.
void append_block(std::string& out, const Json& json, Layout layout, std::size_t indent) {
  if (is_map(json)) {
    append_members(out, json, layout, indent);
  } else {
    append_items(out, json, indent);
  }
}

void append_pretty_json(std::string& out, const Json& json, std::size_t indent);

void append_pretty_container(std::string& out, const Json& json, std::size_t indent) {
  out += is_map(json) ? '{' : '[';
  const char* between = "";
  const auto begin_line = [&] {
    out += between;
    between = ",";
    end_line(out, indent + kIndent);
  };
  for (const JsonMember& member : json.members) {
    begin_line();
    out += quoted(member.key) + ": ";
    append_pretty_json(out, member.value, indent + kIndent);
  }
  for (const Json& item : json.items) {
    begin_line();
    append_pretty_json(out, item, indent + kIndent);
  }
  end_line(out, indent);
  out += is_map(json) ? '}' : ']';
}

void append_pretty_json(std::string& out, const Json& json, std::size_t indent) {
  if (json.kind == Json::Kind::text) {
    out += quoted(json.text);
  } else if (!is_container(json) || is_empty(json)) {
    append_text(out, json);
  } else {
    append_pretty_container(out, json, indent);
  }
}

}  // namespace

std::string to_yaml(const Json& json) {
  if (const auto line = on_one_line(json, Layout::page, 0)) return *line + "\n";
  std::string out;
  append_block(out, json, Layout::page, 0);
  return out + "\n";
}

std::string to_pretty_json(const Json& json) {
  std::string out;
  append_pretty_json(out, json, 0);
  return out + "\n";
}

}  // namespace pawl
