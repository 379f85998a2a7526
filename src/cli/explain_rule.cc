// pawl explain-rule: a rule in English.
#include <iostream>
#include <memory>

#include "base/json_text.h"
#include "calendar/english.h"
#include "cli/rule_options.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct ExplainOptions {
  RuleOptions rule;
  bool json = false;
};

std::string english_of(const RecurrencePlan& plan) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : "; and: ") + sentence;
  };
  for (const Rrule& rule : plan.rrules) add(in_english(rule, plan.start));
  for (const Cron& cron : plan.crons) add(in_english(cron));
  if (!plan.rdates.empty())
    text += "; and at " + std::to_string(plan.rdates.size()) + " further time(s)";
  if (!plan.exdates.empty()) text += "; except " + std::to_string(plan.exdates.size()) + " time(s)";
  return text + " (" + std::string(plan.zone.name()) + ").";
}

std::string clock_changes_of(const RecurrencePlan& plan) {
  const bool daily =
      plan.crons.empty() ? plan.rrules.front().freq >= Freq::daily : !plan.crons.front().hourly;
  return in_english(plan.gap.value_or(daily ? Gap::shift : Gap::skip),
                    plan.fold.value_or(daily ? Fold::first : Fold::both)) +
         ".";
}

ExitCode explain(const ExplainOptions& options, const Surroundings& surroundings) {
  const PlanOrExit read =
      read_plan(options.rule, "explain-rule", surroundings.now(), surroundings.err);
  if (!read.plan) return read.code;
  if (const auto recurrence = Recurrence::make(*read.plan); !recurrence)
    return report(recurrence.error(), "rule", "", surroundings.err);
  const std::string english = english_of(*read.plan);
  const bool has_rule = !read.plan->rrules.empty() || !read.plan->crons.empty();
  const bool changes_clocks = read.plan->zone.name() != "UTC" && has_rule;
  if (options.json) {
    surroundings.out << "{\"english\":" << json_string(english) << "}\n";
    return ExitCode::ok;
  }
  surroundings.out << english << '\n';
  if (changes_clocks) surroundings.out << clock_changes_of(*read.plan) << '\n';
  return ExitCode::ok;
}

}  // namespace

void add_explain_rule(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* verb = app.add_subcommand("explain-rule", "Say in English when a rule fires");
  add_rule_options(*verb, options->rule);
  verb->add_flag("--json", options->json, "one JSON object");
  verb->footer(
      "Example:\n"
      "  pawl explain-rule --rrule 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1' --dtstart 2026-01-01T09:00:00");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return explain(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
