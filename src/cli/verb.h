// Verb: one subcommand of `pawl`, each in a file of its own.
#pragma once

#include <functional>
#include <iosfwd>
#include <string_view>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "pawl/result.h"

namespace pawl::cli {

// What a verb does once its options are read.
using Action = std::function<ExitCode(const Surroundings&)>;

// Each adds its subcommand and, when that is the one given, sets `action`.
void add_apply(Command& app, Action& action);
void add_backup(Command& app, Action& action);
void add_bench(Command& app, Action& action);
void add_check(Command& app, Action& action);
void add_create(Command& app, Action& action);
void add_dead(Command& app, Action& action);
void add_discard(Command& app, Action& action);
void add_doctor(Command& app, Action& action);
void add_explain(Command& app, Action& action);
void add_explain_rule(Command& app, Action& action);
void add_export(Command& app, Action& action);
void add_fire(Command& app, Action& action);
void add_graph(Command& app, Action& action);
void add_import(Command& app, Action& action);
void add_init(Command& app, Action& action);
void add_list(Command& app, Action& action);
void add_log(Command& app, Action& action);
void add_next(Command& app, Action& action);
void add_orders(Command& app, Action& action);
void add_pause(Command& app, Action& action);
void add_pipe(Command& app, Action& action);
void add_print(Command& app, Action& action);
void add_restart(Command& app, Action& action);
void add_restore(Command& app, Action& action);
void add_schema(Command& app, Action& action);
void add_serve(Command& app, Action& action);
void add_show(Command& app, Action& action);
void add_simulate(Command& app, Action& action);
void add_tail(Command& app, Action& action);
void add_token(Command& app, Action& action);
void add_top(Command& app, Action& action);
void add_unpause(Command& app, Action& action);
void add_validate(Command& app, Action& action);
void add_verify(Command& app, Action& action);
void add_version(Command& app, Action& action);
void add_why(Command& app, Action& action);
void add_work(Command& app, Action& action);

// Writes `pawl: <where>:<line>:<column>: error: message`, with the line of `text` and a caret under
// the column; returns the exit code.
ExitCode report(const Error& error, std::string_view where, std::string_view text,
                std::ostream& err);

// A script whose variable is empty must not be read as if the option had not been given.
Check not_empty();

// For what CLI11 cannot know: options that do not go together.
ExitCode report_usage(std::string_view message, std::string_view verb, std::ostream& err);

}  // namespace pawl::cli
