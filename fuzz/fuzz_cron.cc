// Cron expressions: whatever is accepted answers within the bound, and rises.
#include <cstdint>
#include <string_view>

#include "calendar/english.h"
#include "check_next.h"
#include "pawl/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  if (size < fuzz::kPlanBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + fuzz::kPlanBytes,
                              size - fuzz::kPlanBytes);
  const auto cron = parse_cron(text);
  if (!cron) {
    PAWL_ASSERT(cron.error().position && !cron.error().message.empty(),
                "a mistake has a place and a message");
    return 0;
  }
  static_cast<void>(in_english(*cron));
  RecurrencePlan plan = fuzz::plan_from(data);
  plan.crons = {*cron};
  const auto recurrence = Recurrence::make(plan);
  if (recurrence) fuzz::check_next(*recurrence, plan);
  return 0;
}
