// Lane: a place in a partition for one batch on its way. It is a record of the pipe's machine, kept
// in memory and moved by decide, so that states, delays and error table are those of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/decide.h"
#include "pawl/time.h"
#include "pipe/pipe_machine.h"

namespace pawl {

class Lane {
 public:
  // In the initial state. `key` is shown, and spreads the jitter.
  Lane(std::shared_ptr<const PipeMachine> machine, std::string key, std::string data, Instant now);

  const Record& record() const { return record_; }
  std::string_view state() const { return record_.state; }
  bool is_in(std::string_view state) const { return record_.state == state; }
  bool is_running() const { return record_.running.has_value(); }

  // When it may go on by itself; none: somebody else has to do something.
  std::optional<Instant> next_at() const { return is_running() ? std::nullopt : record_.next_at(); }

  // What is due happens; says whether its task may be begun.
  bool is_ready(Instant now);

  // Begins the task of this state. False: it did not, and may be in another state.
  bool start(Instant now);
  // Ends the attempt that runs.
  void done(std::string result, Instant now);
  void fail(std::string_view code, std::string message, std::optional<Duration> retry_after,
            Instant now);

  void fire(std::string_view event, Instant now);
  // The delay is over, or the hold: a person or the world says so. Says why not, or nothing.
  std::string retry_now(std::string reason, const Actor& actor, Instant now);

 private:
  const Answer& give(decltype(Stimulus::what) what, const Actor& actor, Instant now);
  TokenHash token() const;

  std::shared_ptr<const PipeMachine> machine_;
  Record record_;
  Decision decision_;
  std::string key_;
  std::uint64_t starts_ = 0;
};

}  // namespace pawl
