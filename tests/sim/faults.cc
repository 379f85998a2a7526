#include "faults.h"

namespace pawl::sim {
namespace {

struct Known {
  std::string_view name;
  int per_mille_max;  // above it nothing else would get done
};

constexpr std::array<Known, kFaults> kKnown{{
    {"crash at a call to the disk", 80},
    {"crash between two steps", 20},
    {"crash at the start", 400},
    {"I/O error, once", 30},
    {"I/O error, for good", 15},
    {"no space, once", 40},
    {"no space, for good", 15},
    {"second start", 100},
    {"request lost", 300},
    {"request twice", 300},
    {"request late", 400},
    {"answer lost", 300},
    {"answer late", 400},
    {"request repeated with its key", 300},
    {"key with another body", 60},
    {"worker slow", 400},
    {"worker zombie", 300},
    {"worker settles twice", 300},
    {"worker with a wrong token", 100},
    {"worker with a foreign token", 100},
    {"worker with a huge result", 12},
    {"worker with a bad result", 100},
    {"worker beats for ever", 200},
    {"worker never beats", 300},
    {"worker gone", 200},
    {"clock jumps by up to a day", 60},
    {"clock jumps by up to a year", 15},
    {"clock back at a start", 400},
    {"rival changes a record", 100},
    {"rival creates a record", 200},
    {"batch of one", 500},
}};

}  // namespace

std::string_view name_of(Fault fault) { return kKnown[static_cast<std::size_t>(fault)].name; }

// Off in a third of all seeds, else anything up to the most.
Swarm::Swarm(Tape& tape) : tape_(tape) {
  for (std::size_t i = 0; i < kFaults; ++i) {
    const bool is_on = tape.chance(66);
    const int most = kKnown[i].per_mille_max;
    if (is_on) per_mille_[i] = tape.between(1, most);
  }
}

bool Swarm::strikes(Fault fault) {
  const int chance = per_mille_[static_cast<std::size_t>(fault)];
  if (!is_on_ || chance == 0) return false;
  return static_cast<int>(tape_.below(1'000)) >= 1'000 - chance;
}

}  // namespace pawl::sim
