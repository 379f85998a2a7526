// Rules of RFC 5545: whatever is accepted prints and reads back equal, answers within the bound,
// and rises.
#include <cstdint>
#include <string_view>

#include "calendar/english.h"
#include "calendar/recurrence_text.h"
#include "check_next.h"
#include "pawl/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  if (size < fuzz::kPlanBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + fuzz::kPlanBytes,
                              size - fuzz::kPlanBytes);
  const auto read = parse_recurrence_text(text);
  if (!read) {
    PAWL_ASSERT(read.error().position && !read.error().message.empty(),
                "a mistake has a place and a message");
    return 0;
  }
  RecurrencePlan plan = fuzz::plan_from(data);
  plan.rrules = read->rrules;
  plan.rdates = read->rdates;
  plan.exdates = read->exdates;
  for (const Rrule& rule : plan.rrules) {
    const auto back = parse_rrule(to_text(rule));
    PAWL_ASSERT(back && *back == rule, "a printed rule reads back equal");
    static_cast<void>(in_english(rule, plan.start));
  }
  const auto recurrence = Recurrence::make(plan);
  if (recurrence) fuzz::check_next(*recurrence, plan);
  return 0;
}
