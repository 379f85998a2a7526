#include "failing_walk.h"

#include <algorithm>

#include "check/stage.h"
#include "simulate/world.h"

namespace pawl {
namespace {

constexpr int kStepsMax = 300;
constexpr TokenHash kToken{std::byte{1}};

class FailingWalk {
 public:
  FailingWalk(const std::vector<std::shared_ptr<const Machine>>& machines, const Zones& zones,
              Tape& tape)
      : machine_(*machines.front()), world_(machines, zones, kStageBegin), tape_(tape) {}

  int walk(const std::string& state, const std::string& data) {
    give(Stimulus::Create{.data = data});
    if (record().state != state || record().hold)
      give(Stimulus::Order{.verb = Stimulus::Order::Verb::move, .reason = "walk", .state = state});
    world_.watch({.decided = [&](const Decided& decided) { look_at(decided); }});
    for (int step = 0; step < kStepsMax && !is_over() && go_on(); ++step) {
    }
    return failures_;
  }

 private:
  const Record& record() const { return *world_.find(machine_.name(), "r1"); }

  bool is_over() const {
    return is_done_ || record().hold || machine_.state(*machine_.find_state(record().state)).final;
  }

  // False when nothing can happen any more.
  bool go_on() {
    if (!world_.run_until(world_.now()) || is_over()) return false;  // nobody is quicker than that
    if (record().running && !tape_.chance(20)) {
      give(Stimulus::Fail{.token_hash = kToken,
                          .error = {.code = tape_.of({"oops", "c1", "c2", "http_500", "cx"})}});
      return true;
    }
    if (record().ready_at && !tape_.chance(20)) return start();
    const auto next = world_.next_due();
    if (next) return world_.run_until(*next + Duration{1}).has_value();
    return record().ready_at && start();
  }

  bool start() {
    const Instant ready = std::max(*record().ready_at, world_.now());
    if (!world_.run_until(ready)) return false;
    give(Stimulus::Start{.token_hash = kToken, .worker = "w"});
    return true;
  }

  void give(decltype(Stimulus::what) what) {
    static_cast<void>(world_.apply({.what = std::move(what),
                                    .machine = machine_.name(),
                                    .key = "r1",
                                    .actor = {"operator", {"operator"}}}));
  }

  void look_at(const Decided& decided) {
    if (&decided.machine != &machine_) return;
    const bool is_start = std::holds_alternative<Stimulus::Start>(decided.stimulus.what);
    for (const Entry& entry : decided.decision.entries) {
      is_done_ = is_done_ || entry.kind == Entry::Kind::done || entry.cause == "done";
      const bool failed = entry.kind == Entry::Kind::failed ||
                          entry.kind == Entry::Kind::timed_out ||
                          entry.kind == Entry::Kind::gave_up;
      const bool is_later = decided.decision.record.streak.laters > decided.before.streak.laters;
      if (failed && !is_start && !is_later && !is_over_before(decided)) ++failures_;
    }
  }

  bool is_over_before(const Decided& decided) const { return is_done_ || decided.before.hold; }

  const Machine& machine_;
  World world_;
  Tape& tape_;
  int failures_ = 0;
  bool is_done_ = false;
};

}  // namespace

int failures_of_walk(const std::vector<std::shared_ptr<const Machine>>& machines,
                     const Zones& zones, const std::string& state, const std::string& data,
                     Tape& tape) {
  return FailingWalk(machines, zones, tape).walk(state, data);
}

}  // namespace pawl
