#include "outside/door.h"

#include <curl/curl.h>
#include <netdb.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "outside/transfer.h"

namespace pawl {
namespace {

struct UrlFree {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlFree>;

std::string part_of(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, void (*)(void*)> kept(text, curl_free);
  return text;
}

bool is_token(std::string_view name) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || kOthers.find(c) != std::string_view::npos;
  });
}

// A line break would begin a header of its own.
bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  });
}

Result<void> check_header(const std::string& name, const std::string& value) {
  if (!is_token(name))
    return Error{ErrorCode::bad_input, in_quotes(name) + " is not a valid header name"};
  if (!is_header_value(value))
    return Error{ErrorCode::bad_input,
                 "the header " + in_ticks(name) + " contains a character that is not allowed"};
  for (const char* own : {"host", "content-length", "transfer-encoding", "connection", "expect"})
    if (to_lower(name) == own)
      return Error{ErrorCode::bad_input, "the header " + in_ticks(name) + " is set by Pawl itself"};
  return {};
}

// `http https` -> `http:// or https://`.
std::string beginnings(std::string_view schemes) {
  std::vector<std::string> words;
  for (std::string_view rest = schemes; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(std::string(rest.substr(0, end)) + "://");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return join(words, ", ", " or ");
}

Result<std::vector<Address>> look_up(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed = getaddrinfo(host.c_str(), nullptr, &wanted, &found); failed != 0)
    return Error{ErrorCode::environment,
                 "cannot resolve the host " + in_ticks(host) + ": " + gai_strerror(failed)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> kept(found, freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next)
    addresses.push_back(address_of(*one->ai_addr));
  return addresses;
}

}  // namespace

bool Door::is_listed(const std::string& host, const std::string& port) const {
  return std::any_of(options_.hosts.begin(), options_.hosts.end(), [&](std::string listed) {
    if (const std::size_t colon = listed.rfind(':');
        colon != std::string::npos && listed.find(':') == colon) {
      if (listed.substr(colon + 1) != port) return false;
      listed.resize(colon);
    }
    listed = to_lower(listed);
    if (!listed.starts_with("*.")) return host == listed;
    return host.size() > listed.size() - 1 && host.ends_with(listed.substr(1));
  });
}

// A URL may be a secret, and what is wrong with it stands in records and logs: none is repeated.
Result<Destination> Door::destination(const std::string& url, std::string_view schemes) const {
  const Url parsed(curl_url());
  const CURLUcode read =
      curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
  if (read != CURLUE_OK || url.find('\0') != std::string::npos)
    return Error{ErrorCode::bad_input,
                 "this is not a URL: it must begin with " + beginnings(schemes)};
  Destination to{.scheme = part_of(parsed, CURLUPART_SCHEME),
                 .host = to_lower(part_of(parsed, CURLUPART_HOST)),
                 .port = part_of(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  if ((" " + std::string(schemes) + " ").find(" " + to.scheme + " ") == std::string::npos)
    return Error{ErrorCode::bad_input, "the URL must begin with " + beginnings(schemes)};
  if (!part_of(parsed, CURLUPART_USER).empty() || !part_of(parsed, CURLUPART_PASSWORD).empty())
    return Error{ErrorCode::bad_input,
                 "a URL must not contain a user name or password: use a header or a secret"};
  if (!is_listed(to.host, to.port))
    return Error{ErrorCode::environment, "the host " + in_ticks(to.host) + ", port " + to.port +
                                             ", is not in `outside.hosts` of this server"};
  std::string name = to.host;
  if (name.starts_with('[')) name = name.substr(1, name.size() - 2);
  PAWL_TRY(to.addresses, look_up(name));
  for (const Address& address : to.addresses) {
    const bool is_allowed =
        is_public(address) ||
        std::any_of(options_.networks.begin(), options_.networks.end(),
                    [&](const Network& network) { return network.has(address); });
    if (!is_allowed)
      return Error{ErrorCode::environment,
                   "the host " + in_ticks(to.host) + " is at " + to_text(address) +
                       ", which is not public and not in `outside.networks` of this server"};
  }
  return to;
}

Door Door::also_to(const std::string& url) const {
  Door door = *this;
  const Url parsed(curl_url());
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK)
    door.options_.hosts.push_back(part_of(parsed, CURLUPART_HOST));
  return door;
}

Result<OutgoingReply> Door::call(const OutgoingCall& call) const {
  PAWL_TRY(const Destination to, destination(call.url, "http https"));
  Transfer transfer(to, {options_.certificates, call.at_most, call.may_go_on, kBodyMax});
  CURL* const curl = transfer.handle();
  curl_easy_setopt(curl, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  if (!call.body.empty() || call.method == "POST" || call.method == "PUT") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.c_str());
  }
  Lines headers;
  headers.add("Expect:");
  if (!call.body.empty()) headers.add("Content-Type: application/json");
  for (const auto& [name, value] : call.headers) {
    PAWL_CHECK(check_header(name, value));
    // `Name;` is how a header without a value is asked for.
    headers.replace(name, value.empty() ? name + ";" : name + ": " + value);
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list());
  PAWL_CHECK(transfer.run());
  OutgoingReply reply{.body = transfer.take_body(), .is_cut = transfer.is_cut()};
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  reply.status = static_cast<int>(status);
  curl_off_t after = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after);
  if (after > 0) reply.retry_after = std::chrono::seconds{std::min<curl_off_t>(after, 86'400 * 30)};
  return reply;
}

}  // namespace pawl
