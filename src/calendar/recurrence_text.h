// RecurrenceText: the lines of iCalendar that make a recurrence: DTSTART, RRULE, RDATE, EXDATE.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calendar/rrule.h"
#include "pawl/result.h"

namespace pawl {

struct RecurrenceText {
  std::optional<CalendarTime> start;
  std::optional<std::string> tzid;
  std::vector<Rrule> rrules;
  std::vector<CalendarTime> rdates;
  std::vector<CalendarTime> exdates;
};

// Reads such lines, or a bare rule `FREQ=…`. Positions count in the unfolded text.
Result<RecurrenceText> parse_recurrence_text(std::string_view text);

// The text with lines joined that iCalendar has folded: one that begins with a blank continues the
// one before it (RFC 5545, 3.1).
std::string unfold(std::string_view text);

}  // namespace pawl
