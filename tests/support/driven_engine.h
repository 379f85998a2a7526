// An engine on a store of either kind, with a clock that the test moves.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/stepper.h"
#include "pawl/notice.h"
#include "pawl/record.h"
#include "pawl/stimulus.h"
#include "pawl/zones.h"
#include "store/store.h"
#include "tests/support/temporary_directory.h"

namespace pawl {

enum class StoreKind { memory, sqlite };

const Zones& all_zones();

// Where there is no disk to wait for: nothing that these tests are about would be lost with it.
std::filesystem::path place_in_memory();

class DrivenEngine {
 public:
  // What stands between the engine and its store; empty: nothing.
  using Wrap = std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)>;

  // The texts are machine files; the first version of each.
  DrivenEngine(StoreKind kind, const std::vector<std::string>& machines, Instant now,
               std::size_t batch_max = 960, Wrap wrap = {});
  ~DrivenEngine();

  Instant now() const { return now_; }
  // Without letting anything happen.
  void set_clock(Instant now) { now_ = now; }

  // Puts another machine, or version, beside the others.
  void apply_machine(const std::string& text, int version);

  // Decided now, with what follows from it at this instant.
  Answer apply(Stimulus stimulus);
  Answer create(const std::string& machine, const std::string& key, std::string data = "{}");
  Answer fire(const std::string& machine, const std::string& key, const std::string& event,
              std::string payload = "{}");
  Answer done(const GivenAttempt& attempt, std::string result = "{}");
  Answer fail(const GivenAttempt& attempt, const std::string& code);
  Answer beat(const GivenAttempt& attempt, std::string progress = {});
  Answer order(const std::string& machine, const std::string& key, Stimulus::Order order);
  std::vector<GivenAttempt> claim(std::vector<std::string> queues, std::size_t max = 1);

  // Everything due up to `until` happens, each at its own instant, and `until` is now. An attempt's
  // deadline at `until` itself is left to a later call that passes it.
  void run_until(Instant until);
  // All that can be done now.
  void settle(bool passed = false);

  // All attempts get the same token from now on, as they never must.
  void reuse_tokens() { reuses_tokens_ = true; }
  // From the next reopen on.
  void set_ordered_channels(std::set<std::string> channels) { ordered_ = std::move(channels); }
  // The process ends, and another one opens the store after so long.
  void reopen(Duration closed = {});

  Stepper& engine() { return *engine_; }
  Store& store() { return *store_; }
  std::optional<Record> find(const std::string& machine, const std::string& key);
  std::vector<Entry> log_of(const Record& record);
  std::vector<Record> all(const std::string& machine = {});
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<Notice>& notices() const { return notices_; }
  std::filesystem::path directory() const { return directory_.path(); }

 private:
  void open(std::optional<Instant> closed_at);

  StoreKind kind_;
  Instant now_;
  std::size_t batch_max_;
  Wrap wrap_;
  TemporaryDirectory directory_{place_in_memory()};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Stepper> engine_;
  std::vector<std::string> notes_;
  std::vector<Notice> notices_;
  std::uint64_t tokens_ = 0;
  bool reuses_tokens_ = false;
  std::set<std::string> ordered_ = {};
};

}  // namespace pawl
