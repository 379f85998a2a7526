// Verb: one subcommand of `pawl`, each in a file of its own.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <iosfwd>
#include <string_view>

#include "cli/cli.h"
#include "cli/exit_code.h"
#include "pawl/result.h"

namespace pawl::cli {

// What a verb does once its options are read.
using Action = std::function<ExitCode(const Surroundings&)>;

// Each adds its subcommand and, when that is the one given, sets `action`.
void add_apply(CLI::App& app, Action& action);
void add_backup(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_create(CLI::App& app, Action& action);
void add_dead(CLI::App& app, Action& action);
void add_discard(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_explain_rule(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_fire(CLI::App& app, Action& action);
void add_graph(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_init(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_log(CLI::App& app, Action& action);
void add_next(CLI::App& app, Action& action);
void add_orders(CLI::App& app, Action& action);
void add_pause(CLI::App& app, Action& action);
void add_pipe(CLI::App& app, Action& action);
void add_print(CLI::App& app, Action& action);
void add_restart(CLI::App& app, Action& action);
void add_restore(CLI::App& app, Action& action);
void add_schema(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_tail(CLI::App& app, Action& action);
void add_token(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_unpause(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);
void add_why(CLI::App& app, Action& action);
void add_work(CLI::App& app, Action& action);

// Writes `pawl: <where>:<line>:<column>: error: message`, with the line of `text` and a caret under
// the column; returns the exit code.
ExitCode report(const Error& error, std::string_view where, std::string_view text,
                std::ostream& err);

// A script whose variable is empty must not be read as if the option had not been given.
CLI::Validator not_empty();

// For what CLI11 cannot know: options that do not go together.
ExitCode report_usage(std::string_view message, std::string_view verb, std::ostream& err);

}  // namespace pawl::cli
