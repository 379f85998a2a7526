#include "simulation.h"

#include <exception>
#include <map>
#include <random>
#include <vector>

#include "another_node.h"
#include "base/mutant.h"
#include "broken.h"
#include "callers.h"
#include "ledger.h"
#include "network.h"
#include "process.h"
#include "settled.h"
#include "snapshot.h"
#include "store/verify.h"
#include "workers.h"

namespace pawl::sim {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class Simulation {
 public:
  Simulation(std::span<const std::uint8_t> bytes, Outcome& outcome)
      : tape_(bytes), outcome_(outcome), hits_(outcome.hits) {}

  void run(std::size_t steps) {
    begin();
    for (std::size_t step = 0; step < steps; ++step) go_wrong(step);
    settle();
    end();
  }

 private:
  // What the others rely on is there.
  void begin() {
    callers_.begin();
    while (!network_.is_quiet()) {
      network_.turn();
      must(process_.step(true), "a step without faults");
    }
    swarm_.begin();
  }

  // --- faults ----------------------------------------------------------------------------------

  void go_wrong(std::size_t step) {
    process_.trouble();
    for (int actions = tape_.between(0, 3); actions > 0; --actions) act();
    move_the_clock();
    network_.turn();
    const auto stepped = process_.step(tape_.chance(50));
    if (!stepped)
      require(stepped.error().code != ErrorCode::damaged, "damaged: " + stepped.error().message);
    next_ = stepped ? stepped->next : std::nullopt;
    if (swarm_.strikes(Fault::crash_between_steps)) {
      hits_.struck(Fault::crash_between_steps);
      return restart();
    }
    if (process_.has_ended()) return restart();
    const bool is_quiet = stepped && !stepped->has_more;
    if (is_quiet && step % 8 == 0 && !process_.is_in_trouble()) look(*stepped);
  }

  void act() {
    switch (tape_.below(4)) {
      case 0:
        return callers_.act();
      case 1:
        return workers_.claim();
      default:
        return workers_.act();
    }
  }

  void move_the_clock() {
    if (swarm_.strikes(Fault::clock_jumps_a_day)) {
      hits_.struck(Fault::clock_jumps_a_day);
      return process_.advance_to(process_.now() + minutes{tape_.between(1, 24 * 60)});
    }
    if (swarm_.strikes(Fault::clock_jumps_a_year)) {
      hits_.struck(Fault::clock_jumps_a_year);
      return process_.advance_to(process_.now() + hours{tape_.between(24, 366 * 24)});
    }
    if (tape_.chance(20) && next_) return process_.advance_to(std::min(*next_, soon()));
    if (tape_.chance(40)) process_.advance_to(process_.now() + seconds{tape_.between(0, 20)});
  }

  Instant soon() const { return process_.now() + hours{2}; }

  void restart() {
    ++outcome_.restarts;
    process_.restart();
    workers_.disconnected();
    next_.reset();
    look_at_everything(false);
  }

  // --- and what has to hold all the same -------------------------------------------------------

  void look(const Stepper::Stepped& stepped) {
    const auto records = read_records(process_.store());
    check_records(records);
    check_next(records, workers_.queues_waited_for(), stepped.next, process_.now());
  }

  // For people.
  std::string log_of(RecordId id) {
    std::string text;
    for (const auto& [name, record] : read_records(process_.store())) {
      if (record.id != id) continue;
      text +=
          "\n" + name.machine + "/" + name.key + ", revision " + std::to_string(record.revision);
      for (const Entry& entry : must(process_.store().log(id, {}, kPageMax), "log").items)
        text += "\n  " + std::to_string(entry.seq) + " " + pawl::to_text(entry.at) + " " +
                std::string(pawl::to_text(entry.kind)) + " " + entry.event + ": " + entry.from +
                " -> " + entry.to + ", fence " + std::to_string(entry.fence) + ", " +
                entry.actor.name + " " + entry.idempotency_key;
    }
    return text;
  }

  Snapshot look_at_everything(bool is_settled) {
    require(!mutant(Mutant::canary), "the canary");
    require(process_.engine().figures().double_applied == 0, "something was carried out twice");
    const Verified verified = must(verify(process_.store()), "verify");
    for (const Violation& violation : verified.violations)
      throw Broken(violation.invariant + ": " + violation.what + log_of(violation.record));
    Snapshot snapshot = read_all(process_.store());
    check_records(snapshot.records);
    // A start may stand on a place whose owner then lost the race to leave it: limits are kept by
    // the batches of one process.
    if (!rival_.has_been_there()) check_limit(snapshot.records);
    ledger_.check(snapshot, process_.now(), is_settled);
    return snapshot;
  }

  // --- the end ---------------------------------------------------------------------------------

  void settle() {
    swarm_.stop();
    process_.heal();
    if (process_.has_ended() || !process_.step(true)) restart();  // it may not know yet
    const Instant until = process_.now() + days{3};
    std::map<RecordName, int> releases;
    for (std::size_t step = 0; step < kSettleSteps; ++step) {
      network_.turn();
      workers_.serve();
      const Stepper::Stepped stepped = must(process_.step(true), "a step without faults");
      if (stepped.has_more || !network_.is_quiet()) continue;
      look(stepped);
      if (release_all(releases)) continue;
      if (!stepped.next || *stepped.next > until) return;
      process_.advance_to(*stepped.next);
    }
    const Stepper::Stepped last = must(process_.step(true), "a step without faults");
    throw Broken("it does not come to rest: at " + pawl::to_text(process_.now()) + " it " +
                 (last.has_more ? "has more to do" : "waits") + " after " +
                 std::to_string(last.units) + " units, next " +
                 (last.next ? pawl::to_text(*last.next) : "never") + ", network " +
                 (network_.is_quiet() ? "quiet" : "busy"));
  }

  bool release_all(std::map<RecordName, int>& releases) {
    bool is_any = false;
    for (const auto& [name, record] : read_records(process_.store())) {
      if (!record.hold || ++releases[name] > kReleases) continue;
      callers_.release(record);
      is_any = true;
    }
    return is_any;
  }

  void end() {
    const Instant now = process_.now();
    process_.restart(true);
    const Snapshot snapshot = look_at_everything(true);
    check_settled(snapshot, process_.store(), now);
    outcome_.records = snapshot.records.size();
    for (const auto& [name, log] : snapshot.logs)
      for (const Entry& entry : log) {
        hits_.written(entry.kind);
        ++outcome_.entries;
      }
    outcome_.hash = hash_of(snapshot, network_.hash());
  }

  static constexpr std::size_t kSettleSteps = 20'000;
  static constexpr int kReleases = 20;

  Tape tape_;
  Outcome& outcome_;
  Hits& hits_;
  Swarm swarm_{tape_};
  Ledger ledger_;
  AnotherNode rival_{tape_, swarm_, hits_, ledger_};
  Process process_{tape_, swarm_, hits_, rival_};
  Network network_{tape_, swarm_, hits_, ledger_, process_};
  Callers callers_{tape_, swarm_, hits_, ledger_, network_};
  Workers workers_{tape_, swarm_, hits_, ledger_, network_, process_};
  std::optional<Instant> next_;  // when the engine wants to be called
};

}  // namespace

Outcome simulate(std::span<const std::uint8_t> tape, std::size_t steps) {
  Outcome outcome;
  try {
    Simulation(tape, outcome).run(steps);
  } catch (const std::exception& broken) {
    outcome.broken = broken.what();
  }
  return outcome;
}

// More than the steps can use up: what comes after the end of a tape is the same for all.
TapeBytes tape_of(std::uint64_t seed, std::size_t steps) {
  constexpr std::size_t kBytesPerStep = 256;
  std::mt19937_64 random(seed);
  TapeBytes bytes(steps * kBytesPerStep);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t drawn = random();
    for (std::size_t j = 0; j < 8 && i + j < bytes.size(); ++j)
      bytes[i + j] = static_cast<std::uint8_t>(drawn >> (8 * j));
  }
  return bytes;
}

}  // namespace pawl::sim
