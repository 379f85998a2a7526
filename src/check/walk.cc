// Breadth first, so that the way to each situation is a shortest one. A situation is kept only
// until it is explored; after that its key is enough.
#include "check/walk.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/sort_unique.h"
#include "check/judged.h"

namespace pawl {
namespace {

class Walk {
 public:
  Walk(Stage& stage, const Distinctions& distinctions, const WalkOptions& options)
      : stage_(stage), distinctions_(distinctions), options_(options) {
    walked_.paces.number_of("");
  }

  Walked walk(const std::vector<StateId>& from) {
    for (const StateId state : from) begin(state);
    while (!open_.empty()) {
      const auto [knot, situation] = std::move(open_.front());
      open_.pop_front();
      explore(knot, situation);
    }
    return std::move(walked_);
  }

 private:
  void begin(StateId state) {
    auto begun = stage_.begin(state, options_.data);
    Walked::Beginning& beginning = walked_.beginnings.emplace_back();
    beginning.state = state;
    if (begun) {
      beginning.knot = knot_of(std::move(begun->situation));
    } else {
      beginning.why = begun.error().message;
    }
  }

  std::uint32_t knot_of(Situation situation) {
    const auto [found, is_new] =
        known_.emplace(distinctions_.key_of(situation, situation.now), walked_.knots.size());
    if (!is_new) return found->second;
    Knot& knot = walked_.knots.emplace_back();
    knot.ending = stage_.ending_of(situation);
    if (knot.ending != Ending::none) knot.outcome = outcome_of(situation, knot.ending);
    if (walked_.knots.size() <= options_.situations_max)
      open_.emplace_back(found->second, std::move(situation));
    return found->second;
  }

  std::uint32_t outcome_of(const Situation& situation, Ending ending) {
    const Record& record = situation.record;
    Outcome outcome{.state = record.state};
    outcome.kind = ending == Ending::final  ? Outcome::Kind::final
                   : ending == Ending::hold ? Outcome::Kind::hold
                                            : Outcome::Kind::waits;
    if (ending == Ending::hold) outcome.code = record.hold->code;
    return walked_.outcomes.number_of(outcome);
  }

  void explore(std::uint32_t knot, const Situation& situation) {
    const auto first = static_cast<std::uint32_t>(walked_.passages.size());
    bool is_moved = false;  // before it can start
    for (const Mishap& mishap : stage_.mishaps_in(situation)) {
      if (mishap.kind == Mishap::Kind::time_passes) add_tick(knot, situation);
      auto happened = stage_.play(situation, mishap);
      is_moved = is_moved || moves_before_retry(situation, mishap, happened);
      if (happened) add(knot, situation, mishap, *std::move(happened));
    }
    Knot& explored = walked_.knots[knot];
    explored.explored = true;
    explored.cut_by = clock_in_the_way(situation, is_moved);
    explored.timed = is_timed(situation);
    explored.first = first;
    explored.count = static_cast<std::uint32_t>(walked_.passages.size()) - first;
  }

  bool moves_before_retry(const Situation& before, const Mishap& mishap,
                          const std::optional<Happened>& happened) const {
    if (mishap.kind == Mishap::Kind::start) return !happened;
    if (mishap.kind != Mishap::Kind::time_passes || !happened) return false;
    const bool comes_back = !before.record.ready_at && !before.record.running;
    const auto at = stage_.goes_on_at(before);
    return comes_back && at && happened->after.acted_at < *at &&
           stage_.goes_on_at(happened->after) != at;
  }

  // What ends the run before the next failure, however soon that is: a clock that moves the record,
  // or a limit of `elapsed` that it then meets.
  std::optional<std::uint32_t> clock_in_the_way(const Situation& situation, bool is_moved) {
    const auto goes_on_at = stage_.goes_on_at(situation);
    if (!goes_on_at) return std::nullopt;
    const std::vector<int> limits = distinctions_.limits_of(situation.record);
    std::optional<Clock> first;
    for (const Clock& clock : distinctions_.clocks_of(situation)) {
      const bool ends_it =
          clock.kind == Clock::Kind::elapsed
              ? std::find(limits.begin(), limits.end(), clock.index) != limits.end()
              : is_moved;
      if (!ends_it || clock.at > *goes_on_at) continue;
      if (!first || rank(clock) < rank(*first)) first = clock;
    }
    return first ? std::optional(number_of(*first)) : std::nullopt;
  }

  // What ticks again and again is the reason only where nothing else is.
  static std::pair<bool, Instant> rank(const Clock& clock) {
    return {clock.kind == Clock::Kind::every, clock.at};
  }

  bool is_timed(const Situation& situation) const {
    const Record& record = situation.record;
    if (!record.ready_at && !record.running) return false;
    const std::vector<Clock> clocks = distinctions_.clocks_of(situation);
    return std::any_of(clocks.begin(), clocks.end(), [](const Clock& clock) {
      return clock.kind != Clock::Kind::attempt && clock.kind != Clock::Kind::come_back;
    });
  }

  // A tick that makes no difference still moves its own clock.
  void add_tick(std::uint32_t knot, const Situation& situation) {
    const Mishap tick{Mishap::Kind::tick};
    auto happened = stage_.play(situation, tick);
    const bool is_quiet = happened && distinctions_.key_of(happened->after, happened->after.now) ==
                                          distinctions_.key_of(situation, situation.now);
    if (is_quiet) add(knot, situation, tick, *std::move(happened));
  }

  void add(std::uint32_t from, const Situation& before, const Mishap& mishap, Happened happened) {
    const Judged judged = pawl::judged(stage_.machine(), distinctions_, before, mishap, happened);
    happened.after.waits_without_bound = judged.waits_without_bound;
    Passage passage{.from = from,
                    .mishap = walked_.mishaps.number_of(mishap),
                    .kept = kept(before, happened.after),
                    .limits = limits(judged.limits),
                    .pace = walked_.paces.number_of(judged.pace),
                    .failures = judged.failures,
                    .failed = judged.failed,
                    .paced = judged.paced,
                    .lasted = judged.lasted};
    passage.to = judged.succeeded ? success() : knot_of(std::move(happened.after));
    walked_.passages.push_back(passage);
  }

  // A success ends all failures, whatever comes after it.
  std::uint32_t success() {
    if (success_) return *success_;
    success_ = static_cast<std::uint32_t>(walked_.knots.size());
    known_.emplace("", *success_);
    walked_.knots.push_back({.explored = true,
                             .ending = Ending::final,
                             .outcome = walked_.outcomes.number_of({Outcome::Kind::done})});
    return *success_;
  }

  std::uint32_t number_of(const Clock& clock) {
    return walked_.clocks.number_of({clock.kind, clock.name, clock.index});
  }

  std::uint32_t kept(const Situation& before, const Situation& after) {
    ClockSet set;
    const std::vector<Clock> were = distinctions_.clocks_of(before);
    for (const Clock& clock : distinctions_.clocks_of(after))
      if (std::any_of(were.begin(), were.end(),
                      [&](const Clock& was) { return was.is(clock) && was.at == clock.at; }))
        set.push_back(number_of(clock));
    sort_unique(set);
    return walked_.clock_sets.number_of(set);
  }

  std::uint32_t limits(const std::vector<int>& limits) {
    ClockSet set;
    for (const int limit : limits)
      set.push_back(number_of({.kind = Clock::Kind::elapsed, .index = limit}));
    sort_unique(set);
    return walked_.clock_sets.number_of(set);
  }

  Stage& stage_;
  const Distinctions& distinctions_;
  const WalkOptions& options_;
  Walked walked_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::deque<std::pair<std::uint32_t, Situation>> open_;
  std::optional<std::uint32_t> success_;
};

}  // namespace

Walked walk(Stage& stage, const Distinctions& distinctions, const std::vector<StateId>& from,
            const WalkOptions& options) {
  return Walk(stage, distinctions, options).walk(from);
}

}  // namespace pawl
