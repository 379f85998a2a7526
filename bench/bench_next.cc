// How fast is `next` after a random instant, beside libical (icalrecur_iterator_set_start) with the
// same answers, and does an old anchor cost more than a new one.
#include <libical/ical.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "calendar/recurrence.h"
#include "rounds.h"

namespace pawl::bench {
namespace {

constexpr std::int64_t kAnchorOld = 1'136'214'245;  // 2006-01-02T15:04:05Z, 20 years back
constexpr std::int64_t kAnchorNew =
    1'767'366'245;  // 2026-01-02T15:04:05Z: the old one 7,305 days later
constexpr std::int64_t kAsked =
    1'767'452'645;  // asked about the ten years after 2026-01-03T15:04:05Z
constexpr std::int64_t kAskedSpan = 10 * 365 * 86'400;

std::vector<std::int64_t> random_instants(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> instants(count);
  for (auto& instant : instants)
    instant = kAsked + static_cast<std::int64_t>(random() % kAskedSpan);
  return instants;
}

Recurrence make(const char* rule, std::int64_t anchor) {
  return *Recurrence::make({.start = {LocalSeconds{std::chrono::seconds{anchor}}},
                            .zone = Zone::utc(),
                            .rrules = {*parse_rrule(rule)}});
}

Contender ours(const std::string& name, const Recurrence& recurrence,
               const std::vector<std::int64_t>& asked) {
  return {
      name, [&recurrence, &asked] {
        std::uint64_t sum = 0;
        for (const std::int64_t after : asked) {
          sum += static_cast<std::uint64_t>(
              recurrence.next(Instant{std::chrono::seconds{after}})->at.time_since_epoch().count());
        }
        return sum;
      }};
}

// libical gives what is not before the start it is set to, so it is set to one second later.
Contender libical(const char* rule, const std::vector<std::int64_t>& asked) {
  return {
      "libical", [rule, &asked] {
        icaltimezone* utc = icaltimezone_get_utc_timezone();
        const icaltimetype start = icaltime_from_timet_with_zone(kAnchorOld, 0, utc);
        icalrecur_iterator* iterator =
            icalrecur_iterator_new(icalrecurrencetype_from_string(rule), start);
        std::uint64_t sum = 0;
        for (const std::int64_t after : asked) {
          icalrecur_iterator_set_start(iterator, icaltime_from_timet_with_zone(after + 1, 0, utc));
          sum += static_cast<std::uint64_t>(icaltime_as_timet(icalrecur_iterator_next(iterator)));
        }
        icalrecur_iterator_free(iterator);
        return sum;
      }};
}

int run() {
  struct Case {
    const char* rule;
    double faster_at_least;
    std::size_t operations;
  };
  constexpr double kOlderAtMost = 1.2;
  bool met = true;
  for (const auto& [rule, goal, operations] :
       {Case{"FREQ=HOURLY;INTERVAL=2", 5, 20'000}, Case{"FREQ=MONTHLY;BYDAY=-1FR", 3, 20'000}}) {
    const auto asked = random_instants(operations);
    const Recurrence old_anchor = make(rule, kAnchorOld);
    const double faster = compare(rule, ours("pawl", old_anchor, asked), libical(rule, asked),
                                  static_cast<std::int64_t>(operations));
    std::printf("  goal: at least %.0f x in CPU time: %s\n\n", goal,
                faster >= goal ? "met" : "MISSED");

    const auto more = random_instants(1'000'000);
    const Recurrence new_anchor = make(rule, kAnchorNew);
    const double older =
        compare(std::string(rule) + ", anchor of 20 years ago (reference) beside yesterday's",
                ours("anchor of yesterday", new_anchor, more),
                ours("anchor of 20 years ago", old_anchor, more), 1'000'000);
    std::printf("  goal: the old anchor costs at most %.1f x: %s\n\n", kOlderAtMost,
                older <= kOlderAtMost ? "met" : "MISSED");
    met = met && faster >= goal && older <= kOlderAtMost;
  }
  return met ? 0 : 1;
}

}  // namespace
}  // namespace pawl::bench

int main() { return pawl::bench::run(); }
