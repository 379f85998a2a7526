#include "pipe/pipe_values.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace pawl {
namespace {

constexpr std::size_t kTopicBytesMax = 249;  // Kafka's own
constexpr std::size_t kPathBytesMax = 512;

struct Unit {
  std::string_view name;
  std::size_t bytes;
};

constexpr Unit kUnits[] = {{"KiB", 1U << 10U}, {"MiB", 1U << 20U}, {"GiB", 1U << 30U},
                           {"kB", 1'000},      {"MB", 1'000'000},  {"GB", 1'000'000'000},
                           {"B", 1},           {"KB", 1'000}};

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_control);
}

std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0) return std::nullopt;
  constexpr std::size_t kBeyond = std::numeric_limits<std::size_t>::max();
  const auto whole = parse_whole(text.substr(0, digits));
  const std::size_t number = whole ? static_cast<std::size_t>(*whole) : kBeyond;
  std::string_view unit = text.substr(digits);
  if (unit.empty()) return number;
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    return number <= kBeyond / known.bytes ? number * known.bytes : kBeyond;
  }
  return std::nullopt;
}

std::string size_as_written(std::size_t bytes) {
  for (const std::string_view name : {"GiB", "MiB", "KiB"})
    for (const Unit& unit : kUnits)
      if (unit.name == name && bytes >= unit.bytes && bytes % unit.bytes == 0)
        return std::to_string(bytes / unit.bytes) + std::string(name);
  return std::to_string(bytes);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit))
    return false;
  const std::int64_t port = *parse_whole(text);
  return port >= 1 && port <= 65'535;
}

// A name or an address: what can stand in one is for the resolver to say, but for what would make
// another URL of it.
bool is_host(std::string_view text) {
  const bool is_ipv6 = text.starts_with('[') && text.ends_with(']') && text.size() > 2;
  if (is_ipv6) {
    return std::all_of(text.begin() + 1, text.end() - 1, [](char c) {
      return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f') || c == ':' || c == '.';
    });
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

// HOST or HOST:PORT.
bool is_host_and_port(std::string_view text) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  if (!has_port) return is_host(text);
  return is_host(text.substr(0, colon)) && is_port(text.substr(colon + 1));
}

// What is wrong with it; empty when nothing is. Never repeats what may be a password.
std::string fault_of_url(std::string_view url) {
  if (url.find('@') != std::string_view::npos)
    return "a URL must not contain a user or password; use `user` and `password`";
  const std::string said = in_quotes(url);
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return said + " is not the URL of a search node: it must begin with http:// or https://";
  url.remove_prefix(url.find("//") + 2);
  const std::size_t path = url.find_first_of("/?#");
  if (path != std::string_view::npos) return said + " has a path; write http://HOST:PORT alone";
  if (!is_host_and_port(url))
    return said + " is not the URL of a search node; write http://HOST:PORT";
  return "";
}

}  // namespace

void read_plain_text(Reader& reader, const Node& node, std::string_view what, std::string& into) {
  if (node.kind != Node::Kind::text) {
    reader.wrong_kind(node, what);
  } else if (node.text.empty()) {
    reader.error("bad_text", node.at, "expected " + std::string(what) + ", found an empty text");
  } else if (has_control(node.text)) {
    reader.error("bad_text", node.at,
                 in_quotes(node.text) + " has control characters; write " + std::string(what) +
                     " without them");
  } else {
    into = node.text;
  }
}

void read_size(Reader& reader, const Node& node, Bounds<std::size_t> range, std::size_t& into) {
  if (node.kind != Node::Kind::number && node.kind != Node::Kind::text) {
    reader.wrong_kind(node, "a size (65536, 64KiB, 4MiB)");
    return;
  }
  const auto size = parse_size(node.text);
  if (!size) {
    reader.error(
        "bad_size", node.at,
        in_quotes(node.text) +
            " is not a size; write a whole number of bytes, or one with kB, MB, GB, KiB, MiB or "
            "GiB (4MiB)");
  } else if (*size < range.least || *size > range.most) {
    reader.error("bad_size", node.at,
                 "expected a size from " + size_as_written(range.least) + " to " +
                     size_as_written(range.most) + ", found " + in_quotes(node.text));
  } else {
    into = *size;
  }
}

void read_span(Reader& reader, const Node& node, Bounds<Duration> range, Duration& into) {
  constexpr Duration kUnread{-1};
  DurationValue read(kUnread);
  reader.duration(node, read);
  if (!read.is_fixed()) {
    reader.error(
        "bad_duration", node.at,
        "a duration in a pipe must be fixed (30s, 5m): a pipe has no record to take it from");
  } else if (read.fixed == kUnread) {
    return;
  } else if (read.fixed < range.least || read.fixed > range.most) {
    reader.error("bad_duration", node.at,
                 "expected a duration from " + to_text(range.least) + " to " + to_text(range.most) +
                     ", found " + in_quotes(node.text));
  } else {
    into = read.fixed;
  }
}

void read_topic(Reader& reader, const Node& node, std::string& into) {
  if (node.kind != Node::Kind::text) {
    reader.wrong_kind(node, node.kind == Node::Kind::number ? "the name of a topic (in quotes)"
                                                            : "the name of a topic");
    return;
  }
  const std::string& text = node.text;
  const bool fits = !text.empty() && text.size() <= kTopicBytesMax && text != "." && text != ".." &&
                    std::all_of(text.begin(), text.end(), [](char c) {
                      return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
                    });
  if (fits) {
    into = text;
    return;
  }
  reader.error("bad_topic", node.at,
               in_quotes(text) +
                   " is not a valid topic name: use at most 249 letters, digits, `.`, `_` and `-`; "
                   "patterns are not supported");
}

void read_brokers(Reader& reader, const Node& node, std::string& into) {
  std::string text;
  read_plain_text(reader, node, "brokers as a text (\"k1:9092,k2:9092\")", text);
  if (text.empty()) return;
  for (std::string_view broker : split(text, ',')) {
    while (broker.starts_with(' ')) broker.remove_prefix(1);
    while (broker.ends_with(' ')) broker.remove_suffix(1);
    if (is_host_and_port(broker)) continue;
    reader.error("bad_address", node.at,
                 in_quotes(broker) + " is not a broker; write HOST:PORT,HOST:PORT");
    return;
  }
  into = text;
}

void read_node_url(Reader& reader, const Node& node, std::string& into) {
  std::string text;
  read_plain_text(reader, node, "the URL of a search node", text);
  if (text.empty()) return;
  if (text.ends_with('/') && !text.ends_with("//")) text.pop_back();
  if (const std::string fault = fault_of_url(text); !fault.empty()) {
    reader.error("bad_address", node.at, fault);
  } else {
    into = text;
  }
}

void read_secret(Reader& reader, const Node& node, std::optional<Secret>& into) {
  if (node.kind != Node::Kind::text) {
    reader.wrong_kind(node, "env:NAME or file:PATH");
    return;
  }
  auto secret =
      has_control(node.text)
          ? Result<Secret>(Error{ErrorCode::bad_input,
                                 "env:NAME or file:PATH must not contain control characters"})
          : Secret::parse(node.text);
  if (secret) {
    into = *std::move(secret);
  } else {
    reader.error("bad_secret", node.at, secret.error().message);
  }
}

bool check_path(Reader& reader, std::string_view text, Position at) {
  const auto parts = split(text, '.');
  const bool is_whole =
      std::none_of(parts.begin(), parts.end(), [](std::string_view part) { return part.empty(); });
  if (is_whole && text.size() <= kPathBytesMax && !has_control(text)) return true;
  reader.error(
      "bad_field_name", at,
      in_quotes(text) +
          " is not the name of a field: join nested names by dots (geo.lat), at most 512 bytes");
  return false;
}

bool check_field(Reader& reader, std::string_view text, Position at) {
  if (!check_path(reader, text, at)) return false;
  if (text.find('.') == std::string_view::npos) return true;
  reader.error(
      "bad_field_name", at,
      in_quotes(text) + " is a nested field; only top-level fields can be renamed, dropped or set");
  return false;
}

bool check_field_count(Reader& reader, const Node& node) {
  if (node.items.size() <= kFieldsMax && node.members.size() <= kFieldsMax) return true;
  reader.error("too_many_fields", node.at,
               "more than " + std::to_string(kFieldsMax) + " fields are listed here");
  return false;
}

std::vector<Ref> read_field_list(Reader& reader, const Node& node,
                                 bool (*check)(Reader&, std::string_view, Position)) {
  std::vector<Ref> fields;
  if (!reader.is_list(node, "a list of fields in brackets") || !check_field_count(reader, node))
    return fields;
  std::unordered_set<std::string> known;
  for (const Node& item : node.items) {
    if (reader.diagnostics().is_full()) break;
    if (item.kind != Node::Kind::text) {
      reader.wrong_kind(item, "the name of a field");
    } else if (check(reader, item.text, item.at)) {
      if (!known.insert(item.text).second)
        reader.error("named_twice", item.at,
                     in_quotes(item.text) + " is already in this list; keep one of them");
      fields.emplace_back(item.text, item.where());
    }
  }
  return fields;
}

}  // namespace pawl
