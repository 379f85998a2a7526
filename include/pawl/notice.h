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
    later,  // an error that is no failure is answered with another try
    gave_up,
    hold,
    slow_commit,
    applied,  // a version of a machine
    paused,
    pause_ended,
    token_made,
    token_revoked,
    clock_moved,  // a virtual one
  };

  Kind kind = Kind::retry;
  Instant at = {};
  // Of a record:
  std::string machine = {};
  std::string key = {};
  std::string state = {};
  std::string code = {};                // of the error, or of the hold
  std::uint64_t fingerprint = 0;        // of the error
  int attempt = 0;                      // that failed, or of `later` the one that does not count
  std::optional<int> max = {};          // attempts, as things are; none: no bound
  std::optional<Instant> next_at = {};  // of another try
  // Of what somebody has done to more than a record:
  int version = 0;  // of the machine that was applied
  // What is paused, the name of the access token, or how late it is on the clock that was moved.
  std::string subject = {};
  std::string actor = {};
  // Of a commit:
  std::size_t units = 0;
  Duration took = {};
};

}  // namespace pawl
