#include "server/http_header.h"

#include <algorithm>

#include "base/text.h"

namespace pawl {
namespace {

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
std::optional<std::string> refused_first_line(std::string_view line, bool& is_old) {
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || line.find(' ', second + 1) != std::string_view::npos)
    return "the first line is not METHOD TARGET VERSION";
  const std::string_view version = line.substr(second + 1);
  is_old = version == "HTTP/1.0";
  if (!is_old && version != "HTTP/1.1") return "only HTTP/1.0 and HTTP/1.1 are spoken here";
  if (!is_token(line.substr(0, first))) return "the method is no word";
  const std::string_view target = line.substr(first + 1, second - first - 1);
  if (!target.starts_with('/')) return "the target has to begin with /";
  return std::nullopt;
}

struct Fields {
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;
  std::string length = {};
  std::string encoding = {};
};

std::optional<std::string> refused_field(std::string_view line, Fields& fields) {
  if (line.front() == ' ' || line.front() == '\t') return "a header line goes on in the next";
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return "a header line is not NAME: VALUE";
  const std::string name = to_lower(line.substr(0, colon));
  const std::string_view value = without_blanks(line.substr(colon + 1));
  if (name == "host") ++fields.hosts;
  if (name == "content-length") {
    ++fields.lengths;
    fields.length = value;
  }
  if (name == "transfer-encoding") {
    ++fields.encodings;
    fields.encoding = to_lower(value);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refused_header(std::string_view header) {
  const bool has_control = std::any_of(header.begin(), header.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7f;
  });
  if (has_control) return "the header has a control character";
  Fields fields;
  bool is_old = false;
  bool is_first = true;
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t end = header.find("\r\n", begin);
    if (end == std::string_view::npos) return "the header does not end";
    const std::string_view line = header.substr(begin, end - begin);
    if (line.find_first_of("\r\n") != std::string_view::npos)
      return "a line ends without a carriage return, or with one alone";
    begin = end + 2;
    if (line.empty()) break;
    auto refused = is_first ? refused_first_line(line, is_old) : refused_field(line, fields);
    if (refused) return refused;
    is_first = false;
  }
  if (is_first) return "the request is empty";
  if (fields.hosts != 1) return "a request has one Host";
  if (fields.encodings > 0) {
    if (is_old) return "HTTP/1.0 has no Transfer-Encoding";
    if (fields.encodings > 1 || fields.encoding != "chunked")
      return "the only Transfer-Encoding is chunked";
    if (fields.lengths > 0) return "there is a Content-Length beside a Transfer-Encoding";
  }
  if (fields.lengths > 1) return "there are two Content-Lengths";
  const bool is_number = !fields.length.empty() && fields.length.size() <= 12 &&
                         std::all_of(fields.length.begin(), fields.length.end(), is_digit);
  if (fields.lengths == 1 && !is_number) return "the Content-Length is no number";
  return std::nullopt;
}

}  // namespace pawl
