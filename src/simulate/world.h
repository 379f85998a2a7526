// World: records, inboxes and deliveries in memory around the real decide, on a virtual clock.
//
// It does what an engine does and nothing more: commits decisions, answers what they need to know,
// carries messages, wakes what is due. Workers act only when somebody applies their stimuli.
// Deterministic: ids count from 1, and what happens at one instant happens in the order of ids.
//
// Not simulated: limits on running attempts and starts, and the removal of records (`keep`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "decide/built_in.h"
#include "pawl/decide.h"
#include "pawl/effect.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "pawl/zones.h"
#include "simulate/shelf.h"

namespace pawl {

// What a channel was given; deliveries never fail here.
struct Delivery {
  std::string id;
  std::string channel;
  std::string payload = {};  // JSON
  Instant at = {};           // with `in`: later than it was asked for
  RecordId asker = {};
};

// One decision, told to those who watch before it is committed. Views, valid during the call.
struct Decided {
  const Machine& machine;
  const Stimulus& stimulus;
  const Record& before;  // id 0: there was none
  const Decision& decision;
  std::span<const Effect> effects;  // of the decision; a `send` to children once for each of them
  Instant now;
};

// Who watches a world; either function may be empty.
struct Watcher {
  std::function<void(const Decided&)> decided = {};
  // What is no error and no decision either: a message to a record that does not exist.
  std::function<void(Instant now, const std::string& note)> noted = {};
};

class World {
 public:
  // As many decisions may follow from one call; more is a circle in which no time passes.
  static constexpr int kDecisionsMax = 100'000;

  World(const std::vector<std::shared_ptr<const Machine>>& machines, Zones zones, Instant now,
        int decisions_max = kDecisionsMax);

  // Another machine, or another version of one: new records get the highest.
  void add(std::shared_ptr<const Machine> machine);
  void watch(Watcher watcher) { watcher_ = std::move(watcher); }

  Instant now() const { return now_; }

  // Decides a stimulus from outside now, and then every message that follows from it. What is due
  // by the clock waits for run_until, also when it is due now. The stimulus names machine and key;
  // ids of new records are given here. Fails when there is no such machine, or no end.
  Result<Answer> apply(Stimulus stimulus);

  // Everything due up to `until` happens, each at its own instant, and `until` is now. An attempt's
  // deadline at `until` itself is left to a later call that passes it. Fails when `until` has
  // passed, or there is no end.
  Result<void> run_until(Instant until);

  // When something is due, or none ever.
  std::optional<Instant> next_due() const;

  // Null when there is none.
  const Record* find(RecordId id) const;
  const Record* find(std::string_view machine, std::string_view key) const;
  // The last that was made to run this task aside.
  const Record* latest_run(std::string_view task) const;
  // The newest version; null when the world has no such machine.
  const Machine* machine(std::string_view name) const;

  // Ids are 1 to this.
  std::size_t record_count() const { return shelf_.size(); }

  // Of a record that exists.
  const Machine& machine_of(RecordId id) const { return *shelf_.find(id)->machine; }
  const std::vector<Entry>& log_of(RecordId id) const { return shelf_.find(id)->log; }
  std::size_t waiting_messages_of(RecordId id) const { return shelf_.find(id)->inbox.size(); }

  // In the order they were asked for.
  const std::vector<Delivery>& deliveries() const { return deliveries_; }

 private:
  // How a stimulus came to be decided.
  enum class Origin {
    outside,
    effect,   // it creates a record that its parent has counted already
    message,  // of an inbox
  };
  struct Work {
    Stimulus stimulus;
    Origin origin = Origin::outside;
  };
  using Idempotency = std::tuple<std::string, std::string, std::string>;  // machine, key, its key

  Result<Answer> decide_one(Stimulus& stimulus, Origin origin);
  Decision decide_knowing(const Machine& machine, const Record& record, Stimulus& stimulus) const;
  KnownRecord look_up(const KnownRecord& asked) const;
  void prepare(Stimulus& stimulus, const KeptRecord* kept) const;

  void commit(const Stimulus& stimulus, Origin origin, KeptRecord* kept,
              std::shared_ptr<const Machine> machine, Decision& decision,
              std::span<const Effect> effects);
  KeptRecord& keep(KeptRecord* kept, std::shared_ptr<const Machine> machine, Decision& decision);
  std::vector<Effect> reached(const Decision& decision) const;
  void ask_for(std::span<const Effect> effects, const Record& asker);
  void deliver(const Effect& effect, const Record& asker);
  void tell_parent(std::optional<Stimulus::ChildChanged> change, Origin origin,
                   const KeptRecord& kept);
  void open_inbox(KeptRecord& kept);

  Result<void> settle();
  Result<void> take(Work work);
  Result<void> act(RecordId id, Instant until);
  Result<void> wake(const Record& record, Instant until);
  Result<void> carry_out(RecordId send);
  Result<Stimulus> settled(const DelayedMessage& message, const Record& send, TokenHash token);
  std::optional<Shelf::Due> first_due(Instant until) const;

  std::shared_ptr<const Machine> machine_for(const Record& record);
  std::shared_ptr<const Machine> machine_of_new(const Stimulus& stimulus);
  void note(const std::string& text) const;

  std::map<std::string, std::map<int, std::shared_ptr<const Machine>>, std::less<>> machines_;
  BuiltIns built_ins_;
  Watcher watcher_;
  Instant now_;
  Shelf shelf_;
  std::vector<Delivery> deliveries_;
  std::map<std::string, std::size_t, std::less<>> delivery_ids_;  // to its place, from 1
  std::map<Idempotency, Remembered> remembered_;
  std::deque<Work> work_;         // decided before any time passes
  std::set<RecordId> postponed_;  // of this run_until: only a deadline at `until` is due
  std::uint64_t tokens_ = 0;      // of the world's own attempts
  int decisions_ = 0;             // since the last call
  int decisions_max_;
};

}  // namespace pawl
