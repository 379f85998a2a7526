// The workloads of the reference loop on a store of ours: one run, one line of JSON.
//
//   store_loop jobs|fire --dir DIR [--records N] [--batch B] [--seconds S] [--cache-mib M]
//              [--wal-mib M]
//   store_loop open --dir DIR --records N
//
// jobs: create, start, done on new random keys, a third of each batch each. fire: an event on a
// random existing record, found by its key, which gets a new due instant. open: the time to open a
// store of N sleeping records, and the memory it takes. The seeded store is built on first use and
// kept in DIR; every run copies it, warms up for a quarter of the seconds and is checked at the
// end.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/sqlite/sqlite_store.h"

namespace {

namespace fs = std::filesystem;
using namespace pawl;

constexpr Instant kNow{Duration(1'700'000'000'000'000)};
constexpr Instant kLater{Duration(2'000'000'000'000'000)};
constexpr std::uint64_t kLaterSpan = 86'400'000'000'000;
constexpr const char* kCause = "states.running.done, worker-17, ok, took 12 ms";

struct Options {
  std::string workload;
  fs::path dir;
  std::uint64_t records = 1'000'000;
  std::size_t batch = 512;
  double seconds = 10;
  int cache_mib = 64;
  int wal_mib = 256;
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "store_loop: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().message);
  return *std::move(result);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A bijection: different ids have different keys.
std::uint64_t mix(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15U;
  x = (x ^ x >> 29U) * 0xBF58476D1CE4E5B9U;
  return x ^ x >> 32U;
}

void put_hex(std::uint64_t value, std::size_t digits, char* to) {
  for (; digits > 0; --digits, value >>= 4U) *to++ = "0123456789abcdef"[value & 15U];
}

std::string key_of(std::uint64_t id) {
  std::string key(16, '0');
  put_hex(mix(id), key.size(), key.data());
  return key;
}

// 120 bytes of JSON that change with every revision.
void put_data(std::int64_t revision, std::string& data) {
  static const std::string kData = R"({"n":"00000000","x":")" + std::string(97, 'x') + "\"}";
  data = kData;
  put_hex(static_cast<std::uint64_t>(revision), 8, data.data() + data.find('0'));
}

Instant due_of(std::uint64_t id, std::int64_t revision) {
  return kLater + Duration(mix(id * 1'000'003 + static_cast<std::uint64_t>(revision)) % kLaterSpan);
}

void add_entry(RecordChange& change, std::string from, Entry::Kind kind) {
  Entry& entry = change.entries.emplace_back();
  entry.seq = change.record.revision;
  entry.at = kNow;
  entry.kind = kind;
  entry.from = std::move(from);
  entry.to = change.record.state;
  entry.attempt = change.record.attempt;
  entry.cause = kCause;
}

void create(Unit& unit, std::uint64_t id, std::string key, bool is_job) {
  Record& record = unit.record.record;
  record.id = {id};
  record.machine = "order";
  record.key = std::move(key);
  record.created_at = kNow;
  record.revision = record.writes = 1;
  record.entered_at = record.changed_at = kNow;
  put_data(1, record.data);
  record.state = is_job ? "ready" : "waiting";
  if (is_job) {
    record.ready_at = kNow + Duration(id);
    unit.record.queue = "workers";
  } else {
    record.wake_at = due_of(id, 1);
  }
  add_entry(unit.record, "", Entry::Kind::created);
}

// What follows on a record as it was found: for a job its start or its end, else one more event.
void move_on(Unit& unit, Record&& found, bool is_job) {
  Record& record = unit.record.record;
  record = std::move(found);
  unit.record.writes_before = record.writes++;
  unit.record.fence_before = record.fence;
  std::string from = record.state;
  if (is_job && from == "ready") {
    record.state = "running";
    record.attempt = 1;
    record.ready_at.reset();
    record.wake_at = kNow + std::chrono::seconds(30) + Duration(record.id.value);
    return;  // a start has no entry
  }
  ++record.revision;
  put_data(record.revision, record.data);
  if (is_job) {
    record.state = "done";
    record.wake_at.reset();
  } else {
    record.state = "fired" + std::to_string(record.revision % 4);
    record.wake_at = due_of(record.id.value, record.revision);
  }
  add_entry(unit.record, std::move(from), is_job ? Entry::Kind::done : Entry::Kind::event);
}

// --- the workloads -----------------------------------------------------------------------------

struct Stimulus {
  std::uint64_t id;
  bool creates;
};

// Jobs are started and done in the order of their creation, so three counters describe all of them.
struct Workload {
  explicit Workload(const Options& o)
      : is_jobs(o.workload == "jobs"),
        seeded(o.records),
        group(std::max<std::size_t>(o.batch / 3, 1)) {}

  Stimulus next() {
    while (is_jobs) {
      const std::size_t kind = turn++ / group % 3;
      if (kind == 0 && done < started) return {seeded + ++done, false};
      if (kind == 1 && started < created) return {seeded + ++started, false};
      if (kind == 2) return {seeded + ++created, true};
    }
    ++events;
    return {1 + random() % seeded, false};
  }

  bool is_jobs;
  std::uint64_t seeded;
  std::size_t group;
  std::mt19937_64 random{7};
  std::size_t turn = 0;
  std::uint64_t created = 0;
  std::uint64_t started = 0;
  std::uint64_t done = 0;
  std::uint64_t events = 0;
};

void run_batch(Store& store, Workload& workload, std::size_t size) {
  std::vector<Stimulus> stimuli;
  std::vector<RecordName> names;
  stimuli.reserve(size);
  names.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    stimuli.push_back(workload.next());
    names.push_back({"order", key_of(stimuli.back().id)});
  }
  const auto batch = must(store.begin());
  std::vector<Record> records = must(batch->load(names));
  std::vector<Unit> units;
  units.reserve(size);
  std::unordered_map<std::uint64_t, std::size_t> last(size);
  for (std::size_t i = 0; i < size; ++i) {
    // A record that is met twice in a batch is decided on as the first unit left it.
    const auto [met, is_first] = last.try_emplace(stimuli[i].id, i);
    if (!is_first) records[i] = units[std::exchange(met->second, i)].record.record;
    if ((records[i].id.value == 0) != stimuli[i].creates) fail("a key is taken, or not found");
    if (stimuli[i].creates) {
      create(units.emplace_back(), stimuli[i].id, std::move(names[i].key), true);
    } else {
      move_on(units.emplace_back(), std::move(records[i]), workload.is_jobs);
    }
  }
  for (const UnitOutcome& outcome : must(batch->commit(units)))
    if (outcome.kind != UnitOutcome::Kind::committed) fail("a unit was not committed");
}

std::unique_ptr<SqliteStore> open_store(const fs::path& directory, const Options& o) {
  return must(open_sqlite_store({.directory = directory,
                                 .clock = [] { return kNow; },
                                 .cache_mib = o.cache_mib,
                                 .wal_mib = o.wal_mib}));
}

// --- preparing, running, checking --------------------------------------------------------------

fs::path seeded_directory(const Options& o) {
  fs::path seeded = o.dir / ("seed_" + std::to_string(o.records));
  if (fs::exists(seeded)) return seeded;
  const fs::path unfinished = seeded.string() + ".unfinished";
  fs::remove_all(unfinished);
  {
    Options seeding = o;
    seeding.cache_mib = seeding.wal_mib = 1'024;
    const auto store = open_store(unfinished, seeding);
    for (std::uint64_t id = 1; id <= o.records;) {
      std::vector<Unit> units;
      for (; units.size() < kUnitsMax && id <= o.records; ++id)
        create(units.emplace_back(), id, key_of(id), false);
      must(must(store->begin())->commit(units));
      if (id % 1'000'000 < kUnitsMax) std::fprintf(stderr, "seeded %zu records\n", std::size_t{id});
    }
  }
  fs::rename(unfinished, seeded);
  return seeded;
}

double proc_figure(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    if (double value = 0; word == name && in >> value) return value;
  }
  return 0;
}

struct Usage {
  double wall_s = now_s();
  double cpu_s = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  double written = proc_figure("/proc/self/io", "write_bytes:");
};

void check(Store& store, const Workload& workload) {
  std::int64_t records = 0;
  std::int64_t done = 0;
  for (const StateCount& count : must(store.counts()).states) {
    records += count.records;
    if (count.state == "done") done = count.records;
  }
  if (records != static_cast<std::int64_t>(workload.seeded + workload.created) ||
      done != static_cast<std::int64_t>(workload.done))
    fail("the store does not hold what was committed");
}

int run(const Options& o) {
  const fs::path directory = o.dir / "run";
  fs::remove_all(directory);
  fs::copy(seeded_directory(o), directory);
  sync();  // the copy is not part of the run
  const auto store = open_store(directory, o);
  Workload workload(o);
  for (const double end = now_s() + o.seconds / 4; now_s() < end;)
    run_batch(*store, workload, o.batch);
  const Usage start;
  std::size_t batches = 0;
  for (const double end = now_s() + o.seconds; now_s() < end; ++batches)
    run_batch(*store, workload, o.batch);
  const Usage ran;
  check(*store, workload);
  const auto n = static_cast<double>(batches * o.batch);
  std::printf(R"({"workload": "%s", "records": %zu, "batch": %zu, "transitions": %.0f, )"
              R"("running_per_s": %.0f, "cpu_us": %.2f, "write_bytes": %.0f, "rss_mib": %.0f})"
              "\n",
              o.workload.c_str(), std::size_t{o.records}, o.batch, n,
              n / (ran.wall_s - start.wall_s), (ran.cpu_s - start.cpu_s) / n * 1e6,
              (ran.written - start.written) / n, proc_figure("/proc/self/status", "VmRSS:") / 1024);
  return 0;
}

int run_open(const Options& o) {
  const fs::path directory = seeded_directory(o);
  const double begun = now_s();
  const auto store = open_store(directory, o);
  const double opened = now_s();
  const auto batch = must(store->begin());
  const auto found = must(batch->load(std::vector<RecordName>{{"order", key_of(o.records / 2)}}));
  if (found.front().id.value == 0) fail("a record is not there");
  std::printf(R"({"workload": "open", "records": %zu, "open_s": %.3f, "rss_mib": %.0f})"
              "\n",
              std::size_t{o.records}, opened - begun,
              proc_figure("/proc/self/status", "VmRSS:") / 1024);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Options o;
  if (!arguments.empty()) o.workload = arguments[0];
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--dir") o.dir = value;
    if (arguments[i] == "--records") o.records = std::stoull(value);
    if (arguments[i] == "--batch") o.batch = std::stoull(value);
    if (arguments[i] == "--seconds") o.seconds = std::stod(value);
    if (arguments[i] == "--cache-mib") o.cache_mib = std::stoi(value);
    if (arguments[i] == "--wal-mib") o.wal_mib = std::stoi(value);
  }
  if (o.dir.empty() || (o.workload != "jobs" && o.workload != "fire" && o.workload != "open")) {
    std::fputs(
        "usage: store_loop jobs|fire|open --dir DIR [--records N] [--batch B] [--seconds S] "
        "[--cache-mib M] [--wal-mib M]\n",
        stderr);
    return 2;
  }
  if (o.workload == "jobs") o.batch -= o.batch % 3;
  fs::create_directories(o.dir);
  return o.workload == "open" ? run_open(o) : run(o);
}
