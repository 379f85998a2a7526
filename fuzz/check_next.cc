#include "check_next.h"

#include "calendar/zone.h"
#include "pawl/assert.h"
#include "pawl/zones.h"

namespace pawl::fuzz {

RecurrencePlan plan_from(const std::uint8_t* bytes) {
  static const Zones zones = *Zones::open();
  constexpr const char* kZones[] = {
      "UTC",           "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
      "Europe/Dublin", "Africa/Cairo",     "Asia/Kathmandu",      "Antarctica/Troll"};
  const std::int64_t day = (bytes[0] | bytes[1] << 8) - 10'000;
  const std::int64_t second = (bytes[2] | bytes[3] << 8) * 86'400LL / 65'536;
  RecurrencePlan plan{.start = {LocalSeconds{std::chrono::seconds{day * 86'400 + second}}},
                      .zone = *zones.find(kZones[bytes[4] % 8])};
  if (bytes[5] % 8 == 7) plan.start = {std::chrono::floor<std::chrono::days>(plan.start.at), true};
  if ((bytes[5] >> 3) % 3 == 1) plan.gap = Gap::shift;
  if ((bytes[5] >> 3) % 3 == 2) plan.gap = Gap::skip;
  if ((bytes[5] >> 5) % 4 != 3) plan.fold = static_cast<Fold>((bytes[5] >> 5) % 4);
  return plan;
}

void check_next(const Recurrence& recurrence, const RecurrencePlan& plan) {
  Instant after = plan.zone.to_instant(plan.start.at) - std::chrono::days{2};
  for (int i = 0; i < 20; ++i) {
    const auto found = recurrence.next(after);
    if (!found) return;
    PAWL_ASSERT(found->at > after, "results strictly rise");
    const Instant between = after + (found->at - after) / 2;
    const auto again = recurrence.next(between);
    PAWL_ASSERT(again && again->at == found->at,
                "the answer does not depend on where the search begins");
    after = found->at;
  }
  static_cast<void>(recurrence.next(kInstantMax - std::chrono::days{800}));
}

}  // namespace pawl::fuzz
