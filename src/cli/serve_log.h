// ServeLog: what `pawl serve` says of its work, line by line on standard error, for people or as
// JSON. Whoever has something to say never waits for the terminal: a thread writes, and what there
// is no room for is counted and left out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pawl/notice.h"
#include "pawl/time.h"

namespace pawl::cli {

// When something happens that is logged.
inline Instant clock_now() {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

class ServeLog {
 public:
  enum class Format { human, json };
  enum class Level { info, warn, error };

  struct Field {
    std::string_view name;  // a word of ours
    std::string value;
    bool is_number = false;
  };

  static constexpr std::size_t kWaitingMax = 10'000;  // lines

  // Both outlive it; whoever else writes there has the mutex.
  ServeLog(std::ostream& out, std::mutex& output, Format format, Level level);
  // Writes what waits.
  ~ServeLog();
  ServeLog(const ServeLog&) = delete;
  ServeLog& operator=(const ServeLog&) = delete;

  // From any thread. `what` is a word of ours.
  void write(Level level, Instant at, std::string_view what, const std::vector<Field>& fields);
  void write(const Notice& notice);

 private:
  std::string line(Level level, Instant at, std::string_view what,
                   const std::vector<Field>& fields) const;
  void write_deed(const Notice& notice);
  void run();

  std::ostream& out_;
  std::mutex& output_;
  Format format_;
  Level level_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  std::uint64_t left_out_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace pawl::cli
