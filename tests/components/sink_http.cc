#include "sink_http.h"

#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace pawl::sink {
namespace {

constexpr std::size_t kHeadBytesMax = 64 << 10;
constexpr std::size_t kBodyBytesMax = 1 << 30;
constexpr std::size_t kReadBytes = 1 << 18;

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 2, code, 16).ptr == &text[i + 1] + 2) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// Cuts what comes before `mark` off the rest; all of it when the mark is missing.
std::string_view cut(std::string_view& rest, std::string_view mark) {
  const auto end = rest.find(mark);
  const auto part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + mark.size());
  return part;
}

Request parse_head(std::string_view head) {
  Request request;
  auto line = cut(head, "\r\n");
  request.method = cut(line, " ");
  auto query = cut(line, " ");
  request.path = percent_decoded(cut(query, "?"));
  while (!query.empty()) {
    auto value = cut(query, "&");
    const auto name = cut(value, "=");
    request.query[percent_decoded(name)] = percent_decoded(value);
  }
  while (!head.empty()) {
    auto value = cut(head, "\r\n");
    const auto name = cut(value, ":");
    request.headers[lower(name)] = trimmed(value);
  }
  return request;
}

std::optional<std::string> inflated(const std::string& body) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return std::nullopt;  // with the head of gzip
  std::string out;
  std::vector<unsigned char> in(body.begin(), body.end());
  std::array<unsigned char, 1 << 16> some{};
  stream.next_in = in.data();
  stream.avail_in = static_cast<unsigned>(in.size());
  int state = Z_OK;
  while (state == Z_OK && out.size() < kBodyBytesMax) {
    stream.next_out = some.data();
    stream.avail_out = some.size();
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(reinterpret_cast<const char*>(some.data()), some.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return std::nullopt;
  return out;
}

std::string_view reason_of(int status) {
  if (status < 300) return "OK";
  if (status == 413) return "Request Entity Too Large";
  if (status == 429) return "Too Many Requests";
  return status < 500 ? "Refused" : "Unavailable";
}

}  // namespace

std::string Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string Request::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

std::string head_of(const Answer& answer, std::optional<std::size_t> length) {
  auto head =
      "HTTP/1.1 " + std::to_string(answer.status) + " " + std::string(reason_of(answer.status));
  if (length != std::size_t{0}) head += "\r\ncontent-type: application/json; charset=UTF-8";
  for (const auto& [name, value] : answer.headers)
    head.append("\r\n").append(name).append(": ").append(value);
  head += length ? "\r\ncontent-length: " + std::to_string(*length)
                 : std::string("\r\ntransfer-encoding: chunked");
  return head + "\r\n\r\n";
}

Connection::~Connection() { close(socket_); }

bool Connection::receive() {
  const auto before = received_.size();
  received_.resize(before + kReadBytes);
  const auto count = recv(socket_, received_.data() + before, kReadBytes, 0);
  received_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return count > 0;
}

std::optional<std::string> Connection::read_head() {
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos)
    if (received_.size() > kHeadBytesMax || !receive()) return std::nullopt;
  auto head = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  return head;
}

std::optional<Request> Connection::read() {
  const auto head = read_head();
  if (!head) return std::nullopt;
  auto request = parse_head(*head);
  const auto length_text = request.header("content-length");
  std::size_t length = 0;
  std::from_chars(length_text.data(), length_text.data() + length_text.size(), length);
  if (length > kBodyBytesMax || !request.header("transfer-encoding").empty()) {
    send(head_of({411, ""}, 0));
    return std::nullopt;
  }
  if (lower(request.header("expect")) == "100-continue" && received_.size() < length)
    send("HTTP/1.1 100 Continue\r\n\r\n");
  received_.reserve(length + kReadBytes);
  while (received_.size() < length)
    if (!receive()) return std::nullopt;
  request.body = received_.substr(0, length);
  received_.erase(0, length);
  if (request.header("content-encoding") == "gzip") {
    auto body = inflated(request.body);
    if (!body) return std::nullopt;
    request.body = *std::move(body);
  }
  return request;
}

bool Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace pawl::sink
