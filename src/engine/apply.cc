#include "engine/apply.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "base/text.h"
#include "decide/migrate.h"
#include "engine/machines.h"
#include "model/built_in_names.h"
#include "model/read_machine.h"
#include "model/sites.h"

namespace pawl {
namespace {

using Severity = Diagnostic::Severity;

// One file on its way to a version.
struct File {
  AppliedMachine& out;
  std::shared_ptr<const Machine> machine = {};  // null while it has errors

  void add(Severity severity, std::string_view id, const Where& at, std::string message) const {
    const Position position = at.position.line > 0 ? at.position : Position{1, 1};
    out.findings.push_back({severity, id, position, std::move(message)});
  }
};

class Planner {
 public:
  Planner(Store& store, const Zones& zones, const Guards& guards, const OwnNames& own,
          const ApplyOptions& options)
      : store_(store), zones_(zones), guards_(guards), own_(own), options_(options) {}

  Result<ApplyPlan> plan(std::span<const MachineText> texts) {
    PAWL_TRY(const std::vector<StoredMachine> stored, store_.machines());
    for (const StoredMachine& one : stored) versions_[one.name].push_back(one.version);
    plan_.applied.machines.reserve(texts.size());
    std::vector<File> files;
    for (const MachineText& text : texts)
      files.push_back({plan_.applied.machines.emplace_back(
          AppliedMachine{.path = text.path, .text = text.text})});
    for (File& file : files) PAWL_CHECK(read(file));
    check_names(files);
    for (File& file : files)
      if (file.out.is_new && file.machine) PAWL_CHECK(touch(file));
    for (File& file : files) {
      auto& findings = file.out.findings;
      std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
        return std::pair(a.position.line, a.position.column) <
               std::pair(b.position.line, b.position.column);
      });
    }
    for (File& file : files) {
      if (!file.out.is_new || !file.machine) continue;
      plan_.stored.push_back({file.out.machine, file.out.version, file.out.text});
      plan_.machines.push_back(std::move(file.machine));
    }
    return std::move(plan_);
  }

 private:
  // The file as the version that it becomes.
  Result<void> read(File& file) {
    Diagnostics diagnostics;
    auto definition = read_definition(file.out.text, diagnostics);
    if (!definition) {
      file.out.findings = diagnostics.sorted();
      return {};
    }
    file.out.machine = definition->machine;
    const std::optional<int> stated = definition->version;
    if (const auto known = versions_.find(definition->machine); known != versions_.end())
      file.out.version_before = known->second.back();
    definition->version = stated.value_or(file.out.version_before + 1);
    file.machine = Machine::make(*std::move(definition), zones_, diagnostics, guards_);
    file.out.findings = diagnostics.sorted();
    if (!file.machine) return {};
    file.out.version = file.machine->version();
    return choose_version(file, file.machine->definition(), stated);
  }

  // A version never changes, and new ones come behind.
  Result<void> choose_version(File& file, Definition definition, std::optional<int> stated) {
    AppliedMachine& out = file.out;
    out.is_new = true;
    if (out.version_before == 0) return {};
    const int compared = stated.value_or(out.version_before);
    const auto& all = versions_[out.machine];
    if (std::find(all.begin(), all.end(), compared) != all.end()) {
      PAWL_TRY(const auto stored, store_.machine(out.machine, compared));
      PAWL_TRY(const auto there, read_stored_machine(*stored, zones_, guards_));
      definition.version = compared;
      Definition other = there->definition();
      other.version = compared;
      out.is_new = !(other == definition);
      if (!out.is_new) out.version = compared;
    }
    if (!stated) return {};
    if (out.is_new && compared <= out.version_before) {
      const bool is_there = std::find(all.begin(), all.end(), compared) != all.end();
      file.add(
          Severity::error, is_there ? "version_taken" : "version_behind", definition.at,
          "version " + std::to_string(compared) + " of " + in_ticks(out.machine) +
              (is_there ? " already exists with other content, and a version never changes"
                        : " is older than the newest one, " + std::to_string(out.version_before)) +
              "; write version " + std::to_string(out.version_before + 1) +
              ", or leave `version` out");
    } else if (!out.is_new && compared < out.version_before) {
      file.add(Severity::error, "version_behind", definition.at,
               "version " + std::to_string(compared) + " of " + in_ticks(out.machine) +
                   " was applied before version " + std::to_string(out.version_before) +
                   "; write version " + std::to_string(out.version_before + 1) +
                   " to go back to it");
    }
    return {};
  }

  // Machines and channels that effects name.
  void check_names(std::vector<File>& files) {
    std::set<std::string> here;
    for (const File& file : files)
      if (!file.out.machine.empty() && !here.insert(file.out.machine).second)
        file.add(Severity::error, "machine_twice", {},
                 "another of these files also defines the machine " + in_ticks(file.out.machine) +
                     "; apply only one");
    std::vector<std::string> known(here.begin(), here.end());
    for (const auto& [name, versions] : versions_) known.push_back(name);
    for (const File& file : files)
      if (file.machine) check_names(file, known);
  }

  void check_names(const File& file, const std::vector<std::string>& known) {
    const Definition& definition = file.machine->definition();
    const auto look = [&](const EffectRow& effect) {
      const std::string& name = effect.target.name;
      if (effect.verb == EffectRow::Verb::notify) check_channel(file, name, effect.target.at);
      if (effect.verb != EffectRow::Verb::create || is_built_in(name) ||
          std::find(known.begin(), known.end(), name) != known.end())
        return;
      file.add(Severity::error, "unknown_machine", effect.target.at,
               "there is no machine " + in_ticks(name) + did_you_mean(name, known) +
                   "; apply its file as well");
    };
    for (const State& state : definition.states)
      std::for_each(state.effects.begin(), state.effects.end(), look);
    for_each_rows(definition, [&](const RowsAt&, const Rows& rows) {
      for (const Row& row : rows) {
        std::for_each(row.effects.begin(), row.effects.end(), look);
        if (!row.alert.empty()) check_channel(file, row.alert, row.at);
      }
    });
    for (const Task& task : definition.tasks) {
      if (task.kind == Task::Kind::channel) check_channel(file, task.target, task.at);
      if (task.kind == Task::Kind::function) check_function(file, task);
      if (task.kind == Task::Kind::http && !own_.makes_calls)
        file.add(Severity::warning, "no_calls", task.at,
                 "this process makes no HTTP calls; " + in_ticks(task.name) +
                     " waits for a process that does, such as `pawl serve`");
    }
  }

  void check_channel(const File& file, const std::string& name, const Where& at) {
    if (own_.channels.contains(name) || !said_.insert(file.out.path + "/" + name).second) return;
    file.add(options_.channels_elsewhere ? Severity::warning : Severity::error, "unknown_channel",
             at,
             "this process has no channel " + in_ticks(name) +
                 did_you_mean(name, listed(own_.channels)) +
                 (options_.channels_elsewhere ? "; deliveries wait for a process that has it"
                                              : "; configure a channel with that name"));
  }

  // A warning: a file may be applied by a process that carries nothing out.
  void check_function(const File& file, const Task& task) const {
    if (own_.functions.contains(task.target)) return;
    file.add(Severity::warning, "unknown_function", task.at,
             "this process has no function " + in_ticks(task.target) +
                 did_you_mean(task.target, listed(own_.functions)) +
                 "; the task waits for a process that has it");
  }

  static std::vector<std::string> listed(const std::set<std::string>& names) {
    return {names.begin(), names.end()};
  }

  // --- live records

  Result<void> touch(File& file) {
    if (file.out.version_before == 0) return {};
    std::map<int, std::shared_ptr<const Machine>> older;
    for (const int version : versions_[file.out.machine]) {
      PAWL_TRY(const auto stored, store_.machine(file.out.machine, version));
      PAWL_TRY(older[version], read_stored_machine(*stored, zones_, guards_));
    }
    PAWL_TRY(const Counts counts, store_.counts());
    for (const StateCount& count : counts.states)
      if (count.machine == file.out.machine && count.records > 0)
        PAWL_CHECK(touch(file, older, count));
    report_stranded(file, older);
    return {};
  }

  // Records in one state: counted one by one only where their versions have different fates.
  Result<void> touch(File& file, const std::map<int, std::shared_ptr<const Machine>>& older,
                     const StateCount& count) {
    std::vector<Touched> fates;
    for (const auto& [version, machine] : older) {
      const auto state = machine->find_state(count.state);
      if (!state || machine->state(*state).final) continue;
      fates.push_back(fate_of(*file.machine, *machine, machine->state(*state)));
    }
    if (fates.empty()) return {};  // they are over
    const bool is_one = std::all_of(fates.begin(), fates.end(), [&](const Touched& other) {
      return other.fate == fates[0].fate && other.to == fates[0].to &&
             other.fate != Touched::Fate::stranded;
    });
    if (is_one) {
      fates[0].version = fates.size() == 1 ? fates[0].version : 0;
      fates[0].records = count.records;
      file.out.touched.push_back(fates[0]);
      return {};
    }
    std::map<int, std::int64_t> by_version;
    Cursor from;
    do {
      PAWL_TRY(
          const Page<Record> page,
          store_.list({.machine = count.machine, .state = count.state, .max = kPageMax}, from));
      for (const Record& record : page.items) ++by_version[record.version];
      from = page.next;
    } while (!from.empty());
    for (Touched& fate : fates) {
      fate.records = by_version[fate.version];
      if (fate.records > 0) file.out.touched.push_back(fate);
    }
    return {};
  }

  static Touched fate_of(const Machine& newest, const Machine& older, const State& state) {
    using Fate = Touched::Fate;
    Touched touched{.version = older.version(), .state = state.name};
    if (newest.definition().pin || older.definition().pin) {
      touched.fate = Fate::pinned;
    } else if (const auto to = state_in_newer(newest, older.version(), state)) {
      touched.to = newest.state(*to).name;
      touched.fate = touched.to == state.name ? Fate::follows : Fate::moves;
    } else {
      const bool is_mapped = mapping_from(newest, older.version()) != nullptr;
      touched.fate = is_mapped ? Fate::stranded : Fate::stays;
    }
    return touched;
  }

  static void report_stranded(const File& file,
                              const std::map<int, std::shared_ptr<const Machine>>& older) {
    for (const Touched& touched : file.out.touched) {
      if (touched.fate != Touched::Fate::stranded) continue;
      const Migration* line = mapping_from(*file.machine, older.at(touched.version)->version());
      file.add(Severity::error, "stranded_records", line->at,
               "`migrate` of version " + std::to_string(touched.version) + " leaves " +
                   counted(static_cast<std::size_t>(touched.records), "record") + " in " +
                   in_ticks(touched.state) + " without a state; name one: {states: {" +
                   touched.state + ": …}}");
    }
  }

  Store& store_;
  const Zones& zones_;
  const Guards& guards_;
  const OwnNames& own_;
  const ApplyOptions& options_;
  std::map<std::string, std::vector<int>> versions_;  // rising
  std::set<std::string> said_;                        // a channel once a file
  ApplyPlan plan_;
};

}  // namespace

std::string_view to_text(Touched::Fate fate) {
  using Fate = Touched::Fate;
  switch (fate) {
    case Fate::follows:
      return "follows";
    case Fate::moves:
      return "moves";
    case Fate::stays:
      return "stays";
    case Fate::pinned:
      return "pinned";
    case Fate::stranded:
      break;
  }
  return "stranded";
}

bool Applied::is_good() const {
  return std::all_of(machines.begin(), machines.end(), [](const AppliedMachine& one) {
    return std::none_of(one.findings.begin(), one.findings.end(), [](const Diagnostic& finding) {
      return finding.severity == Diagnostic::Severity::error;
    });
  });
}

Result<ApplyPlan> plan_apply(Store& store, const Zones& zones, const Guards& guards,
                             const OwnNames& own, std::span<const MachineText> files,
                             const ApplyOptions& options) {
  return Planner(store, zones, guards, own, options).plan(files);
}

}  // namespace pawl
