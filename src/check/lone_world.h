// LoneWorld: a world with one record in it, around the real decide.
//
// Other records do not act: children stay where they begin, messages to others are not delivered.
// Those that the record sends to itself are.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/situation.h"
#include "decide/built_in.h"
#include "pawl/decide.h"
#include "pawl/machine.h"

namespace pawl {

class LoneWorld {
 public:
  // Children begin where `others` say. All machines are to outlive the world.
  explicit LoneWorld(const Machine& machine, std::vector<const Machine*> others = {});

  const Machine& machine() const { return machine_; }

  // Decides the stimulus, then the messages that follow from it at once.
  Answer apply(Situation& situation, decltype(Stimulus::what) what, const Actor& actor,
               Instant now);

  // When something happens by the clock; none when nothing ever will.
  static std::optional<Instant> next_act(const Situation& situation);

  // What happens first by the clock, at its own instant.
  void act(Situation& situation);

  // The same, but the clock is late: it is `now` already. Ticks that were missed are not made up.
  void act_late(Situation& situation, Instant now);

  // The entries written since they were last taken.
  const std::vector<Entry>& log() const { return log_; }
  std::vector<Entry> take_log() { return std::exchange(log_, {}); }

  // Forgets all but so many of them: what came after was only tried.
  void cut_log(std::size_t entries) { log_.resize(entries); }

 private:
  Answer decide(Situation& situation, decltype(Stimulus::what) what, const Actor& actor,
                Instant now);
  Decision decide_knowing(const Situation& situation, Stimulus& stimulus, Instant now) const;
  KnownRecord look_up(const Situation& situation, const KnownRecord& asked, Instant now) const;
  void keep_effects(Situation& situation, const std::vector<Effect>& effects, Instant now);
  void send_to_itself(Situation& situation, const Effect& effect, Instant now);

  const Machine& machine_;
  std::vector<const Machine*> others_;
  BuiltIns built_ins_;
  std::vector<Entry> log_;
};

}  // namespace pawl
