// Situation: where a record stands at an instant, with all that is under way.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pawl/record.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"

namespace pawl {

// An event that the record has sent to itself, and that comes later.
struct OwnMessage {
  Instant at = {};
  Stimulus::Sent sent;
};

// What a worker does about a task that is run aside.
struct AsideStep {
  Instant at = {};
  std::string code = {};  // it fails with this; empty: it starts
};

// A task that is run aside and can fail: then its `else` comes. Of several that are the same only
// the latest counts.
struct AsideJob {
  std::string task;
  Stimulus::Sent otherwise;
  std::vector<AsideStep> steps = {};  // to its failure, as soon as that can be

  Instant fails_at() const { return steps.back().at; }
  bool is(const AsideJob& other) const {
    return task == other.task && otherwise.event == other.otherwise.event;
  }
};

struct Situation {
  Record record = {};
  Instant now = {};
  Instant acted_at = {};  // when something last happened; the clock may be a little further
  std::vector<OwnMessage> messages = {};
  std::vector<Stimulus::Sent> inbox = {};  // from itself, for when it is no longer on hold
  std::vector<AsideJob> jobs = {};
  std::vector<std::string> made = {};  // `machine/key` of what effects have asked for
  std::set<std::string> keyed = {};    // ids of messages to itself that are sent only once
  bool waits_without_bound = false;    // for a delay that is given again and again, by the file
};

// When a record that failed comes back; none when it does not wait for that.
inline std::optional<Instant> comes_back_at(const Record& record) {
  for (const Timer& timer : record.timers)
    if (timer.kind == Timer::Kind::come_back) return timer.at;
  return std::nullopt;
}

// How a run of failures is over in a situation.
enum class Ending { none, final, hold, waits };

// Something that will happen by the clock whatever workers do, unless the record moves on first.
struct Clock {
  enum class Kind { come_back, after, every, message, plan, attempt, elapsed };

  Kind kind = Kind::after;
  std::string name = {};  // the state; of `message`: the event
  int index = 0;          // of `after` and `every`: in their state; of `elapsed`: which limit
  Instant at = {};

  // Whether they are the same one, whenever it is due.
  bool is(const Clock& other) const {
    return kind == other.kind && name == other.name && index == other.index;
  }
};

}  // namespace pawl
