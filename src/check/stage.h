// Stage: what may go wrong next with a record, and what then follows.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/distinctions.h"
#include "check/lone_world.h"
#include "check/situation.h"
#include "pawl/machine.h"
#include "pawl/result.h"

namespace pawl {

// The instant at which all walks begin.
inline constexpr Instant kStageBegin =
    std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + std::chrono::hours{8};

// One way in which things go on. None of them is a success, and none needs a person.
struct Mishap {
  enum class Kind {
    start,        // a worker takes the task as soon as it may
    fail,         // and fails
    time_passes,  // no worker comes, or the one that works says nothing more
    tick,         // the same, but only until the clock acts once
    event_fails,  // an event that anybody may fire reports a failure
    aside_fails,  // a task that was run aside has failed, and its `else` comes
  };

  Kind kind = Kind::start;
  std::string name = {};  // of the event, or of the task run aside
  std::string code = {};  // of the error

  friend auto operator<=>(const Mishap&, const Mishap&) = default;
};

// What a mishap has led to.
struct Happened {
  Situation after;
  std::vector<Entry> entries = {};
};

// A record that has been brought to a state.
struct Begun {
  Situation situation;
  bool moved = false;  // by an operator: it does not begin there by itself
};

class Stage {
 public:
  // Children begin where `others` say. All are to outlive the stage.
  Stage(const Machine& machine, const Distinctions& distinctions,
        std::vector<const Machine*> others = {});

  const Machine& machine() const { return world_.machine(); }

  // A new record with that data, moved to the state by an operator unless it begins there. Fails
  // with the reason when it cannot be brought there.
  Result<Begun> begin(StateId state, const std::string& data);

  // Everything that may happen next, of what makes a difference.
  std::vector<Mishap> mishaps_in(const Situation& situation);

  // None when it cannot happen, or changes nothing.
  std::optional<Happened> play(const Situation& before, const Mishap& mishap);

  // When the next attempt can begin, or the one that runs can have failed; none when nothing is
  // tried again.
  std::optional<Instant> goes_on_at(const Situation& situation) const;

  // How failures are over here; none while something can still happen by itself.
  Ending ending_of(const Situation& situation) const;

 private:
  std::optional<Instant> next_instant(const Situation& situation) const;
  bool is_due(const Situation& situation) const;
  Instant soon(const Situation& situation) const;
  bool pass_until(Situation& situation, Instant until);
  void tick(Situation& situation);
  void pass_quiet_ticks(Situation& situation);
  std::optional<Instant> next_untouched(const Situation& before, const Situation& situation) const;
  bool differs(const Situation& situation, const std::string& key, Instant now) const;

  bool start(Situation& situation);
  bool fail(Situation& situation, const std::string& code);
  bool let_time_pass(Situation& situation);
  bool fire(Situation& situation, const Mishap& mishap);
  bool fail_aside(Situation& situation, const std::string& task);

  const std::vector<std::string>& codes_in(const Record& record);
  void add_failing_events(const Record& record, std::vector<Mishap>& mishaps);
  const Row* failing_row(StateId state, EventId event) const;
  StateId state_of(const Record& record) const { return *machine().find_state(record.state); }

  LoneWorld world_;
  const Distinctions& distinctions_;
  std::map<StateId, std::vector<std::string>> codes_;
};

}  // namespace pawl
