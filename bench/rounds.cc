#include "rounds.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace pawl::bench {
namespace {

struct Times {
  std::vector<double> cpu;  // ns per operation, one a round
  std::vector<double> wall;
};

double cpu_now_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double wall_now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint64_t measure(const Contender& contender, std::int64_t operations, Times& times) {
  const double cpu = cpu_now_ns();
  const double wall = wall_now_ns();
  const std::uint64_t checksum = contender.run();
  times.cpu.push_back((cpu_now_ns() - cpu) / static_cast<double>(operations));
  times.wall.push_back((wall_now_ns() - wall) / static_cast<double>(operations));
  return checksum;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_times(const std::string& name, const char* clock, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::printf("  %-28s %-4s %10.1f ns/op  (%.1f to %.1f)\n", name.c_str(), clock, median(values),
              *low, *high);
}

std::vector<double> ratios(const std::vector<double>& ours, const std::vector<double>& reference) {
  std::vector<double> each;
  for (std::size_t i = 0; i < ours.size(); ++i) each.push_back(reference[i] / ours[i]);
  return each;
}

void print_ratio(const char* clock, const std::vector<double>& each) {
  const auto [low, high] = std::minmax_element(each.begin(), each.end());
  std::printf("  reference / ours             %-4s %10.2f x      (%.2f to %.2f)\n", clock,
              median(each), *low, *high);
}

}  // namespace

double compare(const std::string& title, const Contender& ours, const Contender& reference,
               std::int64_t operations, int rounds) {
  std::printf("%s: %d alternating rounds of %lld operations\n", title.c_str(), rounds,
              static_cast<long long>(operations));
  Times our_times;
  Times reference_times;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t our_answers = measure(ours, operations, our_times);
    const std::uint64_t their_answers = measure(reference, operations, reference_times);
    if (our_answers != their_answers) {
      std::printf("  the answers of %s and %s differ\n", ours.name.c_str(), reference.name.c_str());
      std::exit(1);
    }
  }
  print_times(ours.name, "cpu", our_times.cpu);
  print_times(reference.name, "cpu", reference_times.cpu);
  print_times(ours.name, "wall", our_times.wall);
  print_times(reference.name, "wall", reference_times.wall);
  const auto cpu_ratios = ratios(our_times.cpu, reference_times.cpu);
  print_ratio("cpu", cpu_ratios);
  print_ratio("wall", ratios(our_times.wall, reference_times.wall));
  return median(cpu_ratios);
}

}  // namespace pawl::bench
