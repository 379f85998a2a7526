// Network: what lies between clients and the process. Requests and answers are lost, doubled, late
// and out of order; whoever hears nothing asks again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "faults.h"
#include "hits.h"
#include "ledger.h"
#include "process.h"

namespace pawl::sim {

class Network {
 public:
  Network(Tape& tape, Swarm& swarm, Hits& hits, Ledger& ledger, Process& process)
      : tape_(tape), swarm_(swarm), hits_(hits), ledger_(ledger), process_(process) {}

  // `is_repeated` until it is answered; a beat is not. `arrives`: the answer, when it does.
  using Arrives = std::function<void(const Answer&)>;
  void send(RequestId id, bool is_repeated, Arrives arrives = {});

  // One step: what is on its way moves on, who has waited for long asks again.
  void turn();
  // Nothing is on its way, and nobody waits for an answer.
  bool is_quiet() const { return on_the_way_.empty() && waiting_.empty(); }

  // Of every answer that the engine gave.
  std::uint64_t hash() const { return hash_; }
  void see(const std::string& text);

 private:
  struct Waiting {
    std::size_t asked_at = 0;
    Arrives arrives = {};
  };

  void dispatch(RequestId id);
  void submit(RequestId id);
  void answered(RequestId id, const Result<Answer>& answer);
  void arrived(RequestId id, const Result<Answer>& answer);
  void later(std::size_t steps, std::function<void()> what);

  static constexpr std::size_t kPatience = 12;  // steps
  static constexpr std::size_t kLateness = 25;

  Tape& tape_;
  Swarm& swarm_;
  Hits& hits_;
  Ledger& ledger_;
  Process& process_;
  std::size_t step_ = 0;
  std::multimap<std::size_t, std::function<void()>> on_the_way_;
  std::map<RequestId, Waiting> waiting_;
  std::deque<RequestId> answered_;  // some that were, to be repeated all the same
  std::uint64_t hash_ = 0;
};

}  // namespace pawl::sim
