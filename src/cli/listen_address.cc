#include "cli/listen_address.h"

#include "base/text.h"
#include "outside/address.h"

namespace pawl::cli {
namespace {

constexpr std::string_view kUsualPort = "7295";

Error write_instead(std::string_view text, const std::string& why, const std::string& instead) {
  return {ErrorCode::bad_input, in_quotes(text) + " " + why + ": write " + instead};
}

// What is not ADDRESS:PORT, and what was probably meant by it.
Error no_port(std::string_view text) {
  const std::string usual = ":" + std::string(kUsualPort);
  if (parse_whole(text))
    return write_instead(text, "has no address", "127.0.0.1:" + std::string(text));
  if (text.find(':') != std::string_view::npos && parse_address(text))
    return write_instead(text, "has no port", "[" + std::string(text) + "]" + usual);
  if (text == "localhost" || parse_address(text) || text.starts_with('['))
    return write_instead(text, "has no port", std::string(text) + usual);
  return write_instead(text, "is not ADDRESS:PORT", "127.0.0.1" + usual);
}

}  // namespace

bool ListenAddress::is_loopback() const { return address.starts_with("127.") || address == "::1"; }

std::string ListenAddress::host() const {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.ends_with(']') || parse_address(text))
    return no_port(text);
  std::string_view address = text.substr(0, colon);
  const std::string port_text(text.substr(colon + 1));
  const auto port = parse_whole(port_text);
  if (!port || *port < 0 || *port > 65'535)
    return write_instead(text, "has no port from 0 to 65535 after its last colon",
                         "127.0.0.1:7295");
  if (address.empty()) return write_instead(text, "has no address", "127.0.0.1:" + port_text);
  const bool has_brackets = address.starts_with('[') && address.ends_with(']');
  if (has_brackets) address = address.substr(1, address.size() - 2);
  ListenAddress listen{.address = std::string(address), .port = static_cast<std::uint16_t>(*port)};
  if (address == "localhost" && !has_brackets) {
    listen.address = "127.0.0.1";
  } else if (!parse_address(address.substr(0, address.find('%')))) {  // %: of which interface
    return write_instead(text, "is not an IP address, and host names are not resolved",
                         "127.0.0.1:" + port_text +
                             " for this computer only, 0.0.0.0:" + port_text + " for all networks");
  } else if (address.find(':') != std::string_view::npos && !has_brackets) {
    return write_instead(text, "needs brackets", "[" + listen.address + "]:" + port_text);
  }
  return listen;
}

}  // namespace pawl::cli
