// A view of something that moves, shown again and again: drawn on a screen, one below the other in
// a file, or a JSON map a line.
#pragma once

#include <functional>
#include <string>

#include "api/api.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "pawl/time.h"

namespace pawl::cli {

struct LiveOptions {
  const ClientOptions& client;
  Duration every = {};
  bool is_once = false;
  bool shows_at_once = false;  // else the first view, too, is of a time that has passed
};

// Waits, looks, shows what `look` has written, until nobody reads it any more. The reply is the
// last one that was needed: where it is an error that may pass, it is said, and looked again.
ExitCode watch_live(const LiveOptions& options, const Surroundings& surroundings,
                    const std::function<ApiReply(std::string& shown)>& look);

}  // namespace pawl::cli
