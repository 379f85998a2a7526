// Conditions, values and delays that fit wherever they stand, drawn from a tape.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/definition.h"
#include "tape.h"

namespace pawl {

// What rows may name where they stand.
struct Sees {
  bool event = false;
  bool result = false;
  bool error = false;
  bool now = true;
  bool item = false;
};

// The fields of `data`, of payloads and of results: their names and types are always the same, what
// is required and what has a default is drawn.
Fields data_fields(Tape& tape);
Fields payload_fields(Tape& tape);
Fields result_fields(Tape& tape);

class Words {
 public:
  // `ordered`: the states of the machine's `order`.
  Words(Tape& tape, const std::vector<std::string>& states, bool ordered)
      : tape_(tape), states_(states), ordered_(ordered) {}

  std::string condition(const Sees& sees);
  std::string count_of_children();
  Assignment assignment(const Sees& sees, const std::optional<Fields>& data);
  Value text(const Sees& sees);
  Value key(const Sees& sees);
  Value payload(const Sees& sees);
  std::string list(const Sees& sees);

  // One that is fixed is at least `least`.
  DurationValue duration(Duration least = Duration{0});

 private:
  Value value_of(std::string_view field, const Sees& sees);

  Tape& tape_;
  const std::vector<std::string>& states_;
  bool ordered_;
};

}  // namespace pawl
