// ErrorsTopic: the way of records of errors into their topic.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/result.h"
#include "pipe/error_record.h"
#include "pipe/pipe_config.h"

namespace pawl {

// One idempotent producer (`acks=all`) for one pipe. A ticket is settled once: when every replica
// that is in sync has the record, or when it failed; then it is the caller's to send it again. It
// may have been written all the same; repeats have the same key.
//
// A record that is too large for the topic is written without its payload, and where that is not
// enough without key and headers, under the same ticket.
class ErrorsTopic {
 public:
  struct Limits {
    std::chrono::milliseconds timeout = std::chrono::seconds{30};    // of one record
    std::chrono::milliseconds topic_wait = std::chrono::seconds{5};  // for a topic to be there
    std::size_t records_max = 100'000;                               // on their way
  };
  struct Failed {
    std::string_view code;  // of pipe_code
    std::string message;
  };
  using Settled = std::function<void(std::uint64_t ticket, const std::optional<Failed>& failed)>;

  // Fails when the options are wrong or a secret cannot be read; brokers may be away.
  static Result<std::unique_ptr<ErrorsTopic>> open(const PipeConfig& config, const Limits& limits);
  static Result<std::unique_ptr<ErrorsTopic>> open(const PipeConfig& config) {
    return open(config, Limits{});
  }
  // What is on its way is forgotten; never waits for brokers.
  ~ErrorsTopic();

  // From any thread; never blocks.
  void send(std::uint64_t ticket, const ErrorRecord& record);

  // Calls `settled`, which may send again, for each ticket that is; waits at most so long for the
  // first. For one thread.
  void poll(std::chrono::milliseconds at_most, const Settled& settled);

  // Tickets that are not settled yet.
  std::size_t outstanding() const;

 private:
  class Inside;
  explicit ErrorsTopic(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace pawl
