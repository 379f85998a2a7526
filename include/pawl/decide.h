// decide: what follows from a stimulus, computed from nothing but the arguments.
//
// The same function runs in production, in simulation, in every dry run and in the proofs. It reads
// no clock, draws no random number, touches no store, logs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/effect.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"

namespace pawl {

// An error that was answered with `later`: it is kept nowhere.
struct AskedLater {
  std::string code;
  std::uint64_t fingerprint = 0;
  int attempt = 0;  // that does not count
  Instant next_at = {};
};

// What is to be committed, all of it or none of it, and what the caller is then told.
struct Decision {
  Answer answer;
  bool changed = false;  // false: the record is as it was, and there is nothing to commit
  Record record;         // as it becomes
  std::vector<Entry> entries;
  std::vector<Effect> effects;                      // in the order they were asked for
  std::optional<Stimulus::ChildChanged> to_parent;  // a message for the inbox of the parent
  std::optional<Remembered> remember;               // the answer, for the idempotency key
  std::optional<AskedLater> later;
  std::vector<std::string> reports;  // guards that had no value, effects that reach nobody: why
};

// The machine is that of the record's version; of a create the newest. A record whose id is 0 does
// not exist.
//
// Never fails: a refusal, a stale token, a repeated call and bad input are answers, and change
// nothing. When answer.need is not empty nothing was decided: ask again with
// stimulus.known filled in.
Decision decide(const Machine& machine, const Record& record, const Stimulus& stimulus,
                Instant now);

// The same, into a decision that is used again and again: what it has allocated is reused. The
// record must not be that of the decision.
void decide(const Machine& machine, const Record& record, const Stimulus& stimulus, Instant now,
            Decision& into);

// Fills in what a new record of the machine would be with `known.data`.
void foresee(const Machine& machine, Instant now, KnownRecord& known);

// What is wrong with a create or a fire whatever becomes of the record until it is carried out: its
// data or payload does not fit, the machine has no such event, the actor lacks the role. `ok` where
// only time can tell. The machine is the one that the record would move by; without a record, the
// newest.
Answer check_ahead(const Machine& machine, const Record& record, const Stimulus& stimulus,
                   Instant now);

// A hash of what is asked, without who asks and when: what Remembered::content is compared with.
std::uint64_t content_of(const Stimulus& stimulus);

// The events that this actor may fire now with an empty payload, sorted.
std::vector<std::string> permitted_events(const Machine& machine, const Record& record,
                                          const Actor& actor, Instant now);

}  // namespace pawl
