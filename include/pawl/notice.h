// Notice: something that whoever runs an engine may want to read of in a log. Holds neither data
// nor the words of an error, which may have data in them: `GET /v1/errors` has them by fingerprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pawl/time.h"

namespace pawl {

struct Notice {
  enum class Kind {
    retry,  // a failure is answered with another try
    gave_up,
    hold,
    slow_commit,
  };

  Kind kind = Kind::retry;
  Instant at = {};
  // Of a record:
  std::string machine = {};
  std::string key = {};
  std::string state = {};
  std::string code = {};                // of the error, or of the hold
  std::uint64_t fingerprint = 0;        // of the error
  int attempt = 0;                      // that failed
  std::optional<int> max = {};          // attempts, as things are; none: no bound
  std::optional<Instant> next_at = {};  // of a retry
  // Of a commit:
  std::size_t units = 0;
  Duration took = {};
};

}  // namespace pawl
