// Effect: what a decision asks of the world, durable in the same commit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/record.h"
#include "pawl/time.h"

namespace pawl {

struct Effect {
  enum class Verb { notify, run, send, create };

  Verb verb = Verb::notify;
  std::string id = {};       // of the delivery: the same every time it is tried
  std::int64_t seq = 0;      // of the entry that asked
  std::string target = {};   // channel, task, event or machine
  std::string payload = {};  // JSON
  std::optional<Duration> in = {};

  std::string then = {};         // of `run`: the event sent back with the result
  std::string otherwise = {};    // of `run`: the event sent back with the error
  std::string outside_key = {};  // of `run`: the task's own key, or empty

  // Of `send` and `create`: whom. Of `children`: all children of that machine.
  enum class To { record, children };
  To to = To::record;
  std::string machine = {};
  std::string key = {};
  bool must = false;                   // of `send`: again until it is accepted
  std::optional<int> epoch_only = {};  // of a delayed `send` to self: dropped in another epoch
  bool found = false;                  // it was made before and is not made again

  friend bool operator==(const Effect&, const Effect&) = default;
};

}  // namespace pawl
