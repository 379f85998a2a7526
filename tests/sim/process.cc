#include "process.h"

#include <sqlite3.h>

#include <cstdlib>
#include <random>
#include <utility>

#include "broken.h"
#include "sim_machines.h"
#include "tests/support/temporary_directory.h"

namespace pawl::sim {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// Days before the 29th of February, and before the clocks of Berlin change.
const Instant kBegin = *parse_instant("2028-02-26T21:10:00Z");

const Zones& zones() {
  static const Zones loaded = *Zones::open();
  return loaded;
}

// Every start writes the lock: on a disk that would take longer than all else.
const std::filesystem::path& directory_in_memory() {
  static const TemporaryDirectory directory = [] {
    if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);
    return TemporaryDirectory();
  }();
  return directory.path();
}

// Two take turns: of the one before nothing but its lock is left.
std::filesystem::path next_root() {
  static int count = 0;
  const std::filesystem::path root = directory_in_memory() / std::to_string(++count % 2);
  std::filesystem::remove_all(root);
  std::filesystem::create_directory(root);
  return root;
}

// One of very few bytes: 128 bits that are never the same, and are the same in each run.
RandomBits numbered(std::uint64_t number) {
  RandomBits bits{};
  for (std::size_t i = 0; i < sizeof number; ++i)
    bits[i] = static_cast<std::byte>(number >> (8 * i));
  return bits;
}

}  // namespace

Process::Process(Tape& tape, Swarm& swarm, Hits& hits, Rival& rival)
    : tape_(tape),
      swarm_(swarm),
      hits_(hits),
      rival_(rival),
      root_(next_root()),
      now_(kBegin + hours{tape.between(0, 200)}),
      wal_pages_(tape.between(8, 200)),
      // none, one for a few records, and one for all
      record_cache_bytes_(tape.of(std::vector<std::size_t>{0, 8'000, 64 << 20})) {
  swarm.begin();
  const bool is_one = swarm.strikes(Fault::batch_of_one);
  swarm.stop();
  if (is_one) hits.struck(Fault::batch_of_one);
  batch_max_ = is_one ? 1 : tape.of(std::vector<std::size_t>{2, 3, 5, 8, 40});
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, static_cast<sqlite3*>(nullptr));
  require(open(false), "the first start succeeds");
}

// --- starting ----------------------------------------------------------------------------------

SqliteOptions Process::options() {
  return {.directory = directory_,
          .clock = [this] { return now_; },
          .cache_mib = 1,
          .record_cache_mib = 0,
          .record_cache_bytes = record_cache_bytes_,
          .claim_window = wal_pages_ % 2 == 0 ? 3U : sqlite::kClaimWindow,
          .wal_pages = wal_pages_,
          .vfs = vfs_.name(),
          .directories = &directories_};
}

bool Process::open(bool may_fail) {
  auto store = open_sqlite_store(options());
  const auto fails = [&](const Error& error) {
    if (!may_fail) throw Broken("the store cannot be opened: " + error.message);
    return false;
  };
  if (!store) return fails(store.error());
  store_ = *std::move(store);
  const auto put = store_->put_machines(machines());
  if (!put) return fails(put.error());
  require(*put, "the machines are those of the first start");
  contested_ = contested(*store_, rival_);
  StepperOptions of_engine{.zones = zones(), .closed_at = store_->last_used()};
  of_engine.random = [this] { return numbered(++tokens_); };
  of_engine.batch_max = batch_max_;
  auto engine = Stepper::open(*contested_, std::move(of_engine));
  if (!engine) return fails(engine.error());
  engine_ = *std::move(engine);
  return true;
}

void Process::close() {
  engine_.reset();
  contested_.reset();
  store_.reset();
  require(vfs_.files_open() == 0, "a store that is gone has no file open");
}

void Process::restart(bool is_kind) {
  const bool is_dead = vfs_.is_dead();
  if (!is_kind && !is_dead && !engine_->stopped()) vfs_.die_at(0);  // killed
  close();
  for (int tries = 0;; ++tries) {
    // The power may fail with the process, or the machine goes on.
    const Cut cut = is_kind ? Cut::kill : kCuts[tape_.below(kCuts.size())];
    if (!is_kind) hits_.cut(cut);
    std::mt19937_64 random(tape_.below(65'536));
    vfs_.restart(vfs_.disk().after(cut, random));
    directories_.restart();
    faults_fired_ = 0;
    is_doomed_ = false;
    now_ += seconds{tape_.between(0, 90)};
    if (swarm_.strikes(Fault::clock_back_at_a_start)) {
      hits_.struck(Fault::clock_back_at_a_start);
      now_ -= seconds{tape_.between(1, 3'600)};
    }
    const bool dies = !is_kind && tries < 3 && swarm_.strikes(Fault::crash_at_the_start);
    if (dies) vfs_.die_at(1 + static_cast<std::int64_t>(tape_.below(30)));
    const bool is_open = open(dies);
    if (is_open && !vfs_.is_dead()) {
      if (dies) vfs_.spare();
      break;
    }
    hits_.struck(Fault::crash_at_the_start);
    close();
  }
  if (swarm_.strikes(Fault::second_start)) try_a_second_start();
}

// Whoever starts it twice is told so, and nothing happens to the one that runs.
void Process::try_a_second_start() {
  hits_.struck(Fault::second_start);
  const auto second = open_sqlite_store(options());
  require(!second, "a second process opens the same store");
}

// --- what goes wrong ---------------------------------------------------------------------------

void Process::trouble() {
  using Why = pawl::Fault::Why;
  constexpr std::array kCalls{Call::write, Call::sync, Call::read, Call::truncate};
  if (is_in_trouble()) {
    // A full disk is made room on.
    if (vfs_.fault() && tape_.chance(10)) heal();
    return;
  }
  const auto set = [&](Fault fault, bool for_good, Why why) {
    if (vfs_.fault() || !swarm_.strikes(fault)) return;
    const Call call = why == Why::no_space ? Call::write : kCalls[tape_.below(kCalls.size())];
    vfs_.set({.call = call, .at = tape_.between(1, 40), .for_good = for_good, .why = why});
  };
  set(Fault::io_error_once, false, Why::io_error);
  set(Fault::io_error_for_good, true, Why::io_error);
  set(Fault::no_space_once, false, Why::no_space);
  set(Fault::no_space_for_good, true, Why::no_space);
  if (!swarm_.strikes(Fault::crash_at_a_call)) return;
  vfs_.die_at(tape_.between(1, 60));
  is_doomed_ = true;
}

void Process::heal() {
  vfs_.clear_faults();
  vfs_.spare();
  faults_fired_ = 0;
  is_doomed_ = false;
}

Result<Stepper::Stepped> Process::step(bool passed) {
  auto stepped = engine_->step(passed);
  if (is_doomed_ && vfs_.is_dead()) hits_.struck(Fault::crash_at_a_call);
  if (const auto& fault = vfs_.fault(); fault && vfs_.faults_fired() > faults_fired_) {
    const bool is_full = fault->why == pawl::Fault::Why::no_space;
    hits_.struck(is_full ? (fault->for_good ? Fault::no_space_for_good : Fault::no_space_once)
                         : (fault->for_good ? Fault::io_error_for_good : Fault::io_error_once));
    faults_fired_ = vfs_.faults_fired();
    if (!fault->for_good) vfs_.clear_faults();
    if (!vfs_.fault()) faults_fired_ = 0;
  }
  return stepped;
}

}  // namespace pawl::sim
