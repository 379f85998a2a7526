// What goes wrong in a simulation, and how often. Every chance is drawn anew for each seed, none
// included: faults that happen all the time hide what happens between rare ones.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tests/decide/tape.h"

namespace pawl::sim {

enum class Fault {
  // the process and its disk
  crash_at_a_call,
  crash_between_steps,
  crash_at_the_start,
  io_error_once,
  io_error_for_good,
  no_space_once,
  no_space_for_good,
  second_start,
  // callers and the network between them and the process
  request_lost,
  request_twice,
  request_late,
  answer_lost,
  answer_late,
  repeated_with_its_key,
  key_with_other_body,
  // workers
  worker_slow,
  worker_zombie,
  worker_settles_twice,
  worker_wrong_token,
  worker_foreign_token,
  worker_huge_result,
  worker_bad_result,
  worker_beats_for_ever,
  worker_never_beats,
  worker_gone,
  // the clock
  clock_jumps_a_day,
  clock_jumps_a_year,
  clock_back_at_a_start,
  // another node, and limits
  rival_change,
  rival_create,
  batch_of_one,
  last_,
};
inline constexpr auto kFaults = static_cast<std::size_t>(Fault::last_);
std::string_view name_of(Fault fault);

class Swarm {
 public:
  explicit Swarm(Tape& tape);

  // Whether the fault happens now.
  bool strikes(Fault fault);
  // Until it begins, and after it stops, nothing goes wrong.
  void begin() { is_on_ = true; }
  void stop() { is_on_ = false; }

 private:
  Tape& tape_;
  std::array<int, kFaults> per_mille_ = {};
  bool is_on_ = false;
};

}  // namespace pawl::sim
