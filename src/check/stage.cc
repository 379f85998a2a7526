#include "check/stage.h"

#include <algorithm>
#include <utility>

#include "check/codes.h"
#include "check/sample.h"
#include "model/expression/value_program.h"

namespace pawl {
namespace {

constexpr TokenHash kStageToken{std::byte{1}};
constexpr Duration kWorked = std::chrono::seconds{1};  // before it fails

// Of `every` and the like: so many one by one, then what else happens comes at once.
constexpr int kTicksMax = 10;
constexpr int kLateTicksMax = 100;  // each timer has one

// Nothing is being done that could fail once more.
bool waits_for_retry(const Situation& situation) {
  const Record& record = situation.record;
  return (record.task_at && *record.task_at > situation.now) || comes_back_at(record);
}

Actor application() { return {.name = "app", .roles = {}}; }
Actor operator_() { return {.name = "operator", .roles = {"operator"}}; }

}  // namespace

Stage::Stage(const Machine& machine, const Distinctions& distinctions,
             std::vector<const Machine*> others)
    : world_(machine, std::move(others)), distinctions_(distinctions) {}

Result<Begun> Stage::begin(StateId state, const std::string& data) {
  const auto refused = [](const Answer& answer) {
    return Error{ErrorCode::bad_input, answer.reason};
  };
  Begun begun{.situation = {.now = kStageBegin}};
  const Answer created = world_.apply(begun.situation, Stimulus::Create{.id = {1}, .data = data},
                                      application(), kStageBegin);
  if (created.kind != Answer::Kind::ok) return refused(created);
  const Record& record = begun.situation.record;
  const std::string& name = machine().state(state).name;
  begun.moved = record.state != name || record.hold;
  if (begun.moved) {
    for (int ticks = 0; ticks < kTicksMax && is_due(begun.situation); ++ticks)
      world_.act(begun.situation);  // nobody is as quick as that
    const Stimulus::Order order{
        .verb = Stimulus::Order::Verb::move, .reason = "check", .state = name};
    const Answer moved = world_.apply(begun.situation, order, operator_(), kStageBegin);
    if (moved.kind != Answer::Kind::ok) return refused(moved);
  }
  world_.take_log();
  return begun;
}

Ending Stage::ending_of(const Situation& situation) const {
  const Record& record = situation.record;
  if (machine().state(state_of(record)).final) return Ending::final;
  if (record.hold) return Ending::hold;
  const bool goes_on = record.ready_at || LoneWorld::next_act(situation) || !situation.jobs.empty();
  return goes_on ? Ending::none : Ending::waits;
}

std::optional<Instant> Stage::goes_on_at(const Situation& situation) const {
  const Record& record = situation.record;
  if (record.running) return situation.now + kWorked;
  if (record.ready_at) return record.ready_at;
  return comes_back_at(record);
}

// --- what may happen ---------------------------------------------------------------------------

std::vector<Mishap> Stage::mishaps_in(const Situation& situation) {
  using Kind = Mishap::Kind;
  const Record& record = situation.record;
  const Ending ending = ending_of(situation);
  if (ending == Ending::final || ending == Ending::hold) return {};
  if (is_due(situation)) return {{Kind::time_passes}};  // before anybody else
  std::vector<Mishap> mishaps;
  if (record.ready_at) mishaps.push_back({Kind::start});
  if (record.running)
    for (const std::string& code : codes_in(record)) mishaps.push_back({Kind::fail, {}, code});
  for (const AsideJob& job : situation.jobs) mishaps.push_back({Kind::aside_fails, job.task});
  if (!waits_for_retry(situation)) add_failing_events(record, mishaps);
  if (next_instant(situation)) mishaps.push_back({Kind::time_passes});
  return mishaps;
}

const std::vector<std::string>& Stage::codes_in(const Record& record) {
  const StateId state = state_of(record);
  const auto known = codes_.find(state);
  if (known != codes_.end()) return known->second;
  std::vector<std::string> codes = codes_of(machine(), state, distinctions_.codes_read());
  // The clock sees to these.
  std::erase(codes, "lease_lost");
  if (!machine().policy_of_state(state).lease) std::erase(codes, "timeout");
  return codes_.emplace(state, std::move(codes)).first->second;
}

// Who may fire an event that needs a role is a person.
void Stage::add_failing_events(const Record& record, std::vector<Mishap>& mishaps) {
  const StateId state = state_of(record);
  for (EventId event = 0; event < machine().event_count(); ++event) {
    const EventDefinition* declared = machine().declared(event);
    const Row* row = declared && !declared->by.empty() ? nullptr : failing_row(state, event);
    if (row == nullptr) continue;
    const std::string& name = machine().event_name(event);
    if (row->fail->program->constant()) {
      mishaps.push_back({Mishap::Kind::event_fails, name});
      continue;
    }
    for (const std::string& code : codes_in(record))
      mishaps.push_back({Mishap::Kind::event_fails, name, code});
  }
}

const Row* Stage::failing_row(StateId state, EventId event) const {
  const auto fails = [](const Row& row) { return row.fail && row.held != Row::Held::yes; };
  for (const Row& row : machine().rows(state, event))
    if (fails(row)) return &row;
  for (const MachineRow& row : machine().machine_rows(event))
    if (row.in[state] && fails(*row.row)) return row.row;
  return nullptr;
}

// --- how it happens ----------------------------------------------------------------------------

std::optional<Happened> Stage::play(const Situation& before, const Mishap& mishap) {
  Happened happened{.after = before};
  bool plays = false;
  switch (mishap.kind) {
    case Mishap::Kind::start:
      plays = start(happened.after);
      break;
    case Mishap::Kind::fail:
      plays = fail(happened.after, mishap.code);
      break;
    case Mishap::Kind::time_passes:
      plays = let_time_pass(happened.after);
      break;
    case Mishap::Kind::tick:
      plays = next_instant(before).has_value();
      if (plays) tick(happened.after);
      break;
    case Mishap::Kind::event_fails:
      plays = fire(happened.after, mishap);
      break;
    case Mishap::Kind::aside_fails:
      plays = fail_aside(happened.after, mishap.name);
      break;
  }
  if (plays) pass_quiet_ticks(happened.after);
  happened.entries = world_.take_log();
  if (!plays) return std::nullopt;
  return happened;
}

bool Stage::start(Situation& situation) {
  if (!situation.record.ready_at) return false;
  const Instant ready = std::max(situation.now, *situation.record.ready_at);
  if (!pass_until(situation, ready)) return false;
  const Instant second = std::chrono::ceil<std::chrono::seconds>(ready);
  const auto next = LoneWorld::next_act(situation);
  const Instant at = next && *next <= second ? ready : second;
  world_.apply(situation, Stimulus::Start{.token_hash = kStageToken, .worker = "w"}, application(),
               at);
  return true;
}

bool Stage::fail(Situation& situation, const std::string& code) {
  if (!situation.record.running || is_due(situation)) return false;
  const Stimulus::Fail failed{.token_hash = kStageToken, .error = {.code = code}};
  return world_.apply(situation, failed, application(), soon(situation)).kind == Answer::Kind::ok;
}

bool Stage::fire(Situation& situation, const Mishap& mishap) {
  const auto event = machine().find_event(mishap.name);
  if (!event || is_due(situation)) return false;
  const Stimulus::Fire fired{.event = mishap.name,
                             .payload = sample_payload(machine().declared(*event), mishap.code)};
  world_.apply(situation, fired, application(), soon(situation));
  // Another row of the event may hold instead.
  return std::any_of(world_.log().begin(), world_.log().end(),
                     [](const Entry& entry) { return entry.error.has_value(); });
}

bool Stage::fail_aside(Situation& situation, const std::string& task) {
  const auto is_it = [&](const AsideJob& job) { return job.task == task; };
  const auto found = std::find_if(situation.jobs.begin(), situation.jobs.end(), is_it);
  if (found == situation.jobs.end()) return false;
  const Instant at = std::max(situation.now, found->fails_at());
  Stimulus::Sent sent = found->otherwise;
  if (!pass_until(situation, at)) return false;
  const auto job = std::find_if(situation.jobs.begin(), situation.jobs.end(), is_it);
  if (job == situation.jobs.end()) return false;
  situation.jobs.erase(job);
  const Actor engine{.name = "engine", .roles = {"engine"}};
  return world_.apply(situation, std::move(sent), engine, at).kind == Answer::Kind::ok;
}

// --- the clock ---------------------------------------------------------------------------------

// When something happens by itself, or a limit of `elapsed` passes.
std::optional<Instant> Stage::next_instant(const Situation& situation) const {
  std::optional<Instant> next = LoneWorld::next_act(situation);
  for (int limit = 0; limit < distinctions_.limit_count(); ++limit) {
    const auto at = distinctions_.passes_at(limit, situation);
    if (at && *at > situation.now && (!next || *at < *next)) next = at;
  }
  return next;
}

bool Stage::is_due(const Situation& situation) const {
  const auto at = LoneWorld::next_act(situation);
  return at && *at <= situation.now;
}

// A while from now, before the clock acts.
Instant Stage::soon(const Situation& situation) const {
  const auto next = LoneWorld::next_act(situation);
  if (!next) return situation.now + kWorked;
  return situation.now + std::min(kWorked, (*next - situation.now) / 2);
}

void Stage::tick(Situation& situation) {
  const Instant at = *next_instant(situation);
  if (LoneWorld::next_act(situation) == at) {
    world_.act(situation);
  } else {
    situation.now = std::max(situation.now, at);
    situation.acted_at = situation.now;
  }
}

bool Stage::differs(const Situation& situation, const std::string& key, Instant now) const {
  return distinctions_.key_of(situation, now) != key;
}

// The first that is due as it was before: what ticks again and again is due later each time.
std::optional<Instant> Stage::next_untouched(const Situation& before,
                                             const Situation& situation) const {
  const std::vector<Clock> were = distinctions_.clocks_of(before);
  std::optional<Instant> next;
  for (const Clock& clock : distinctions_.clocks_of(situation)) {
    const bool is_untouched = std::any_of(were.begin(), were.end(), [&](const Clock& was) {
      return was.is(clock) && was.at == clock.at;
    });
    if (is_untouched && (!next || clock.at < *next)) next = clock.at;
  }
  return next;
}

// Until something makes a difference. After many ticks that do not, those up to what else comes
// are left out.
bool Stage::let_time_pass(Situation& situation) {
  const Situation before = situation;
  const std::string key = distinctions_.key_of(situation, situation.now);
  for (int ticks = 0; ticks < kTicksMax && next_instant(situation); ++ticks) {
    tick(situation);
    if (differs(situation, key, situation.now)) return true;
  }
  const auto until = next_untouched(before, situation);
  for (int ticks = 0; until && ticks < kLateTicksMax; ++ticks) {
    const auto next = LoneWorld::next_act(situation);
    if (next && *next <= *until) {
      world_.act_late(situation, *until);
    } else {
      situation.now = std::max(situation.now, *until);
      situation.acted_at = situation.now;
    }
    if (differs(situation, key, situation.now)) return true;
  }
  return false;
}

// What is due by now and makes no difference is over, so that it hides nothing else.
void Stage::pass_quiet_ticks(Situation& situation) {
  for (int ticks = 0; ticks < kLateTicksMax && is_due(situation); ++ticks) {
    Situation next = situation;
    const std::size_t entries = world_.log().size();
    world_.act(next);
    if (differs(next, distinctions_.key_of(situation, next.now), next.now)) {
      world_.cut_log(entries);
      return;
    }
    situation = std::move(next);
  }
}

// What is due until then happens. False when that makes a difference: then it is another story.
bool Stage::pass_until(Situation& situation, Instant until) {
  const Instant began = situation.now;
  const std::string key = distinctions_.key_of(situation, began);
  for (int ticks = 0; ticks < kTicksMax + kLateTicksMax; ++ticks) {
    const auto next = LoneWorld::next_act(situation);
    if (!next || *next > until) return true;
    world_.act_late(situation, ticks < kTicksMax ? *next : until);
    if (differs(situation, key, began)) return false;
  }
  return false;
}

}  // namespace pawl
