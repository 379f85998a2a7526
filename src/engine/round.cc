#include "engine/round.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json_text.h"
#include "base/nearest.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "decide/consequences.h"
#include "decide/json_edit.h"
#include "engine/queue_name.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

// A decision asks for what it must know once, or once more for what follows from that.
constexpr int kQuestionsMax = 8;
// Of one record in one batch: more are left to the next.
constexpr int kWakesMax = 32;

const Record& no_record() {
  static const Record none;
  return none;
}

RecordName name_of(const Stimulus& stimulus) { return {stimulus.machine, stimulus.key}; }
NameView view_of(const Stimulus& stimulus) { return {stimulus.machine, stimulus.key}; }

Stimulus to_record(const Record& record, decltype(Stimulus::what) what) {
  return {.what = std::move(what), .machine = record.machine, .key = record.key, .actor = engine()};
}

bool is_to_children(const Effect& effect) {
  return effect.verb == Effect::Verb::send && effect.to == Effect::To::children;
}

// Whether a record carries the effect out. Of an event for children that is seen when they are
// known.
bool makes_a_record(const Effect& effect) {
  return effect.verb == Effect::Verb::create || effect.verb == Effect::Verb::notify ||
         (needs_carrier(effect) && !is_to_children(effect));
}

Answer error_answer(std::string reason) {
  return {.kind = Answer::Kind::error, .reason = std::move(reason)};
}

bool is_of_a_worker(const Stimulus& stimulus) {
  return std::holds_alternative<Stimulus::Beat>(stimulus.what) ||
         std::holds_alternative<Stimulus::Done>(stimulus.what) ||
         std::holds_alternative<Stimulus::Fail>(stimulus.what);
}

}  // namespace

bool is_used_once(const std::string& effect_id) {
  const std::size_t slash = effect_id.find('/');
  return slash != std::string::npos && slash + 1 < effect_id.size() &&
         effect_id[slash + 1] >= '0' && effect_id[slash + 1] <= '9';
}

Round::Round(Surroundings around, Batch& batch)
    : around_(around),
      batch_(batch),
      now_(batch.now()),
      last_id_before_(around.last_id),
      records_(batch, around.machines),
      units_(around.units),
      before_(around.before) {}

void Round::note(const std::string& text) const {
  if (around_.noted) around_.noted(now_, text);
}

// --- one stimulus ------------------------------------------------------------------------------

Result<void> Round::prepare(std::span<const Stimulus* const> asked) {
  std::vector<RecordName> names;
  std::vector<RequestName> requests;
  names.reserve(asked.size());
  for (const Stimulus* stimulus : asked) {
    names.push_back(name_of(*stimulus));
    if (!stimulus->idempotency_key.empty())
      requests.push_back({name_of(*stimulus), stimulus->idempotency_key});
  }
  PAWL_CHECK(records_.load(names));
  if (requests.empty()) return {};
  PAWL_TRY(auto remembered, batch_.remembered(requests));
  for (std::size_t i = 0; i < requests.size(); ++i)
    remembered_.emplace(std::move(requests[i]), std::move(remembered[i]));
  return {};
}

Result<void> Round::decide(Stimulus& stimulus, Decided& decided) {
  PAWL_TRY(InWork * in, records_.find(view_of(stimulus)));
  PAWL_TRY(auto refused, refuse_outside(stimulus, in));
  if (refused) {
    decided.answer = *std::move(refused);
    return {};
  }
  if (stimulus.at && *stimulus.at > now_) return postpone(stimulus, in, decided);
  PAWL_CHECK(decide_one(stimulus, in, {}, decided));
  return settle();
}

// What no caller may give: records of built-in machines, parents that do not exist. A parent is
// found by its name.
Result<std::optional<Answer>> Round::refuse_outside(Stimulus& stimulus, const InWork* in) {
  if (in == nullptr && is_built_in(stimulus.machine)) {
    Answer refused =
        error_answer("there is no record " + stimulus.machine + "/" + stimulus.key +
                     ", and only the engine creates records of " + in_ticks(stimulus.machine));
    if (is_of_a_worker(stimulus)) refused.missing = Answer::Missing::record;
    return std::optional(std::move(refused));
  }
  auto* create = std::get_if<Stimulus::Create>(&stimulus.what);
  if (auto* fire = std::get_if<Stimulus::Fire>(&stimulus.what); fire != nullptr && fire->create)
    create = &*fire->create;
  if (create == nullptr || !create->parent) return std::optional<Answer>();
  const Parent& named = *create->parent;
  PAWL_TRY(const InWork* parent, records_.find(NameView(named.machine, named.key)));
  if (parent == nullptr)
    return std::optional(
        error_answer("the parent " + named.machine + "/" + named.key + " does not exist"));
  create->parent->id = parent->record.id;
  return std::optional<Answer>();
}

// The call is kept as it is, and made at its time in the name of whoever asks now. What would be
// wrong with it then as well is said now. Repeated with its idempotency key it is the same `send`
// record.
Result<void> Round::postpone(Stimulus& stimulus, const InWork* receiver, Decided& decided) {
  if (is_built_in(stimulus.machine)) {
    decided.answer = error_answer("only the engine makes calls for later to records of " +
                                  in_ticks(stimulus.machine));
    return {};
  }
  if (around_.machines.newest(stimulus.machine) == nullptr) {
    Stimulus now = stimulus;  // the answer is the same at any time
    return decide_one(now, nullptr, {}, decided);
  }
  PAWL_TRY(decided.answer, check_ahead(stimulus, receiver));
  if (decided.answer.kind != Answer::Kind::ok) return {};
  Stimulus::Create create{.ready_at = stimulus.at};
  {
    JsonMap data(create.data = {});
    data.text("machine", stimulus.machine);
    data.text("key", stimulus.key);
    data.json("call", message_text(stimulus));
  }
  const std::string unique = stimulus.idempotency_key.empty()
                                 ? std::to_string(around_.last_id + 1)
                                 : stimulus.machine + "/" + std::to_string(stimulus.key.size()) +
                                       "/" + stimulus.key + "/" + stimulus.idempotency_key;
  Stimulus send{.what = std::move(create),
                .machine = std::string(kSendMachine),
                .key = "call/" + unique,
                .actor = stimulus.actor,
                .dry_run = stimulus.dry_run};
  PAWL_TRY(InWork * in, records_.find(view_of(send)));
  if (in != nullptr && in->record.data != std::get<Stimulus::Create>(send.what).data) {
    decided.answer = error_answer("this idempotency key was used for another request");
    return {};
  }
  PAWL_CHECK(decide_one(send, in, {}, decided));
  if (stimulus.dry_run) return {};
  decided.answer.machine = std::move(send.machine);
  decided.answer.key = std::move(send.key);
  return {};
}

Result<Answer> Round::check_ahead(const Stimulus& stimulus, const InWork* receiver) {
  const bool fires = std::holds_alternative<Stimulus::Fire>(stimulus.what);
  if (!fires || receiver == nullptr)
    return pawl::check_ahead(*around_.machines.newest(stimulus.machine), no_record(), stimulus,
                             now_);
  PAWL_TRY(const auto machine, around_.machines.ahead_of(receiver->record));
  return pawl::check_ahead(*machine, receiver->record, stimulus, now_);
}

Result<Round::Beaten> Round::beat(Stimulus& stimulus) {
  PAWL_TRY(InWork * in, records_.find(view_of(stimulus)));
  Beaten beaten;
  PAWL_TRY(auto refused, refuse_outside(stimulus, in));
  if (refused) {
    beaten.decided.answer = *std::move(refused);
    return beaten;
  }
  PAWL_CHECK(decide_one(stimulus, in, {}, beaten.decided));
  if (beaten.decided.answer.kind != Answer::Kind::ok || stimulus.dry_run) return beaten;
  const Record& record = decision_.record;
  beaten.beat = Beat{.record = record.id,
                     .fence = record.fence,
                     .lease_until = record.running->lease_until,
                     .wake_at = record.wake_at,
                     .progress = record.running->progress};
  return beaten;
}

void Round::count_rates(const InWork& in, std::vector<RateWindow> rates) {
  units_[*in.unit].rates = std::move(rates);
}

Result<void> Round::start(InWork& in, Stimulus::Start start, Decided& decided) {
  Stimulus stimulus = to_record(in.record, std::move(start));
  PAWL_CHECK(decide_one(stimulus, &in, {}, decided));
  return settle();
}

Result<void> Round::hold(InWork& in, const std::string& code, const std::string& text) {
  Stimulus stimulus = to_record(
      in.record,
      Stimulus::Order{
          .verb = Stimulus::Order::Verb::hold, .reason = text, .text = text, .code = code});
  PAWL_CHECK(decide_one(stimulus, &in, {}));
  return settle();
}

Result<std::vector<StartLimit>> Round::limits_of(const InWork& in) {
  PAWL_TRY(const auto machine, around_.machines.ahead_of(in.record));
  return pawl::limits_of(*machine, in.record, now_);
}

// What stands under the idempotency key. Of a message there is something only where its sender
// gave it a key.
Result<void> Round::recall(Stimulus& stimulus, const Taking& taking) {
  stimulus.remembered.reset();
  const std::string& key = stimulus.idempotency_key;
  if (key.empty() || (taking.is_message() && is_used_once(key))) return {};
  RequestName request{name_of(stimulus), key};
  auto known = remembered_.find(request);
  if (known == remembered_.end()) {
    PAWL_TRY(auto stored, batch_.remembered({&request, 1}));
    known = remembered_.emplace(std::move(request), std::move(stored[0])).first;
  }
  stimulus.remembered = known->second;
  return {};
}

Result<void> Round::decide_one(Stimulus& stimulus, InWork* in, const Taking& taking) {
  Decided decided;
  return decide_one(stimulus, in, taking, decided);
}

Result<void> Round::decide_one(Stimulus& stimulus, InWork* in, const Taking& taking,
                               Decided& decided) {
  std::shared_ptr<const Machine> machine;
  if (in != nullptr) {
    machine = in->machine;
  } else {
    PAWL_TRY(machine, around_.machines.of_new(stimulus));
    if (machine == nullptr) {
      decided.answer = error_answer("there is no machine " + in_ticks(stimulus.machine) +
                                    ": apply its file first" +
                                    did_you_mean(stimulus.machine, around_.machines.names()));
      decided.answer.missing = Answer::Missing::machine;
      return {};
    }
  }
  if (auto* create = std::get_if<Stimulus::Create>(&stimulus.what))
    create->id = {++around_.last_id};
  if (auto* fire = std::get_if<Stimulus::Fire>(&stimulus.what); fire != nullptr && fire->create)
    fire->create->id = {++around_.last_id};
  const Machine* newest = in == nullptr ? nullptr : around_.machines.newest(stimulus.machine);
  const bool is_later = newest != nullptr && newest->version() > in->record.version;
  stimulus.newest = is_later ? newest : nullptr;
  PAWL_CHECK(recall(stimulus, taking));
  if (stimulus.machine != kDeliveryMachine) stimulus.alerts = around_.alerts;

  const Record& before = in == nullptr ? no_record() : in->record;
  stands_on_.clear();
  if (in != nullptr) stand_on(*in);
  around_.ward.enter(before.id);
  const auto known = decide_knowing(*machine, before, stimulus, decision_);
  around_.ward.leave();
  PAWL_CHECK(known);
  decided.answer = std::move(decision_.answer);
  if (in != nullptr) decided.unit = in->unit;
  for (const std::string& report : decision_.reports)
    note(stimulus.machine + "/" + stimulus.key + ": " + report);
  if (stimulus.dry_run) return {};

  const bool is_beat = std::holds_alternative<Stimulus::Beat>(stimulus.what);
  if (decision_.changed && !is_beat) {
    PAWL_TRY(const bool is_kept, keep(stimulus, in, std::move(machine), decision_, taking));
    if (is_kept) {
      decided.unit = in->unit;
      return {};
    }
    const std::string why = "more than " + std::to_string(kMadeMax) +
                            " records would be created at once: they create each other without end";
    decided.answer = error_answer(why);
    const bool is_a_callers = std::holds_alternative<Stimulus::Create>(stimulus.what) ||
                              std::holds_alternative<Stimulus::Fire>(stimulus.what);
    if (in != nullptr && !is_a_callers) PAWL_CHECK(hold(*in, "loop", why));
  }
  if (taking.stored && in != nullptr) {
    Unit unit;
    (decided.answer.waits ? unit.postponed : unit.taken).push_back(*taking.stored);
    leave_untouched(*in, std::move(unit));
  } else if (taking.here && in != nullptr) {
    if (decided.answer.waits) {
      in->has_older_messages = true;  // it stays where it was sent to
    } else {
      Unit unit;
      unit.taken_here.push_back(*taking.here);
      leave_untouched(*in, std::move(unit));
    }
  }
  return {};
}

Result<void> Round::decide_knowing(const Machine& machine, const Record& record, Stimulus& stimulus,
                                   Decision& decision) {
  stimulus.known.clear();
  pawl::decide(machine, record, stimulus, now_, decision);
  for (int asked = 0; !decision.answer.need.empty(); ++asked) {
    PAWL_ASSERT(asked < kQuestionsMax, "a decision that was told what it needs asks no more");
    std::vector<RecordName> names;
    for (const KnownRecord& need : decision.answer.need) names.push_back({need.machine, need.key});
    PAWL_CHECK(records_.load(names));
    for (const KnownRecord& need : decision.answer.need) {
      PAWL_TRY(KnownRecord known, look_up(need));
      stimulus.known.push_back(std::move(known));
    }
    pawl::decide(machine, record, stimulus, now_, decision);
  }
  return {};
}

Result<KnownRecord> Round::look_up(const KnownRecord& asked) {
  KnownRecord known = asked;
  PAWL_TRY(const InWork* in, records_.find(NameView(asked.machine, asked.key)));
  if (in != nullptr) {
    if (in->is_new) stand_on(*in);
    known.id = in->record.id;
    if (in->record.parent) known.parent = in->record.parent->id;
  } else if (const Machine* newest = around_.machines.newest(asked.machine)) {
    foresee(*newest, now_, known);
  }
  return known;
}

// --- what is committed -------------------------------------------------------------------------

RecordChange Round::change_of(const InWork* before, const Machine& machine, Decision& decision) {
  RecordChange change{.record = std::move(decision.record)};
  if (change.record.ready_at) change.queue = queue_of(machine, change.record);
  if (change.record.running) change.slots = change.record.running->slots;
  change.entries = std::move(decision.entries);
  if (before != nullptr) {
    change.writes_before = before->record.writes;
    change.fence_before = before->record.fence;
  }
  note_ready(change.record, change.queue);
  return change;
}

void Round::note_ready(const Record& record, const std::string& queue) {
  if (record.ready_at && *record.ready_at <= now_)
    ready_[queue].insert({record.priority, *record.ready_at, record.id.value});
}

// What is decided on a record as an earlier unit leaves it is lost with that unit. Its number of
// writes does not tell: somebody else may have made as many.
void Round::stand_on(const InWork& in) {
  if (in.unit && *in.unit < units_.size()) stands_on_.push_back(*in.unit);
}

// A unit that does something beside a record which stays as it is.
void Round::leave_untouched(InWork& in, Unit unit) {
  if (in.unit) unit.after.push_back(*in.unit);
  unit.record.record = in.record;
  if (in.record.ready_at) unit.record.queue = queue_of(*in.machine, in.record);
  if (in.record.running) unit.record.slots = in.record.running->slots;
  unit.record.writes_before = in.record.writes;
  unit.record.fence_before = in.record.fence;
  in.unit = units_.size();
  push(std::move(unit), {});
}

void Round::push(Unit unit, UnitBefore before) {
  units_.push_back(std::move(unit));
  before_.push_back(std::move(before));
}

void Round::remove(InWork& in) {
  leave_untouched(in, {});
  units_.back().record.purges = true;
  records_.take_back(in);
}

void Round::keep_until(InWork& in, Instant until) {
  in.record.remove_at = until;
  leave_untouched(in, {});
}

void Round::shorten_log(InWork& in, Entry compacted) {
  leave_untouched(in, {});
  units_.back().record.compacted = std::move(compacted);
}

void Round::put_aside(InWork& in, std::string queue) {
  leave_untouched(in, {});
  units_.back().record.queue = std::move(queue);
}

void Round::put_back(InWork& in) {
  leave_untouched(in, {});
  note_ready(in.record, units_.back().record.queue);
}

int Round::taken_here(const std::string& slot) const {
  const auto known = slots_.find(slot);
  return known == slots_.end() ? 0 : known->second;
}

void Round::count_slots(const Record& before, const Record& after) {
  if (before.running)
    for (const std::string& slot : before.running->slots) {
      --slots_[slot];
      freed_.insert(slot);
    }
  if (after.running)
    for (const std::string& slot : after.running->slots) ++slots_[slot];
}

// False, and nothing has happened, when records make each other without end.
Result<bool> Round::keep(const Stimulus& stimulus, InWork*& in,
                         std::shared_ptr<const Machine> machine, Decision& decision,
                         const Taking& taking) {
  const bool was_held = in != nullptr && in->record.hold.has_value();
  UnitBefore before{.was_held = was_held, .applied = applied_mark(decision.record.id, stimulus)};
  if (decision.later) before.later = std::make_shared<const AskedLater>(*decision.later);
  if (in != nullptr) {
    before.entered_at = in->record.entered_at;
    before.ready_at = in->record.ready_at;
  }
  if (machine->name() == decision.record.machine &&
      machine->version() != decision.record.version) {  // it has followed a later version
    PAWL_TRY(machine, around_.machines.of(decision.record));
  }
  Asked asked{nullptr, machine.get(), std::move(decision.effects), std::move(decision.to_parent)};
  Unit unit{.record = change_of(in, *machine, decision)};
  asked.asker = &unit.record.record;
  if (const auto* order = std::get_if<Stimulus::Order>(&stimulus.what))
    unit.record.erases = order->verb == Stimulus::Order::Verb::erase;
  unit.opens_inbox = was_held && !unit.record.record.hold;
  if (taking.stored) unit.taken.push_back(*taking.stored);
  if (taking.here) unit.taken_here.push_back(*taking.here);
  if (taking.after) unit.after.push_back(*taking.after);
  const bool is_remembered = decision.remember && !stimulus.idempotency_key.empty() &&
                             !(taking.is_message() && is_used_once(stimulus.idempotency_key));
  if (is_remembered) {
    unit.idempotency_key = stimulus.idempotency_key;
    unit.remembered = *decision.remember;
  }
  // What the record asks for may name it.
  const bool is_new = in == nullptr;
  if (is_new) in = &records_.add(unit.record.record, machine);
  PAWL_TRY(const bool has_an_end, follow(unit, std::move(asked)));
  if (!has_an_end) {
    if (is_new) records_.take_back(*std::exchange(in, nullptr));
    return false;
  }
  unit.after.insert(unit.after.end(), stands_on_.begin(), stands_on_.end());
  sort_unique(unit.after);
  if (is_remembered) remembered_[{name_of(stimulus), stimulus.idempotency_key}] = unit.remembered;
  if (!is_new) {
    count_slots(in->record, unit.record.record);
    in->record = unit.record.record;
  }
  in->machine = std::move(machine);
  in->unit = units_.size();
  if (unit.opens_inbox) in->has_older_messages = true;
  push(std::move(unit), before);
  return true;
}

// What a decision asks of other records. New records are there before any message is looked at: an
// event for children reaches those as well that the same decision makes.
Result<bool> Round::follow(Unit& unit, Asked first) {
  if (first.effects.empty() && !first.to_parent) return true;
  Following following;
  std::deque<Asked>& all = following.all;
  all.push_back(std::move(first));
  for (; !all.empty(); all.pop_front()) {
    const Asked asked = std::move(all.front());
    std::optional<Stimulus::ChildChanged> change = asked.to_parent;
    if (change && asked.is_made) change = since_counted(*change, *asked.machine);
    // A parent's counts are never older than what its child sends it in the same commit.
    if (change && asked.asker->parent)
      following.drafts.push_back({asked.asker->parent->id, to_record(*asked.asker, *change)});
    for (const Effect& effect : asked.effects)
      if (makes_a_record(effect)) PAWL_CHECK(make(unit, *asked.asker, effect, following));
    for (const Effect& effect : asked.effects)
      if (!makes_a_record(effect)) PAWL_CHECK(tell(unit, *asked.asker, effect, following));
    if (following.made.size() > kMadeMax) {
      for (const InWork* in : following.made) records_.take_back(*in);
      return false;
    }
  }
  for (InWork* in : following.made) in->unit = units_.size();
  PAWL_CHECK(send(unit, std::move(following.drafts)));
  return true;
}

Result<void> Round::make(Unit& unit, const Record& asker, const Effect& effect,
                         Following& following) {
  if (effect.found) return {};
  const bool creates = effect.verb == Effect::Verb::create;
  return make(unit, creates ? creation_of(effect, asker) : carrier_of(effect, asker, {}, now_),
              following);
}

Result<void> Round::tell(Unit& unit, const Record& asker, const Effect& effect,
                         Following& following) {
  if (effect.found) return {};
  if (!is_to_children(effect)) {
    following.drafts.push_back({{}, message_of(effect, asker)});
    return {};
  }
  Spread spread{.machine = effect.machine,
                .event = effect.target,
                .payload = effect.payload.empty() ? "{}" : effect.payload,
                .id = effect.id,
                .must = effect.must,
                .up_to = last_id_before_};
  if (effect.in) spread.at = now_ + *effect.in;
  return this->spread(unit, asker, std::move(spread), true, following);
}

Result<void> Round::make(Unit& unit, Stimulus create, Following& following) {
  const std::string name = create.machine + "/" + create.key;
  std::vector<InWork*>& made = following.made;
  if (made.size() > kMadeMax) return {};
  PAWL_TRY(const InWork* there, records_.find(view_of(create)));
  if (there != nullptr) {
    if (there->is_new) stand_on(*there);
    return {};
  }
  PAWL_TRY(auto machine, around_.machines.of_new(create));
  if (machine == nullptr) {
    note(name + " was not created: there is no machine " + in_ticks(create.machine));
    return {};
  }
  std::get<Stimulus::Create>(create.what).id = {++around_.last_id};
  Decision decision;
  PAWL_CHECK(decide_knowing(*machine, no_record(), create, decision));
  if (!decision.changed) {
    // The answer has values in it: what whoever asks is told is nothing for a log.
    note(
        name +
        " was not created: its data does not fit its machine, or that of a record that it creates");
    return {};
  }
  Asked asked{nullptr, machine.get(), std::move(decision.effects), std::move(decision.to_parent),
              true};
  RecordChange change = change_of(nullptr, *machine, decision);
  made.push_back(&records_.add(change.record, std::move(machine)));
  asked.asker = &made.back()->record;
  unit.created.push_back(std::move(change));
  following.all.push_back(std::move(asked));
  return {};
}

// --- messages ----------------------------------------------------------------------------------

Result<void> Round::send(Unit& unit, std::vector<Draft> drafts) {
  for (Draft& draft : drafts) {
    if (draft.to.value == 0) {
      PAWL_TRY(const InWork* to, records_.find(view_of(draft.stimulus)));
      if (to == nullptr) {
        note("there is no record " + draft.stimulus.machine + "/" + draft.stimulus.key +
             ": the message is dropped");
        continue;
      }
      if (to->is_new) stand_on(*to);
      draft.to = to->record.id;
    }
    const SentHere place{units_.size(), unit.sent.size()};
    unit.sent.push_back({draft.to, message_text(draft.stimulus)});
    sent_.push_back({place, draft.to, std::move(draft.stimulus)});
  }
  return {};
}

// The next so many children get the event; where there are more, the rest follows by a message of
// the sender to itself.
Result<void> Round::spread(Unit& unit, const Record& sender, Spread from, bool is_first,
                           Following& following) {
  const auto to_child = [&](RecordId id, const std::string& key) -> Result<void> {
    Effect effect{.verb = Effect::Verb::send,
                  .id = from.id,
                  .target = from.event,
                  .payload = from.payload,
                  .machine = from.machine,
                  .must = from.must};
    if (from.at) effect.in = std::max(*from.at - now_, Duration{0});
    effect = to_one_child(effect, key);
    if (needs_carrier(effect)) return make(unit, carrier_of(effect, sender, {}, now_), following);
    following.drafts.push_back({id, message_of(effect, sender)});
    return {};
  };
  const Query children{.machine = from.machine, .parent = sender.id, .max = kPageMax};
  PAWL_TRY(const Page<Record> page, around_.store.list(children, from.from));
  for (const Record& child : page.items)
    if (child.id.value <= from.up_to) PAWL_CHECK(to_child(child.id, child.key));
  if (is_first)
    for (const RecordId id : records_.new_children_of(sender.id, from.machine)) {
      PAWL_TRY(const InWork* child, records_.find(id));
      PAWL_CHECK(to_child(id, child->record.key));
    }
  from.from = page.next;
  if (!from.from.empty()) unit.sent.push_back({sender.id, message_text(from)});
  return {};
}

Result<void> Round::go_on_spreading(InWork& sender, const Spread& from, MessageId message) {
  Unit unit;
  unit.taken.push_back(message);
  Following following;
  PAWL_CHECK(spread(unit, sender.record, from, false, following));
  for (InWork* in : following.made) in->unit = units_.size();
  PAWL_CHECK(send(unit, std::move(following.drafts)));
  leave_untouched(sender, std::move(unit));
  return {};
}

Result<void> Round::take(std::vector<Claimed> claimed, bool is_all) {
  may_settle_ = false;  // what follows from one is behind all others
  for (Claimed& one : claimed) {
    PAWL_TRY(InWork * in, records_.claimed(std::move(one.record)));
    for (const Message& message : one.messages) {
      auto what = read_message(message.body);
      if (const auto* rest = std::get_if<Spread>(&what)) {
        PAWL_CHECK(go_on_spreading(*in, *rest, message.id));
        continue;
      }
      auto& stimulus = std::get<Stimulus>(what);
      stimulus.machine = in->record.machine;
      stimulus.key = in->record.key;
      PAWL_CHECK(decide_one(stimulus, in, {.stored = message.id}));
    }
  }
  may_settle_ = is_all;
  return settle();
}

// Decides what was sent in this batch. What there is no room for stays in the inboxes.
Result<void> Round::settle() {
  if (!may_settle_) {
    sent_.clear();
    return {};
  }
  while (!sent_.empty()) {
    SentMessage message = std::move(sent_.front());
    sent_.pop_front();
    PAWL_TRY(InWork * to, records_.find(message.to));
    if (to == nullptr) continue;
    if (is_full()) to->has_older_messages = true;
    if (to->has_older_messages) continue;
    message.stimulus.machine = to->record.machine;
    message.stimulus.key = to->record.key;
    PAWL_CHECK(decide_one(message.stimulus, to, {.here = message.place}));
  }
  return {};
}

// --- by the clock ------------------------------------------------------------------------------

Result<bool> Round::wake(InWork& in, bool passed) {
  const auto is_due = [&] { return in.record.wake_at && *in.record.wake_at <= now_; };
  for (int woken = 0; is_due() && woken < kWakesMax; ++woken) {
    const std::int64_t writes = in.record.writes;
    Stimulus stimulus = to_record(in.record, Stimulus::Wake{.passed = passed});
    PAWL_CHECK(decide_one(stimulus, &in, {}));
    if (in.record.writes == writes) {
      PAWL_ASSERT(in.record.running && in.record.running->deadline_at == now_,
                  "what is to wake has something due");
      return false;
    }
    PAWL_CHECK(settle());
  }
  return true;
}

namespace {

// What a call was answered, on the record that made it.
std::string call_result(const Answer& answer) {
  std::string json;
  {
    JsonMap map(json);
    map.text("answer", to_text(answer.kind));
    if (!answer.reason.empty()) map.text("reason", answer.reason);
    map.text("state", answer.state);
    map.number("revision", answer.revision);
    if (!answer.result.empty()) map.json("result", answer.result);
  }
  return json;
}

// The codes are the ids that callers know.
std::string_view call_code(const Answer& answer) {
  if (answer.kind == Answer::Kind::refused)
    return answer.missing == Answer::Missing::role ? "machine_role_missing" : "refused";
  if (answer.missing == Answer::Missing::machine) return "no_such_machine";
  return answer.missing == Answer::Missing::record ? "no_such_record" : "bad_request";
}

Failure call_failure(const Answer& answer) {
  Failure failure{.code = std::string(call_code(answer)), .message = answer.reason};
  if (answer.permitted.empty()) return failure;
  failure.detail = R"({"permitted":[)";
  for (const std::string& event : answer.permitted) {
    if (failure.detail.back() != '[') failure.detail += ',';
    failure.detail += json_string(event);
  }
  failure.detail += "]}";
  return failure;
}

bool is_accepted(const Answer& answer) {
  return !answer.waits &&
         (answer.kind == Answer::Kind::ok || answer.kind == Answer::Kind::duplicate);
}

}  // namespace

Result<void> Round::carry_out(InWork& send, const TokenHash& token) {
  Decided started;
  PAWL_CHECK(start(send, Stimulus::Start{.token_hash = token, .worker = "engine"}, started));
  if (started.answer.kind != Answer::Kind::ok || !send.record.running) return {};
  const DelayedMessage message = delayed_message_of(send.record);
  PAWL_CHECK(message.call.empty() ? deliver(send, message, token)
                                  : make_call(send, message, token));
  return settle();
}

// Sees the answer first, and so do the outcomes that stand on it.
Result<void> Round::make_call(InWork& send, const DelayedMessage& message, const TokenHash& token) {
  PAWL_TRY(InWork * receiver, records_.find(NameView(message.machine, message.key)));
  Stimulus call = std::get<Stimulus>(read_message(message.call));
  const auto* fire = std::get_if<Stimulus::Fire>(&call.what);
  if (fire != nullptr && receiver != nullptr)  // so that it may wait for the end of a hold
    call.what = Stimulus::Sent{.event = fire->event, .payload = fire->payload};
  call.machine = message.machine;
  call.key = message.key;
  call.idempotency_key = send.record.key;
  Decided decided;
  PAWL_CHECK(decide_one(call, receiver, {}, decided));
  const Answer& answer = decided.answer;
  Failure failure;
  if (answer.waits) {
    failure = {.code = std::string(kReceiverOnHold), .message = answer.reason};
  } else if (!is_accepted(answer)) {
    failure = call_failure(answer);
  }
  Stimulus end = failure.code.empty()
                     ? to_record(send.record, Stimulus::Done{token, call_result(answer)})
                     : to_record(send.record, Stimulus::Fail{token, std::move(failure)});
  return decide_one(end, &send, {.after = decided.unit});
}

// A message that must be accepted and meets a hold is tried again later, since what waits in an
// inbox may still be refused.
Result<void> Round::deliver(InWork& send, const DelayedMessage& message, const TokenHash& token) {
  const std::string name = message.machine + "/" + message.key;
  std::string refusal;
  Taking after;
  Stimulus sent{.what = message.sent,
                .machine = message.machine,
                .key = message.key,
                .actor = engine(),
                .idempotency_key = send.record.key};
  PAWL_TRY(InWork * receiver, records_.find(NameView(message.machine, message.key)));
  bool waits = false;
  if (receiver == nullptr) {
    refusal = "there is no record " + name;
    note(refusal + ": the message is not delivered");
  } else {
    Decided decided;
    PAWL_CHECK(decide_one(sent, receiver, {}, decided));
    after.after = decided.unit;
    waits = decided.answer.waits;
    if (!is_accepted(decided.answer))
      refusal = decided.answer.reason.empty() ? name + " is on hold" : decided.answer.reason;
  }
  const bool fails = message.must && !refusal.empty();
  Stimulus end = fails ? to_record(send.record,
                                   Stimulus::Fail{.token_hash = token,
                                                  .error = {.code = "refused", .message = refusal}})
                       : to_record(send.record, Stimulus::Done{.token_hash = token});
  PAWL_CHECK(decide_one(end, &send, after));
  if (waits && !fails) {  // it waits there, in the inbox
    units_[*send.unit].sent.push_back({receiver->record.id, message_text(sent)});
    receiver->has_older_messages = true;
  }
  return {};
}

}  // namespace pawl
