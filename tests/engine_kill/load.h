// Load: callers and workers who drive the process that is killed, each with a connection, a thread
// and a diary of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "findings.h"
#include "pawl/time.h"
#include "wire.h"

namespace pawl::kill {

inline constexpr int kCallers = 8;
inline constexpr int kWorkers = 4;

// Where the process can be reached that serves now.
class Server {
 public:
  struct Place {
    int life = 0;  // how many there were, with this one
    Connect connect = {};
  };

  void is_at(Connect connect);
  // One that is later than that life; waits for it, to ask that.
  Place after(int life, const Words& words);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Place place_;
};

// Asks the process, whichever it is. For one thread.
class Client {
 public:
  explicit Client(Server& server) : server_(server) {}

  // Nothing when it was killed before it had answered.
  std::optional<Words> ask(const Words& words);

  int life() const { return place_.life; }

 private:
  Server& server_;
  Server::Place place_;
  std::unique_ptr<Connection> connection_;
};

// Attempts that run for certain, of all workers: under no limit more than there may be.
class Held {
 public:
  struct Limit {
    std::string slot;
    int max = 1;
  };

  explicit Held(Findings& findings) : findings_(findings) {}

  void begins(const Limit& limit, const std::string& token, Instant until);
  void may_be_over(const std::string& token);

 private:
  struct Attempt {
    std::string slot;
    Instant until;
  };

  Findings& findings_;
  std::mutex mutex_;
  std::map<std::string, Attempt> attempts_;  // by token
};

class Load {
 public:
  struct Tally {
    std::atomic<std::int64_t> unknown = 0;   // requests whose answer was lost
    std::atomic<std::int64_t> resolved = 0;  // of these: asked again until there was one
    std::atomic<std::int64_t> kept = 0;      // attempts settled in another life than they began in
    std::atomic<std::int64_t> repeated = 0;  // requests asked again although they were answered
    std::atomic<std::int64_t> claims_lost = 0;
  };

  // Diaries are kept in that directory.
  Load(Server& server, const std::filesystem::path& directory, std::uint64_t seed, Tally& tally,
       Findings& findings);

  // Lets callers end what they have begun, and waits for them; workers do all that there is.
  void end_callers();
  void end_workers();

  std::vector<std::filesystem::path> diaries() const { return diaries_; }

 private:
  friend class Caller;
  friend class Worker;

  std::optional<std::string> some_order(std::uint64_t random);

  Server& server_;
  Tally& tally_;
  Findings& findings_;
  Held held_{findings_};
  std::atomic<bool> callers_end_ = false;
  std::atomic<bool> workers_end_ = false;
  std::mutex mutex_;
  std::vector<std::string> orders_;  // that there are, by key
  std::vector<std::filesystem::path> diaries_;
  std::vector<std::thread> callers_;
  std::vector<std::thread> workers_;
};

}  // namespace pawl::kill
