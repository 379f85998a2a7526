// Channels: whom deliveries go to, in this process.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/functions.h"
#include "pawl/record.h"

namespace pawl {

// What a channel is given. The id is the same every time it is tried.
struct Delivered {
  std::string id;
  std::string channel;
  std::string payload = {};  // JSON
  int attempt = 1;
};

// Says why it failed, or nothing. May run on several threads at once; an exception is a failure.
using Channel = std::function<std::optional<Failure>(const Delivered&)>;
using Channels = std::map<std::string, Channel>;

// One line of JSON for each delivery. `write` may be called from several threads at once.
Channel log_channel(std::function<void(const std::string& line)> write);

// The functions that carry them out.
Functions functions_of(const Channels& channels);

}  // namespace pawl
