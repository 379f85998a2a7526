// The options that say which rule: shared by the verbs that ask about one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calendar/recurrence.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/verb.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::cli {

// As given, not yet read.
struct RuleOptions {
  std::vector<std::string> rrules;
  std::vector<std::string> rdates;
  std::vector<std::string> exdates;
  std::string cron;
  std::string dtstart;
  std::string tz;
  std::string gap;
  std::string fold;
};

void add_rule_options(Command& verb, RuleOptions& options);

// Reads the options into a plan and its recurrence; without DTSTART the rule starts at `now`. When
// they are wrong, reports it to `err` and gives the exit code instead.
struct PlanOrExit {
  std::optional<RecurrencePlan> plan;
  std::optional<Recurrence> recurrence;
  ExitCode code = ExitCode::ok;
};
PlanOrExit read_plan(const RuleOptions& options, std::string_view verb, Instant now,
                     std::ostream& err);

}  // namespace pawl::cli
