// The words of closed lists, as logs and JSON have them.
#include "pawl/record.h"
#include "pawl/stimulus.h"

namespace pawl {

std::string_view to_text(Entry::Kind kind) {
  switch (kind) {
    case Entry::Kind::created:
      return "created";
    case Entry::Kind::event:
      return "event";
    case Entry::Kind::started:
      return "started";
    case Entry::Kind::done:
      return "done";
    case Entry::Kind::failed:
      return "failed";
    case Entry::Kind::timed_out:
      return "timed_out";
    case Entry::Kind::gave_up:
      return "gave_up";
    case Entry::Kind::rewound:
      return "rewound";
    case Entry::Kind::resumed:
      return "resumed";
    case Entry::Kind::timer:
      return "timer";
    case Entry::Kind::schedule:
      return "schedule";
    case Entry::Kind::when:
      return "when";
    case Entry::Kind::operator_:
      return "operator";
    case Entry::Kind::migrated:
      return "migrated";
    case Entry::Kind::compacted:
      return "compacted";
    case Entry::Kind::erased:
      return "erased";
  }
  return "";
}

std::string_view to_text(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::ok:
      return "ok";
    case Answer::Kind::refused:
      return "refused";
    case Answer::Kind::stale:
      return "stale";
    case Answer::Kind::duplicate:
      return "duplicate";
    case Answer::Kind::none:
      return "none";
    case Answer::Kind::error:
      return "error";
  }
  return "";
}

}  // namespace pawl
