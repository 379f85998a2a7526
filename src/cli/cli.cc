#include "cli/cli.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

std::string exit_code_help() {
  std::string text = "Exit codes:";
  for (const auto& [code, meaning] : kExitCodes)
    text += "\n  " + std::to_string(static_cast<int>(code)) + "  " + std::string(meaning);
  return text;
}

// For the help: forty verbs in one list are too many.
using AddVerb = void (*)(Command&, Action&);
struct VerbGroup {
  const char* title;
  std::vector<AddVerb> verbs;
};
const VerbGroup kVerbGroups[] = {
    {"Start here", {add_init, add_apply, add_serve, add_work}},
    {"Use records", {add_create, add_fire, add_list, add_show, add_log, add_why}},
    {"Operate",
     {add_top, add_tail, add_dead, add_orders, add_restart, add_discard, add_pause, add_unpause,
      add_token}},
    {"Write and test machine files",
     {add_validate, add_explain, add_graph, add_simulate, add_check, add_print, add_schema}},
    {"Try out schedules", {add_next, add_explain_rule}},
    {"Pipes", {add_pipe}},
    {"Maintain a store", {add_doctor, add_verify, add_backup, add_restore, add_export, add_import}},
    {"About Pawl", {add_version, add_bench}},
};

// A function may add several verbs.
void add_in_group(Command& app, Action& action, const char* title, AddVerb add) {
  const auto& verbs = app.all_subcommands();
  const std::size_t before = verbs.size();
  add(app, action);
  for (std::size_t i = before; i < verbs.size(); ++i) verbs[i]->group(title);
}

std::string line_of(std::string_view text, int number) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int i = 0; i < number && std::getline(lines, line); ++i) {
  }
  return line;
}

}  // namespace

ExitCode report(const Error& error, std::string_view where, std::string_view text,
                std::ostream& err) {
  err << "pawl: ";
  if (!where.empty()) {
    err << where << ':';
    if (error.position) err << error.position->line << ':' << error.position->column << ':';
    err << ' ';
  }
  err << "error: " << printable(error.message) << '\n';
  if (!error.position || text.empty()) return exit_code_of(error.code);
  const std::string line = line_of(text, error.position->line);
  const auto before = static_cast<std::size_t>(std::max(error.position->column - 1, 0));
  err << "  " << printable(line) << "\n  "
      << std::string(printable(line.substr(0, std::min(before, line.size()))).size(), ' ') << "^\n";
  return exit_code_of(error.code);
}

ExitCode report_usage(std::string_view message, std::string_view verb, std::ostream& err) {
  err << "pawl: " << message << "\nRun 'pawl " << verb << (verb.empty() ? "" : " ")
      << "--help' for usage.\n";
  return ExitCode::usage;
}

Check not_empty() {
  return {[](const std::string& text) {
    return text.empty() ? std::string("the value is empty; give one or leave the option out") : "";
  }};
}

namespace {

// `pawl help VERB` is `pawl VERB --help`.
std::vector<std::string> with_help_as_option(std::span<const std::string> arguments) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

}  // namespace

ExitCode run(std::span<const std::string> arguments, const Surroundings& surroundings) {
  Command app{
      "Pawl, a durable state-machine engine: records move through states, and none is lost.",
      "pawl"};
  app.set_version_flag("--version", "pawl " PAWL_VERSION);
  app.require_subcommand(0, 1);
  Action action;
  for (const VerbGroup& group : kVerbGroups)
    for (const AddVerb add : group.verbs) add_in_group(app, action, group.title, add);
  app.footer("Run 'pawl VERB --help' for the options of a verb, with examples.\n\n" +
             exit_code_help());  // not before: verbs would have it too
  const Parsed parsed = app.parse(with_help_as_option(arguments), surroundings.out);
  if (parsed.is_answered) return ExitCode::ok;
  if (parsed.misuse) return report_usage(*parsed.misuse, parsed.verb, surroundings.err);
  if (!action) {
    surroundings.err << app.help();
    return ExitCode::usage;
  }
  try {
    return action(surroundings);
  } catch (
      const std::exception& unexpected) {  // of the standard library: no memory, a strange path
    return report({ErrorCode::environment, unexpected.what()}, "", "", surroundings.err);
  }
}

}  // namespace pawl::cli
