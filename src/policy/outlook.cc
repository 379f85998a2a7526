#include "policy/outlook.h"

#include <algorithm>

#include "model/edges.h"
#include "model/row_text.h"
#include "policy/answers.h"
#include "policy/delays.h"

namespace pawl {
namespace {

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

std::string condition_of(const Row& row) { return row.condition ? row.condition->text : ""; }

class Foresight {
 public:
  Foresight(const Machine& machine, StateId id)
      : machine_(machine), id_(id), policy_(machine.policy_of_state(id)) {}

  Outlook look() {
    outlook_.works = machine_.state(id_).task.has_value();
    if (machine_.definition().schedule) outlook_.align = policy_.align;
    note_through(checkpoint_of(machine_, id_));
    read_timeout();
    read_stay();
    answer_errors();
    for (const Row& row : policy_.give_up) add_end(row);
    finish_ends();
    return std::move(outlook_);
  }

 private:
  void note_through(StateId checkpoint) {
    if (checkpoint != id_ && policy_.failure != checkpoint)
      add_once(outlook_.through, machine_.state(checkpoint).name);
  }

  // A template makes durations unknown, and is named.
  std::optional<Duration> known(const DurationValue& duration) {
    if (duration.is_fixed()) return duration.fixed;
    add_once(outlook_.unknown, text_of(duration));
    return std::nullopt;
  }

  void read_timeout() {
    if (outlook_.works) timeout_ = known(policy_.timeout);
  }

  // A failure state is another stay: there the timer ends.
  void read_stay() {
    if (policy_.failure) return;
    for (const TimerRows& timer : machine_.state(id_).after)
      if (timer.delay.is_fixed() && always_moves(timer.rows))
        outlook_.stay = std::min(outlook_.stay.value_or(kDurationMax), timer.delay.fixed);
  }

  static bool always_moves(const Rows& rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [](const Row& row) { return row.to || row.hold || row.fail; }) &&
           !rows.empty() && !rows.back().condition;
  }

  // The policy's own delays come first, those of single errors after them.
  void answer_errors() {
    Outlook::Run retried;
    std::vector<Outlook::Run> own;
    for (const ErrorRows* error : reachable_errors(policy_)) {
      if (is_built_in(*error) && error->code != "default") continue;
      for (const Row& row : reachable_rows(error->rows)) {
        if (row.checkpoint && row.checkpoint->is_known()) note_through(row.checkpoint->id);
        if (row.action == Row::Action::give_up) outlook_.can_give_up = true;
        if (row.delays) own.push_back(run_of(error->code, row));
        if (row.action == Row::Action::retry && !row.delays) add_once(retried.codes, error->code);
      }
    }
    if (!retried.codes.empty()) {
      follow(policy_.retry, retried);
      outlook_.runs.push_back(std::move(retried));
    }
    for (Outlook::Run& run : own) outlook_.runs.push_back(std::move(run));
  }

  Outlook::Run run_of(const std::string& code, const Row& row) {
    Outlook::Run run{.codes = {code},
                     .condition = condition_of(row),
                     .own_delays = true,
                     .later = row.action == Row::Action::later,
                     .transient = row.transient};
    follow(*row.delays, run);
    return run;
  }

  void follow(const Delays& delays, Outlook::Run& run) {
    if (outlook_.align == Policy::Align::only_planned && !run.later)
      return wait_for_plan(delays, run);
    Course course(delays, timeout_);
    if (!run.later) courses_.push_back(course);
    show_failures(delays, course, run);
    if (run.later && course.gives_up()) {  // it is no failure: the last delay holds for ever
      run.goes_on = !run.failed.empty();
      if (run.goes_on) run.then_every = run.failed.back().wait;
      return;
    }
    run.goes_on = !course.gives_up();
    if (run.goes_on && stays_the_same(delays, course)) run.then_every = course.wait();
    if (course.go_to_end()) {
      run.last = course.failure();
      run.gives_up_after = course.failed_at();
      outlook_.can_give_up = true;
    }
  }

  // How many there are is all that the delays then say.
  void wait_for_plan(const Delays& delays, Outlook::Run& run) {
    const auto count = delay_count(delays);
    run.goes_on = count != 0;
    run.gives_up_after = {std::nullopt, std::nullopt};
    if (count) run.last = *count + 1;
    if (count) outlook_.can_give_up = true;
  }

  // All of them where they are few; else as long as one is not like the other.
  void show_failures(const Delays& delays, Course& course, Outlook::Run& run) {
    const auto count = delay_count(delays);
    const bool few = count && *count <= kOutlookRowsMax && !grows_unseen(delays);
    for (bool more = true; more && !course.gives_up(); course.go_on()) {
      run.failed.push_back({course.failure(), course.wait(), wait_text(delays, course.failure()),
                            course.next_start()});
      more = few || (course.failure() < kOutlookRowsMax && !course.is_settled());
    }
  }

  static bool grows_unseen(const Delays& delays) {
    const bool fixed = delays.first.is_fixed() && (!delays.max || delays.max->is_fixed());
    return delays.kind == Delays::Kind::formula && !fixed && delays.factor_milli != 1'000;
  }

  static bool stays_the_same(const Delays& delays, const Course& course) {
    return course.is_settled() && !grows_unseen(delays);
  }

  // Of a delay that depends on the record.
  std::string wait_text(const Delays& delays, std::int64_t failure) {
    if (delays.kind == Delays::Kind::list) {
      const DurationValue& delay = delays.list[static_cast<std::size_t>(failure) - 1];
      return known(delay) ? "" : text_of(delay);
    }
    const bool first_known = known(delays.first).has_value();
    const bool max_known = !delays.max || known(*delays.max).has_value();
    if (first_known && max_known) return "";
    return text_of(delays.first) + (delays.max ? ", at most " + text_of(*delays.max) : "");
  }

  void add_end(const Row& row) {
    Outlook::End end{.condition = condition_of(row),
                     .to = row.to ? row.to->name : "",
                     .hold = row.hold || !row.to,
                     .alert = row.alert,
                     .server_alert = &row == Machine::built_in_policy().give_up.data()};
    for (const EffectRow& effect : row.effects)
      if (effect.verb == EffectRow::Verb::notify) end.notifies.push_back(effect.target.name);
    if (row.elapsed) {
      end.elapsed = text_of(*row.elapsed);
      outlook_.can_give_up = true;
      if (const auto elapsed = known(*row.elapsed)) reach(*elapsed, end);
    }
    outlook_.ends.push_back(std::move(end));
  }

  // The soonest that any of the runs gets there.
  void reach(Duration elapsed, Outlook::End& end) const {
    bool is_reached_or_unknown = courses_.empty();
    for (const Course& course : courses_) {
      const auto failures = failures_until(course, elapsed);
      const bool unknown = !last_failure_at(course);
      is_reached_or_unknown = is_reached_or_unknown || failures || unknown;
      if (failures && (!end.failures || *failures < *end.failures)) end.failures = failures;
    }
    end.comes_late = !is_reached_or_unknown;
  }

  // At the latest; none when that is not known or there is none.
  static std::optional<Duration> last_failure_at(Course course) {
    return course.go_to_end() ? course.failed_at().most : std::nullopt;
  }

  void finish_ends() {
    const auto unlimited = [](const Outlook::End& end) { return end.elapsed.empty(); };
    const auto always = [&](const Outlook::End& end) {
      return unlimited(end) && end.condition.empty();
    };
    std::vector<Outlook::End>& ends = outlook_.ends;
    if (std::none_of(ends.begin(), ends.end(), always)) ends.push_back({.hold = true});
    const bool goes_on = std::any_of(ends.begin(), ends.end(), [&](const Outlook::End& end) {
      return unlimited(end) && !end.hold;
    });
    for (Outlook::End& end : ends) end.over_rounds = !unlimited(end) && goes_on;
  }

  const Machine& machine_;
  const StateId id_;
  const ResolvedPolicy& policy_;
  std::optional<Duration> timeout_;
  std::vector<Course> courses_;  // of the runs that are failures
  Outlook outlook_;
};

}  // namespace

Outlook outlook_of(const Machine& machine, StateId state) {
  return Foresight(machine, machine.owner_of(state).value_or(state)).look();
}

}  // namespace pawl
