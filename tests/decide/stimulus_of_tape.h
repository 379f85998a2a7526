// Stimuli drawn from a tape: what fits the record often, what does not fit often enough.
#pragma once

#include <string>

#include "pawl/decide.h"
#include "surroundings.h"
#include "tape.h"

namespace pawl {

class StimulusOfTape {
 public:
  StimulusOfTape(Tape& tape, Surroundings& around) : tape_(tape), around_(around) {}

  // Without `remembered`, `known` and `newest`. A child that moves is moved in the world at once.
  Stimulus next(const Machine& machine, const Record& record, Instant now);

 private:
  Stimulus any_at_all(const Machine& machine, const Record& record);
  Stimulus likely(const Machine& machine, const Record& record, Instant now);
  Stimulus repeated();

  Stimulus::Create create();
  Stimulus::Fire fire(const Machine& machine, const Record& record);
  Stimulus::Start start();
  Stimulus::Beat beat(const Record& record);
  Stimulus::Done done(const Record& record);
  Stimulus::Fail fail(const Record& record);
  Stimulus::Sent sent(const Machine& machine, const Record& record);
  Stimulus::ChildChanged child_changed();
  Stimulus::Order order(const Machine& machine);

  Actor actor();
  std::string event(const Machine& machine, const Record& record);
  std::string payload();
  std::string data();
  TokenHash token(const Record& record);
  Failure failure();

  Tape& tape_;
  Surroundings& around_;
  int keys_ = 0;
};

}  // namespace pawl
