#include "engine/meter.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <variant>

#include "decide/built_in.h"
#include "engine/retention.h"
#include "model/built_in_names.h"

namespace pawl {
namespace {

constexpr std::size_t kApplied = 1U << 15U;
constexpr std::size_t kNameMax = 64;  // bytes of a label: longer ones are counted under `other`

constexpr double kSeconds[] = {0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                               0.05,   0.1,    0.25,  0.5,    1,     5,    30};
constexpr double kLongSeconds[] = {0.1,   1,         10,     60,         300,        1'800,
                                   3'600, 6 * 3'600, 86'400, 7 * 86'400, 30 * 86'400};
constexpr double kUnits[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1'024};
static_assert(std::size(kSeconds) <= Histogram::kBoundsMax);

// One that is there, or a new one while there is room, else `other`.
template <class Map, class Make>
typename Map::mapped_type& named(Map& map, std::string_view name, bool has_room, Make make) {
  if (const auto known = map.find(name); known != map.end()) return known->second;
  if (!has_room || name.size() > kNameMax) {
    if (const auto other = map.find(kOtherFigures); other != map.end()) return other->second;
    name = kOtherFigures;
  }
  return map.emplace(std::string(name), make()).first->second;
}

}  // namespace

std::uint64_t applied_mark(RecordId record, const Stimulus& stimulus) {
  const TokenHash* token = nullptr;
  if (const auto* done = std::get_if<Stimulus::Done>(&stimulus.what)) token = &done->token_hash;
  if (const auto* fail = std::get_if<Stimulus::Fail>(&stimulus.what)) token = &fail->token_hash;
  if (token == nullptr && stimulus.idempotency_key.empty()) return 0;
  std::uint64_t mark = 0;
  if (token != nullptr) {
    std::memcpy(&mark, token->data(), sizeof mark);
  } else {
    mark = std::hash<std::string_view>{}(stimulus.idempotency_key);
  }
  mark = (mark ^ record.value) * 0x9e3779b97f4a7c15ULL;
  return std::max<std::uint64_t>(1, mark ^ (mark >> 32U));
}

Meter::Meter(Noticed noticed) : noticed_(std::move(noticed)), applied_(kApplied) {
  figures_.due_lag = Histogram(kSeconds);
  figures_.ready_wait = Histogram(kSeconds);
  figures_.batch_units = Histogram(kUnits);
  figures_.commit_seconds = Histogram(kSeconds);
}

double Meter::seconds_of(Duration duration) {
  return std::max(0.0, std::chrono::duration<double>(duration).count());
}

MachineFigures& Meter::machine(std::string_view name) {
  return named(figures_.machines, name, figures_.machines.size() < kFiguresMax,
               [] { return MachineFigures{}; });
}

// Whatever was decided, the same must not have been carried out before.
void Meter::count_applied(std::uint64_t mark, Instant now) {
  Applied& known = applied_[mark % kApplied];
  if (known.mark == mark && now - known.at < Retention::kRequestsKept) ++figures_.double_applied;
  known = {mark, now};
}

void Meter::committed(std::span<const Unit> units, std::span<const UnitOutcome> outcomes,
                      std::span<const UnitBefore> before, Instant now, Duration took) {
  static const UnitBefore nothing;
  figures_.commit_seconds.add(seconds_of(took));
  figures_.batch_units.add(static_cast<double>(units.size()));
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (outcomes[i].kind != UnitOutcome::Kind::committed) continue;
    if (before[i].applied != 0) count_applied(before[i].applied, now);
    if (before[i].later) notice(*before[i].later, units[i].record.record, now);
    count(units[i].record, before[i], now);
    for (const RecordChange& made : units[i].created) count(made, nothing, now);
  }
  if (took >= kSlowCommit && noticed_)
    noticed_({.kind = Notice::Kind::slow_commit, .at = now, .units = units.size(), .took = took});
}

void Meter::count(const RecordChange& change, const UnitBefore& before, Instant now) {
  const Record& record = change.record;
  const bool is_started = record.running && record.fence != change.fence_before;
  if (change.entries.empty() && !is_started) return;
  MachineFigures& of = machine(record.machine);
  if (is_started) {
    ++of.attempts;
    if (before.ready_at) figures_.ready_wait.add(seconds_of(now - *before.ready_at));
  }
  Instant entered_at = before.entered_at;
  for (const Entry& entry : change.entries) {
    count_entry(entry, record, of);
    if (entry.kind == Entry::Kind::created) entered_at = entry.at;
    if (entry.kind == Entry::Kind::created || entry.from == entry.to) continue;
    ++of.transitions;
    Histogram& in_state = named(of.in_state, entry.from, states_and_codes_ < kFiguresMax, [&] {
      ++states_and_codes_;
      return Histogram(kLongSeconds);
    });
    in_state.add(seconds_of(entry.at - entered_at));
    entered_at = entry.at;
  }
  if (record.hold && !before.was_held) {
    ++of.holds;
    notice(Notice::Kind::hold, nullptr, record, now);
  }
}

void Meter::count_entry(const Entry& entry, const Record& record, MachineFigures& of) {
  using Kind = Entry::Kind;
  if (entry.kind == Kind::created) ++of.created;
  const bool is_delivery = record.machine == kDeliveryMachine;
  if (is_delivery && (entry.kind == Kind::done || entry.error)) {
    ChannelFigures& channel =
        named(figures_.channels, to_deliver_of(record).channel,
              figures_.channels.size() < kFiguresMax, [] { return ChannelFigures{}; });
    ++(entry.kind == Kind::done ? channel.delivered : channel.failed);
  }
  const bool has_failed =
      entry.kind == Kind::failed || entry.kind == Kind::timed_out || entry.kind == Kind::gave_up;
  if (!has_failed || !entry.error) return;
  ++named(of.failures, entry.error->code, states_and_codes_ < kFiguresMax, [&] {
    ++states_and_codes_;
    return std::uint64_t{0};
  });
  if (entry.kind == Kind::gave_up) {
    ++of.gave_up;
    notice(Notice::Kind::gave_up, &entry, record, entry.at);
  } else if (entry.next_at) {
    ++of.retries;
    notice(Notice::Kind::retry, &entry, record, entry.at);
  }
}

void Meter::notice(Notice::Kind kind, const Entry* entry, const Record& record, Instant now) const {
  if (!noticed_) return;
  Notice notice{
      .kind = kind, .at = now, .machine = record.machine, .key = record.key, .state = record.state};
  if (entry == nullptr) {
    notice.code = record.hold->code;
  } else {
    notice.code = entry->error->code;
    notice.fingerprint = entry->error->fingerprint;
    notice.attempt = entry->attempt;
    notice.next_at = entry->next_at;
    if (entry->delays_left) notice.max = entry->attempt + *entry->delays_left;
    if (entry->next_at && notice.max) ++*notice.max;  // the delay that begins now is not among them
  }
  noticed_(notice);
}

// There is no entry to read it from.
void Meter::notice(const AskedLater& later, const Record& record, Instant now) const {
  if (!noticed_) return;
  noticed_({.kind = Notice::Kind::later,
            .at = now,
            .machine = record.machine,
            .key = record.key,
            .state = record.state,
            .code = later.code,
            .fingerprint = later.fingerprint,
            .attempt = later.attempt,
            .next_at = later.next_at});
}

void Meter::answered(const Stimulus& stimulus, const Answer& answer) {
  const bool is_repeat = stimulus.remembered && answer.kind != Answer::Kind::error;
  if (is_repeat || answer.kind == Answer::Kind::duplicate) ++figures_.repeats_answered;
  if (answer.kind != Answer::Kind::stale) return;
  if (std::holds_alternative<Stimulus::Done>(stimulus.what) ||
      std::holds_alternative<Stimulus::Fail>(stimulus.what))
    ++figures_.stale_settles;
}

}  // namespace pawl
