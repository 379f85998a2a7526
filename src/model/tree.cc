// libyaml is used for its events only: it knows the grammar, we build the tree, so that nothing is
// expanded, resolved or dropped behind our back. (Libraries that build the tree themselves keep one
// of two equal keys in silence.)
#include "model/tree.h"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace pawl {
namespace {

Position position_of(const yaml_mark_t& mark) {
  return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

// The grammar of JSON: -? (0 | [1-9] digits) [. digits] [(e|E) sign? digits]
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  const bool leading_zero = at < text.size() && text[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && to_lower(text[at]) == 'e') {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

// The code unit of an escape `\\u1234` at that place; none when there is none.
std::optional<unsigned> escaped_unit(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\\u" || at + 6 > text.size()) return std::nullopt;
  unsigned unit = 0;
  const char* end = text.data() + at + 6;
  if (std::from_chars(text.data() + at + 2, end, unit, 16).ptr != end) return std::nullopt;
  return unit;
}

void append_utf8(std::string& out, unsigned point) {
  out += static_cast<char>(0xf0 | (point >> 18));
  out += static_cast<char>(0x80 | ((point >> 12) & 0x3f));
  out += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
  out += static_cast<char>(0x80 | (point & 0x3f));
}

// JSON writes characters beyond U+FFFF as two escapes, which libyaml does not know: they are put
// together first. None when the text is not JSON or has none of them.
std::optional<std::string> join_surrogates(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return std::nullopt;
  std::string joined;
  std::size_t copied = 0;
  for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
    const auto high = escaped_unit(text, at);
    const auto low = high ? escaped_unit(text, at + 6) : std::nullopt;
    if (!low || *high < 0xd800 || *high > 0xdbff || *low < 0xdc00 || *low > 0xdfff) {
      at += 2;  // an escape of two characters, or of more without another backslash
      continue;
    }
    joined += text.substr(copied, at - copied);
    append_utf8(joined, 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00));
    copied = at += 12;
  }
  if (copied == 0) return std::nullopt;
  return joined += text.substr(copied);
}

// Owns one event of libyaml.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }

  yaml_event_t* get() { return &event_; }
  yaml_event_type_t type() const { return event_.type; }
  Position position() const { return position_of(event_.start_mark); }
  const yaml_event_t& operator*() const { return event_; }

 private:
  yaml_event_t event_{};
};

class TreeReader {
 public:
  TreeReader(std::string_view text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const yaml_char_t*>(text.data()),
                                 text.size());
  }
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;
  ~TreeReader() { yaml_parser_delete(&parser_); }

  std::optional<Node> read() {
    std::optional<Node> root;
    while (true) {
      Event event;
      if (!next(event)) return std::nullopt;
      if (event.type() == YAML_STREAM_END_EVENT) break;
      if (event.type() == YAML_STREAM_START_EVENT) continue;
      if (event.type() == YAML_DOCUMENT_START_EVENT) {
        if (!read_document(event, root)) return std::nullopt;
      }
    }
    if (!root)
      diagnostics_.error("empty_file", {1, 1},
                         "the file is empty; a machine begins with `machine: name`");
    return root;
  }

 private:
  bool next(Event& event) {
    if (yaml_parser_parse(&parser_, event.get()) != 0) return true;
    report_syntax();
    return false;
  }

  // The place of a byte; the text before it is UTF-8.
  Position position_at(std::size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const std::size_t line_begin = before.rfind('\n') + 1;
    return {
        1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
        1 + static_cast<int>(std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_begin),
                                           before.end(), begins_character))};
  }

  // libyaml ends the last line itself when nothing else does, and then speaks of a line that is not
  // there.
  Position position_of_problem() const {
    const yaml_mark_t& mark = parser_.problem_mark;
    const bool behind_the_text = mark.line > 0 && mark.column == 0 && !text_.empty() &&
                                 text_.back() != '\n' && text_.back() != '\r';
    const Position end = position_at(text_.size());
    return behind_the_text && mark.index >= text_characters()
               ? Position{static_cast<int>(mark.line), end.column}
               : position_of(mark);
  }

  std::size_t text_characters() const {
    return static_cast<std::size_t>(std::count_if(text_.begin(), text_.end(), begins_character));
  }

  void report_syntax() {
    const std::string problem = parser_.problem == nullptr ? "it cannot be read" : parser_.problem;
    if (parser_.error == YAML_READER_ERROR) {
      diagnostics_.error("bad_utf8", position_at(parser_.problem_offset),
                         "the file is not UTF-8 text here (" + problem + "); save it as UTF-8");
      return;
    }
    const Position at = position_of_problem();
    std::string message = "this is not YAML: " + problem;
    if (parser_.context != nullptr) message += std::string(" ") + parser_.context;
    if (problem.find("cannot start any token") != std::string::npos) {
      message +=
          "; indent with spaces, not tabs, and put texts that begin with @, ` or % in quotes";
    } else if (problem.find("mapping values are not allowed") != std::string::npos) {
      message += "; put a text that contains ': ' in quotes, and check the indentation";
    } else if (problem.find("expected ',' or") != std::string::npos) {
      message += "; close the bracket or brace, or put the text in quotes";
    }
    diagnostics_.error("syntax", at, message);
  }

  // Reads one document; a second one is an error. False when the text cannot be read on.
  bool read_document(const Event& start, std::optional<Node>& root) {
    const auto& document = (*start).data.document_start;
    if (document.version_directive != nullptr ||
        document.tag_directives.start != document.tag_directives.end) {
      diagnostics_.error("directive", start.position(),
                         "directives (%YAML, %TAG) are not part of machine files; remove the line");
    }
    if (root) {
      diagnostics_.error("several_documents", start.position(),
                         "a file holds one machine; put the second one in a file of its own");
    }
    Event first;
    if (!next(first)) return false;
    Node node;
    if (!read_node(first, 1, node)) return false;
    if (!root) root = std::move(node);
    Event end;
    return next(end);
  }

  bool read_node(const Event& event, int depth, Node& node) {
    node.at = event.position();
    if (!check_count(node.at)) return false;
    switch (event.type()) {
      case YAML_ALIAS_EVENT:
        diagnostics_.error(
            "alias", node.at,
            "aliases (*name) are not part of machine files; write the value again, or share it with `policies`");
        return true;
      case YAML_SCALAR_EVENT:
        refuse_marks(event, (*event).data.scalar.anchor, (*event).data.scalar.tag);
        read_scalar(event, node);
        return true;
      case YAML_SEQUENCE_START_EVENT:
        refuse_marks(event, (*event).data.sequence_start.anchor, (*event).data.sequence_start.tag);
        node.flow = (*event).data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        return check_depth(node.at, depth) && read_list(depth, node);
      case YAML_MAPPING_START_EVENT:
        refuse_marks(event, (*event).data.mapping_start.anchor, (*event).data.mapping_start.tag);
        node.flow = (*event).data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        return check_depth(node.at, depth) && read_map(depth, node);
      default:
        return true;
    }
  }

  void refuse_marks(const Event& event, const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr) {
      diagnostics_.error("anchor", event.position(),
                         "anchors (&" + std::string(text_of(anchor)) +
                             ") are not part of machine files; remove it");
    }
    if (tag != nullptr) {
      diagnostics_.error(
          "tag", event.position(),
          "tags (" + printable(text_of(tag)) + ") are not part of machine files; remove it");
    }
  }

  // Beyond the limit the rest is not read: nothing in it could be trusted to be bounded.
  bool check_depth(Position at, int depth) {
    if (depth <= kFileDepthMax) return true;
    diagnostics_.error("too_deep", at,
                       "values are nested more than " + std::to_string(kFileDepthMax) +
                           " deep here; flatten them");
    return false;
  }

  // As beyond the depth.
  bool check_count(Position at) {
    if (++values_ <= kFileValuesMax) return true;
    diagnostics_.error("too_many_values", at,
                       "the file has more than " + std::to_string(kFileValuesMax) +
                           " keys and values; split it into several machines");
    return false;
  }

  void read_scalar(const Event& event, Node& node) {
    const auto& scalar = (*event).data.scalar;
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    node.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node.kind = Node::Kind::text;
    node.block = scalar.style == YAML_LITERAL_SCALAR_STYLE;
    node.text_column = node.block ? block_column(event) : text_column(event, node);
    if (node.quoted) return;
    if (node.text.empty() || node.text == "null") {
      node.kind = Node::Kind::null;
      node.empty = node.text.empty();
      node.text.clear();
    } else if (node.text == "true" || node.text == "false") {
      node.kind = Node::Kind::boolean;
    } else if (is_number(node.text)) {
      node.kind = Node::Kind::number;
    } else if (node.text == "~") {
      diagnostics_.error("tilde", node.at, "write null instead of ~");
      node.kind = Node::Kind::null;
    }
  }

  // The column that the lines of a literal block begin at.
  int block_column(const Event& event) {
    std::size_t begin = begin_of_line((*event).start_mark.line + 1);
    while (begin < text_.size()) {
      const std::size_t first = std::min(text_.find_first_not_of(' ', begin), text_.size());
      const bool blank = first == text_.size() || text_[first] == '\n' || text_[first] == '\r';
      if (!blank) return static_cast<int>(first - begin) + 1;
      begin = std::min(text_.find('\n', first), text_.size() - 1) + 1;
    }
    return 1;
  }

  // Events come in the order of the file, so this walks over it once.
  std::size_t begin_of_line(std::size_t line) {
    while (known_line_ < line && known_begin_ < text_.size()) {
      known_begin_ = std::min(text_.find('\n', known_begin_), text_.size() - 1) + 1;
      ++known_line_;
    }
    return known_begin_;
  }

  // Where the characters of the text begin, when they stand one by one on a single line.
  static int text_column(const Event& event, const Node& node) {
    const yaml_mark_t& begin = (*event).start_mark;
    const yaml_mark_t& end = (*event).end_mark;
    const std::size_t quotes = node.quoted ? 1 : 0;
    const auto characters = static_cast<std::size_t>(
        std::count_if(node.text.begin(), node.text.end(), begins_character));
    const bool one_by_one =
        begin.line == end.line && end.index - begin.index == characters + 2 * quotes;
    return one_by_one ? node.at.column + static_cast<int>(quotes) : 0;
  }

  bool read_list(int depth, Node& node) {
    node.kind = Node::Kind::list;
    while (true) {
      Event event;
      if (!next(event)) return false;
      if (event.type() == YAML_SEQUENCE_END_EVENT) return true;
      if (!read_node(event, depth + 1, node.items.emplace_back())) return false;
    }
  }

  bool read_map(int depth, Node& node) {
    node.kind = Node::Kind::map;
    std::unordered_map<std::string, int> lines;  // where each key stands
    while (true) {
      Event event;
      if (!next(event)) return false;
      if (event.type() == YAML_MAPPING_END_EVENT) return true;
      Node key;
      if (!read_node(event, depth + 1, key)) return false;
      Event value_event;
      if (!next(value_event)) return false;
      Node value;
      if (!read_node(value_event, depth + 1, value)) return false;
      if (!check_key(event, key)) continue;
      const auto [same, first] = lines.emplace(key.text, key.at.line);
      if (!first) {
        diagnostics_.error("duplicate_key", key.at,
                           "the key " + in_quotes(key.text) + " is already used at line " +
                               std::to_string(same->second) + "; keep one of them");
        continue;
      }
      node.members.push_back({std::move(key.text), key.at, std::move(value)});
    }
  }

  bool check_key(const Event& event, const Node& key) {
    if (event.type() == YAML_ALIAS_EVENT) return false;  // said already
    if (event.type() != YAML_SCALAR_EVENT) {
      const bool braces = key.kind == Node::Kind::map && key.flow;
      diagnostics_.error("key_not_a_word", key.at,
                         braces ? "a key is a word, not {…}; put a template in quotes: \"{data.x}\""
                                : "a key is a word, not a list or a map");
      return false;
    }
    if (key.text == "<<" && !key.quoted) {
      diagnostics_.error(
          "merge_key", key.at,
          "merge keys (<<) are not part of machine files; write the keys here, or share them with `policies`");
      return false;
    }
    if (key.empty) {
      diagnostics_.error("key_missing", key.at, "a key is missing before the colon");
      return false;
    }
    return true;
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  yaml_parser_t parser_{};
  std::size_t known_line_ = 0;  // from 0, as libyaml counts
  std::size_t known_begin_ = 0;
  int values_ = 0;
};

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

Json to_json(const Node& node) {
  Json json;
  json.at = node.where();
  json.text = node.text;
  switch (node.kind) {
    case Node::Kind::null:
      break;
    case Node::Kind::boolean:
      json.kind = Json::Kind::boolean;
      break;
    case Node::Kind::number:
      json.kind = Json::Kind::number;
      break;
    case Node::Kind::text:
      json.kind = Json::Kind::text;
      break;
    case Node::Kind::list:
      json.kind = Json::Kind::list;
      for (const Node& item : node.items) json.items.push_back(to_json(item));
      break;
    case Node::Kind::map:
      json.kind = Json::Kind::map;
      for (const Member& member : node.members)
        json.members.push_back({member.key, to_json(member.value), {member.key_at}});
      break;
  }
  return json;
}

std::optional<Node> read_tree(std::string_view text, Diagnostics& diagnostics) {
  if (text.size() > kFileBytesMax) {
    diagnostics.error("file_too_large", {1, 1},
                      "the file has " + std::to_string(text.size()) +
                          " bytes; a machine file has at most " + std::to_string(kFileBytesMax));
    return std::nullopt;
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::optional<std::string> joined = join_surrogates(text);
  return TreeReader(joined ? *joined : text, diagnostics).read();
}

}  // namespace pawl
