// Turn: one decision under way. Each stimulus has a file of its own; what they share (rows, hops,
// failures, effects, the plan) has one each as well.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calendar/zone.h"
#include "decide/bound_schedule.h"
#include "model/codec.h"
#include "model/expression/scratch.h"
#include "model/expression/sight.h"
#include "pawl/decide.h"

namespace pawl {

inline constexpr int kHopsMax = 16;                  // in one decision
inline constexpr std::size_t kItemsMax = 1'000;      // of one `each`
inline constexpr std::size_t kDataMax = 1U << 20U;   // bytes of a record's data
inline constexpr std::size_t kLabelMax = 256;        // bytes of a label's value
inline constexpr std::size_t kMissedSlotsMax = 100;  // that `missed: all` makes up for
inline constexpr Duration kLateAfter = std::chrono::minutes{1};
inline constexpr Duration kHeldKept = std::chrono::days{30};  // of built-in machines

// The later instant, never beyond the last one there is.
Instant after(Instant now, Duration delay);

bool has_role(const Actor& actor, std::span<const std::string> roles);

// Adds to the number of children in that state; a state without any is not listed.
void count_in(ChildCounts& counts, const std::string& state, int more);

class Turn {
 public:
  Turn(const Machine& machine, const Record& before, const Stimulus& stimulus, Instant now,
       Decision& into);

  void decide();

  // The events that the actor may fire now with an empty payload.
  std::vector<std::string> permitted(const Actor& actor);

  // Answers only what would be wrong at any time.
  void check_ahead();

 private:
  // What makes a record leave its state. Counters, holds and outside keys depend on it.
  enum class By {
    event,
    order,
    done,     // also timers, plan, `when`, error rows with `to`
    started,  // an attempt begins: it is the same work
    failing,  // to the failure state, or straight to the checkpoint
    coming_back,
    giving_up,
  };

  // A row that holds, and when it fires an event, the row that takes that.
  struct Choice {
    const Row* row = nullptr;
    const Row* event_row = nullptr;
    EventId event = 0;

    explicit operator bool() const { return row != nullptr; }
  };

  // The data after a `set`. What is absent sets nothing.
  struct Assigned {
    std::string data;
    bool sets_something = false;
  };

  // How a row that was taken is logged.
  struct Log {
    Entry::Kind kind = Entry::Kind::event;
    std::string_view event = {};
    std::string_view cause = {};  // the place of a row that fires an event
  };

  // --- stimuli: create.cc, fire.cc, start.cc, settle.cc, wake.cc, child.cc, order.cc -----------
  void on(const Stimulus::Create& create);
  void on(const Stimulus::Fire& fire);
  void on(const Stimulus::Start& start);
  void on(const Stimulus::Beat& beat);
  void on(const Stimulus::Done& done);
  void on(const Stimulus::Fail& fail);
  void on(const Stimulus::Wake& wake);
  void on(const Stimulus::Sent& sent);
  void on(const Stimulus::ChildChanged& changed);
  void on(const Stimulus::Order& order);

  bool create_record(const Stimulus::Create& create);
  std::optional<std::string> data_of_new(const Stimulus::Create& create);
  void fire(std::string_view event, std::string_view payload, const Actor& actor);
  std::optional<EventId> event_that_fits(std::string_view name, std::string_view& payload,
                                         std::string& completed);
  bool lacks_role(EventId event, const Actor& actor);
  void check_event_ahead(std::string_view name, std::string_view payload);
  void refuse_event(EventId event, const Actor& actor);
  bool fits(EventId event, std::string_view& payload, std::string& completed);

  bool gives_up_at_start();
  void hand_over(const Task& task, const Attempt& attempt);
  std::string call_of(const Task& task, std::string payload);
  bool is_live(const TokenHash& token) const;
  bool is_attempt_over() const;
  std::string why_over(const TokenHash& token) const;
  bool settles(const TokenHash& token, Settled::Verb verb);
  void answer_stale(std::string reason);
  void end_attempt();
  void time_out(std::string_view code, std::string message);
  void fire_timer(Timer timer);
  bool serve_plan();

  void refuse(std::string reason);
  void open_order(const Stimulus::Order& order);
  void order_retry(const Stimulus::Order& order);
  void retry_held(const Stimulus::Order& order);
  void order_release(const Stimulus::Order& order);
  void order_hold(const Stimulus::Order& order);
  void order_move(const Stimulus::Order& order);
  void order_patch(const Stimulus::Order& order);
  void order_erase(const Stimulus::Order& order);
  bool waits_to_come_back() const;
  bool moves_by_itself() const;

  // --- rows.cc: which row holds ----------------------------------------------------------------
  Sight sight() const { return sight(data_in_sight()); }
  Sight sight(std::string_view data) const;
  std::string_view data_in_sight() const;
  bool holds(const Row& row, const Sight& sight);
  bool holds(const Expression& condition, const Sight& sight);
  Choice choose(std::span<const Row> rows);
  bool accepts(const Row& row, Choice& choice);
  std::optional<std::string> empty_payload(EventId event) const;
  const Row* permitted_row(EventId event, const Actor& actor, std::string_view payload);
  const Row* event_row(EventId event, const Sight& sight, bool is_held);
  const Row* own_event_row(EventId event, const Sight& sight, bool is_held);
  void explain_refusal(EventId event);

  // --- take.cc: what a row does ----------------------------------------------------------------
  void take(const Choice& choice, const Log& log, By by);
  void carry_out(const Row& row, const Choice& choice, std::string_view event, By by);
  void apply_set(const std::vector<Assignment>& set);
  std::optional<Assigned> data_after(const std::vector<Assignment>& set);
  void change_data(std::string data);
  void check_label(const Label& label, const std::vector<Label>& before);
  void put_on_hold(std::string_view code, std::string text, Hold::By by);
  void lift_hold();
  void begin_epoch();

  // --- hop.cc ----------------------------------------------------------------------------------
  void hop(StateId to, By by);
  void leave(By by);
  void enter(StateId to, By by);
  void arm_timers();
  void make_task_ready(By by);

  // --- failure.cc ------------------------------------------------------------------------------
  void complete_work(std::string_view result, const Row* error_row = nullptr);
  void fail_work(Failure failure, const Log& log);
  void ask_again_later(const Row& row);
  void leave_started();
  void retry(const Row* row);
  void wait_for_retry(Instant at, StateId checkpoint);
  bool give_up(bool only_elapsed, StateId checkpoint);
  const Row* give_up_row(bool only_elapsed);
  void count_failure();
  bool is_on_the_way_back() const;
  void come_back();
  void come_back_in_place();
  bool rewind_to(StateId checkpoint);
  const ResolvedPolicy& policy() const { return machine_->policy_of_state(state_); }
  StateId owner() const { return machine_->owner_of(state_).value_or(state_); }
  StateId checkpoint_of_failure(const Row* row) const;
  std::optional<Duration> read_duration(const DurationValue& duration, std::string_view what);
  std::optional<Duration> read_period(const DurationValue& duration);  // of `every`

  // --- effects.cc ------------------------------------------------------------------------------
  void ask(const std::vector<EffectRow>& effects);
  void ask(const EffectRow& effect);
  void ask_once(const EffectRow& effect);
  void alert(const std::string& channel);
  bool address(const EffectRow& row, Effect& effect);
  ChildCounts& children_of(const std::string& machine);
  void count_child(const std::string& machine, const std::string& state, bool is_final);
  bool is_made(const std::string& machine, const std::string& key, std::string_view data = {});
  const KnownRecord* known_record(std::string_view machine, std::string_view key) const;
  void begin_child(const Effect& effect);
  void report_other_parent(const Effect& effect);
  std::string default_payload(const EffectRow& row);

  // --- plan.cc ---------------------------------------------------------------------------------
  std::optional<BoundSchedule> schedule();
  void plan_again();
  Instant not_too_far_back(const BoundSchedule& bound, Instant from) const;
  std::optional<Instant> next_planned();

  // --- migrate.cc ------------------------------------------------------------------------------
  bool migrate();
  void compute_timers_again(const State& was);

  // --- turn.cc: entries, and the end of the decision -------------------------------------------
  void open(const Log& log);
  void close();
  Entry& entry() { return out_.entries.back(); }
  bool is_open() const { return entry_open_; }
  bool is_empty() const {
    return entry_open_ && touched_ == 0 && out_.effects.size() == effects_before_;
  }
  void drop();
  void touch(std::uint32_t fields) { touched_ |= fields; }

  void follow_when();
  void hold_as_loop(Entry::Kind kind);
  void stop_loop(std::string text);
  void hold_if_stranded();
  bool is_stranded() const { return !is_held() && has_no_way_on(); }
  bool has_no_way_on() const;
  void derive_instants();
  std::optional<Instant> removal();
  void conclude();
  void conclude_bad_value();
  void keep_progress();
  void hand_over_nothing_revoked();
  void settle_answer();
  void tell_parent();
  void undo();

  void answer(Answer::Kind kind, std::string reason);
  void answer_no_such_record();
  void bad_value(std::string text);  // the whole decision is undone
  bool is_held() const { return record_.hold.has_value(); }
  const State& here() const { return machine_->state(state_); }

  const Machine& given_machine_;
  const Machine* machine_;  // the newest once the record follows it
  const Record& before_;
  const Stimulus& stimulus_;
  Instant now_;
  Decision& out_;
  Record& record_;
  Scratch& scratch_;
  StateId state_ = kNoState;
  std::optional<Zone> zone_;  // of times without offset

  // What rows see.
  std::optional<std::string_view> event_;
  std::string fired_payload_;  // of an event that a row fires
  std::optional<std::string_view> result_;
  std::optional<std::string_view> item_;
  const Actor* actor_ = nullptr;
  std::optional<Failure> failure_;

  // The entry that is being written.
  bool entry_open_ = false;
  std::uint32_t touched_ = 0;
  std::size_t effects_before_ = 0;      // entries asked for that many
  int position_ = 0;                    // of the next effect of this entry
  std::vector<std::string> made_here_;  // machine/key of what this decision makes

  bool commits_ = false;
  bool data_changed_ = false;
  bool plan_due_ = false;
  bool migrated_ = false;
  bool completes_ = false;     // the `done` rows are being taken
  bool follows_when_ = false;  // a `when` row is being taken
  bool stops_when_ = false;    // it failed in place: it is not tried again in this decision
  int hops_ = 0;
  std::optional<Settled> settling_;
  std::optional<Instant> attempt_started_;  // of the attempt that this decision ends
  bool revokes_attempt_ = false;            // a row failed the work while an attempt ran
  std::string bad_value_;
  bool too_many_items_ = false;
};

}  // namespace pawl
