// Something is due: the one earliest of deadline, lease, come-back, timers and plan.
#include <algorithm>

#include "decide/turn.h"
#include "model/expression/json_view.h"

namespace pawl {

void Turn::on(const Stimulus::Wake& wake) {
  const auto& running = record_.running;
  const auto is_due = [&](Instant at) { return at <= now_; };
  // What is due first; at one instant in the order of this list.
  enum class What { nothing, deadline, lease, timer, plan };
  What what = What::nothing;
  Instant at = kInstantMax;
  const auto offer = [&](What offered, Instant when) {
    if (what != What::nothing && when >= at) return;
    what = offered;
    at = when;
  };
  if (running && (now_ > running->deadline_at || (wake.passed && now_ == running->deadline_at)))
    offer(What::deadline, running->deadline_at);
  if (running && running->lease_until && is_due(*running->lease_until) &&
      *running->lease_until < running->deadline_at)
    offer(What::lease, *running->lease_until);
  const auto by_time = [](const Timer& a, const Timer& b) {
    return std::tie(a.at, a.kind, a.index) < std::tie(b.at, b.kind, b.index);
  };
  const auto timer = std::min_element(record_.timers.begin(), record_.timers.end(), by_time);
  if (!is_held()) {
    if (timer != record_.timers.end() && is_due(timer->at)) offer(What::timer, timer->at);
    if (record_.plan.next && is_due(*record_.plan.next)) offer(What::plan, *record_.plan.next);
  }
  switch (what) {
    case What::nothing:
      answer(Answer::Kind::none, "nothing is due");
      return;
    case What::deadline:
      time_out("timeout", "not finished before its deadline");
      return;
    case What::lease:
      time_out("lease_lost", "the worker sent no beat before its lease ended");
      return;
    case What::timer:
      fire_timer(*timer);
      return;
    case What::plan:
      if (!serve_plan()) return;
      if (const Choice choice = choose(here().planned))
        take(choice, {Entry::Kind::schedule, {}, "planned"}, By::done);
      return;
  }
}

void Turn::time_out(std::string_view code, std::string message) {
  const std::string progress = record_.running->progress;
  end_attempt();
  fail_work({.code = std::string(code), .message = std::move(message), .detail = progress},
            {Entry::Kind::timed_out});
}

void Turn::fire_timer(Timer timer) {
  if (timer.kind == Timer::Kind::come_back) {
    come_back();
    return;
  }
  const bool once = timer.kind == Timer::Kind::after;
  const TimerRows& rows = once ? here().after[timer.index] : here().every[timer.index];
  std::erase(record_.timers, timer);
  if (!once) {
    const auto period = read_period(rows.delay);
    if (!period) return;
    // From entry, on its grid; missed ticks are not made up.
    const auto ticks = (now_ - record_.entered_at) / *period + 1;
    timer.at = after(record_.entered_at, std::min(kDurationMax / *period, ticks) * *period);
    if (timer.at > now_) record_.timers.push_back(timer);
  }
  if (const Choice choice = choose(rows.rows))
    take(choice, {Entry::Kind::timer, {}, once ? "after" : "every"}, By::done);
}

}  // namespace pawl
