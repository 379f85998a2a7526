// Simulates seeds: pawl_sim --seeds 1..200 [--twice 100] | --seed N | --kept DIRECTORY
//
// pawl_sim --mutant NAME, in a build with PAWL_MUTANTS, breaks a rule and simulates until it is
// noticed.
//
// Exits with 1 when something does not hold: it says which seed, and how to run it again.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "base/mutant.h"
#include "simulation.h"

namespace pawl::sim {
namespace {

struct Options {
  std::string seeds = "1..200";
  std::string kept = {};  // directory of seeds that have found something
  std::string keep = {};  // directory where such a seed is put
  std::string mutant = {};
  std::size_t steps = 300;
  std::size_t twice = 0;  // so many of them are run again and have to be the same
  double minutes = 0;     // at most; 0: as long as it takes
  bool needs_all_hits = false;
  bool is_verbose = false;
};

class Runs {
 public:
  explicit Runs(const Options& options) : options_(options) {}

  // False: it has found something.
  bool run(std::uint64_t seed) {
    const Outcome outcome = simulate(tape_of(seed, options_.steps), options_.steps);
    ++seeds_;
    hits_.add(outcome.hits);
    restarts_ += outcome.restarts;
    records_ += outcome.records;
    entries_ += outcome.entries;
    if (options_.is_verbose)
      std::cout << "seed " << seed << ": " << outcome.restarts << " restarts, " << outcome.records
                << " records, " << outcome.entries << " entries, hash " << std::hex << outcome.hash
                << std::dec << std::endl;
    if (outcome.broken) return found(seed, *outcome.broken);
    if (seeds_ > options_.twice) return true;
    if (simulate(tape_of(seed, options_.steps), options_.steps).hash != outcome.hash)
      return found(seed, "the same seed does not give the same hash");
    return true;
  }

  bool time_is_used_up() const {
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin_;
    return options_.minutes > 0 && used.count() > options_.minutes * 60;
  }

  // What never happened.
  bool has_all_hits() const {
    hits_.print(std::cout);
    const std::vector<std::string> missing = hits_.missing();
    for (const std::string& never : missing) std::cout << "never happened: " << never << "\n";
    return missing.empty() || !options_.needs_all_hits;
  }

  void sum_up() const {
    std::cout << seeds_ << " seeds of " << options_.steps << " steps, " << restarts_
              << " restarts, " << records_ << " records, " << entries_ << " entries";
  }

 private:
  bool found(std::uint64_t seed, const std::string& what) const {
    const std::string again = "pawl_sim --seed " + std::to_string(seed) + " --steps " +
                              std::to_string(options_.steps) + " --verbose";
    std::cout << "seed " << seed << " BROKEN: " << what << "\nagain: " << again << std::endl;
    if (!options_.keep.empty())
      std::ofstream(std::filesystem::path(options_.keep) / (std::to_string(seed) + ".txt"))
          << "# " << what << "\n"
          << seed << " " << options_.steps << "\n";
    return false;
  }

  const Options& options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Hits hits_;
  std::size_t seeds_ = 0;
  std::size_t restarts_ = 0;
  std::size_t records_ = 0;
  std::size_t entries_ = 0;
};

// Each in a file of its own: comments, then the seed and its steps.
int run_kept(Options options) {
  std::size_t passed = 0;
  for (const auto& file : std::filesystem::directory_iterator(options.kept)) {
    if (file.path().extension() != ".txt") continue;
    std::ifstream in(file.path());
    std::string line;
    while (std::getline(in, line) && (line.empty() || line.starts_with('#'))) {
    }
    std::istringstream words(line);
    std::uint64_t seed = 0;
    if (!(words >> seed >> options.steps)) {
      std::cout << file.path() << " names no seed\n";
      return 1;
    }
    if (!Runs(options).run(seed)) return 1;
    ++passed;
  }
  std::cout << passed << " kept seeds hold\n";
  return 0;
}

struct Range {
  std::uint64_t first;
  std::uint64_t last;
};

Range range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::uint64_t first = std::stoull(text);
  return {first, dots == std::string::npos ? first : std::stoull(text.substr(dots + 2))};
}

// How many seeds it takes until the broken rule is noticed.
int run_mutant(const Options& options) {
#ifdef PAWL_MUTANTS
  const auto known = std::find(kMutants.begin(), kMutants.end(), options.mutant);
  if (known == kMutants.end()) {
    std::cout << "there is no mutant " << options.mutant << "\n";
    return 2;
  }
  mutant_in_force = static_cast<Mutant>(known - kMutants.begin());
  const auto [first, last] = range_of(options.seeds);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Outcome outcome = simulate(tape_of(seed, options.steps), options.steps);
    if (!outcome.broken) continue;
    std::cout << options.mutant << " noticed after " << seed - first + 1
              << " seeds: " << outcome.broken->substr(0, outcome.broken->find('\n')) << std::endl;
    return 0;
  }
  std::cout << options.mutant << " SURVIVED seeds " << first << ".." << last << std::endl;
  return 1;
#else
  std::cout << "cannot break " << options.mutant << ": build with -DPAWL_MUTANTS=ON\n";
  return 2;
#endif
}

int run_seeds(const Options& options) {
  const auto [first, last] = range_of(options.seeds);
  std::cout << "seeds " << first << ".." << last << ", " << options.steps << " steps" << std::endl;
  Runs runs(options);
  std::uint64_t seed = first;
  for (; seed <= last && !runs.time_is_used_up(); ++seed)
    if (!runs.run(seed)) return 1;
  const bool is_complete = runs.has_all_hits();
  runs.sum_up();
  std::cout << "; seeds " << first << ".." << seed - 1 << " of " << last << " hold"
            << (is_complete ? "" : ", but not all happened that can") << std::endl;
  return is_complete ? 0 : 1;
}

}  // namespace
}  // namespace pawl::sim

int main(int argc, char** argv) {
  pawl::sim::Options options;
  CLI::App app{"Simulates an engine whose process, disk, clock, network and workers fail"};
  app.add_option("--seeds,--seed", options.seeds, "FROM..TO, or one");
  app.add_option("--kept", options.kept, "run the seeds of this directory instead");
  app.add_option("--keep", options.keep, "where a seed is put that has found something");
  app.add_option("--mutant", options.mutant, "break this rule, until it is noticed");
  app.add_flag_callback(
      "--list-mutants",
      [] {
        for (const std::string_view name : pawl::kMutants)
          if (name != pawl::kMutants.front()) std::cout << name << "\n";
        throw CLI::Success();
      },
      "name the rules that can be broken");
  app.add_option("--steps", options.steps, "of each, before faults stop");
  app.add_option("--twice", options.twice, "run so many of them again, and compare");
  app.add_option("--minutes", options.minutes, "stop after so long");
  app.add_flag("--all-hits", options.needs_all_hits, "fail when something never happened");
  app.add_flag("--verbose", options.is_verbose, "a line for each seed");
  CLI11_PARSE(app, argc, argv);
  if (!options.mutant.empty()) return pawl::sim::run_mutant(options);
  return options.kept.empty() ? pawl::sim::run_seeds(options) : pawl::sim::run_kept(options);
}
