#include "model/reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "base/nearest.h"
#include "base/text.h"

namespace pawl {
namespace {

std::string_view kind_word(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return node.empty ? "nothing" : "null";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::number:
      return "a number";
    case Node::Kind::text:
      return "a text";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "";
}

bool is_name(std::string_view text) {
  if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; });
}

// `In Progress` -> `in_progress`: the nearest text that is a name, or nothing.
std::string as_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c)) {
      name += to_lower(c);
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return is_name(name) ? name : "";
}

std::vector<std::string> ticked(std::span<const std::string_view> words) {
  std::vector<std::string> ticked;
  for (const std::string_view word : words) ticked.push_back(in_ticks(word));
  return ticked;
}

}  // namespace

bool Reader::is_map(const Node& node, std::string_view subject) {
  if (node.kind == Node::Kind::map) return true;
  wrong_kind(node, std::string(subject) + ": a map of keys");
  return false;
}

bool Reader::is_list(const Node& node, std::string_view subject) {
  if (node.kind == Node::Kind::list) return true;
  wrong_kind(node, subject);
  return false;
}

void Reader::wrong_kind(const Node& node, std::string_view expected) {
  if (diagnostics_.has_form_error_at(node.at)) return;  // said already, of an alias
  if (refuse_bare_template(node)) return;
  error("wrong_kind", node.at,
        "expected " + std::string(expected) + ", found " + std::string(kind_word(node)) +
            (node.empty && expected.ends_with("a map of keys") ? "; write {} for none" : ""));
}

bool Reader::refuse_bare_templates(const Node& node) {
  bool refused = refuse_bare_template(node);
  if (refused) return true;
  for (const Node& item : node.items) refused = refuse_bare_templates(item) || refused;
  for (const Member& member : node.members)
    refused = refuse_bare_templates(member.value) || refused;
  return refused;
}

bool Reader::is_bare_template(const Node& node) {
  return node.kind == Node::Kind::map && node.flow && !node.members.empty() &&
         std::all_of(node.members.begin(), node.members.end(),
                     [](const Member& member) { return member.value.empty; });
}

bool Reader::refuse_bare_template(const Node& node) {
  if (!is_bare_template(node)) return false;
  error("unquoted_template", node.at,
        "put a template in quotes: \"{" + printable(node.members[0].key) +
            "}\" (without them YAML reads a map)");
  return true;
}

void Reader::unknown_key(const Member& member, std::string_view subject,
                         std::span<const std::string> known) {
  std::string hint = did_you_mean(member.key, known);
  if (hint.empty()) hint = "; known keys are " + join(known, ", ", " and ");
  error("unknown_key", member.key_at,
        in_quotes(member.key) + " is not a key of " + std::string(subject) + hint);
}

void Reader::check_one_of(const Node& node, std::string_view subject,
                          std::span<const std::string_view> one_of, bool needed) {
  const Member* first = nullptr;
  for (const Member& member : node.members) {
    if (std::find(one_of.begin(), one_of.end(), member.key) == one_of.end()) continue;
    if (first != nullptr)
      error("two_of_one", member.key_at,
            std::string(subject) + " has at most one of " + join(ticked(one_of), ", ", " and ") +
                "; `" + first->key + "` is already there");
    if (first == nullptr) first = &member;
  }
  if (needed && first == nullptr)
    error("missing_key", node.at,
          std::string(subject) + " needs one of " + join(ticked(one_of), ", ", " and "));
}

bool Reader::check_name(std::string_view text, Position at, std::string_view what) {
  if (is_name(text)) return true;
  const std::string nearest_name = as_name(text);
  error("bad_name", at,
        in_quotes(text) + " cannot name " + std::string(what) +
            ": names are lower-case letters, digits and _, beginning with a letter" +
            (nearest_name.empty() ? "" : "; write " + nearest_name));
  return false;
}

void Reader::name(const Node& node, std::string_view what, std::string& into) {
  if (node.kind != Node::Kind::text) {
    wrong_kind(node, "the name of " + std::string(what));
    return;
  }
  if (check_name(node.text, node.at, what)) into = node.text;
}

Ref Reader::ref(const Node& node, std::string_view what) {
  Ref ref;
  name(node, what, ref.name);
  ref.at = node.where();
  return ref;
}

void Reader::names(const Node& node, std::string_view what, std::vector<std::string>& into) {
  for (Ref& ref : refs(node, what)) into.push_back(std::move(ref.name));
}

std::vector<Ref> Reader::refs(const Node& node, std::string_view what) {
  std::vector<Ref> refs;
  if (!is_list(node, "a list of names in brackets")) return refs;
  std::unordered_set<std::string> known;
  for (const Node& item : node.items) {
    if (diagnostics_.is_full()) break;
    Ref one = ref(item, what);
    if (!one) continue;
    if (!known.insert(one.name).second)
      error("named_twice", item.at,
            in_ticks(one.name) + " is already in this list; keep one of them");
    refs.push_back(std::move(one));
  }
  return refs;
}

void Reader::text(const Node& node, std::string_view what, std::string& into) {
  if (node.kind != Node::Kind::text) {
    wrong_kind(node, what);
    return;
  }
  into = node.text;
}

void Reader::boolean(const Node& node, bool& into) {
  if (node.kind == Node::Kind::boolean) {
    into = node.text == "true";
  } else {
    constexpr std::array<std::string_view, 8> kYaml11{"yes", "no", "on",   "off",
                                                      "y",   "n",  "True", "False"};
    const bool yaml_1_1 = node.kind == Node::Kind::text && !node.quoted &&
                          std::find(kYaml11.begin(), kYaml11.end(), node.text) != kYaml11.end();
    wrong_kind(node,
               yaml_1_1 ? "true or false (`" + node.text + "` is a text here)" : "true or false");
  }
}

bool Reader::is_true(const Node& node) {
  if (node.kind == Node::Kind::boolean && node.text == "true") return true;
  error("wrong_kind", node.at, "expected true; leave the key out otherwise");
  return false;
}

std::optional<int> Reader::integer(const Node& node, int least, int most) {
  int number = 0;
  const char* end = node.text.data() + node.text.size();
  const auto parsed = std::from_chars(node.text.data(), end, number);
  const bool whole =
      node.kind == Node::Kind::number && parsed.ec == std::errc{} && parsed.ptr == end;
  if (whole && number >= least && number <= most) return number;
  const bool too_large = node.kind == Node::Kind::number && node.text.size() > 9;
  const std::string range = most == kIntegerMax && !too_large
                                ? " from " + std::to_string(least) + " on"
                                : " from " + std::to_string(least) + " to " + std::to_string(most);
  constexpr std::size_t kShown = 40;  // characters of a number that is too large
  const std::string number_text =
      node.text.size() > kShown ? node.text.substr(0, kShown) + "…" : node.text;
  const std::string found =
      node.kind == Node::Kind::number ? number_text : std::string(kind_word(node));
  error("bad_integer", node.at, "expected a whole number" + range + ", found " + found);
  return std::nullopt;
}

void Reader::duration(const Node& node, DurationValue& into) {
  into.at = node.where();
  if (node.kind == Node::Kind::number && node.text == "0") {
    into.fixed = Duration{0};
    return;
  }
  if (node.kind == Node::Kind::number) {
    const bool whole = std::all_of(node.text.begin(), node.text.end(), is_digit);
    const std::string number = whole ? node.text : "5";
    error("bad_duration", node.at,
          "a duration is a whole number with a unit: " + number + "s, " + number + "m, " + number +
              "h or " + number + "d");
    return;
  }
  if (node.kind != Node::Kind::text) {
    wrong_kind(node, "a duration (30s, 5m, 2h, 7d)");
    return;
  }
  if (node.text.find('{') != std::string::npos) {
    into.value = value(node);
    return;
  }
  const auto parsed = parse_duration(node.text);
  if (parsed) {
    into.fixed = *parsed;
  } else {
    error("bad_duration",
          node.where().inside(node.text, parsed.error().position.value_or(Position{}).column),
          parsed.error().message);
  }
}

DurationValue Reader::duration(const Node& node) {
  DurationValue into;
  duration(node, into);
  return into;
}

Expression Reader::expression(const Node& node) {
  if (node.kind == Node::Kind::text || node.kind == Node::Kind::boolean)
    return {node.text, node.where()};
  wrong_kind(node, "an expression (data.amount > 0)");
  return {"true", node.where()};
}

Value Reader::value(const Node& node) {
  return refuse_bare_templates(node) ? Value() : Value(to_json(node));
}

Value Reader::text_value(const Node& node, std::string_view what) {
  if (node.kind == Node::Kind::text) return value(node);
  wrong_kind(node, what);
  return "";
}

void Reader::values(const Node& node, std::string_view subject, std::vector<Assignment>& into) {
  members(node, subject, [&](const Member& member) {
    if (check_name(member.key, member.key_at, "a field"))
      into.push_back({member.key, value(member.value), {member.key_at}});
  });
}

void Reader::set(const Node& node, std::vector<Assignment>& into) {
  if (node.kind != Node::Kind::list) {
    values(node, "`set`", into);
    return;
  }
  const bool from_event = row_place_ == RowPlace::on || row_place_ == RowPlace::machine_on;
  if (!from_event && row_place_ != RowPlace::done) {
    error("set_list", node.at,
          "a list takes its fields from the event or the result, and there is neither here; "
          "write {field: value}");
    return;
  }
  for (const Ref& field : refs(node, "a field")) {
    Json taken = "{" + std::string(from_event ? "event." : "result.") + field.name + "}";
    taken.at = {field.at.position};
    into.push_back({field.name, std::move(taken), field.at});
  }
}

std::optional<std::size_t> Reader::word_index(const Node& node, std::string_view what,
                                              std::span<const std::string_view> words) {
  if (node.kind != Node::Kind::text) {
    wrong_kind(node, std::string(what) + ": " + join(ticked(words), ", ", " or "));
    return std::nullopt;
  }
  const auto found = std::find(words.begin(), words.end(), node.text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  error("unknown_word", node.at,
        in_quotes(node.text) + " is not " + std::string(what) + ": " +
            join(ticked(words), ", ", " or "));
  return std::nullopt;
}

}  // namespace pawl
