// Addresses of the network, and which of them outgoing calls may reach.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

// One of IPv4 is kept as ::ffff:a.b.c.d.
struct Address {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;

  friend bool operator==(const Address&, const Address&) = default;
};
Result<Address> parse_address(std::string_view text);  // `10.0.0.1`, `fd00::1`
Address address_of(const sockaddr& from);
std::string to_text(const Address& address);

// `10.0.0.0/8`, `fd00::/8`; an address alone is a network of one.
struct Network {
  Address address;
  int bits = 128;

  bool has(const Address& one) const;
};
Result<Network> parse_network(std::string_view text);

// Whether it is one of the public Internet. Not: loopback, private, link-local, shared (CGNAT),
// unique local, documentation, multicast, and those in which another address is wrapped (NAT64,
// 6to4, Teredo).
bool is_public(const Address& address);

}  // namespace pawl
