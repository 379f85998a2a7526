// Random machines and stimuli against the properties of every decision.
//
// A failing tape is shrunk and printed as hex. To see its play step by step:
//   PAWL_TAPE=6162… decide_properties_test        (or the path of a file with the hex)
// Tapes that once failed are kept in tests/decide/tapes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "machine_of_tape.h"
#include "narrator.h"
#include "pawl/machine_file.h"
#include "play.h"

namespace pawl {
namespace {

constexpr std::int64_t kHitsMin = 50;                // of every answer a stimulus can get
constexpr std::int64_t kEnoughForAllCells = 10'000;  // records
constexpr int kShrinksMax = 2'000;                   // plays to make a failing tape shorter

const Zones& zones() {
  static const Zones zones = *Zones::open();
  return zones;
}

// How many tapes are played; one is enough for about two records.
int plays() {
  const char* given = std::getenv("PAWL_PLAYS");
  return given != nullptr ? std::atoi(given) : 10'000;
}

rc::Seq<TapeBytes> shorter(const TapeBytes& tape) {
  return rc::seq::concat(
      rc::shrink::removeChunks(tape), rc::shrink::eachElement(tape, [](std::uint8_t byte) {
        return byte == 0 ? rc::Seq<std::uint8_t>() : rc::seq::just(std::uint8_t{0});
      }));
}

// In one go: a generator of its own for every byte takes longer than the play.
rc::Gen<TapeBytes> tapes() {
  return [](const rc::Random& seed, int size) {
    rc::Random random = seed;
    TapeBytes bytes(static_cast<std::size_t>(500 + 25 * size));
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i % 8 == 0) number = random.next();
      bytes[i] = static_cast<std::uint8_t>(number >> (8 * (i % 8)));
    }
    return rc::shrinkable::shrinkRecur(bytes, [](const TapeBytes& tape) { return shorter(tape); });
  };
}

// The tape that is being played, in a file that is there when the process dies.
class LastTape {
 public:
  LastTape() { std::printf("if this dies: PAWL_TAPE=%s\n", path_.c_str()); }
  ~LastTape() { std::filesystem::remove(path_); }
  LastTape(const LastTape&) = delete;
  LastTape& operator=(const LastTape&) = delete;

  void keep(const TapeBytes& tape) { std::ofstream(path_) << to_hex(tape); }

 private:
  std::filesystem::path path_ =
      std::filesystem::current_path() / ("last_tape_" + std::to_string(getpid()) + ".hex");
};

// RapidCheck reads its settings from the environment only, and before the first property.
void let_rapidcheck_play(int count) {
  const char* seed = std::getenv("PAWL_SEED");
  const std::string settings =
      "max_success=" + std::to_string(count) + " seed=" + (seed != nullptr ? seed : "1");
  setenv("RC_PARAMS", settings.c_str(), 0);
}

TEST(DecideProperties, HoldOnRandomTapes) {
  if (std::getenv("PAWL_TAPE") != nullptr) GTEST_SKIP();
  let_rapidcheck_play(plays());
  Played played;
  LastTape last;
  int since_failure = 0;
  std::string shortest;  // of the tapes that fail, and why: shrinking ends before it is told
  const bool hold = rc::check("every decision has its properties", [&] {
    const TapeBytes tape = *tapes();
    if (since_failure > 0 && ++since_failure > kShrinksMax) return;
    last.keep(tape);
    try {
      play_tape(tape, zones(), played);
    } catch (const PropertyBroken& broken) {
      since_failure = std::max(since_failure, 1);
      shortest = std::string(broken.what()) + "\nPAWL_TAPE=" + to_hex(tape);
      RC_FAIL(shortest);
    }
  });
  EXPECT_TRUE(hold) << shortest;
  std::printf("%lld machines, %lld records, %lld decisions\n%s",
              static_cast<long long>(played.machines), static_cast<long long>(played.records),
              static_cast<long long>(played.decisions), played.answers.text().c_str());
  if (!hold || played.records < kEnoughForAllCells) return;
  for (const std::string& fault : played.answers.faults(kHitsMin)) ADD_FAILURE() << fault;
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void replay(const std::string& hex, const Watcher& watcher) {
  const auto tape = from_hex(hex);
  ASSERT_TRUE(tape.has_value()) << "this is no hex: " << hex;
  Played played;
  try {
    play_tape(*tape, zones(), played, watcher);
  } catch (const PropertyBroken& broken) {
    FAIL() << broken.what();
  }
}

TEST(DecideProperties, HoldOnTheGivenTape) {
  const char* given = std::getenv("PAWL_TAPE");
  if (given == nullptr) GTEST_SKIP() << "PAWL_TAPE names no tape";
  std::error_code too_long;
  const bool is_file = std::filesystem::exists(given, too_long);
  replay(is_file ? contents_of(given) : given, narrator());
}

TEST(DecideProperties, HoldOnTapesThatOnceFailed) {
  int tapes = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(PAWL_SOURCE_DIR "/tests/decide/tapes")) {
    SCOPED_TRACE(file.path().string());
    replay(contents_of(file.path()), {});
    ++tapes;
  }
  EXPECT_GT(tapes, 0);
}

TEST(MachineOfTape, IsAMachineFile) {
  std::mt19937_64 numbers(7);
  for (int i = 0; i < 300; ++i) {
    TapeBytes bytes(2'000);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers());
    Tape tape(bytes);
    const Definition definition = definition_of(tape);
    const Definition next = next_version_of(definition, tape);
    for (const Definition& made : {definition, next}) {
      Diagnostics findings;
      ASSERT_NE(Machine::make(made, zones(), findings), nullptr)
          << findings.sorted()[0].message << "\n"
          << print_machine(made);
    }
  }
}

}  // namespace
}  // namespace pawl
