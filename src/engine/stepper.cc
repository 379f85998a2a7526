#include "engine/stepper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/mutant.h"
#include "decide/consequences.h"
#include "engine/input.h"
#include "engine/queue_name.h"

namespace pawl {
namespace {

// The bytes that a caller gives.
struct Size {
  std::size_t operator()(const Stimulus::Create& create) const {
    return create.data.size() + create.payload.size();
  }
  std::size_t operator()(const Stimulus::Fire& fire) const {
    return fire.payload.size() + (fire.create ? (*this)(*fire.create) : 0);
  }
  std::size_t operator()(const Stimulus::Beat& beat) const { return beat.progress.size(); }
  std::size_t operator()(const Stimulus::Done& done) const { return done.result.size(); }
  std::size_t operator()(const Stimulus::Fail& fail) const {
    return fail.error.message.size() + fail.error.detail.size();
  }
  std::size_t operator()(const Stimulus::Order& order) const { return order.data.size(); }
  std::size_t operator()(const auto&) const { return 0; }
};

// The name of the setting.
const std::string kAlerts = "alerts";

bool is_beat(const Stimulus& stimulus) {
  return std::holds_alternative<Stimulus::Beat>(stimulus.what);
}

// When the record wakes with that lease.
Instant wakes_at(const Record& record, Instant lease_until) {
  Instant at = std::min(lease_until, record.running->deadline_at);
  if (record.hold) return at;
  for (const Timer& timer : record.timers) at = std::min(at, timer.at);
  if (record.plan.next) at = std::min(at, *record.plan.next);
  return at;
}

}  // namespace

Result<std::unique_ptr<Stepper>> Stepper::open(Store& store, StepperOptions options) {
  PAWL_TRY(Machines machines, Machines::open(store, options.zones, options.guards));
  PAWL_TRY(Pauses pauses, Pauses::open(store));
  PAWL_TRY(DeliveryOrder order, DeliveryOrder::open(store, options.ordered_channels));
  PAWL_TRY(const std::vector<Setting> alerts, store.settings(kAlerts));
  PAWL_TRY(const RecordId last, store.last_id());
  PAWL_TRY(const std::vector<std::string> queues, store.queues());
  Instant now;
  {
    PAWL_TRY(const auto batch, store.begin());
    now = batch->now();
  }
  std::optional<Ward> ward;
  if (options.ward.empty()) {
    ward.emplace();
  } else {
    PAWL_TRY(Ward opened, Ward::open(options.ward));
    ward.emplace(std::move(opened));
  }
  Opened opened{.machines = std::move(machines),
                .pauses = std::move(pauses),
                .order = std::move(order),
                .alerts = alerts.empty() ? Setting{.name = kAlerts} : alerts[0],
                .ward = *std::move(ward),
                .last_id = last.value,
                .at = now};
  const Instant closed_at = options.closed_at.value_or(now);
  std::unique_ptr<Stepper> engine(new Stepper(store, std::move(opened), std::move(options)));
  for (const std::string& queue : queues) engine->claims_.found(queue, closed_at);
  return engine;
}

Stepper::Stepper(Store& store, Opened opened, StepperOptions options)
    : store_(store),
      options_(std::move(options)),
      machines_(std::move(opened.machines)),
      ward_(std::move(opened.ward)),
      last_id_(opened.last_id),
      grace_(options_.closed_at.value_or(opened.at), opened.at),
      claims_(options_.random, std::move(opened.pauses), std::move(opened.order)),
      retention_(store, opened.at),
      alerts_(std::move(opened.alerts)),
      meter_(options_.noticed),
      poisoned_(ward_.poisoned()),
      interrupted_(ward_.interrupted()) {}

Result<void> Stepper::pause(Pause pause) { return claims_.pauses().pause(std::move(pause)); }

Result<bool> Stepper::unpause(const PauseTarget& target, const Pauses::End& end) {
  PAWL_TRY(const bool was_paused, claims_.pauses().unpause(target, end));
  if (was_paused) claims_.resume(target);
  return was_paused;
}

Result<void> Stepper::set_alerts(const std::string& channel) {
  Setting setting{kAlerts, channel, alerts_.revision};
  PAWL_TRY(alerts_, store_.put_setting(setting));
  if (alerts_.value == channel) return {};
  setting.revision = alerts_.revision;  // there was one, and it had been taken away
  PAWL_TRY(alerts_, store_.put_setting(setting));
  return {};
}

Result<Why> Stepper::why(const Record& record) {
  PAWL_TRY(const auto machine, machines_.of(record));
  PAWL_TRY(const auto batch, store_.begin());
  std::optional<Blocked> blocked;
  if (record.ready_at && *record.ready_at <= batch->now()) {
    PAWL_TRY(const auto ahead, machines_.ahead_of(record));
    PAWL_TRY(blocked, claims_.blocked(*ahead, record, *batch));
  }
  return pawl::why(*machine, record, batch->now(), blocked);
}

Figures Stepper::figures() const {
  Figures figures = meter_.figures();
  figures.waiting_claims = claims_.waiting();
  return figures;
}

void Stepper::submit(Stimulus stimulus, Answered answered) {
  if (stopped_) return answered(*stopped_);
  std::string wrong = check_input(stimulus);
  requests_.push_back({std::move(stimulus), std::move(answered), std::move(wrong)});
}

void Stepper::claim(ClaimRequest request, Claims::Answered answered) {
  if (stopped_) return answered(*stopped_);
  claims_.add(std::move(request), std::move(answered));
}

Result<std::vector<GivenAttempt>> Stepper::look_at_claim(ClaimRequest request) {
  if (stopped_) return *stopped_;
  PAWL_TRY(const auto batch, store_.begin());
  std::uint64_t last_id = last_id_;
  Round round({store_, machines_, ward_, last_id, options_.batch_max, alerts_.value, options_.noted,
               units_, before_},
              *batch);
  return claims_.look(std::move(request), round, *batch);
}

// --- one batch ---------------------------------------------------------------------------------

Result<Stepper::Stepped> Stepper::step(bool passed) {
  if (stopped_) return *stopped_;
  Taken taken;
  take_requests(taken);
  auto batch = store_.begin();
  if (!batch) return fail(taken, batch.error());
  const Instant now = (*batch)->now();
  Round round({store_, machines_, ward_, last_id_, options_.batch_max, alerts_.value,
               options_.noted, units_, before_},
              **batch);
  if (auto decided = decide(round, **batch, taken, passed); !decided)
    return fail(taken, decided.error());
  std::vector<UnitOutcome> outcomes;
  if (mutant(Mutant::answer_before_commit)) {
    answer(taken, round.units(), std::vector<UnitOutcome>(round.units().size()), now);
    for (Request& request : taken.requests) request.answered = [](const Result<Answer>&) {};
  }
  if (!round.units().empty()) {
    const auto begin = std::chrono::steady_clock::now();
    auto committed = (*batch)->commit(round.units());
    if (!committed) return fail(taken, committed.error());
    outcomes = *std::move(committed);
    const auto took = std::chrono::steady_clock::now() - begin;
    meter_.committed(round.units(), outcomes, round.before(), now,
                     std::chrono::floor<Duration>(took));
  }
  batch->reset();
  std::optional<Error> unbeaten;
  if (!taken.beats.empty()) {
    auto live = store_.extend(taken.beats);
    if (!live) unbeaten = live.error();
    for (std::size_t i = 0; live && i < taken.beats.size(); ++i)
      if (!(*live)[i] && i < taken.beating.size()) {
        Answer& answer = taken.decided[taken.beating[i]].answer;
        answer = {.kind = Answer::Kind::stale,
                  .reason = "this attempt is over, stop working: the record moved on",
                  .cancel = true};
      }
  }
  for (const Unit& unit : round.units()) ward_.clear(unit.record.record.id);
  retention_.committed(round.units(), machines_);
  if (options_.committed && !round.units().empty()) options_.committed(round.units());
  poisoned_.clear();
  interrupted_.clear();
  const auto units = std::count_if(
      outcomes.begin(), outcomes.end(),
      [](const UnitOutcome& outcome) { return outcome.kind == UnitOutcome::Kind::committed; });
  if (unbeaten) fail_beats(taken, *unbeaten);
  answer(taken, round.units(), outcomes, now);
  if (unbeaten) {
    Taken nothing;
    return fail(nothing, *unbeaten);
  }
  auto swept = retention_.sweep(now);
  if (!swept) {
    Taken nothing;
    return fail(nothing, swept.error());
  }
  taken.has_more = taken.has_more || *swept;
  PAWL_TRY(Stepped stepped, rest(taken, now));
  stepped.units = static_cast<std::size_t>(units);
  return stepped;
}

void Stepper::take_requests(Taken& taken) {
  std::size_t bytes = 0;
  taken.requests.reserve(std::min(requests_.size(), options_.batch_max));
  while (!requests_.empty() && taken.requests.size() < options_.batch_max &&
         bytes < options_.batch_bytes_max) {
    bytes += std::visit(Size{}, requests_.front().stimulus.what);
    taken.requests.push_back(std::move(requests_.front()));
    requests_.pop_front();
  }
  taken.decided.resize(taken.requests.size());
}

Result<void> Stepper::decide(Round& round, Batch& batch, Taken& taken, bool passed) {
  PAWL_CHECK(hold_poisoned(round));
  PAWL_CHECK(end_interrupted(round));
  PAWL_CHECK(take_messages(round, batch, taken));
  PAWL_CHECK(take_due(round, batch, taken, passed));
  PAWL_CHECK(decide_requests(round, taken));
  PAWL_CHECK(take_sends(round, batch, taken));
  const std::size_t some = std::max<std::size_t>(1, options_.batch_max / 4);
  PAWL_CHECK(claims_.serve(round, batch, some));
  PAWL_TRY(const bool more_are_over, retention_.run(round, batch, some));
  taken.has_more = taken.has_more || more_are_over;
  return decide_beats(round, taken);
}

Result<void> Stepper::hold_poisoned(Round& round) {
  for (const RecordId id : poisoned_) {
    PAWL_TRY(InWork * in, round.records().find(id));
    if (in != nullptr)
      PAWL_CHECK(round.hold(
          *in, "poison",
          "the process died twice while it was deciding this record; check its log, then release "
          "it"));
  }
  return {};
}

// Tasks that this process ran when it was killed are not waited for until their time is over.
Result<void> Stepper::end_interrupted(Round& round) {
  for (const RecordId id : interrupted_) {
    PAWL_TRY(const InWork* in, round.records().find(id));
    if (in == nullptr || !in->record.running || in->record.running->worker != kFunctionWorker)
      continue;
    Stimulus fail{
        .what = Stimulus::Fail{in->record.running->token_hash,
                               {.code = "crashed",
                                .message = "the process ended while the task was running"}},
        .machine = in->record.machine,
        .key = in->record.key,
        .actor = engine()};
    Round::Decided decided;
    PAWL_CHECK(round.decide(fail, decided));
  }
  return {};
}

Result<void> Stepper::take_messages(Round& round, Batch& batch, Taken& taken) {
  const Claim claim{.kind = Claim::Kind::inbox,
                    .max = std::max<std::size_t>(1, options_.batch_max / 4)};
  PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
  std::size_t messages = 0;
  for (const Claimed& one : claimed) messages += one.messages.size();
  const bool is_all = messages < claim.max;
  taken.has_more = taken.has_more || !is_all;
  return round.take(std::move(claimed), is_all);
}

Result<void> Stepper::take_due(Round& round, Batch& batch, Taken& taken, bool passed) {
  const Claim claim{.kind = Claim::Kind::due,
                    .max = std::max<std::size_t>(1, options_.batch_max / 4)};
  PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
  taken.has_more = taken.has_more || claimed.size() == claim.max;
  for (Claimed& one : claimed) {
    PAWL_TRY(InWork * in, round.records().claimed(std::move(one.record)));
    const Record& record = in->record;
    if (record.wake_at) meter_.due(round.now() - *record.wake_at);
    if (const auto lease = in->unit ? std::nullopt : grace_.extended(record, round.now())) {
      taken.beats.push_back({.record = record.id,
                             .fence = record.fence,
                             .lease_until = lease,
                             .wake_at = wakes_at(record, *lease),
                             .progress = record.running->progress});
      continue;
    }
    PAWL_TRY(const bool is_done, round.wake(*in, passed));
    taken.is_tied = taken.is_tied || !is_done;
  }
  return {};
}

Result<void> Stepper::take_sends(Round& round, Batch& batch, Taken& taken) {
  const Claim claim{.queue = std::string(kSendQueue),
                    .max = std::max<std::size_t>(1, options_.batch_max / 16)};
  PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
  taken.has_more = taken.has_more || claimed.size() == claim.max;
  for (Claimed& one : claimed) {
    PAWL_TRY(InWork * in, round.records().claimed(std::move(one.record)));
    PAWL_CHECK(round.carry_out(*in, hash_of_token(token_text(options_.random()))));
  }
  return {};
}

Result<void> Stepper::decide_requests(Round& round, Taken& taken) {
  std::vector<const Stimulus*> asked;
  for (const Request& request : taken.requests)
    if (request.wrong.empty()) asked.push_back(&request.stimulus);
  PAWL_CHECK(round.prepare(asked));
  for (std::size_t i = 0; i < taken.requests.size(); ++i) {
    if (!taken.requests[i].wrong.empty())
      taken.decided[i].answer = {.kind = Answer::Kind::error, .reason = taken.requests[i].wrong};
    if (is_beat(taken.requests[i].stimulus) || !taken.requests[i].wrong.empty()) continue;
    PAWL_CHECK(round.decide(taken.requests[i].stimulus, taken.decided[i]));
  }
  return {};
}

Result<void> Stepper::decide_beats(Round& round, Taken& taken) {
  std::vector<Beat> extended = std::exchange(taken.beats, {});
  for (std::size_t i = 0; i < taken.requests.size(); ++i) {
    if (!is_beat(taken.requests[i].stimulus) || !taken.requests[i].wrong.empty()) continue;
    PAWL_TRY(Round::Beaten beaten, round.beat(taken.requests[i].stimulus));
    taken.decided[i] = std::move(beaten.decided);
    if (!beaten.beat) continue;
    PAWL_TRY(const InWork* in, round.records().find(beaten.beat->record));
    grace_.beaten(in->record);
    taken.beats.push_back(*std::move(beaten.beat));
    taken.beating.push_back(i);
  }
  for (Beat& beat : extended) {  // unless its worker has just shown itself
    const bool is_there = std::any_of(taken.beats.begin(), taken.beats.end(),
                                      [&](const Beat& own) { return own.record == beat.record; });
    if (!is_there) taken.beats.push_back(std::move(beat));
  }
  return {};
}

// --- after the commit --------------------------------------------------------------------------

// Whoever stands on a unit that lost a race asks again.
void Stepper::answer(Taken& taken, std::span<const Unit> units,
                     std::span<const UnitOutcome> outcomes, Instant now) {
  for (std::size_t i = taken.requests.size(); i-- > 0;) {
    const auto unit = taken.decided[i].unit;
    if (unit && outcomes[*unit].kind != UnitOutcome::Kind::committed &&
        !mutant(Mutant::lost_race_unnoticed)) {
      requests_.push_front(std::move(taken.requests[i]));
      taken.requests[i].answered = {};
    }
  }
  for (std::size_t i = 0; i < taken.requests.size(); ++i) {
    if (!taken.requests[i].answered) continue;
    meter_.answered(taken.requests[i].stimulus, taken.decided[i].answer);
    taken.requests[i].answered(std::move(taken.decided[i].answer));
  }
  claims_.answer(units, outcomes, now);
}

// What else there was is committed, and is answered so.
void Stepper::fail_beats(Taken& taken, const Error& error) {
  for (const std::size_t i : taken.beating) {
    std::exchange(taken.requests[i].answered, {})(error);
    taken.decided[i].unit.reset();  // it is not asked again
  }
}

// Nothing was done, or it is not known.
Error Stepper::fail(Taken& taken, Error error) {
  claims_.take_back();
  for (Request& request : taken.requests) request.answered(error);
  if (error.code == ErrorCode::outcome_unknown) stop(error);
  return error;
}

void Stepper::stop(const Error& error) {
  stopped_ = error;
  for (Request& request : std::exchange(requests_, {})) request.answered(error);
  claims_.fail(error);
}

void Stepper::close() { stop({ErrorCode::environment, "the engine is closed: nothing was done"}); }

Result<Stepper::Stepped> Stepper::rest(const Taken& taken, Instant now) {
  Stepped stepped{.has_more = taken.has_more || !requests_.empty() || claims_.has_more() ||
                              retention_.has_more() ||
                              (options_.has_asked && options_.has_asked())};
  if (stepped.has_more) return stepped;
  std::vector<std::string> queues = claims_.queues(now);
  queues.emplace_back(kSendQueue);
  PAWL_TRY(stepped.next, store_.next_due(queues));
  if (mutant(Mutant::lost_wake_up) && taken.requests.empty()) stepped.next.reset();
  if (stepped.next && *stepped.next <= now) {
    stepped.has_more = !taken.is_tied;
    stepped.next = now + Duration{1};
  }
  if (const auto next = claims_.next(now); next && (!stepped.next || *next < *stepped.next))
    stepped.next = next;
  stepped.due = stepped.next;
  if (!stepped.next || retention_.next() < *stepped.next) stepped.next = retention_.next();
  return stepped;
}

}  // namespace pawl
