#include "tests/support/driven_engine.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/queue_name.h"
#include "pawl/assert.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace pawl {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) assertion_failed("success", result.error().message.c_str(), __FILE__, __LINE__);
  return *std::move(result);
}

std::string name_in(const std::string& text) {
  const std::size_t at = text.find("machine: ") + 9;
  return text.substr(at, text.find_first_of("\n,}", at) - at);
}

}  // namespace

const Zones& all_zones() {
  static const Zones loaded = *Zones::open();
  return loaded;
}

std::filesystem::path place_in_memory() {
  const std::filesystem::path place = "/dev/shm";
  std::error_code ignored;
  const auto space = std::filesystem::space(place, ignored);
  return !ignored && space.available > (64U << 20U) ? place
                                                    : std::filesystem::temp_directory_path();
}

DrivenEngine::DrivenEngine(StoreKind kind, const std::vector<std::string>& machines, Instant now,
                           std::size_t batch_max, Wrap wrap)
    : kind_(kind), now_(now), batch_max_(batch_max), wrap_(std::move(wrap)) {
  open(std::nullopt);
  for (const std::string& text : machines) apply_machine(text, 1);
}

DrivenEngine::~DrivenEngine() = default;

void DrivenEngine::open(std::optional<Instant> closed_at) {
  const auto clock = [this] { return now_; };
  engine_.reset();
  if (kind_ == StoreKind::sqlite || !store_) {
    store_.reset();
    if (kind_ == StoreKind::sqlite) {
      store_ = must(open_sqlite_store({.directory = directory_.path() / "store", .clock = clock}));
    } else {
      store_ = open_memory_store(clock);
    }
    if (wrap_) store_ = wrap_(std::move(store_));
  }
  StepperOptions options{.zones = all_zones(), .closed_at = closed_at};
  options.ward = directory_.path() / "ward";
  options.batch_max = batch_max_;
  options.ordered_channels = ordered_;
  options.random = [this] {
    RandomBits bits{};
    if (!reuses_tokens_) ++tokens_;
    for (std::size_t i = 0; i < sizeof tokens_; ++i)
      bits[i] = static_cast<std::byte>(tokens_ >> (8 * i));
    return bits;
  };
  options.noted = [this](Instant, const std::string& note) { notes_.push_back(note); };
  options.noticed = [this](const Notice& notice) { notices_.push_back(notice); };
  engine_ = must(Stepper::open(*store_, std::move(options)));
}

void DrivenEngine::reopen(Duration closed) {
  const Instant closed_at = now_;
  now_ += closed;
  open(closed_at);
}

void DrivenEngine::apply_machine(const std::string& text, int version) {
  const StoredMachine stored{name_in(text), version, text};
  PAWL_ASSERT(must(store_->put_machine(stored)), "a version is put once");
  engine_->machines().add(must(read_stored_machine(stored, all_zones(), {})));
}

Answer DrivenEngine::apply(Stimulus stimulus) {
  std::optional<Result<Answer>> answer;
  engine_->submit(std::move(stimulus), [&](Result<Answer> given) { answer = std::move(given); });
  settle();
  return must(*std::move(answer));
}

Answer DrivenEngine::create(const std::string& machine, const std::string& key, std::string data) {
  return apply({.what = Stimulus::Create{.data = std::move(data)},
                .machine = machine,
                .key = key,
                .actor = {.name = "app"}});
}

Answer DrivenEngine::fire(const std::string& machine, const std::string& key,
                          const std::string& event, std::string payload) {
  return apply({.what = Stimulus::Fire{.event = event, .payload = std::move(payload)},
                .machine = machine,
                .key = key,
                .actor = {.name = "app"}});
}

Answer DrivenEngine::done(const GivenAttempt& attempt, std::string result) {
  return apply({.what = Stimulus::Done{hash_of_token(attempt.token), std::move(result)},
                .machine = attempt.given.machine,
                .key = attempt.given.key,
                .actor = {.name = "worker"}});
}

Answer DrivenEngine::fail(const GivenAttempt& attempt, const std::string& code) {
  return apply({.what = Stimulus::Fail{hash_of_token(attempt.token), {.code = code}},
                .machine = attempt.given.machine,
                .key = attempt.given.key,
                .actor = {.name = "worker"}});
}

Answer DrivenEngine::beat(const GivenAttempt& attempt, std::string progress) {
  return apply({.what = Stimulus::Beat{hash_of_token(attempt.token), std::move(progress)},
                .machine = attempt.given.machine,
                .key = attempt.given.key,
                .actor = {.name = "worker"}});
}

Answer DrivenEngine::order(const std::string& machine, const std::string& key,
                           Stimulus::Order order) {
  if (order.reason.empty()) order.reason = "a test";
  return apply({.what = std::move(order),
                .machine = machine,
                .key = key,
                .actor = {.name = "eve", .roles = {"operator"}}});
}

std::vector<GivenAttempt> DrivenEngine::claim(std::vector<std::string> queues, std::size_t max) {
  std::optional<Result<std::vector<GivenAttempt>>> given;
  engine_->claim({.queues = std::move(queues), .max = max, .worker = "w1"},
                 [&](auto attempts) { given = std::move(attempts); });
  settle();
  return must(*std::move(given));
}

void DrivenEngine::settle(bool passed) {
  while (must(engine_->step(passed)).has_more) {
  }
}

void DrivenEngine::run_until(Instant until) {
  PAWL_ASSERT(until >= now_, "time does not go back");
  for (;;) {
    const Stepper::Stepped stepped = must(engine_->step(now_ < until));
    if (stepped.has_more) continue;
    if (!stepped.next || *stepped.next > until) break;
    now_ = std::max(now_, *stepped.next);
  }
  now_ = until;
}

std::optional<Record> DrivenEngine::find(const std::string& machine, const std::string& key) {
  Page<Record> page = must(store_->list({.machine = machine, .key_prefix = key, .max = 1}, {}));
  if (page.items.empty() || page.items[0].key != key) return std::nullopt;
  return std::move(page.items[0]);
}

std::vector<Entry> DrivenEngine::log_of(const Record& record) {
  std::vector<Entry> entries;
  Cursor from;
  do {
    Page<Entry> page = must(store_->log(record.id, from, kPageMax));
    entries.insert(entries.end(), page.items.begin(), page.items.end());
    from = page.next;
  } while (!from.empty());
  return entries;
}

std::vector<Record> DrivenEngine::all(const std::string& machine) {
  std::vector<Record> records;
  Cursor from;
  do {
    Page<Record> page = must(store_->list({.machine = machine, .max = kPageMax}, from));
    records.insert(records.end(), page.items.begin(), page.items.end());
    from = page.next;
  } while (!from.empty());
  return records;
}

}  // namespace pawl
