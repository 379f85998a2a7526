// Every scenario of the machines that come with Pawl, played in the simulator and, with the same
// stimuli at the same instants, on the engine: the same logs, line by line, and the same end.
//
// Records are compared by machine and key, since the engine gives ids to deliveries as well; side
// jobs, whose keys are made of ids, in the order they were made.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <string_view>

#include "decide/consequences.h"
#include "gtest/gtest.h"
#include "model/built_in_names.h"
#include "pawl/machine_file.h"
#include "simulate/player.h"
#include "store/verify.h"
#include "tests/support/driven_engine.h"

namespace pawl {
namespace {

// --- the scenarios -----------------------------------------------------------------------------

struct File {
  std::string name;
  std::string text;
  std::shared_ptr<const Machine> machine;
};

const std::vector<File>& all_files() {
  static const std::vector<File>* const files = [] {
    auto* all = new std::vector<File>();
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(PAWL_SOURCE_DIR) / "machines")) {
      if (entry.path().extension() != ".yaml") continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      all->push_back(
          {entry.path().filename(), text.str(), read_machine(text.str(), all_zones()).machine});
    }
    std::sort(all->begin(), all->end(),
              [](const File& a, const File& b) { return a.name < b.name; });
    return all;
  }();
  return *files;
}

struct Case {
  std::shared_ptr<const Machine> machine;
  Scenario scenario;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.scenario.title; }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const File& file : all_files())
    for (const Scenario& scenario : file.machine->definition().scenarios)
      cases.push_back({file.machine, scenario});
  return cases;
}

// --- what the simulator did --------------------------------------------------------------------

struct Kept {
  Record record;
  std::vector<Entry> log = {};
};

struct Given {
  Instant at;
  Stimulus stimulus;
  Answer answer;
};

struct Simulated {
  Played played = {};
  std::vector<Given> given = {};               // from outside
  std::map<std::uint64_t, Kept> records = {};  // by id
};

Simulated simulate(const Case& one) {
  Simulated simulated;
  std::vector<std::shared_ptr<const Machine>> machines;
  for (const File& file : all_files()) machines.push_back(file.machine);
  const auto decided = [&](const Decided& told) {
    const Stimulus& stimulus = told.stimulus;
    if (stimulus.actor != engine())
      simulated.given.push_back({told.now,
                                 {.what = stimulus.what,
                                  .machine = stimulus.machine,
                                  .key = stimulus.key,
                                  .actor = stimulus.actor},
                                 told.decision.answer});
    if (!told.decision.changed) return;
    Kept& kept = simulated.records[told.decision.record.id.value];
    kept.record = told.decision.record;
    kept.log.insert(kept.log.end(), told.decision.entries.begin(), told.decision.entries.end());
  };
  simulated.played = play(one.scenario, one.machine->name(), machines, all_zones(),
                          World::kDecisionsMax, {.decided = decided});
  return simulated;
}

// --- what is compared --------------------------------------------------------------------------

std::string text_of(const std::optional<Instant>& at) { return at ? to_text(*at) : "never"; }

// Takes what stands after a text, up to one of these characters, away.
void erase_after(std::string& text, std::string_view before, std::string_view ends) {
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    text.erase(at, text.find_first_of(ends, at) - at);
  }
}

// The first entry has the whole record: without ids, and the key where that is made of ids.
std::string changes_of(const Entry& entry) {
  std::string changes = entry.changes;
  if (entry.kind != Entry::Kind::created) return changes;
  erase_after(changes, R"("id":{"value":)", "}");
  erase_after(changes, R"({"id":)", ",");
  erase_after(changes, R"("machine":"run","key":")", "\"");
  return changes;
}

std::string line_of(const Entry& entry) {
  std::ostringstream line;
  line << entry.seq << " " << to_text(entry.at) << " " << to_text(entry.kind) << " " << entry.event
       << " " << entry.from << " -> " << entry.to << " epoch " << entry.epoch << " attempt "
       << entry.attempt << " by " << entry.actor.name << " cause " << entry.cause << " row "
       << entry.row << " next " << text_of(entry.next_at) << " left "
       << entry.delays_left.value_or(-1);
  if (entry.error)
    line << " error " << entry.error->code << " " << entry.error->message << " "
         << entry.error->detail << " " << entry.error->fingerprint;
  line << " changes " << changes_of(entry);
  return line.str();
}

std::string text_of(const Record& record, const std::vector<Entry>& log) {
  std::ostringstream text;
  for (const Entry& entry : log) text << "  " << line_of(entry) << "\n";
  text << "  now " << record.state << ", next " << text_of(record.next_at()) << ", ready "
       << text_of(record.ready_at) << ", failures " << record.failures << ", data " << record.data;
  if (record.hold)
    text << ", held " << record.hold->code << " " << record.hold->text << " "
         << to_text(record.hold->since);
  for (const ChildCounts& children : record.children)
    if (children.machine != kDeliveryMachine)
      text << ", " << children.machine << " " << children.open << " of " << children.all;
  text << "\n";
  return text.str();
}

bool is_users(const Record& record) {
  return record.machine != kDeliveryMachine && record.machine != kSendMachine &&
         record.machine != kRunMachine;
}

// --- on the engine -----------------------------------------------------------------------------

class Replay {
 public:
  Replay(StoreKind kind, const Simulated& simulated, Instant begins)
      : simulated_(simulated), driven_(kind, {}, begins) {
    for (const File& file : all_files()) driven_.apply_machine(file.text, file.machine->version());
  }

  void run() {
    for (const Given& given : simulated_.given) {
      driven_.run_until(given.at);
      const Answer answer = driven_.apply(to_engine(given.stimulus));
      EXPECT_EQ(to_text(answer.kind), to_text(given.answer.kind)) << answer.reason;
      EXPECT_EQ(answer.reason, given.answer.reason);
      EXPECT_EQ(answer.state, given.answer.state);
    }
    driven_.run_until(simulated_.played.ended_at);
  }

  void compare() {
    std::map<std::string, std::string> expected;
    std::map<std::string, std::string> got;
    std::size_t runs = 0;
    for (const auto& [id, kept] : simulated_.records) {
      if (is_users(kept.record))
        expected[kept.record.machine + "/" + kept.record.key] = text_of(kept.record, kept.log);
      if (kept.record.machine == kRunMachine)
        expected["run " + std::to_string(++runs)] = text_of(kept.record, kept.log);
    }
    runs = 0;
    for (const Record& record : driven_.all()) {
      const std::string text = text_of(record, driven_.log_of(record));
      if (is_users(record)) got[record.machine + "/" + record.key] = text;
      if (record.machine == kRunMachine) got["run " + std::to_string(++runs)] = text;
    }
    for (const auto& [name, text] : expected) EXPECT_EQ(got[name], text) << name;
    EXPECT_EQ(got.size(), expected.size());
    const Verified verified = *verify(driven_.store());
    for (const Violation& violation : verified.violations)
      ADD_FAILURE() << violation.invariant << ": " << violation.what;
  }

 private:
  // The same records have other ids here.
  Stimulus to_engine(Stimulus stimulus) {
    if (stimulus.machine == kRunMachine) stimulus.key = run_here(stimulus.key);
    if (auto* create = std::get_if<Stimulus::Create>(&stimulus.what))
      if (create->parent)
        create->parent->id = driven_.find(create->parent->machine, create->parent->key)->id;
    return stimulus;
  }

  std::string run_here(const std::string& key) {
    std::size_t place = 0;
    for (const auto& [id, kept] : simulated_.records) {
      if (kept.record.machine != kRunMachine) continue;
      if (kept.record.key == key) return driven_.all(std::string(kRunMachine)).at(place).key;
      ++place;
    }
    return key;
  }

  const Simulated& simulated_;
  DrivenEngine driven_;
};

class ScenariosOnTheEngine : public testing::TestWithParam<Case> {};

TEST_P(ScenariosOnTheEngine, GiveTheSameLogs) {
  const Simulated simulated = simulate(GetParam());
  ASSERT_TRUE(simulated.played.passed());
  ASSERT_FALSE(simulated.given.empty());
  for (const StoreKind kind : {StoreKind::memory, StoreKind::sqlite}) {
    SCOPED_TRACE(kind == StoreKind::memory ? "memory" : "sqlite");
    Replay replay(kind, simulated, simulated.given.front().at);
    replay.run();
    replay.compare();
  }
}

std::string test_name(const testing::TestParamInfo<Case>& tested) {
  std::string name = tested.param.machine->name() + "_" + tested.param.scenario.title;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machines, ScenariosOnTheEngine, testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace pawl
