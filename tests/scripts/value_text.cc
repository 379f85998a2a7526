#include "value_text.h"

#include <algorithm>

#include "base/text.h"

namespace pawl {
namespace {

constexpr std::size_t kDateLength = 10;  // `2026-03-02`

std::chrono::local_days day_of(Instant at, const Zone& zone) {
  return std::chrono::floor<std::chrono::days>(zone.to_local(at));
}

}  // namespace

DayClock::DayClock(Instant begin, Zone zone) : zone_(std::move(zone)), day_(day_of(begin, zone_)) {}

std::string DayClock::text(Instant at) const {
  const std::string local = to_text(Instant{zone_.to_local(at).time_since_epoch()});
  const std::string time = local.substr(kDateLength + 1, local.size() - kDateLength - 2);
  const auto days = (day_of(at, zone_) - day_).count();
  if (days == 0) return time;
  return (days > 0 ? "+" : "") + std::to_string(days) + "d " + time;
}

std::string DayClock::fence(std::int64_t fence) const { return text(Instant{Duration{fence}}); }

std::string text_of(const Actor& actor) {
  if (actor.roles.empty() || (actor.roles.size() == 1 && actor.roles[0] == actor.name))
    return actor.name;
  return actor.name + " (" + join(actor.roles, ", ", ", ") + ")";
}

std::string text_of(const Failure& failure, const DayClock& clock) {
  std::string text = failure.code;
  if (!failure.message.empty()) text += " \"" + failure.message + "\"";
  if (!failure.detail.empty()) text += " detail " + failure.detail;
  if (failure.retry_after) text += " retry_after " + to_text(*failure.retry_after);
  if (failure.transient) text += " transient";
  return text + " at " + clock.text(failure.at);
}

std::string text_of(const Hold& hold, const DayClock& clock) {
  constexpr std::string_view kBy[] = {"policy", "machine", "operator", "engine"};
  return hold.code + " \"" + hold.text + "\" by " +
         std::string(kBy[static_cast<std::size_t>(hold.by)]) + " since " + clock.text(hold.since);
}

std::string text_of(const TokenHash& token) {
  std::uint64_t number = 0;
  for (std::size_t i = sizeof number; i-- > 0;)
    number = number << 8U | std::to_integer<std::uint64_t>(token[i]);
  return "#" + std::to_string(number);
}

std::string text_of(const Attempt& attempt, const DayClock& clock) {
  std::string text = text_of(attempt.token_hash) + " until " + clock.text(attempt.deadline_at);
  if (attempt.lease_until) text += " lease " + clock.text(attempt.lease_until);
  if (!attempt.progress.empty()) text += " progress " + attempt.progress;
  return text;
}

std::string text_of(const std::vector<Timer>& timers, const DayClock& clock) {
  constexpr std::string_view kKinds[] = {"come_back", "after", "every"};
  std::string text;
  for (const Timer& timer : timers) {
    if (!text.empty()) text += " + ";
    text += kKinds[static_cast<std::size_t>(timer.kind)];
    if (timer.kind != Timer::Kind::come_back) text += "[" + std::to_string(timer.index) + "]";
    text += " " + clock.text(timer.at);
  }
  return text.empty() ? "-" : text;
}

std::string text_of(const Plan& plan, const DayClock& clock) {
  return "next " + clock.text(plan.next) + " serving " + clock.text(plan.serving);
}

std::string text_of(const Streak& streak) {
  if (streak == Streak{}) return "-";
  std::string text = "of " + (streak.state.empty() ? "-" : streak.state);
  if (!streak.code.empty())
    text += " " + streak.code + " x " + std::to_string(streak.code_failures);
  if (streak.laters != 0) text += " laters " + std::to_string(streak.laters);
  if (!streak.checkpoint.empty()) text += " back to " + streak.checkpoint;
  return text;
}

std::string text_of(const ChildCounts& counts) {
  std::string text = counts.machine + " all " + std::to_string(counts.all) + " open " +
                     std::to_string(counts.open) + " final " + std::to_string(counts.final) +
                     " hold " + std::to_string(counts.hold) + " (";
  for (const auto& [state, count] : counts.states) {
    if (text.back() != '(') text += ", ";
    text += state + " " + std::to_string(count);
  }
  return text + ")";
}

}  // namespace pawl
