// Callers: they create records, fire events and give orders; some of it makes no sense.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger.h"
#include "network.h"

namespace pawl::sim {

class Callers {
 public:
  Callers(Tape& tape, Swarm& swarm, Hits& hits, Ledger& ledger, Network& network)
      : tape_(tape), swarm_(swarm), hits_(hits), ledger_(ledger), network_(network) {}

  // The records that others send to.
  void begin();
  // Somebody asks for something.
  void act();
  // Operators let go whatever is on hold.
  void release(const Record& record);

 private:
  void create();
  void fire();
  void fire_or_create();
  void order();
  void ask(Stimulus stimulus, std::string mark = {});
  void ask_again_with_other_body(RequestId id);

  RecordName some_name(const std::string& machine);
  RecordName new_name(const std::string& machine);
  std::string next_id(char kind) { return kind + std::to_string(++ids_); }

  Tape& tape_;
  Swarm& swarm_;
  Hits& hits_;
  Ledger& ledger_;
  Network& network_;
  std::vector<RecordName> names_;  // that were asked for
  std::uint64_t ids_ = 0;
};

}  // namespace pawl::sim
