// Workers: they claim attempts and settle them, each in a manner of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "ledger.h"
#include "network.h"
#include "process.h"

namespace pawl::sim {

class Workers {
 public:
  Workers(Tape& tape, Swarm& swarm, Hits& hits, Ledger& ledger, Network& network, Process& process)
      : tape_(tape),
        swarm_(swarm),
        hits_(hits),
        ledger_(ledger),
        network_(network),
        process_(process) {}

  // One of them asks for work.
  void claim();
  // One of them goes on with what it has.
  void act();
  // From now on all are honest: they wait for work and do it at once.
  void serve();
  // The process they wait for is gone.
  void disconnected() { waiting_.clear(); }

  // The queues that somebody waits for now.
  std::vector<std::string> queues_waited_for() const;

 private:
  enum class Manner { honest, slow, zombie, beats_for_ever, never_beats };

  struct Attempt {
    GivenAttempt given;
    Manner manner = Manner::honest;
    int beats_left = 0;
    int settles_left = 1;
  };

  void ask(std::vector<std::string> queues, std::size_t max, Duration wait);
  void take(GivenAttempt given);
  bool waits(const Attempt& attempt) const;
  void beat(const Attempt& attempt);
  void settle(const Attempt& attempt);
  void settle_with(const std::string& token, const Answer& whose, bool is_done);
  std::string some_result();

  Tape& tape_;
  Swarm& swarm_;
  Hits& hits_;
  Ledger& ledger_;
  Network& network_;
  Process& process_;
  std::vector<Attempt> attempts_;
  std::map<std::uint64_t, std::vector<std::string>> waiting_;  // queues, by claim
  std::uint64_t claims_ = 0;
  bool all_are_honest_ = false;
};

}  // namespace pawl::sim
