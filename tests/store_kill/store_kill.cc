// Kills a process that writes through the store, again and again: store_kill [--kills N]
// [--minutes M] [--seed S].
//
// The writer tells each batch that was acknowledged to its caller, which kills it at a random
// moment, opens the store as every start does and compares: what was acknowledged is there, of the
// batch in flight all or nothing, nothing twice, and everything holds together. Then it kills a
// process that backs up and restores: what there is then is whole. At most N kills of each in at
// most M minutes. The last line says what was reached; exit status 1 when something is wrong.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "model/codec.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/transfer.h"
#include "store/verify.h"
#include "tests/support/temporary_directory.h"

namespace {

using namespace pawl;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kRecordsPerBatch = 3;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "store_kill: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().message);
  return *std::move(result);
}

std::unique_ptr<SqliteStore> open_store(const std::filesystem::path& directory) {
  SqliteOptions options{.directory = directory};
  options.wal_mib = 1;  // so that checkpoints are met as well
  return must(open_sqlite_store(options));
}

void add_entry(RecordChange& change, Entry::Kind kind, std::uint32_t fields, Instant now) {
  Record& record = change.record;
  record.changed_at = now;
  ++record.revision;
  ++record.writes;
  Entry entry{.seq = record.revision, .at = now, .kind = kind, .actor = {"writer"}};
  entry.from = kind == Entry::Kind::created ? "" : record.state;
  entry.to = record.state;
  append_changes(entry.changes, record, fields);
  change.entries.push_back(entry);
}

std::string key_of(std::int64_t batch, std::int64_t index) {
  return std::to_string(batch) + "/" + std::to_string(index);
}

// A new record; the first one is the counter, whose data says how many batches there were.
Unit creation(std::uint64_t id, const std::string& key, Instant now) {
  Unit unit;
  Record& record = unit.record.record;
  record.id = {id};
  record.machine = "order";
  record.key = key;
  record.created_at = record.entered_at = now;
  record.state = "a";
  record.data = R"({"n":0})";
  record.wake_at = now + std::chrono::minutes{1};
  add_entry(unit.record, Entry::Kind::created, kCoreAll, now);
  return unit;
}

std::int64_t count_of(const Record& counter) {
  return std::strtoll(counter.data.c_str() + std::strlen(R"({"n":)"), nullptr, 10);
}

// Batch n creates records, counts, and sends a message to the counter, taking the one before.
void commit_next(SqliteStore& store, std::uint64_t& last_id) {
  const auto batch = must(store.begin());
  Record counter = must(batch->load(std::vector<RecordName>{{"order", "counter"}}))[0];
  const std::int64_t n = count_of(counter) + 1;
  std::vector<Unit> units(1);
  Unit& counts = units[0];
  counts.record.writes_before = counter.writes;
  counts.record.fence_before = counter.fence;
  counter.data = R"({"n":)" + std::to_string(n) + "}";
  counts.record.record = counter;
  add_entry(counts.record, Entry::Kind::event, kCoreData, batch->now());
  for (const Claimed& one :
       must(batch->claim(std::vector<Claim>{{.kind = Claim::Kind::inbox, .max = 9}})))
    for (const Message& message : one.messages) counts.taken.push_back(message.id);
  counts.sent = {{counter.id, std::to_string(n)}};
  for (std::int64_t i = 0; i < kRecordsPerBatch; ++i)
    units.push_back(creation(++last_id, key_of(n, i), batch->now()));
  for (const UnitOutcome& outcome : must(batch->commit(units)))
    if (outcome.kind != UnitOutcome::Kind::committed) fail("a unit was not committed");
}

// Until it is killed.
[[noreturn]] void write_for_ever(const std::filesystem::path& directory, int acknowledgements) {
  const auto store = open_store(directory);
  std::uint64_t last_id = must(store->last_id()).value;
  if (last_id == 0) {
    must(store->put_machine({"order", 1, "machine: order\n"}));
    const auto batch = must(store->begin());
    must(batch->commit(std::vector{creation(++last_id, "counter", batch->now())}));
  }
  for (;;) {
    commit_next(*store, last_id);
    const char one = '.';
    if (write(acknowledgements, &one, 1) != 1) std::_Exit(0);
  }
}

// Backs the store up and restores it, until it is killed.
[[noreturn]] void transfer_for_ever(const std::filesystem::path& directory,
                                    const std::filesystem::path& backup,
                                    const std::filesystem::path& restored) {
  const auto store = open_store(directory);
  for (;;) {
    std::filesystem::remove(backup);
    if (!back_up(*store, backup, {})) fail("cannot back up");
    std::filesystem::remove_all(restored);
    must(restore(backup, {.directory = restored}, {}));
  }
}

struct Tally {
  std::int64_t kills = 0;
  std::int64_t backups_there = 0;
  std::int64_t restored_there = 0;
  std::int64_t acknowledged = 0;
  std::int64_t in_flight_there = 0;
  std::int64_t in_flight_gone = 0;
};

// Opens it as every start does, and says how many batches it holds.
std::int64_t look_into(const std::filesystem::path& directory) {
  const auto store = open_store(directory);
  const Verified verified = must(verify(*store));
  for (const Violation& violation : verified.violations)
    fail(violation.invariant + ": " + violation.what);
  const auto batch = must(store->begin());
  const Record counter = must(batch->load(std::vector<RecordName>{{"order", "counter"}}))[0];
  if (counter.id.value == 0) return 0;
  const std::int64_t n = count_of(counter);
  if (verified.records != static_cast<std::size_t>(1 + n * kRecordsPerBatch))
    fail("there are " + std::to_string(verified.records) + " records after " + std::to_string(n) +
         " batches");
  const auto inbox = must(batch->claim(std::vector<Claim>{{.kind = Claim::Kind::inbox, .max = 9}}));
  if (n > 0 && (inbox.size() != 1 || inbox[0].messages.size() != 1 ||
                inbox[0].messages[0].body != std::to_string(n)))
    fail("the inbox does not hold the message of the last batch alone");
  return n;
}

template <class Act>
pid_t in_a_process(Act act) {
  const pid_t process = fork();
  if (process < 0) fail("cannot make a process");
  if (process == 0) act();
  return process;
}

void kill_and_wait(pid_t process, std::chrono::milliseconds within, std::mt19937_64& random) {
  const auto us = static_cast<std::uint64_t>(std::chrono::microseconds(within).count());
  std::this_thread::sleep_for(std::chrono::microseconds(random() % us));
  kill(process, SIGKILL);
  int status = 0;
  waitpid(process, &status, 0);
  if (!WIFSIGNALED(status)) fail("a process ended by itself");
}

// A backup or a restored store of that name is a whole one, or there is none.
void kill_a_transfer(const std::filesystem::path& directory, std::int64_t batches,
                     std::mt19937_64& random, Tally& tally) {
  const std::filesystem::path backup = directory.string() + ".backup";
  const std::filesystem::path restored = directory.string() + ".restored";
  std::filesystem::remove(backup);
  std::filesystem::remove_all(restored);
  kill_and_wait(in_a_process([&] { transfer_for_ever(directory, backup, restored); }),
                std::chrono::milliseconds{500}, random);
  if (look_into(directory) != batches) fail("a transfer has changed the store");
  // What a killed removal has left is no store of that name.
  if (std::filesystem::exists(restored / "tables.db") &&
      std::filesystem::exists(restored / "pawl.lock")) {
    if (look_into(restored) != batches) fail("the restored store is not the one backed up");
    ++tally.restored_there;
  }
  std::filesystem::remove_all(restored);
  if (!std::filesystem::exists(backup)) return;
  must(restore(backup, {.directory = restored}, {}));
  if (look_into(restored) != batches) fail("the backup is not of this store");
  ++tally.backups_there;
}

void kill_once(const std::filesystem::path& directory, std::mt19937_64& random, Tally& tally,
               std::int64_t& batches) {
  int pipes[2];
  if (pipe(pipes) != 0) fail("cannot make a pipe");
  const pid_t writer = in_a_process([&] {
    close(pipes[0]);
    write_for_ever(directory, pipes[1]);
  });
  close(pipes[1]);
  kill_and_wait(writer, std::chrono::milliseconds{120}, random);
  std::int64_t acknowledged = 0;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(pipes[0], buffer, sizeof buffer)) > 0;) acknowledged += size;
  close(pipes[0]);

  const std::int64_t found = look_into(directory) - batches;
  if (found < acknowledged || found > acknowledged + 1)
    fail(std::to_string(acknowledged) + " batches were acknowledged, " + std::to_string(found) +
         " are there");
  ++tally.kills;
  tally.acknowledged += acknowledged;
  ++(found > acknowledged ? tally.in_flight_there : tally.in_flight_gone);
  batches += found;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t kills = 5;
  double minutes = 5;
  std::uint64_t seed = std::random_device{}();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--kills") kills = std::atoll(argv[i + 1]);
    if (name == "--minutes") minutes = std::atof(argv[i + 1]);
    if (name == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  const TemporaryDirectory temporary;
  Tally tally;
  std::int64_t batches = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(minutes * 60);
  while (tally.kills < kills && Clock::now() < end) {
    kill_once(temporary.path() / "store", random, tally, batches);
    kill_a_transfer(temporary.path() / "store", batches, random, tally);
  }
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::string reached =
      number(tally.kills) + " kills, " + number(tally.acknowledged) +
      " batches acknowledged and there; of those in flight " + number(tally.in_flight_there) +
      " there, " + number(tally.in_flight_gone) +
      " not, none in part; as many kills of transfers, " + number(tally.backups_there) +
      " backups and " + number(tally.restored_there) + " restored stores found, all whole";
  std::puts(reached.c_str());
  return tally.kills * 10 >= kills ? 0 : 1;
}
