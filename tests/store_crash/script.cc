#include "script.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <random>
#include <string_view>
#include <utility>

#include "store/memory/memory_store.h"
#include "tests/support/record_text.h"

namespace pawl {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kRecordsMax = 12;
const std::vector<std::string> kQueues{"q", "r"};
const std::vector<std::string> kSlots{"s", "t"};
const std::vector<std::string> kMachines{"order", "parcel"};

std::string numbered(const std::string& text, std::uint64_t number) {
  return text + std::to_string(number);
}

// --- generating --------------------------------------------------------------------------------

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // With a restart once in any case.
  Script script(std::size_t steps) {
    Script script;
    while (script.steps.size() < steps) {
      script.steps.push_back(step());
      if (script.steps.size() == steps / 2) script.steps.back() = {Step::Kind::restart, now_};
    }
    return script;
  }

 private:
  struct Known {
    Record record;
    std::string queue = {};
    std::vector<std::string> slots = {};
  };

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  Step step() {
    now_ += seconds{1 + below(90)};
    Step step{.now = now_};
    const std::uint64_t draw = below(100);
    if (draw < 70 || known_.empty()) {
      batch(step);
    } else if (draw < 78) {
      step.kind = Step::Kind::beats;
      beats(step);
    } else if (draw < 83) {
      step.kind = Step::Kind::machine;
      step.machine = {one_of(kMachines), static_cast<int>(1 + below(3)), text(200)};
    } else if (draw < 91) {
      step.kind = Step::Kind::setting;
      const std::string name = numbered("pause.", below(3));
      const bool is_stale = chance(20);
      step.setting = {name, chance(20) ? "" : text(40), settings_[name] + (is_stale ? 1 : 0)};
      if (!is_stale) ++settings_[name];
    } else if (draw < 95) {
      step.kind = Step::Kind::forget;
      step.before = now_ - minutes{5};
    } else {
      step.kind = Step::Kind::restart;
    }
    return step;
  }

  void batch(Step& step) {
    const std::uint64_t units = 1 + below(4);
    for (std::uint64_t i = 0; i < units; ++i) step.units.push_back(unit());
    step.takes = below(3);
    step.postpones = below(2);
  }

  Unit unit() {
    Unit unit;
    if (known_.empty() || (known_.size() < kRecordsMax && chance(35))) {
      unit.record = created();
    } else {
      const auto at = std::next(known_.begin(), static_cast<std::ptrdiff_t>(below(known_.size())));
      if (chance(8)) {
        unit.record = {.record = at->second.record,
                       .writes_before = at->second.record.writes,
                       .fence_before = at->second.record.fence,
                       .purges = true};
        known_.erase(at);
        return unit;
      }
      unit.record = changed(at->second);
    }
    beside(unit);
    return unit;
  }

  void beside(Unit& unit) {
    const RecordId own = unit.record.record.id;
    if (chance(20)) {
      unit.created.push_back(created());
      unit.created.back().record.parent = {own, unit.record.record.machine, unit.record.record.key};
      known_.at(unit.created.back().record.id.value).record = unit.created.back().record;
    }
    while (chance(40)) unit.sent.push_back({RecordId{1 + below(last_id_ + 1)}, text(60)});
    unit.opens_inbox = chance(10);
    if (chance(20)) unit.rates = {{one_of(kSlots), now_, static_cast<int>(below(9))}};
    if (chance(40)) {
      unit.idempotency_key = numbered("once", below(4));
      unit.remembered = {random_(), text(50)};
    }
  }

  RecordChange created() {
    Known known;
    known.record = {.id = {++last_id_},
                    .machine = one_of(kMachines),
                    .key = numbered("k", last_id_),
                    .created_at = now_};
    Known& kept = known_[last_id_] = known;
    return next(kept, Entry::Kind::created);
  }

  // Sometimes decided on what it is no longer.
  RecordChange changed(Known& known) {
    if (chance(8)) {
      Known stale = known;
      RecordChange change = next(stale, Entry::Kind::event);
      ++change.writes_before;
      return change;
    }
    RecordChange change = next(known, Entry::Kind::event);
    change.erases = chance(5);
    if (change.record.revision > 2 && chance(10))
      change.compacted = Entry{.seq = change.record.revision - 1,
                               .at = now_,
                               .kind = Entry::Kind::compacted,
                               .actor = {.name = "eve"}};
    return change;
  }

  RecordChange next(Known& known, Entry::Kind kind) {
    Record& record = known.record;
    RecordChange change{.writes_before = record.writes, .fence_before = record.fence};
    Entry entry{.seq = ++record.revision,
                .at = now_,
                .kind = kind,
                .from = record.state,
                .to = numbered("state", below(3)),
                .actor = {.name = "eve"},
                .input = text(80),
                .changes = text(80)};
    record.error.reset();
    if (chance(20)) {
      record.error = Failure{.code = numbered("code", below(2)),
                             .message = text(30),
                             .at = now_,
                             .fingerprint = below(2) << 63U};
      entry.error = record.error;
    }
    record.state = entry.to;
    record.entered_at = record.changed_at = now_;
    ++record.writes;
    record.data = text(chance(6) ? 9'000 : 120);
    record.labels.clear();
    if (chance(30)) record.labels = {{"colour", numbered("", below(3))}};
    record.hold.reset();
    if (chance(10)) record.hold = Hold{.code = "look", .text = text(20), .since = now_};
    record.priority = static_cast<int>(below(10));
    record.ready_at.reset();
    record.wake_at.reset();
    record.running.reset();
    known.queue = one_of(kQueues);
    known.slots.clear();
    if (chance(30)) {
      record.running = Attempt{.worker = "w", .started_at = now_, .deadline_at = now_ + minutes{9}};
      ++record.fence;
      known.slots = {one_of(kSlots)};
    } else if (chance(60)) {
      record.ready_at = now_ + seconds{below(300)};
    }
    if (chance(40)) record.wake_at = now_ + seconds{below(300)};
    change.record = record;
    change.queue = known.queue;
    change.slots = known.slots;
    change.entries = {std::move(entry)};
    return change;
  }

  void beats(Step& step) {
    for (auto& [id, known] : known_) {
      const std::int64_t wrong = chance(10) ? 1 : 0;
      step.beats.push_back({.record = {id},
                            .fence = known.record.fence + wrong,
                            .lease_until = now_ + minutes{2},
                            .wake_at = now_ + minutes{2},
                            .progress = text(20)});
      if (!known.record.running || wrong != 0) continue;
      known.record.running->lease_until = known.record.wake_at = now_ + minutes{2};
      known.record.running->progress = step.beats.back().progress;
    }
  }

  // JSON of about that length, each time another.
  std::string text(std::uint64_t length) {
    std::string letters;
    for (std::uint64_t i = below(length); i > 0; --i)
      letters += static_cast<char>('a' + static_cast<char>(below(26)));
    return R"({"t":")" + letters + R"("})";
  }

  std::mt19937_64 random_;
  Instant now_ = kBegin;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Known> known_;
  std::map<std::string, std::int64_t> settings_;
};

// --- applying ----------------------------------------------------------------------------------

std::string text_of(const std::vector<UnitOutcome>& outcomes) {
  std::string text;
  for (const UnitOutcome& outcome : outcomes) {
    text += std::to_string(static_cast<int>(outcome.kind)) + ":";
    for (const std::size_t found : outcome.found) text += std::to_string(found) + ",";
    text += " ";
  }
  return text;
}

std::string text_of(const Setting& setting) {
  return setting.name + "=" + setting.value + " " + std::to_string(setting.revision) + "\n";
}

Result<std::string> apply_batch(Store& store, const Step& step) {
  std::vector<Unit> units = step.units;
  PAWL_TRY(const auto batch, store.begin());
  const std::vector claims{Claim{.kind = Claim::Kind::inbox, .max = step.takes + step.postpones}};
  PAWL_TRY(const std::vector<Claimed> claimed, batch->claim(claims));
  std::vector<MessageId> ids;
  for (const Claimed& one : claimed)
    for (const Message& message : one.messages) ids.push_back(message.id);
  std::sort(ids.begin(), ids.end(), [](MessageId a, MessageId b) { return a.value < b.value; });
  for (std::size_t i = 0; i < ids.size(); ++i)
    (i < step.takes ? units[0].taken : units[0].postponed).push_back(ids[i]);
  PAWL_TRY(const std::vector<UnitOutcome> outcomes, batch->commit(units));
  return text_of(outcomes);
}

// --- reading -----------------------------------------------------------------------------------

std::string text_of(const std::optional<Instant>& at) { return at ? to_text(*at) : "never"; }

std::string failed(const Error& error) { return "error " + error.message; }

class Reader {
 public:
  explicit Reader(Store& store) : store_(store) {}

  Contents all() {
    read_last_id();
    read_list();
    read_feed();
    for (std::uint64_t id = 1; id <= last_id_; ++id) read_log({id});
    read_counts();
    read_machines();
    read_settings();
    read_batch();
    keep("next due", store_.next_due(kQueues), [](const auto& at) { return text_of(at); });
    return std::move(contents_);
  }

 private:
  template <class T, class Text>
  void keep(const std::string& name, const Result<T>& result, Text text) {
    contents_[name] = result ? text(*result) : failed(result.error());
  }

  void read_last_id() {
    const auto last = store_.last_id();
    if (last) last_id_ = std::min<std::uint64_t>(last->value, 200);
    keep("last id", last, [](RecordId id) { return std::to_string(id.value); });
  }

  void read_list() {
    Cursor from;
    do {
      const auto page = store_.list({.max = 5}, from);
      if (!page) contents_["list"] = failed(page.error());
      if (!page) return;
      for (const Record& record : page->items)
        contents_[numbered("list ", record.id.value)] = text_of(record);
      from = page->next;
    } while (!from.empty());
  }

  void read_feed() {
    std::string order;
    Cursor from;
    for (;;) {
      const auto page = store_.feed(from, 10);
      if (!page) contents_["feed"] = failed(page.error());
      if (!page) return;
      if (page->items.empty()) break;
      for (const LoggedEntry& one : page->items) {
        const std::string name =
            numbered("feed ", one.record.value) + "/" + std::to_string(one.entry.seq);
        contents_[name] = one.name.machine + " " + one.name.key + " " + text_of(one.entry);
        order += name + "\n";
      }
      from = page->next;
    }
    contents_["order of feed"] = order;
  }

  void read_log(RecordId id) {
    Cursor from;
    const std::string name = numbered("log ", id.value);
    do {
      const auto page = store_.log(id, from, 4);
      if (!page) contents_[name] = failed(page.error());
      if (!page) return;
      for (const Entry& entry : page->items)
        contents_[name + "/" + std::to_string(entry.seq)] = text_of(entry);
      from = page->next;
    } while (!from.empty());
  }

  void read_counts() {
    keep("counts", store_.counts(), [](const Counts& counts) {
      std::string text;
      for (const StateCount& one : counts.states)
        text += one.machine + " " + one.state + " " + std::to_string(one.records) + " " +
                std::to_string(one.held) + "\n";
      for (const ErrorCount& one : counts.errors)
        text += one.machine + " " + one.state + " " + one.code + " " +
                std::to_string(one.fingerprint) + " " + std::to_string(one.count) + " " +
                to_text(one.first_at) + " " + to_text(one.last_at) + " " + one.message + "\n";
      return text;
    });
  }

  void read_machines() {
    const auto machines = store_.machines();
    keep("machines", machines, [](const auto& all) {
      std::string text;
      for (const StoredMachine& one : all) text += one.name + std::to_string(one.version) + "\n";
      return text;
    });
    for (const std::string& name : kMachines)
      for (int version = 1; version <= 3; ++version)
        keep("machine " + name + std::to_string(version), store_.machine(name, version),
             [](const auto& machine) { return machine ? machine->text : "none"; });
  }

  void read_settings() {
    keep("settings", store_.settings(""), [](const auto& all) {
      std::string text;
      for (const Setting& one : all) text += text_of(one);
      return text;
    });
  }

  void read_batch() {
    const auto batch = store_.begin();
    if (!batch) contents_["batch"] = failed(batch.error());
    if (!batch) return;
    for (std::uint64_t id = 1; id <= last_id_; ++id) {
      const std::vector ids{RecordId{id}};
      keep(numbered("record ", id), (*batch)->load(ids),
           [](const auto& records) { return records[0].id.value == 0 ? "" : text_of(records[0]); });
      if (contents_[numbered("record ", id)].empty()) contents_.erase(numbered("record ", id));
      for (const std::string& machine : kMachines) read_requests(**batch, machine, id);
    }
    keep("slots", (*batch)->slots(kSlots), [](const auto& slots) {
      std::string text;
      for (const Slot& one : slots)
        text += std::to_string(one.taken) + " " + to_text(one.rate.window) + " " +
                std::to_string(one.rate.started) + "\n";
      return text;
    });
    read_claims(**batch);
  }

  void read_requests(Batch& batch, const std::string& machine, std::uint64_t id) {
    std::vector<RequestName> names;
    for (std::uint64_t i = 0; i < 4; ++i)
      names.push_back({{machine, numbered("k", id)}, numbered("once", i)});
    keep("requests of " + machine + " " + std::to_string(id), batch.remembered(names),
         [](const auto& all) {
           std::string text;
           for (const std::optional<Remembered>& one : all)
             text += one ? std::to_string(one->content) + " " + one->answer + "\n" : "none\n";
           return text;
         });
  }

  void read_claims(Batch& batch) {
    const auto claim = [&](const std::string& name, const Claim& of) {
      keep(name, batch.claim(std::vector{of}), [](const auto& claimed) {
        std::string text;
        for (const Claimed& one : claimed) {
          text += std::to_string(one.record.id.value);
          for (const Message& message : one.messages) text += " " + message.body;
          text += "\n";
        }
        return text;
      });
    };
    claim("inbox", {.kind = Claim::Kind::inbox, .max = 500});
    for (const std::string& queue : kQueues) claim("queue " + queue, {.queue = queue, .max = 500});
    claim("due", {.kind = Claim::Kind::due, .max = 500});
  }

  Store& store_;
  std::uint64_t last_id_ = 0;
  Contents contents_;
};

}  // namespace

Script generate(std::uint64_t seed, std::size_t steps) {
  constexpr std::array kWalPages{100'000, 1, 24, 60};
  Script script = Generator(seed).script(steps);
  script.wal_pages = kWalPages[seed % kWalPages.size()];
  return script;
}

Result<std::string> apply(Store& store, const Step& step) {
  switch (step.kind) {
    case Step::Kind::batch:
      return apply_batch(store, step);
    case Step::Kind::beats: {
      PAWL_TRY(const std::vector<bool> live, store.extend(step.beats));
      std::string text;
      for (const bool one : live) text += one ? "1" : "0";
      return text;
    }
    case Step::Kind::machine: {
      PAWL_TRY(const bool is_there, store.put_machine(step.machine));
      return std::string(is_there ? "yes" : "no");
    }
    case Step::Kind::setting: {
      PAWL_TRY(const Setting setting, store.put_setting(step.setting));
      return text_of(setting);
    }
    case Step::Kind::forget: {
      PAWL_TRY(const std::size_t forgotten, store.forget_requests(step.before, 1'000));
      return std::to_string(forgotten);
    }
    case Step::Kind::restart:
      break;
  }
  return std::string();
}

Result<std::string> go_on(Store& store, Instant now) {
  PAWL_TRY(const Page<Record> page, store.list({.max = kPageMax}, {}));
  PAWL_TRY(const RecordId last, store.last_id());
  Step step{.now = now};
  for (const Record& before : page.items) {
    Unit& unit = step.units.emplace_back();
    unit.record = {.record = before,
                   .queue = "q",
                   .writes_before = before.writes,
                   .fence_before = before.fence};
    ++unit.record.record.writes;
    unit.record.entries = {{.seq = ++unit.record.record.revision, .at = now}};
    unit.opens_inbox = true;
  }
  Unit& unit = step.units.emplace_back();
  unit.record.record = {.id = {last.value + 1}, .machine = "order", .key = "went on"};
  unit.record.record.writes = unit.record.record.revision = 1;
  unit.record.entries = {{.seq = 1, .at = now}};
  return apply(store, step);
}

Contents read_all(Store& store) { return Reader(store).all(); }

std::string difference(const Contents& expected, const Contents& found) {
  constexpr std::size_t kLengthMax = 4'000;
  std::string text;
  const auto add = [&](std::initializer_list<std::string_view> words) {
    if (text.size() > kLengthMax) return;
    for (const std::string_view word : words) text += word;
  };
  for (const auto& [name, value] : expected) {
    const auto other = found.find(name);
    if (other == found.end()) {
      add({name, " is missing: ", value, "\n"});
    } else if (other->second != value) {
      add({name, " was ", value, "\n  and is ", other->second, "\n"});
    }
  }
  for (const auto& [name, value] : found)
    if (!expected.contains(name)) add({name, " is too much: ", value, "\n"});
  return text;
}

Expected expect(const Script& script) {
  Expected expected;
  for (std::size_t count = 0; count <= script.steps.size(); ++count) {
    Instant now = kBegin;
    const auto store = open_memory_store([&now] { return now; });
    for (std::size_t i = 0; i < count; ++i) {
      now = script.steps[i].now;
      const std::string answer = *apply(*store, script.steps[i]);
      if (i + 1 == count) expected.answers.push_back(answer);
    }
    now = kLater;
    expected.after.push_back(read_all(*store));
    PAWL_ASSERT(go_on(*store, now).has_value(), "a memory store goes on");
    expected.gone_on.push_back(read_all(*store));
  }
  return expected;
}

}  // namespace pawl
