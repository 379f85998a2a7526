// ListenAddress: where `pawl serve` waits for its callers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::cli {

struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 7295;  // 0: one that is free

  // Whether nobody but this machine reaches it.
  bool is_loopback() const;
  // As it stands in a URL.
  std::string host() const;
};

// `127.0.0.1:7295`, `[::1]:7295`, or `localhost:7295`, which is the first of these. Names are not
// looked up. An error says what to write instead.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace pawl::cli
