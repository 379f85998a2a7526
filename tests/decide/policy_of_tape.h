// Policies drawn from a tape: how failure is answered.
#pragma once

#include <string>
#include <vector>

#include "pawl/definition.h"
#include "tape.h"
#include "words_of_tape.h"

namespace pawl {

// The states of a machine by what may be done with them.
struct Targets {
  std::vector<std::string> any;      // where a row may go to
  std::vector<std::string> open;     // where a failed record may come back to
  std::vector<std::string> waiting;  // where it may wait
};

class PolicyOfTape {
 public:
  PolicyOfTape(Tape& tape, Words& words, const Targets& targets, const std::optional<Fields>& data)
      : tape_(tape), words_(words), targets_(targets), data_(data) {}

  Policy policy(int percent);
  std::vector<EffectRow> effects(Sees sees, const std::vector<std::string>& tasks,
                                 const std::vector<std::string>& events);
  HoldText hold(const Sees& sees);

 private:
  Delays delays();
  std::vector<ErrorRows> errors();
  Row error_row();
  Rows give_up();
  EffectRow effect(Sees sees, const std::vector<std::string>& tasks,
                   const std::vector<std::string>& events);
  Recipient recipient(const Sees& sees);

  Tape& tape_;
  Words& words_;
  const Targets& targets_;
  const std::optional<Fields>& data_;
};

}  // namespace pawl
