// Properties: what is true of every decision, said without asking the code that decides.
//
// One file per theme; each function throws PropertyBroken with a sentence.
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "pawl/decide.h"
#include "surroundings.h"

namespace pawl {

class PropertyBroken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void expect(bool holds, const char* sentence);
void expect_equal(const std::string& found, const std::string& expected, const char* sentence);

// One decision, with all that went into it.
struct Decided {
  const Machine& machine;  // of the record's version
  const Machine* newest;   // that the record may follow
  const Record& before;
  const Stimulus& stimulus;
  Instant now;
  const Decision& decision;

  bool exists() const { return before.id.value != 0; }
  bool is(Answer::Kind kind) const { return decision.answer.kind == kind; }
  template <class What>
  const What* given() const {
    return std::get_if<What>(&stimulus.what);
  }

  // Time never goes back for a record.
  Instant at() const { return std::max(now, before.changed_at); }

  // Of the record as it becomes.
  const Machine& machine_after() const;
  const State& state_after() const;

  bool has_put_on_hold(const char* code) const;
};

// The last entry into a state that did not come back from a failure.
struct Entered {
  std::int64_t seq = 0;           // 0: none; -1: it is not clear which
  bool was_left_failing = false;  // the state, the last time
};

// What was seen of the record so far.
struct History {
  Record core = {};                        // the log, folded
  std::vector<Record> cores;               // the same after each entry of the last decision
  Instant last_at = kInstantMin;           // of an entry
  Instant latest_at = kInstantMin;         // of a decision
  std::set<TokenHash> dead;                // tokens that were live, and are no more
  std::map<TokenHash, Answer> settled;     // the answers to settles
  std::set<std::string> effect_ids;        // of what was made
  std::map<std::string, Entered> entered;  // by state
  bool is_erased = false;
};

// --- answer_properties.cc ----------------------------------------------------------------------

// What an answer says of the record; that refused, stale, repeated and wrong calls change nothing.
void check_answer(const Decided& step);
// A key that was used before gets the answer given then, or an error.
void check_remembered(const Decided& step);
// Only the live token settles, and a settle that is repeated gets the same answer.
void check_token(const Decided& step, const History& history);
void check_start(const Decided& step, const History& history);
void check_wake(const Decided& step);
// An event is refused just when it is not among those permitted.
void check_permitted(const Decided& step);

// --- log_properties.cc -------------------------------------------------------------------------

// Seqs without gaps, states that meet, instants that do not go back, and the core by folding.
void check_log(const Decided& step, History& history);
// A final state is left only by a row that says so, or an order.
void check_leaving_final(const Decided& step);
// Deciding the entry's input again gives the entries again.
void check_replay(const Decided& step, const Record& core_before);

// --- hold_properties.cc ------------------------------------------------------------------------

// On hold nothing moves by itself, and only an order or an event that goes somewhere ends it.
void check_hold(const Decided& step);
// Rows of `when` that hold have been taken.
void check_when(const Decided& step);

// --- record_properties.cc ----------------------------------------------------------------------

void check_never_stranded(const Decided& step);
void check_limits(const Decided& step);
void check_data(const Decided& step, const History& history);
void check_children(const Decided& step, const Surroundings& around);
void check_parent_is_told(const Decided& step);
void check_effects(const Decided& step, History& history);
void check_why(const Decided& step);

// --- instant_properties.cc ---------------------------------------------------------------------

void check_instants(const Decided& step);
void check_timers(const Decided& step, const History& history);
void check_plan(const Decided& step, const History& history);

// --- failure_properties.cc ---------------------------------------------------------------------

// A run of failures is as long as its policy allows, and ends in one give-up.
void check_failures(const Decided& step, const History& history);

}  // namespace pawl
