// Policies in English: what is accepted is said again in full and reads back equal; what is not has
// a finding.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "model/policy_english.h"
#include "pawl/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Where where = {{3, 5}, 6};
  Diagnostics diagnostics;
  const auto policy = parse_policy_english(text, where, diagnostics);
  PAWL_ASSERT(policy.has_value() == !diagnostics.has_errors(), "no policy without a reason");
  for (const Diagnostic& finding : diagnostics.sorted()) {
    PAWL_ASSERT(finding.position.line == 3 && finding.position.column >= 5 &&
                    finding.position.column <= 6 + static_cast<int>(size),
                "a finding has a place in the text");
    PAWL_ASSERT(!finding.message.empty() && !finding.id.empty(), "a finding says what");
  }
  if (!policy) return 0;
  const PolicyInEnglish told = in_english(*policy);
  PAWL_ASSERT(told.unsaid.empty(), "what was read can be said");
  Diagnostics none;
  const auto back = parse_policy_english(join(told.lines, "\n", "\n"), where, none);
  PAWL_ASSERT(back && *back == *policy, "what is said reads back equal");
  return 0;
}
