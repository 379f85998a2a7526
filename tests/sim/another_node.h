// AnotherNode: a rival that pokes records and creates those that others are about to.
#pragma once

#include <cstdint>
#include <string>

#include "faults.h"
#include "hits.h"
#include "ledger.h"
#include "tests/support/contested_store.h"

namespace pawl::sim {

class AnotherNode final : public Rival {
 public:
  AnotherNode(Tape& tape, Swarm& swarm, Hits& hits, Ledger& ledger)
      : tape_(tape), swarm_(swarm), hits_(hits), ledger_(ledger) {}

  std::optional<Unit> before(Batch& batch, std::span<const Unit> units) override;
  void committed(const Unit& unit) override;
  bool has_been_there() const { return has_been_there_; }

 private:
  std::optional<Unit> decided(const Record& record, const Stimulus& stimulus, Instant now);

  Tape& tape_;
  Swarm& swarm_;
  Hits& hits_;
  Ledger& ledger_;
  std::string mark_;                    // of the change it is about to make; empty: it creates
  std::uint64_t last_id_ = 1ULL << 40;  // far from those of the engine
  int pokes_ = 0;
  bool has_been_there_ = false;
};

}  // namespace pawl::sim
