// pawl simulate: plays the scenarios of machines on a virtual clock.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/machine_files.h"
#include "cli/played_stories.h"
#include "cli/verb.h"
#include "model/script.h"
#include "simulate/player.h"

namespace pawl::cli {
namespace {

struct SimulateOptions {
  std::vector<std::string> paths;
  std::vector<std::string> scenarios;
  std::string script;
  bool json = false;
  bool gantt = false;
  bool quiet = false;
};

// A scenario, and whose it is.
struct Story {
  std::string path;
  std::string machine;
  Scenario scenario;
};

std::vector<Story> stories_of(const std::vector<MachineFile>& files) {
  std::vector<Story> stories;
  for (const MachineFile& file : files)
    for (const Scenario& scenario : file.read.machine->definition().scenarios)
      stories.push_back({file.path, file.read.machine->name(), scenario});
  return stories;
}

// Of all stories those that are asked for.
Result<std::vector<Story>> named_stories(const std::vector<Story>& all,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> titles;
  for (const Story& story : all) titles.push_back(story.scenario.title);
  for (const std::string& name : names)
    if (std::find(titles.begin(), titles.end(), name) == titles.end())
      return Error{ErrorCode::bad_input,
                   "no scenario is named " + in_quotes(name) + did_you_mean(name, titles)};
  std::vector<Story> named;
  for (const Story& story : all)
    if (std::find(names.begin(), names.end(), story.scenario.title) != names.end())
      named.push_back(story);
  return named;
}

std::optional<Story> read_script_file(const std::string& path, const Machine& machine,
                                      const Zones& zones, const Surroundings& surroundings,
                                      ExitCode& code) {
  const auto text = read_text_file(path);
  if (!text) {
    code = report(text.error(), "", "", surroundings.err);
    return std::nullopt;
  }
  ReadScript read = read_script(*text, machine, zones);
  report_findings(path, *text, read.findings, surroundings);
  if (!read.scenario) {
    code = ExitCode::wrong;
    return std::nullopt;
  }
  read.scenario->title = path;
  return Story{path, machine.name(), *std::move(read.scenario)};
}

// What the options ask for; sets `code` when that is nothing.
std::vector<Story> chosen_stories(const SimulateOptions& options,
                                  const std::vector<MachineFile>& files, const Zones& zones,
                                  const Surroundings& surroundings, ExitCode& code) {
  if (!options.script.empty()) {
    const Machine& first = *files.front().read.machine;
    const auto story = read_script_file(options.script, first, zones, surroundings, code);
    return story ? std::vector<Story>{*story} : std::vector<Story>{};
  }
  std::vector<Story> all = stories_of(files);
  if (all.empty()) {
    code = report_usage("none of these files has `scenarios`: add some, or give --script FILE",
                        "simulate", surroundings.err);
    return {};
  }
  if (options.scenarios.empty()) return all;
  auto named = named_stories(all, options.scenarios);
  if (named) return *std::move(named);
  code = report(named.error(), "--scenario", "", surroundings.err);
  return {};
}

// The machines of a world: each good, each once, none that they create missing.
bool is_a_world(std::vector<MachineFile>& files, const Surroundings& surroundings, ExitCode& code) {
  find_unknown_machines(files, Diagnostic::Severity::error);
  for (const MachineFile& file : files) {
    if (file.unreadable) code = report(*file.unreadable, "", "", surroundings.err);
    if (file.unreadable || is_good(file)) continue;
    report_findings(file, surroundings);
    if (code == ExitCode::ok) code = ExitCode::wrong;
  }
  if (code != ExitCode::ok) return false;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (files[i].read.machine->name() == files[j].read.machine->name()) {
        code = report({ErrorCode::bad_input,
                       files[j].path + " and " + files[i].path + " both define the machine `" +
                           files[i].read.machine->name() + "`; give only one"},
                      "", "", surroundings.err);
        return false;
      }
  return true;
}

ExitCode simulate(const SimulateOptions& options, const Surroundings& surroundings) {
  if (!options.script.empty() && !options.scenarios.empty())
    return report_usage("give --scenario or --script, not both", "simulate", surroundings.err);
  auto files = load_machine_files(options.paths);
  const auto zones = Zones::open();
  if (!files) return report(files.error(), "", "", surroundings.err);
  if (!zones) return report(zones.error(), "", "", surroundings.err);
  ExitCode code = ExitCode::ok;
  if (!is_a_world(*files, surroundings, code)) return code;
  std::vector<std::shared_ptr<const Machine>> machines;
  for (const MachineFile& file : *files) machines.push_back(file.read.machine);
  std::vector<PlayedStory> stories;
  for (const Story& story : chosen_stories(options, *files, *zones, surroundings, code))
    stories.push_back({story.path, play(story.scenario, story.machine, machines, *zones)});
  if (code != ExitCode::ok) return code;
  if (options.json) {
    print_json(stories, options.gantt, surroundings.out);
  } else if (options.gantt) {
    print_gantt(stories, surroundings.out);
  } else {
    print_timelines(stories, options.quiet, surroundings.out);
  }
  return passed_of(stories) == stories.size() ? ExitCode::ok : ExitCode::wrong;
}

}  // namespace

void add_simulate(Command& app, Action& action) {
  auto options = std::make_shared<SimulateOptions>();
  Command* verb = app.add_subcommand(
      "simulate", "Run the scenarios of machines on a virtual clock and check the outcome");
  verb->add_option("FILE", options->paths, "machine files; they are simulated together")
      ->required();
  verb->add_option("--scenario", options->scenarios,
                   "run only the scenario with this name; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  verb->add_option("--script", options->script, "run the scenario in this file instead")
      ->type_name("FILE");
  verb->add_flag("--gantt", options->gantt,
                 "print a Mermaid Gantt chart of each scenario instead of its timeline");
  verb->add_flag("--quiet", options->quiet, "print no timelines");
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer(
      "Examples:\n"
      "  pawl simulate machines/order.yaml machines/parcel.yaml\n"
      "  pawl simulate machines/parcel.yaml --script my_steps.yaml --gantt > parcel.mmd");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return simulate(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
