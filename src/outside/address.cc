#include "outside/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace pawl {
namespace {

constexpr int kV4Bits = 96;  // that stand before an address of IPv4

// `[first, first + length)` of bits is the same.
bool begins_alike(const Address& a, const Address& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(a.bytes.begin(), a.bytes.begin() + bits / 8, b.bytes.begin())) return false;
  if (bits % 8 == 0) return true;
  const unsigned mask = 0xFFU << static_cast<unsigned>(8 - bits % 8);
  return ((a.bytes[whole] ^ b.bytes[whole]) & mask) == 0;
}

const std::vector<Network>& not_public() {
  static const std::vector<Network> kNetworks = [] {
    std::vector<Network> networks;
    for (const char* text :
         {"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
          "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
          "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
          "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"})
      networks.push_back(*parse_network(text));
    return networks;
  }();
  return kNetworks;
}

}  // namespace

bool Address::is_v4() const {
  static const Address kMapped{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}};
  return begins_alike(*this, kMapped, kV4Bits);
}

Result<Address> parse_address(std::string_view given) {
  const std::string text(given);
  Address address;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    address.bytes[10] = address.bytes[11] = 0xFF;
    std::memcpy(&address.bytes[12], &v4, sizeof v4);
    return address;
  }
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  return Error{ErrorCode::bad_input,
               in_quotes(text) + " is not an address such as 10.0.0.1 or fd00::1"};
}

Address address_of(const sockaddr& from) {
  Address address;
  if (from.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &from, sizeof v4);
    address.bytes[10] = address.bytes[11] = 0xFF;
    std::memcpy(&address.bytes[12], &v4.sin_addr, sizeof v4.sin_addr);
  } else if (from.sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &from, sizeof v6);
    std::memcpy(address.bytes.data(), &v6.sin6_addr, address.bytes.size());
  }
  return address;
}

std::string to_text(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.is_v4()) {
    inet_ntop(AF_INET, &address.bytes[12], text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  }
  return text;
}

bool Network::has(const Address& one) const { return begins_alike(address, one, bits); }

Result<Network> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  PAWL_TRY(const Address address, parse_address(text.substr(0, slash)));
  const int most = address.is_v4() ? 32 : 128;
  Network network{address, 128};
  if (slash != std::string_view::npos) {
    const auto bits = parse_whole(text.substr(slash + 1));
    if (!bits || *bits < 0 || *bits > most)
      return Error{ErrorCode::bad_input,
                   in_quotes(text) + " is not a network such as 10.0.0.0/8 or fd00::/8"};
    network.bits = static_cast<int>(*bits) + 128 - most;
  }
  return network;
}

bool is_public(const Address& address) {
  static const Network kGlobal = *parse_network("2000::/3");  // all that is given out of IPv6
  if (!address.is_v4() && !kGlobal.has(address)) return false;
  return std::none_of(not_public().begin(), not_public().end(),
                      [&](const Network& network) { return network.has(address); });
}

}  // namespace pawl
