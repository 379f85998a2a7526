// Random operations on the store in memory and on another one at once: the same answers and the
// same state at every step.
//
// PAWL_SEED repeats a run, PAWL_STEPS makes it longer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "opened_store.h"
#include "tests/support/record_text.h"

namespace pawl {
namespace {

using std::chrono::seconds;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

// --- answers as text, to compare and to show ---------------------------------------------------

template <class T>
std::string text_of(const Result<T>& result, const std::function<std::string(const T&)>& text) {
  return result ? text(*result) : "error " + std::to_string(static_cast<int>(result.error().code));
}

std::string text_of(const std::optional<Instant>& at) {
  return at ? std::to_string(at->time_since_epoch().count()) : "none";
}

std::string text_of(const Result<std::vector<UnitOutcome>>& outcomes) {
  return text_of<std::vector<UnitOutcome>>(outcomes, [](const auto& all) {
    std::string text;
    for (const UnitOutcome& outcome : all) {
      text += std::to_string(static_cast<int>(outcome.kind));
      for (const std::size_t found : outcome.found) text += " found " + std::to_string(found);
      text += ";";
    }
    return text;
  });
}

std::string text_of(const Result<std::vector<Claimed>>& claimed) {
  return text_of<std::vector<Claimed>>(claimed, [](const auto& all) {
    std::string text;
    for (const Claimed& one : all) {
      text += text_of(one.record);
      for (const Message& message : one.messages)
        text += " " + std::to_string(message.id.value) + ":" + message.body;
      text += "\n";
    }
    return text;
  });
}

template <class T>
std::string text_of(const Result<Page<T>>& page) {
  return text_of<Page<T>>(page, [](const Page<T>& one) {
    std::string text;
    for (const T& item : one.items) {
      if constexpr (std::is_same_v<T, LoggedEntry>) {
        text += item.name.key + " " + text_of(item.entry) + "\n";
      } else {
        text += text_of(item) + "\n";
      }
    }
    return text + "next " + (one.next.empty() ? "none" : "there");
  });
}

std::string text_of(const Setting& setting) {
  return setting.name + "=" + setting.value + " " + std::to_string(setting.revision) + ";";
}

// Everything that can be seen of a store.
std::string state_of(Store& store) {
  std::ostringstream text;
  std::vector<std::string> names;
  Cursor from;
  do {
    const auto page = *store.list({.max = 7}, from);
    for (const Record& record : page.items) {
      text << text_of(record) << "\n" << text_of(store.log(record.id, {}, kPageMax)) << "\n";
      names.push_back(record.key);
    }
    from = page.next;
  } while (!from.empty());
  text << text_of(store.feed({}, kPageMax)) << "\n";
  const Counts counts = *store.counts();
  for (const StateCount& count : counts.states)
    text << count.machine << " " << count.state << " " << count.records << " " << count.held
         << "\n";
  for (const ErrorCount& error : counts.errors)
    text << error.machine << " " << error.state << " " << error.code << " " << error.fingerprint
         << " " << error.count << " " << text_of(std::optional(error.first_at)) << " "
         << text_of(std::optional(error.last_at)) << " " << error.message << "\n";
  for (const StoredMachine& machine : *store.machines())
    text << machine.name << " " << machine.version << " "
         << (*store.machine(machine.name, machine.version))->text << "\n";
  for (const Setting& setting : *store.settings("")) text << text_of(setting) << "\n";
  text << store.last_id()->value << "\n";
  for (const std::string& queue : *store.queues()) text << queue << " ";
  text << text_of(*store.next_due(std::vector<std::string>{"q", "p"})) << "\n";
  const auto batch = *store.begin();
  text << text_of(batch->claim(std::vector<Claim>{{.queue = "q", .max = 99},
                                                  {.queue = "p", .max = 99},
                                                  {.kind = Claim::Kind::due, .max = 99},
                                                  {.kind = Claim::Kind::inbox, .max = 99}}));
  for (const Slot& slot : *batch->slots(std::vector<std::string>{"s1", "s2"}))
    text << slot.taken << " " << text_of(std::optional(slot.rate.window)) << " "
         << slot.rate.started << "\n";
  for (const std::string& name : names)
    for (const char* request : {"r1", "r2"}) {
      const auto remembered =
          *batch->remembered(std::vector<RequestName>{{{"order", name}, request}});
      if (remembered[0]) text << name << request << remembered[0]->content << remembered[0]->answer;
    }
  for (const Violation& violation : *store.violations()) text << violation.what << "\n";
  return text.str();
}

// --- the run -----------------------------------------------------------------------------------

class DifferentialTest : public testing::TestWithParam<StoreKind> {
 protected:
  std::size_t below(std::size_t end) { return random_() % end; }
  bool chance(std::size_t of) { return below(of) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(below(choices.size())));
  }
  std::string some_key() { return "k" + std::to_string(below(12)); }

  // The same on both; says whether it was done, and counts it.
  void both(const std::string& operation, const std::function<std::string(Store&)>& act,
            const std::function<bool(const std::string&)>& is_done) {
    const std::string expected = act(*memory_);
    const std::string got = act(*store_);
    ASSERT_EQ(got, expected) << operation;
    auto& [done, refused] = table_[operation];
    ++(is_done(expected) ? done : refused);
  }
  static bool is_committed(const std::string& outcomes) { return outcomes.starts_with("0"); }
  static bool is_last_committed(const std::string& outcomes) {
    const std::size_t before = outcomes.rfind(';', outcomes.size() - 2);
    return outcomes[before == std::string::npos ? 0 : before + 1] == '0';
  }
  static bool is_no_error(const std::string& answer) { return !answer.starts_with("error"); }

  Record stored(const std::string& key) {
    return (*(*memory_->begin())->load(std::vector<RecordName>{{"order", key}}))[0];
  }

  Unit created(const std::string& key) {
    Unit unit;
    Record& record = unit.record.record;
    record.id = {++last_id_};
    record.machine = "order";
    record.key = key;
    record.created_at = now_;
    decorate(unit, Entry::Kind::created);
    return unit;
  }

  Unit changed(const Record& before) {
    Unit unit;
    unit.record.record = before;
    unit.record.writes_before = before.writes;
    unit.record.fence_before = before.fence;
    if (chance(15)) --unit.record.fence_before;
    if (chance(15)) ++unit.record.writes_before;
    decorate(unit, Entry::Kind::event);
    return unit;
  }

  // New values of everything that the store looks at.
  void decorate(Unit& unit, Entry::Kind kind) {
    Record& record = unit.record.record;
    const std::string from = record.state;
    record.state = one_of<const char*>({"a", "b", "c"});
    record.entered_at = record.changed_at = now_;
    ++record.revision;
    ++record.writes;
    record.data = R"({"n":)" + std::to_string(below(100)) + "}";
    record.priority = static_cast<int>(below(10));
    record.labels.clear();
    if (chance(3)) record.labels.push_back({"region", one_of<const char*>({R"("eu")", "null"})});
    record.hold.reset();
    if (chance(4)) record.hold = Hold{.code = "h"};
    record.ready_at = maybe_instant();
    record.wake_at = maybe_instant();
    record.running.reset();
    if (chance(3)) {
      record.fence += 1 + static_cast<std::int64_t>(below(5));
      record.running = Attempt{.deadline_at = now_ + seconds{60}};
      unit.record.slots = {one_of<const char*>({"s1", "s2"})};
    }
    record.error.reset();
    if (chance(3))
      record.error = Failure{.code = one_of<const char*>({"x", "y"}), .fingerprint = below(3)};
    unit.record.queue = one_of<const char*>({"q", "p"});
    unit.record.entries.push_back({.seq = record.revision,
                                   .at = now_,
                                   .kind = kind,
                                   .from = from,
                                   .to = record.state,
                                   .error = record.error,
                                   .actor = {"eve"},
                                   .input = "{}",
                                   .changes = R"({"n":1})"});
    if (chance(3)) unit.sent.push_back({{1 + below(last_id_ + 1)}, std::to_string(below(1000))});
    if (chance(5))
      unit.rates = {{one_of<const char*>({"s1", "s2"}), now_, static_cast<int>(below(9))}};
    if (chance(4)) {
      unit.idempotency_key = one_of<const char*>({"r1", "r2"});
      unit.remembered = {.content = below(9), .answer = "{}"};
    }
    unit.opens_inbox = chance(6);
    if (chance(6)) unit.created.push_back(child());
  }
  RecordChange child() {
    RecordChange change;
    change.record = {.id = {++last_id_},
                     .machine = "order",
                     .key = some_key(),
                     .created_at = now_,
                     .parent = Parent{.id = {1 + below(last_id_)}},
                     .state = "a",
                     .revision = 1,
                     .writes = 1};
    change.entries = {{.seq = 1, .at = now_, .kind = Entry::Kind::created, .to = "a"}};
    return change;
  }
  std::optional<Instant> maybe_instant() {
    if (chance(2)) return std::nullopt;
    return now_ + seconds{static_cast<int>(below(20)) - 10};
  }

  void commit(const std::string& operation, const std::vector<Unit>& units,
              bool (*is_done)(const std::string&) = is_committed) {
    both(
        operation, [&](Store& store) { return text_of((*store.begin())->commit(units)); }, is_done);
  }

  void step();
  void step_on_a_record();
  void step_on_each_other(const Record& before);
  void step_on_the_rest();
  void read();

  void run(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) {
      ASSERT_NO_FATAL_FAILURE(step()) << "step " << i;
      const std::string expected = state_of(*memory_);
      ASSERT_EQ(state_of(*store_), expected) << "after step " << i;
    }
  }

  bool is_complete() const {
    return std::all_of(table_.begin(), table_.end(), [](const auto& row) {
      return row.second.first > 0 && row.second.second > 0;
    });
  }
  void print_table() const {
    std::printf("%-22s %8s %8s\n", "operation", "done", "refused");
    for (const auto& [operation, counts] : table_)
      std::printf("%-22s %8d %8d\n", operation.c_str(), counts.first, counts.second);
  }

  std::uint64_t seed_ = number_from("PAWL_SEED", 6);
  std::mt19937_64 random_{seed_};
  Instant now_ = kEight;
  std::unique_ptr<Store> memory_ = store_kinds()[0].open([this] { return now_; });
  std::unique_ptr<Store> store_ = GetParam().open([this] { return now_; });
  std::uint64_t last_id_ = 0;
  std::map<std::string, std::pair<int, int>> table_;
};

void DifferentialTest::step() {
  if (chance(3)) now_ += seconds{static_cast<int>(below(5))};
  switch (below(4)) {
    case 0:
      read();
      break;
    case 1:
      step_on_the_rest();
      break;
    default:
      step_on_a_record();
  }
}

void DifferentialTest::step_on_a_record() {
  const Record before = stored(some_key());
  if (before.id.value == 0 || chance(6)) {
    const std::string key = before.id.value == 0 && chance(2) ? "k0" : some_key();
    commit("create", {created(key)});
    return;
  }
  if (chance(4)) return step_on_each_other(before);
  Unit unit = changed(before);
  switch (below(9)) {
    case 0:
      unit.record.purges = true;
      commit("purge", {unit});
      break;
    case 1:
      unit.record.erases = true;
      commit("erase", {unit});
      break;
    case 2: {
      const auto log = *memory_->log(before.id, {}, kPageMax);
      Entry compacted = log.items[below(log.items.size())];
      compacted.kind = Entry::Kind::compacted;
      unit.record.compacted = compacted;
      commit("compact", {unit});
      break;
    }
    case 3:
    case 4: {
      const auto inbox =
          *(*memory_->begin())->claim(std::vector<Claim>{{.kind = Claim::Kind::inbox, .max = 99}});
      for (const Claimed& one : inbox)
        for (const Message& message : one.messages)
          if (message.to == before.id)
            (chance(2) ? unit.taken : unit.postponed).push_back(message.id);
      if (chance(3)) unit.taken.push_back({static_cast<std::int64_t>(below(100))});
      commit("take messages", {unit});
      break;
    }
    case 5: {
      // Two that follow on each other, and one that comes too late.
      Unit second = changed(unit.record.record);
      std::vector<Unit> units{unit, second, changed(before), created(some_key())};
      for (std::size_t i = below(40); i > 0; --i) units.push_back(created(some_key()));
      commit("several units", units);
      break;
    }
    default:
      commit("change", {unit});
  }
}

// A unit that sends, some that may purge the receiver or take what was sent before, and one that
// stands on them.
void DifferentialTest::step_on_each_other(const Record& before) {
  const Record receiver = stored(some_key());
  Unit sends = changed(before);
  sends.sent.push_back({chance(8) ? RecordId{last_id_ + 9} : receiver.id, "first"});
  if (chance(2)) sends.sent.push_back({receiver.id, "second"});
  const std::size_t messages = sends.sent.size();
  std::vector<Unit> units{std::move(sends)};
  if (receiver.id.value != 0 && receiver.id != before.id && chance(2)) {
    units.push_back(changed(receiver));
    units.back().record.purges = chance(3);
    if (chance(2)) units.back().taken_here = {{0, below(messages)}};
  }
  Unit last = chance(2) ? created(some_key()) : changed(units.back().record.record);
  if (chance(2)) {
    last.taken_here = {{0, below(messages)}};
    units.push_back(std::move(last));
    commit("take what is sent here", units, is_last_committed);
  } else {
    last.after = {below(units.size())};
    if (chance(2)) last.after.push_back(0);
    units.push_back(std::move(last));
    commit("after others", units, is_last_committed);
  }
}

void DifferentialTest::step_on_the_rest() {
  switch (below(6)) {
    case 0: {
      const Record record = stored(some_key());
      const Beat beat{.record = record.id,
                      .fence = record.fence - (chance(4) ? 1 : 0),
                      .lease_until = now_ + seconds{30},
                      .wake_at = maybe_instant(),
                      .progress = "{}"};
      both(
          "extend",
          [&](Store& store) {
            return text_of<std::vector<bool>>(store.extend(std::vector{beat}), [](const auto& all) {
              return std::string(all[0] ? "live" : "not");
            });
          },
          [](const std::string& answer) { return answer == "live"; });
      break;
    }
    case 1: {
      const StoredMachine machine{"m", static_cast<int>(1 + below(3)),
                                  one_of<const char*>({"text", "other"})};
      both(
          "put machine",
          [&](Store& store) {
            return text_of<bool>(store.put_machine(machine),
                                 [](bool put) { return std::string(put ? "put" : "not"); });
          },
          [](const std::string& answer) { return answer == "put"; });
      break;
    }
    case 5: {
      std::vector<StoredMachine> machines;
      for (std::size_t i = below(4); i > 0; --i)
        machines.push_back({one_of<const char*>({"n", "o"}), static_cast<int>(1 + below(8)),
                            one_of<const char*>({"text", "other"})});
      both(
          "put machines",
          [&](Store& store) {
            return text_of<bool>(store.put_machines(machines),
                                 [](bool put) { return std::string(put ? "put" : "not"); });
          },
          [](const std::string& answer) { return answer == "put"; });
      break;
    }
    case 2: {
      const Setting setting{one_of<const char*>({"x", "xy", "z%"}),
                            one_of<const char*>({"1", "2", ""}),
                            static_cast<std::int64_t>(below(4))};
      both(
          "put setting",
          [&](Store& store) {
            return text_of<Setting>(store.put_setting(setting),
                                    [](const Setting& put) { return text_of(put); });
          },
          [&](const std::string& answer) {
            return answer == text_of({setting.name, setting.value, setting.revision + 1});
          });
      break;
    }
    case 3:
      both(
          "forget requests",
          [&](Store& store) {
            return text_of<std::size_t>(store.forget_requests(now_ - seconds{20}, kPageMax),
                                        [](std::size_t count) { return std::to_string(count); });
          },
          [](const std::string& answer) { return answer != "0"; });
      break;
    default: {
      std::vector<Claim> claims{
          {.kind = one_of({Claim::Kind::ready, Claim::Kind::due, Claim::Kind::inbox}),
           .queue = one_of<const char*>({"q", "p", "nobody's"}),
           .max = 1 + below(3)}};
      if (chance(2)) claims.push_back({.queue = "q", .max = 1 + below(3)});
      both(
          "claim", [&](Store& store) { return text_of((*store.begin())->claim(claims)); },
          [](const std::string& answer) { return !answer.empty(); });
    }
  }
}

void DifferentialTest::read() {
  Query query;
  if (chance(2)) query.machine = "order";
  if (chance(3)) query.state = "a";
  if (chance(4)) query.key_prefix = one_of<const char*>({"k", "k1"});
  if (chance(4)) query.label = Label{"region", R"("eu")"};
  if (chance(6)) query.parent = RecordId{1 + below(last_id_ + 1)};
  if (chance(4)) query.held = chance(2);
  if (chance(4)) query.error_code = "x";
  if (chance(6)) query.fingerprint = below(3);
  if (chance(4)) query.created_from = now_ - seconds{static_cast<int>(below(100))};
  if (chance(6)) query.created_before = now_ - seconds{static_cast<int>(below(100))};
  query.max = 1 + below(5);
  Cursor from = chance(8) ? "no cursor" : "";
  both(
      "list",
      [&](Store& store) {
        // To the end: pages may differ in length.
        std::string all;
        Cursor place = from;
        do {
          const auto page = store.list(query, place);
          if (!page) return text_of(page);
          for (const Record& record : page->items) all += text_of(record) + "\n";
          place = page->next;
        } while (!place.empty());
        return all;
      },
      is_no_error);
  const RecordId id{1 + below(last_id_ + 1)};
  both(
      "log", [&](Store& store) { return text_of(store.log(id, from, 3)); }, is_no_error);
  both(
      "feed", [&](Store& store) { return text_of(store.feed(from, 3)); }, is_no_error);
}

TEST_P(DifferentialTest, TheSameAnswersAndTheSameState) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  const std::size_t steps = number_from("PAWL_STEPS", 1'500);
  ASSERT_NO_FATAL_FAILURE(run(steps));
  print_table();
  EXPECT_TRUE(is_complete()) << "something never succeeded, or was never refused";
}

std::vector<StoreKind> others() {
  std::vector<StoreKind> kinds = store_kinds();
  kinds.erase(kinds.begin());
  return kinds;
}
INSTANTIATE_TEST_SUITE_P(Stores, DifferentialTest, testing::ValuesIn(others()), name_of);

}  // namespace
}  // namespace pawl
