// pawl check: does every run of failures end?
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/text.h"
#include "check/check.h"
#include "check/check_text.h"
#include "cli/machine_files.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct CheckVerbOptions {
  std::vector<std::string> paths;
  std::string data;
  std::string scenario;
  bool json = false;
};

struct CheckedFile {
  std::string path;
  std::string machine;
  CheckedMachine checked;
};

// All that is wrong with the files is said before any of them is checked.
ExitCode report_bad_files(const std::vector<MachineFile>& files, const Surroundings& surroundings) {
  ExitCode code = ExitCode::ok;
  for (const MachineFile& file : files) {
    if (file.unreadable) {
      code = report(*file.unreadable, "", "", surroundings.err);
    } else if (!file.read.machine) {
      report_findings(file, surroundings);
      if (code == ExitCode::ok) code = ExitCode::wrong;
    }
  }
  return code;
}

bool has(const CheckedMachine& checked, StateVerdict::Kind kind) {
  return std::any_of(checked.states.begin(), checked.states.end(),
                     [&](const StateVerdict& verdict) { return verdict.kind == kind; });
}

ExitCode worst_verdict(const std::vector<CheckedFile>& files) {
  const auto any = [&](StateVerdict::Kind kind) {
    return std::any_of(files.begin(), files.end(),
                       [&](const CheckedFile& file) { return has(file.checked, kind); });
  };
  if (any(StateVerdict::Kind::never_ends)) return ExitCode::wrong;
  return any(StateVerdict::Kind::undecided) ? ExitCode::undecided : ExitCode::ok;
}

void print_json(const std::vector<CheckedFile>& files, std::ostream& out) {
  Json all = Json::list({});
  for (const CheckedFile& file : files) {
    Json json = Json::map({{"file", file.path}, {"machine", file.machine}});
    for (JsonMember& member : to_json(file.checked).members) json.members.push_back(member);
    all.items.push_back(std::move(json));
  }
  out << to_text(Json::map({{"files", std::move(all)}})) << '\n';
}

void print_lines(const std::vector<CheckedFile>& files, std::ostream& out) {
  for (const CheckedFile& file : files)
    out << to_text(file.checked) << file.path << ": " << summary_text(file.checked) << '\n';
}

// Nothing but the scenario of one state, for `pawl simulate --script`.
ExitCode print_scenario(const std::vector<CheckedFile>& files, const std::string& state,
                        const Surroundings& surroundings) {
  for (const CheckedFile& file : files)
    for (const StateVerdict& verdict : file.checked.states) {
      if (verdict.state != state || !verdict.example) continue;
      surroundings.out << script_text(*verdict.example);
      return ExitCode::ok;
    }
  return report({ErrorCode::bad_input, "there is no counter-example for " + in_ticks(state)},
                "--scenario", "", surroundings.err);
}

ExitCode check(const CheckVerbOptions& options, const Surroundings& surroundings) {
  if (!options.data.empty() && options.paths.size() > 1)
    return report_usage("--data applies to one machine: give a single file", "check",
                        surroundings.err);
  const auto files = load_machine_files(options.paths);
  if (!files) return report(files.error(), "", "", surroundings.err);
  if (const ExitCode code = report_bad_files(*files, surroundings); code != ExitCode::ok)
    return code;
  CheckOptions given;
  if (!options.data.empty()) given.data = options.data;
  for (const MachineFile& file : *files) given.others.push_back(file.read.machine.get());
  std::vector<CheckedFile> checked;
  for (const MachineFile& file : *files) {
    auto one = check_failures(*file.read.machine, given);
    if (!one)
      return report(one.error(), options.data.empty() ? file.path : "--data", "", surroundings.err);
    checked.push_back({file.path, file.read.machine->name(), *std::move(one)});
  }
  if (!options.scenario.empty()) return print_scenario(checked, options.scenario, surroundings);
  if (options.json) {
    print_json(checked, surroundings.out);
  } else {
    print_lines(checked, surroundings.out);
  }
  return worst_verdict(checked);
}

}  // namespace

void add_check(Command& app, Action& action) {
  auto options = std::make_shared<CheckVerbOptions>();
  Command* verb =
      app.add_subcommand("check", "Find failure loops that never end, and show how each happens");
  verb->add_option("FILE", options->paths, "machine files; they may refer to each other")
      ->required();
  verb->add_option("--data", options->data, "data of the record, for conditions that read it")
      ->type_name("JSON");
  verb->add_option("--scenario", options->scenario,
                   "print only the counter-example of this state, as a script for `pawl simulate`")
      ->type_name("STATE");
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl check machines/order.yaml --data '{\"amount\": 0}'");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return check(*options, surroundings); };
  });
}

}  // namespace pawl::cli
