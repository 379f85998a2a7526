// Played: what a scenario gave: everything that happened, and every expectation that failed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "calendar/zone.h"
#include "pawl/json.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"

namespace pawl {

// Where a record stands, as far as a person follows it.
struct Standing {
  std::string state = {};  // empty: it does not exist
  bool final = false;
  std::optional<Hold> hold = {};
  std::string task = {};  // what its state works on, and has not done yet
  int attempt = 0;
  int failures = 0;
  std::optional<Attempt> running = {};
  std::optional<Instant> ready_at = {};
  std::optional<Instant> next_at = {};
  std::optional<Instant> come_back_at = {};  // from a failure
  std::optional<Instant> planned_at = {};    // the next slot
};

// One decision.
struct Moment {
  // As the alternatives of Stimulus::what.
  enum class Cause { create, fire, start, beat, done, fail, wake, sent, child, order };

  Instant at = {};
  std::size_t step = 0;  // from 1; 0: before the first
  RecordId id = {};      // 0: there is no such record
  std::string machine = {};
  std::string key = {};
  std::string name = {};  // `machine/key`; of a task run aside `run task`
  Cause cause = Cause::wake;
  std::string stimulus = {};  // `fire submit`, `start charge`; of the clock: what it made happen
  Answer::Kind answer = Answer::Kind::ok;
  std::string reason = {};
  Standing before = {};
  Standing after = {};
  std::vector<Entry> entries = {};
  std::vector<std::string> effects = {};  // `notify oncall`, `create parcel/o1/a`
  std::vector<std::string> notes = {};    // what came of it: a message that nobody got
};

// An expectation that failed, or a step that could not be played.
struct Problem {
  std::size_t step = 0;  // from 1; 0: the scenario could not begin
  Position position = {};
  Instant at = {};
  std::string key = {};  // of `expect`: `state`, `data.amount`
  Json expected = {};
  Json got = {};
  std::string message = {};  // why it could not be played; then there is no key
};

struct Played {
  std::string machine;
  std::string title;
  Zone zone = Zone::utc();
  std::size_t steps = 0;
  std::vector<Moment> moments = {};
  std::vector<Problem> problems = {};
  Instant ended_at = {};

  bool passed() const { return problems.empty(); }
};

}  // namespace pawl
