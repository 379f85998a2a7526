#include "server/http_header.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace pawl {
namespace {

// Of fields that decide how a request is read, or who asks, there is one. By lower-case name.
constexpr std::string_view kOnce[] = {"authorization",    "content-length", "content-type",
                                      "expect",           "host",           "last-event-id",
                                      "transfer-encoding"};

struct HeaderFields {
  std::map<std::string, std::string, std::less<>> once;
  bool closes = false;

  bool has(std::string_view name) const { return once.contains(name); }
  std::string value(std::string_view name) const {
    const auto found = once.find(name);
    return found == once.end() ? std::string() : found->second;
  }
};

Error refused(std::string why) { return {ErrorCode::bad_input, std::move(why)}; }

// Of a field's name (RFC 9110, token).
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// METHOD SP target SP HTTP/1.x, each blank once.
Result<void> read_first_line(std::string_view line, HttpHeader& header, bool& is_old) {
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || line.find(' ', second + 1) != std::string_view::npos)
    return refused("the first line is not METHOD TARGET VERSION");
  const std::string_view version = line.substr(second + 1);
  is_old = version == "HTTP/1.0";
  if (!is_old && version != "HTTP/1.1") return refused("only HTTP/1.0 and HTTP/1.1 are supported");
  header.method = line.substr(0, first);
  header.target = line.substr(first + 1, second - first - 1);
  if (!is_token(header.method)) return refused("the method is not a valid token");
  if (!header.target.starts_with('/')) return refused("the target must begin with /");
  const auto is_visible = [](char c) { return c > ' ' && c < 0x7f; };
  if (!std::all_of(header.target.begin(), header.target.end(), is_visible))
    return refused("the target must be percent-encoded");
  return {};
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (to_lower(without_blanks(list.substr(0, end))) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

Result<void> read_field(std::string_view line, HeaderFields& fields) {
  if (line.front() == ' ' || line.front() == '\t')
    return refused("a header line is continued on the next line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return refused("a header line is not NAME: VALUE");
  const std::string name = to_lower(line.substr(0, colon));
  const std::string_view value = without_blanks(line.substr(colon + 1));
  if (name == "connection" && has_word(value, "close")) fields.closes = true;
  if (std::find(std::begin(kOnce), std::end(kOnce), name) == std::end(kOnce)) return {};
  if (!fields.once.emplace(name, value).second)
    return refused("a request can have only one " + name);
  return {};
}

// How long the body is, and how that is said.
Result<void> read_framing(const HeaderFields& fields, bool is_old, HttpHeader& header) {
  if (fields.has("transfer-encoding")) {
    if (is_old) return refused("HTTP/1.0 has no Transfer-Encoding");
    if (to_lower(fields.value("transfer-encoding")) != "chunked")
      return refused("the only supported Transfer-Encoding is chunked");
    if (fields.has("content-length"))
      return refused("a request cannot have both Content-Length and Transfer-Encoding");
    header.is_chunked = true;
  }
  if (!fields.has("content-length")) return {};
  const std::string length = fields.value("content-length");
  if (length.empty() || length.size() > 12 || !std::all_of(length.begin(), length.end(), is_digit))
    return refused("the Content-Length is not a number");
  header.length = std::stoull(length);
  return {};
}

}  // namespace

Result<HttpHeader> read_header(std::string_view bytes) {
  const bool has_control = std::any_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7f;
  });
  if (has_control) return refused("the header contains a control character");
  HttpHeader header;
  HeaderFields fields;
  bool is_old = false;
  bool is_first = true;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find("\r\n", begin);
    if (end == std::string_view::npos) return refused("the header is incomplete");
    const std::string_view line = bytes.substr(begin, end - begin);
    if (line.find_first_of("\r\n") != std::string_view::npos)
      return refused("a line does not end with CR LF");
    begin = end + 2;
    if (line.empty()) break;
    PAWL_CHECK(is_first ? read_first_line(line, header, is_old) : read_field(line, fields));
    is_first = false;
  }
  if (is_first) return refused("the request is empty");
  if (!fields.has("host")) return refused("a request must have one Host");
  PAWL_CHECK(read_framing(fields, is_old, header));
  if (fields.has("expect") && to_lower(fields.value("expect")) != "100-continue")
    return refused("the only supported Expect is 100-continue");
  header.expects_continue = fields.has("expect") && !is_old;
  header.keeps_alive = !is_old && !fields.closes;
  header.authorization = fields.value("authorization");
  header.content_type = fields.value("content-type");
  header.last_event_id = fields.value("last-event-id");
  return header;
}

}  // namespace pawl
