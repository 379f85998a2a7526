// Random machines against what a check says of them: it is the same every time, each
// counter-example plays and comes round, and no random run of failures has more of them than there
// may be.
//
// PAWL_PLAYS says how many machines, PAWL_SEED from which number on; what fails names its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "check/check.h"
#include "check/check_text.h"
#include "check/sample.h"
#include "failing_walk.h"
#include "machine_of_tape.h"
#include "pawl/machine_file.h"
#include "played_example.h"

namespace pawl {
namespace {

using Machines = std::vector<std::shared_ptr<const Machine>>;

constexpr int kWalks = 20;  // for each state
constexpr std::size_t kSituationsMax = 2'000;

const Zones& zones() {
  static const Zones zones = *Zones::open();
  return zones;
}

int number_in(const char* name, int otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::atoi(given) : otherwise;
}

TapeBytes bytes_of(std::mt19937_64& numbers, std::size_t size) {
  TapeBytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers());
  return bytes;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), with);
  return text;
}

// Without what a walk does not vary, so that numbers are exact; null when that leaves no machine.
std::shared_ptr<const Machine> made_plain(const Definition& definition) {
  std::string text = print_machine(definition);
  for (const auto& [what, with] : std::vector<std::pair<const char*, const char*>>{
           {"{record.revision}s", "7s"},
           {"record.revision % 3 != 0", "data.n > 1"},
           {"record.failing_since != null", "data.flag"},
           {"record.planned_at != null", "data.flag"},
           {"now > record.entered_at + '5m'", "data.flag"},
           {"now > data.t", "data.flag"},
           {"{record.entered_at}", "2026-03-29T00:30:00Z"},
           {"children.", "data.m."}})
    text = replaced(std::move(text), what, with);
  return read_machine(text, zones()).machine;
}

std::shared_ptr<const Machine> child_machine(const std::string& name) {
  return read_machine("machine: " + name + R"(
initial: fresh
states: {fresh: {on: {go: over}}, over: {final: true}}
)",
                      zones())
      .machine;
}

// What was met, so that a test in which nothing happens fails.
struct Met {
  int machines = 0;
  int ends = 0;
  int repeats = 0;
  int never_ends = 0;
  int undecided = 0;
  int walked = 0;
  int exact = 0;  // walks that reached the number itself
};

class CheckOfOne {
 public:
  CheckOfOne(std::shared_ptr<const Machine> machine, std::mt19937_64& numbers, Met& met)
      : machines_{std::move(machine), child_machine("part"), child_machine("item")},
        numbers_(numbers),
        met_(met) {}

  void run() {
    const CheckOptions options{.others = {machines_[1].get(), machines_[2].get()},
                               .situations_max = kSituationsMax};
    const auto checked = check_failures(*machines_[0], options);
    if (!checked) return;  // no record of it can be made
    ++met_.machines;
    const auto again = check_failures(*machines_[0], options);
    ASSERT_EQ(to_text(to_json(*checked)), to_text(to_json(*again)));
    for (const StateVerdict& verdict : checked->states) {
      count(verdict);
      if (verdict.example && !checked->shortened) {
        EXPECT_EQ(faults_of(*verdict.example, machines_, zones()), "") << verdict.state;
      }
      if (verdict.failures_max && checked->unvaried.empty()) walk(verdict);
    }
  }

 private:
  void count(const StateVerdict& verdict) {
    using Kind = StateVerdict::Kind;
    if (verdict.kind == Kind::ends) ++met_.ends;
    if (verdict.kind == Kind::repeats) ++met_.repeats;
    if (verdict.kind == Kind::never_ends) ++met_.never_ends;
    if (verdict.kind == Kind::undecided) ++met_.undecided;
  }

  void walk(const StateVerdict& verdict) {
    const std::string data = *sample_data(*machines_[0]);
    int most = 0;
    for (int i = 0; i < kWalks; ++i) {
      const TapeBytes bytes = bytes_of(numbers_, 400);
      Tape tape(bytes);
      most = std::max(most, failures_of_walk(machines_, zones(), verdict.state, data, tape));
    }
    EXPECT_LE(most, *verdict.failures_max) << verdict.state;
    ++met_.walked;
    if (most == *verdict.failures_max) ++met_.exact;
  }

  Machines machines_;
  std::mt19937_64& numbers_;
  Met& met_;
};

TEST(CheckProperties, HoldOnRandomMachines) {
  Met met;
  const int first = number_in("PAWL_SEED", 0);
  for (int seed = first; seed < first + number_in("PAWL_PLAYS", 300); ++seed) {
    std::mt19937_64 numbers(static_cast<std::uint64_t>(seed));
    const TapeBytes bytes = bytes_of(numbers, 3'000);
    Tape tape(bytes);
    const Definition definition = definition_of(tape);
    const auto machine = seed % 2 == 0 ? quickly_made(definition, zones()) : made_plain(definition);
    if (!machine) continue;
    SCOPED_TRACE("PAWL_PLAYS=1 PAWL_SEED=" + std::to_string(seed));
    CheckOfOne(machine, numbers, met).run();
    if (HasFailure()) {
      std::printf("seed %d\n%s", seed, print_machine(machine->definition()).c_str());
      break;
    }
  }
  std::printf("%d machines: %d states end, %d repeat, %d never end, %d undecided; %d walked\n",
              met.machines, met.ends, met.repeats, met.never_ends, met.undecided, met.walked);
  if (met.machines < 100) return;
  EXPECT_GT(met.ends, 100);
  EXPECT_GT(met.repeats, 10);
  EXPECT_GT(met.never_ends, 10);
  EXPECT_GT(met.exact, met.walked / 2);
}

}  // namespace
}  // namespace pawl
