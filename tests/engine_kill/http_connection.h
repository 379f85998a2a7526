// The same questions over HTTP, to the program that is shipped.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/time.h"
#include "wire.h"

namespace pawl::kill {

struct HttpPlace {
  std::uint16_t port = 0;
  std::string token = {};  // of an admin
  Instant since = {};      // when the process was begun
};

// Null when it cannot be reached.
std::unique_ptr<Connection> connect_to(const HttpPlace& place);

}  // namespace pawl::kill
