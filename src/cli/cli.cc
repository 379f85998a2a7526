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
  for (const auto& [code, meaning] : kExitCodes) {
    text += (code == ExitCode::ok ? " " : ", ") + std::to_string(static_cast<int>(code)) + " " +
            std::string(meaning);
  }
  return text + ".";
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
      << "--help' for its options.\n";
  return ExitCode::usage;
}

CLI::Validator not_empty() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("it is empty; give a value or leave the option out")
                                : "";
          },
          "", "not_empty"};
}

ExitCode run(std::span<const std::string> arguments, const Surroundings& surroundings) {
  CLI::App app{"Pawl: records move through states, and none is ever lost.", "pawl"};
  app.footer(exit_code_help());
  app.set_version_flag("--version", "pawl " PAWL_VERSION);
  app.require_subcommand(0, 1);
  Action action;
  add_validate(app, action);
  add_check(app, action);
  add_print(app, action);
  add_schema(app, action);
  add_graph(app, action);
  add_explain(app, action);
  add_simulate(app, action);
  add_next(app, action);
  add_explain_rule(app, action);
  add_serve(app, action);
  add_init(app, action);
  add_apply(app, action);
  add_create(app, action);
  add_fire(app, action);
  add_list(app, action);
  add_show(app, action);
  add_log(app, action);
  add_why(app, action);
  add_orders(app, action);
  add_restart(app, action);
  add_discard(app, action);
  add_pause(app, action);
  add_unpause(app, action);
  add_dead(app, action);
  add_work(app, action);
  add_verify(app, action);
  add_doctor(app, action);
  add_backup(app, action);
  add_restore(app, action);
  add_export(app, action);
  add_import(app, action);
  add_bench(app, action);
  add_version(app, action);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
    app.parse(reversed);
  } catch (const CLI::ParseError& wrong) {
    if (wrong.get_exit_code() == 0) {
      app.exit(wrong, surroundings.out, surroundings.err);
      return ExitCode::ok;
    }
    std::string verb;
    for (auto given = app.get_subcommands(); !given.empty();
         given = given.front()->get_subcommands())
      verb += (verb.empty() ? "" : " ") + given.front()->get_name();
    return report_usage(wrong.what(), verb, surroundings.err);
  }
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
