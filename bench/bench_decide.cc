// What one decision costs: CPU and wall time, and allocations.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "counted_new.h"
#include "pawl/decide.h"
#include "pawl/machine_file.h"

namespace pawl::bench {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kRounds = 7;
constexpr int kTimes = 200'000;
constexpr std::int64_t kAllocationsGoal = 3;
constexpr double kPlainEventGoalNs = 1'000;

constexpr std::string_view kMachine = R"(
machine: order
initial: new
data: {amount: decimal!, note: string}
retry: [10s, 1m, 10m]
states:
  new: {on: {submit: {if: data.amount > 0, to: waiting}, note: {set: [note]}, send: paying}}
  waiting: {on: {go: new}}
  paying: {task: charge, done: sent, on: {back: new}}
  shipping: {task: ship, failure: failed, done: sent}
  failed: {}
  sent: {final: true}
tasks: {charge: {queue: payments}, ship: {queue: parcels}}
)";

// A decision to repeat: always the same one, on the same record.
struct Case {
  std::string name;
  Record record;
  Stimulus stimulus;
  Instant now;
};

class Bench {
 public:
  explicit Bench(const Machine& machine) : machine_(machine) {}

  Record created() {
    return applied({}, Stimulus::Create{.id = {1}, .data = R"({"amount":10.50})"});
  }

  Record applied(const Record& record, decltype(Stimulus::what) what, Duration later = seconds{1}) {
    now_ += later;
    const Decision decision = decide(machine_, record, stimulus(std::move(what)), now_);
    if (!decision.changed) std::abort();
    return decision.record;
  }

  Case next(std::string name, const Record& record, decltype(Stimulus::what) what,
            Duration later = seconds{1}) {
    return {std::move(name), record, stimulus(std::move(what)), now_ + later};
  }

 private:
  static Stimulus stimulus(decltype(Stimulus::what) what) {
    return {.what = std::move(what),
            .machine = "order",
            .key = "o-2026-11-16-17",
            .actor = {"app", {"operator"}}};
  }

  const Machine& machine_;
  Instant now_ = std::chrono::sys_days{std::chrono::year{2026} / 11 / 16};
};

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Range {
  double median, least, most;
};

Range range_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

// The median of CPU nanoseconds a decision.
double measure(const Machine& machine, const Case& one, std::int64_t& allocations_each) {
  Decision decision;
  decide(machine, one.record, one.stimulus, one.now, decision);
  if (!decision.changed) std::abort();
  std::vector<double> cpu;
  std::vector<double> wall;
  const std::int64_t before = allocations();
  for (int round = 0; round < kRounds; ++round) {
    const double cpu_begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double wall_begin = seconds_of(CLOCK_MONOTONIC);
    for (int i = 0; i < kTimes; ++i) decide(machine, one.record, one.stimulus, one.now, decision);
    cpu.push_back((seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / kTimes * 1e9);
    wall.push_back((seconds_of(CLOCK_MONOTONIC) - wall_begin) / kTimes * 1e9);
  }
  allocations_each = (allocations() - before) / (static_cast<std::int64_t>(kRounds) * kTimes);
  const Range c = range_of(cpu);
  const Range w = range_of(wall);
  std::printf("%-28s CPU %5.0f ns (%.0f to %.0f), wall %5.0f ns (%.0f to %.0f), %lld allocations\n",
              one.name.c_str(), c.median, c.least, c.most, w.median, w.least, w.most,
              static_cast<long long>(allocations_each));
  return c.median;
}

// All of them, or those whose name begins so.
int run(std::string_view wanted) {
  const auto zones = Zones::open();
  if (!zones) return 3;
  const ReadMachine read = read_machine(kMachine, *zones);
  if (!read.machine) return 3;
  const Machine& machine = *read.machine;
  TokenHash token{};
  token[0] = std::byte{1};

  Bench bench(machine);
  const Record fresh = bench.created();
  const Record ready = bench.applied(fresh, Stimulus::Fire{.event = "send"});
  const Record running = bench.applied(ready, Stimulus::Start{.token_hash = token});
  const Record shipping = bench.applied(
      fresh,
      Stimulus::Order{.verb = Stimulus::Order::Verb::move, .reason = "r", .state = "shipping"});
  const Record at_work = bench.applied(shipping, Stimulus::Start{.token_hash = token});
  const Record failed =
      bench.applied(at_work, Stimulus::Fail{.token_hash = token, .error = {.code = "oops"}});

  const std::vector<Case> cases{
      bench.next("event, plain", ready, Stimulus::Fire{.event = "back"}),
      bench.next("event with a guard", fresh, Stimulus::Fire{.event = "submit"}),
      bench.next("event that sets a field", fresh,
                 Stimulus::Fire{.event = "note", .payload = R"({"note":"by courier"})"}),
      bench.next("start", ready, Stimulus::Start{.token_hash = token}),
      bench.next("done", running, Stimulus::Done{.token_hash = token, .result = R"({"id":7})"}),
      bench.next("failure with retry", running,
                 Stimulus::Fail{.token_hash = token, .error = {.code = "oops", .message = "no"}}),
      bench.next("wake that comes back", failed, Stimulus::Wake{}, minutes{5}),
  };
  bool met = true;
  for (const Case& one : cases) {
    if (!one.name.starts_with(wanted)) continue;
    std::int64_t allocations_each = 0;
    const double ns = measure(machine, one, allocations_each);
    if (&one == &cases[0]) met = ns <= kPlainEventGoalNs && allocations_each <= kAllocationsGoal;
  }
  std::printf("  goal: a plain event in at most %.0f ns of CPU and %lld allocations: %s\n",
              kPlainEventGoalNs, static_cast<long long>(kAllocationsGoal), met ? "met" : "MISSED");
  return met ? 0 : 1;
}

}  // namespace
}  // namespace pawl::bench

int main(int count, char** words) { return pawl::bench::run(count > 1 ? words[1] : ""); }
