#include "check/check.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "check/circles.h"
#include "check/sample.h"
#include "check/shortened.h"
#include "check/summary.h"
#include "model/edges.h"
#include "model/row_text.h"

namespace pawl {
namespace {

// More counter-examples than a person reads are not worked out.
constexpr int kExamplesMax = 20;

bool runs_what_can_fail(const State& state) {
  return std::any_of(state.effects.begin(), state.effects.end(), [](const EffectRow& effect) {
    return effect.verb == EffectRow::Verb::run && effect.otherwise;
  });
}

// Those in which work can fail. A `started` state is entered by its owner only.
std::vector<StateId> failing_states(const Machine& machine) {
  const std::vector<bool> reached = reachable_states(machine, edges_of(machine));
  std::vector<StateId> states;
  for (StateId id = 0; id < machine.state_count(); ++id)
    if (reached[id] && !machine.owner_of(id) &&
        (can_fail(machine, id) || runs_what_can_fail(machine.state(id))))
      states.push_back(id);
  return states;
}

class Check {
 public:
  Check(const Machine& machine, const CheckOptions& options, std::string data)
      : machine_(machine),
        options_(options),
        data_(std::move(data)),
        shortened_(shortened(machine)),
        distinctions_(*shortened_.machine),
        own_distinctions_(machine),
        stage_(*shortened_.machine, distinctions_, options.others),
        own_stage_(machine, own_distinctions_, options.others) {}

  // Whether a record can have the data at all.
  Result<void> try_data() {
    const auto begun = own_stage_.begin(machine_.definition().initial.id, data_);
    if (!begun) return begun.error();
    return {};
  }

  CheckedMachine check() {
    walked_ = walk(stage_, distinctions_, failing_states(machine_),
                   {.data = data_, .situations_max = options_.situations_max});
    hidden_ = circles_in(walked_, passages([](const Passage& passage) { return !passage.paced; }));
    const Circles all = circles_in(walked_, passages([](const Passage&) { return true; }));
    summaries_ = summaries_of(walked_, hidden_, all);
    CheckedMachine checked{.unvaried = distinctions_.unvaried(), .shortened = shortened_.cut};
    for (const Walked::Beginning& beginning : walked_.beginnings)
      checked.states.push_back(verdict_of(beginning));
    return checked;
  }

 private:
  template <class Wanted>
  std::vector<PassageId> passages(Wanted is_wanted) const {
    std::vector<PassageId> wanted;
    for (PassageId id = 0; id < walked_.passages.size(); ++id)
      if (is_wanted(walked_.passages[id])) wanted.push_back(id);
    return wanted;
  }

  StateVerdict verdict_of(const Walked::Beginning& beginning) {
    using Kind = StateVerdict::Kind;
    StateVerdict verdict{.state = machine_.state(beginning.state).name};
    if (!beginning.knot) {
      verdict.kind = Kind::undecided;
      verdict.why = "cannot bring a record there: " + beginning.why;
      return verdict;
    }
    const Summary& summary = summaries_[*beginning.knot];
    for (const std::uint32_t outcome : summary.outcomes)
      verdict.outcomes.push_back(walked_.outcomes[outcome]);
    if (summary.never_ends) {
      verdict.kind = Kind::never_ends;
      if (examples_++ < kExamplesMax) add_example(verdict, beginning);
    } else if (!summary.explored) {
      verdict.kind = Kind::undecided;
      verdict.why = "more than " + std::to_string(options_.situations_max) + " situations";
    } else if (summary.repeats) {
      verdict.kind = Kind::repeats;
      for (const std::uint32_t pace : summary.paces) verdict.paces.push_back(walked_.paces[pace]);
    } else {
      verdict.failures_max = summary.failures_max;
      if (!follows_plan(beginning.state)) verdict.longest = summary.longest;
      for (const std::uint32_t clock : summary.bounds) add_bound(verdict, walked_.clocks[clock]);
      forget_numbers_of_cut_delays(verdict);
    }
    return verdict;
  }

  void forget_numbers_of_cut_delays(StateVerdict& verdict) const {
    if (!shortened_.cut || verdict.failures_max.value_or(0) <= kDelaysWalked) return;
    verdict.failures_max.reset();
    verdict.longest.reset();
    verdict.bounds.push_back("more than " + std::to_string(kDelaysWalked) + " delays");
  }

  // When a retry begins then depends on the time of the day.
  bool follows_plan(StateId state) const {
    return machine_.definition().schedule &&
           machine_.policy_of_state(state).align != Policy::Align::retry;
  }

  void add_bound(StateVerdict& verdict, const ClockName& clock) const {
    // Clang does not let a lambda take hold of a structured binding.
    const Clock::Kind kind = std::get<0>(clock);
    const std::string& name = std::get<1>(clock);
    const int index = std::get<2>(clock);
    const auto timer = [&](const std::vector<TimerRows>& timers) {
      return text_of(timers[static_cast<std::size_t>(index)].delay) + " in " + in_ticks(name);
    };
    const auto state = [&]() -> const State& { return machine_.state(*machine_.find_state(name)); };
    switch (kind) {
      case Clock::Kind::after:
        verdict.bounds.push_back("after " + timer(state().after));
        break;
      case Clock::Kind::every:
        verdict.bounds.push_back("every " + timer(state().every));
        break;
      case Clock::Kind::message:
        verdict.bounds.push_back("the message " + in_ticks(name));
        break;
      case Clock::Kind::elapsed:
        verdict.bounds.push_back("elapsed " + text_of(distinctions_.limit(index)));
        break;
      case Clock::Kind::plan:
        verdict.bounds.emplace_back("the plan");
        break;
      case Clock::Kind::come_back:
      case Clock::Kind::attempt:
        break;
    }
  }

  // What conditions read and a walk does not vary may be otherwise the second time round.
  void add_example(StateVerdict& verdict, const Walked::Beginning& beginning) {
    const EndlessRun run = run_into(walked_, hidden_.endless, *beginning.knot);
    verdict.example = counter_example(own_stage_, own_distinctions_, beginning.state, data_,
                                      mishaps(run.lead_in), mishaps(run.circle));
    if (verdict.example->plays || shortened_.cut) return;
    verdict.kind = StateVerdict::Kind::undecided;
    verdict.why = "it seems to loop, but does not when replayed: " + verdict.example->how;
    verdict.example.reset();
  }

  std::vector<Mishap> mishaps(const std::vector<PassageId>& way) const {
    std::vector<Mishap> all;
    for (const PassageId id : way) all.push_back(walked_.mishaps[walked_.passages[id].mishap]);
    return all;
  }

  const Machine& machine_;
  const CheckOptions& options_;
  std::string data_;
  Shortened shortened_;
  Distinctions distinctions_;
  Distinctions own_distinctions_;  // of the machine as it is
  Stage stage_;
  Stage own_stage_;
  Walked walked_;
  Circles hidden_;  // those that the file does not ask for
  std::vector<Summary> summaries_;
  int examples_ = 0;
};

}  // namespace

Result<CheckedMachine> check_failures(const Machine& machine, const CheckOptions& options) {
  PAWL_TRY(std::string data, sample_data(machine, options.data));
  Check check(machine, options, std::move(data));
  PAWL_CHECK(check.try_data());
  return check.check();
}

}  // namespace pawl
