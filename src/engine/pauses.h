// Pauses: what an operator has stopped from being started. Attempts that run go on.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pawl/pause.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

// Where records of a machine or with a label wait while it is paused.
std::string pause_queue(const PauseTarget& target);
bool is_pause_queue(const std::string& queue);

class Pauses {
 public:
  // The store outlives it.
  static Result<Pauses> open(Store& store);

  static constexpr std::size_t kEndedMax = 1'000;  // that are kept

  // Who lets it go on, and when.
  struct End {
    Instant at = {};
    std::string by = {};
  };

  // Durable when it returns. A pause that is there already gets the new reason. False: there was
  // none to end.
  Result<void> pause(Pause pause);
  Result<bool> unpause(const PauseTarget& target, const End& end);

  std::vector<Pause> all() const;
  // Of each target the last one, the latest end first.
  std::vector<Pause> ended() const;

  // What keeps work of that queue, or this record, from being started; null: nothing.
  const Pause* of_queue(const std::string& queue) const;
  const Pause* of_record(const Record& record) const;

  // Whether records may still wait in that queue.
  bool is_in_force(const std::string& pause_queue) const { return by_queue_.contains(pause_queue); }

 private:
  struct Stored {
    Pause pause;
    std::int64_t revision = 0;
  };

  explicit Pauses(Store& store) : store_(&store) {}

  const Pause* find(const PauseTarget& target) const;
  Result<void> forget_oldest();

  Store* store_;
  std::map<std::string, Stored> by_queue_;  // by the name of its queue
  std::map<std::string, Stored> ended_;     // in the same way
};

}  // namespace pawl
