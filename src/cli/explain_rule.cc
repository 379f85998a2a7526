// pawl explain-rule: a rule in English.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "calendar/english.h"
#include "cli/rule_options.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct ExplainRuleOptions {
  RuleOptions rule;
  bool json = false;
};

std::string times(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " time" : " times");
}

std::string english_of(const RecurrencePlan& plan) {
  std::vector<std::string> sentences;
  for (const Rrule& rule : plan.rrules) sentences.push_back(in_english(rule, plan.start));
  for (const Cron& cron : plan.crons) sentences.push_back(in_english(cron));
  if (!plan.rdates.empty())
    sentences.push_back("At " + times(plan.rdates.size()) + " given by RDATE");
  std::string text = join(sentences, "; ", "; ");
  if (!plan.exdates.empty()) text += "; except " + times(plan.exdates.size()) + " given by EXDATE";
  return text + " (" + std::string(plan.zone.name()) + ").";
}

// What clock changes do to each kind of rule there is; nothing in a zone without any.
std::string clock_changes_of(const RecurrencePlan& plan) {
  if (plan.zone.span_at(ZoneSpan::kBegin).end == ZoneSpan::kEnd) return "";
  std::vector<std::string> sentences;
  const auto add = [&](bool daily) {
    const ClockRule clock = clock_rule(plan, daily);
    sentences.push_back(in_english(clock.gap, clock.fold) + ".");
  };
  for (const Rrule& rule : plan.rrules) add(rule.freq >= Freq::daily);
  for (const Cron& cron : plan.crons) add(!cron.hourly);
  sort_unique(sentences);
  return join(sentences, "\n", "\n");
}

ExitCode explain_rule(const ExplainRuleOptions& options, const Surroundings& surroundings) {
  const PlanOrExit read =
      read_plan(options.rule, "explain-rule", surroundings.now(), surroundings.err);
  if (!read.plan) return read.code;
  const std::string english = english_of(*read.plan);
  const std::string clock_changes = clock_changes_of(*read.plan);
  if (options.json) {
    surroundings.out << "{\"english\":" << json_string(english)
                     << ",\"clock_changes\":" << json_string(clock_changes) << "}\n";
    return ExitCode::ok;
  }
  surroundings.out << english << '\n';
  if (!clock_changes.empty()) surroundings.out << clock_changes << '\n';
  return ExitCode::ok;
}

}  // namespace

void add_explain_rule(Command& app, Action& action) {
  auto options = std::make_shared<ExplainRuleOptions>();
  Command* verb =
      app.add_subcommand("explain-rule", "Explain in English when a schedule rule fires");
  add_rule_options(*verb, options->rule);
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer(
      "Example:\n"
      "  pawl explain-rule --rrule 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1' --dtstart 2026-01-01T09:00:00");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return explain_rule(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
