// Round: one batch under way. Stimuli are decided in order, each on what the ones before it left,
// and what they send to other records is decided here as well, as far as there is room.
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
#include <tuple>
#include <vector>

#include "decide/built_in.h"
#include "decide/limits.h"
#include "engine/machines.h"
#include "engine/message.h"
#include "engine/meter.h"
#include "engine/ward.h"
#include "engine/working_set.h"
#include "pawl/decide.h"
#include "pawl/effect.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

// As many records may one decision make, with those that they make in turn.
inline constexpr std::size_t kMadeMax = 10'000;

// Whether the id of an effect names the entry that asked, so that it is used once: `12/3/0`, and
// not `12/pay/july`, which has a key of its own.
bool is_used_once(const std::string& effect_id);

// What is no error and no decision either: a message to a record that does not exist.
using Noted = std::function<void(Instant now, const std::string& note)>;

class Round {
 public:
  // What a batch decides with, and what outlives it.
  struct Surroundings {
    Store& store;
    Machines& machines;
    Ward& ward;
    std::uint64_t& last_id;  // of a record
    std::size_t units_max;
    const std::string& alerts;  // the channel of alerts, or empty
    const Noted& noted;
    std::vector<Unit>& units;         // empty before and after: its memory is used again
    std::vector<UnitBefore>& before;  // one for each unit; as the units
  };

  struct Decided {
    Answer answer;
    std::optional<std::size_t> unit = {};  // what it stands on: true only if that is carried out
  };

  Round(Surroundings around, Batch& batch);
  ~Round() {
    units_.clear();
    before_.clear();
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  Instant now() const { return now_; }
  bool is_full() const { return units_.size() >= around_.units_max; }
  std::size_t room() const { return is_full() ? 0 : around_.units_max - units_.size(); }
  WorkingSet& records() { return records_; }
  // That a start of the record would be under.
  Result<std::vector<StartLimit>> limits_of(const InWork& in);
  std::span<const Unit> units() const { return units_; }
  std::span<const UnitBefore> before() const { return before_; }

  // Looks up what the callers ask about, at once.
  Result<void> prepare(std::span<const Stimulus* const> asked);

  // A stimulus from a caller, and the messages that follow from it. One that is for later becomes a
  // `send` record.
  Result<void> decide(Stimulus& stimulus, Decided& decided);

  // A worker shows that it is alive. What is to be written, beside the units; none when it is
  // stale. After all else of the batch, since it says when the record wakes.
  struct Beaten {
    Decided decided;
    std::optional<Beat> beat = {};
  };
  Result<Beaten> beat(Stimulus& stimulus);

  // A worker takes the record's task.
  Result<void> start(InWork& in, Stimulus::Start start, Decided& decided);
  // With the last decision about it.
  void count_rates(const InWork& in, std::vector<RateWindow> rates);

  // The record waits in another queue than that of its task, until it is put back or decided.
  void put_aside(InWork& in, std::string queue);
  void put_back(InWork& in);

  // Of a slot: attempts that have begun in this batch, less those that are over.
  int taken_here(const std::string& slot) const;
  const std::set<std::string>& freed_slots() const { return freed_; }

  // All that is due about a record by the clock. With `passed` a deadline at this very instant is
  // due as well. False: there is nothing before the clock has moved on.
  Result<bool> wake(InWork& in, bool passed);

  // Messages from the inbox. `is_all`: there are no others.
  Result<void> take(std::vector<Claimed> claimed, bool is_all);

  // Does for a `send` record what a worker does for a task.
  Result<void> carry_out(InWork& send, const TokenHash& token);

  // The engine parks a record that it cannot let go on.
  Result<void> hold(InWork& in, const std::string& code, const std::string& text);

  // The record goes; the record stays for longer, although it is over; one entry takes the place of
  // those up to it.
  void remove(InWork& in);
  void keep_until(InWork& in, Instant until);
  void shorten_log(InWork& in, Entry compacted);

  // Records that the batch has left ready now, of a queue: by priority, instant, id.
  using Ready = std::set<std::tuple<int, Instant, std::uint64_t>>;
  Ready& left_ready(const std::string& queue) { return ready_[queue]; }

 private:
  // A message that was sent in this batch.
  struct SentMessage {
    SentHere place;
    RecordId to;
    Stimulus stimulus;
  };
  // Where a stimulus comes from, when not from outside.
  struct Taking {
    std::optional<MessageId> stored = {};
    std::optional<SentHere> here = {};
    std::optional<std::size_t> after = {};  // a unit that it stands on
    bool is_message() const { return stored || here; }
  };
  // Whom a message is for: by name until all records of the decision are made.
  struct Draft {
    RecordId to = {};
    Stimulus stimulus;
  };
  // What a record asks for that this decision has changed or made.
  struct Asked {
    const Record* asker;
    const Machine* machine;
    std::vector<Effect> effects;
    std::optional<Stimulus::ChildChanged> to_parent;
    bool is_made = false;
  };
  // What has come of a decision so far.
  struct Following {
    std::deque<Asked> all = {};  // whose effects are still to be looked at
    std::vector<InWork*> made = {};
    std::vector<Draft> drafts = {};
  };

  Result<std::optional<Answer>> refuse_outside(Stimulus& stimulus, const InWork* in);
  Result<void> postpone(Stimulus& stimulus, const InWork* receiver, Decided& decided);
  Result<Answer> check_ahead(const Stimulus& stimulus, const InWork* receiver);
  Result<void> make_call(InWork& send, const DelayedMessage& message, const TokenHash& token);
  Result<void> deliver(InWork& send, const DelayedMessage& message, const TokenHash& token);
  Result<void> decide_one(Stimulus& stimulus, InWork* in, const Taking& taking, Decided& decided);
  Result<void> decide_one(Stimulus& stimulus, InWork* in, const Taking& taking);
  Result<void> decide_knowing(const Machine& machine, const Record& record, Stimulus& stimulus,
                              Decision& decision);
  Result<KnownRecord> look_up(const KnownRecord& asked);
  Result<void> recall(Stimulus& stimulus, const Taking& taking);

  Result<bool> keep(const Stimulus& stimulus, InWork*& in, std::shared_ptr<const Machine> machine,
                    Decision& decision, const Taking& taking);
  Result<bool> follow(Unit& unit, Asked first);
  Result<void> make(Unit& unit, const Record& asker, const Effect& effect, Following& following);
  Result<void> make(Unit& unit, Stimulus create, Following& following);
  Result<void> tell(Unit& unit, const Record& asker, const Effect& effect, Following& following);
  Result<void> send(Unit& unit, std::vector<Draft> drafts);
  Result<void> spread(Unit& unit, const Record& sender, Spread from, bool is_first,
                      Following& following);
  Result<void> go_on_spreading(InWork& sender, const Spread& from, MessageId message);
  void stand_on(const InWork& in);
  void leave_untouched(InWork& in, Unit unit);
  void push(Unit unit, UnitBefore before);
  void count_slots(const Record& before, const Record& after);
  RecordChange change_of(const InWork* before, const Machine& machine, Decision& decision);
  void note_ready(const Record& record, const std::string& queue);

  Result<void> settle();
  void note(const std::string& text) const;

  Surroundings around_;
  Batch& batch_;
  Instant now_;
  std::uint64_t last_id_before_;  // records with a higher one were made in this batch
  WorkingSet records_;
  std::vector<Unit>& units_;
  std::vector<UnitBefore>& before_;
  std::deque<SentMessage> sent_;
  bool may_settle_ = true;  // no stored message waits that what is sent here could overtake
  std::map<RequestName, std::optional<Remembered>> remembered_;
  std::map<std::string, Ready> ready_;
  std::map<std::string, int> slots_;  // how many more are taken than before the batch
  std::set<std::string> freed_;
  std::vector<std::size_t> stands_on_;  // units whose records the decision has looked at
  Decision decision_;                   // used again and again
};

}  // namespace pawl
