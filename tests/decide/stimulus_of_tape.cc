#include "stimulus_of_tape.h"

#include <utility>

namespace pawl {

Stimulus StimulusOfTape::next(const Machine& machine, const Record& record, Instant now) {
  if (!around_.keyed().empty() && tape_.chance(6)) return repeated();
  Stimulus stimulus = record.id.value == 0 || tape_.chance(25) ? any_at_all(machine, record)
                                                               : likely(machine, record, now);
  stimulus.machine = machine.name();
  stimulus.key = "k";
  if (std::holds_alternative<Stimulus::Wake>(stimulus.what) ||
      std::holds_alternative<Stimulus::ChildChanged>(stimulus.what)) {
    stimulus.actor = {"engine", {"engine"}};
  } else if (std::holds_alternative<Stimulus::Sent>(stimulus.what)) {
    stimulus.actor = {"engine", {"engine"}};
    stimulus.idempotency_key = "sent/" + std::to_string(++keys_);
  } else {
    stimulus.actor = actor();
    if (std::holds_alternative<Stimulus::Order>(stimulus.what) && !tape_.chance(15))
      stimulus.actor.roles = {"operator"};
    if (tape_.chance(15)) stimulus.idempotency_key = "key/" + std::to_string(++keys_);
  }
  return stimulus;
}

// The same call again, or another one under its key.
Stimulus StimulusOfTape::repeated() {
  Stimulus again = tape_.of(around_.keyed());
  again.known.clear();
  if (auto* fire = std::get_if<Stimulus::Fire>(&again.what); fire && tape_.chance(30))
    fire->payload = R"({"n":77})";
  if (auto* order = std::get_if<Stimulus::Order>(&again.what); order && tape_.chance(30))
    order->reason += "!";
  if (tape_.chance(20)) again.actor = actor();
  return again;
}

Stimulus StimulusOfTape::any_at_all(const Machine& machine, const Record& record) {
  if (record.id.value == 0 && !tape_.chance(15)) return {.what = create()};
  switch (tape_.between(0, 9)) {
    case 0:
      return {.what = fire(machine, record)};
    case 1:
      return {.what = start()};
    case 2:
      return {.what = beat(record)};
    case 3:
      return {.what = done(record)};
    case 4:
      return {.what = fail(record)};
    case 5:
      return {.what = Stimulus::Wake{.passed = tape_.chance(50)}};
    case 6:
      return {.what = sent(machine, record)};
    case 7:
      if (record.id.value == 0) return {.what = create()};
      return {.what = child_changed()};
    case 8:
      return {.what = order(machine)};
    default:
      return {.what = create()};
  }
}

// What would happen next in a world where all goes its way.
Stimulus StimulusOfTape::likely(const Machine& machine, const Record& record, Instant now) {
  if (record.wake_at && *record.wake_at <= now && !tape_.chance(20))
    return {.what = Stimulus::Wake{.passed = tape_.chance(30)}};
  if (record.ready_at && *record.ready_at <= now && !tape_.chance(20)) return {.what = start()};
  if (record.hold && tape_.chance(40)) return {.what = order(machine)};
  if (record.running) {
    const int what = tape_.between(0, 5);
    if (what <= 1) return {.what = done(record)};
    if (what <= 3) return {.what = fail(record)};
    if (what == 4) return {.what = beat(record)};
  }
  if (tape_.chance(15)) return {.what = child_changed()};
  return tape_.chance(20) ? Stimulus{.what = sent(machine, record)}
                          : Stimulus{.what = fire(machine, record)};
}

// --- parts of them -----------------------------------------------------------------------------

Actor StimulusOfTape::actor() {
  switch (tape_.between(0, 3)) {
    case 0:
      return {"bob", {"clerk"}};
    case 1:
      return {"root", {"clerk", "operator"}};
    case 2:
      return {"eve", {"operator"}};
    default:
      return {"app", {}};
  }
}

std::string StimulusOfTape::event(const Machine& machine, const Record& record) {
  const auto state = machine.find_state(record.state);
  if (state && !machine.state(*state).on.empty() && tape_.chance(75))
    return tape_.of(machine.state(*state).on).event.name;
  if (tape_.chance(4)) return "nope";
  if (tape_.chance(85)) return tape_.of(machine.definition().events).name;
  return tape_.of({"restart", "discard"});
}

std::string StimulusOfTape::payload() {
  return tape_.of({"{}", R"({"n":1})", R"({"n":2,"s":"a","code":"c1","list":[1,2]})",
                   R"({"n":3,"code":"c2","message":"m 7"})", R"({"n":5,"s":"b","more":true})",
                   R"({"n":null,"list":[{"n":1},{"n":0}]})", R"({"n":"x"})", R"([1])",
                   R"({"s":7})"});
}

std::string StimulusOfTape::data() {
  static const std::string kLong = [] {
    std::string list = "1";
    for (int i = 0; i < 1'000; ++i) list += ",1";
    return R"({"s":"a","n":1,"d":"10s","list":[)" + list + "]}";
  }();
  if (tape_.chance(1)) return kLong;
  return tape_.of({"{}", R"({"n":0,"s":"a","d":"10s"})",
                   R"({"n":1,"flag":true,"s":"b","d":"1m","k":2,"w":"a"})",
                   R"({"n":2,"flag":false,"s":"c","d":"5m","list":[1,2,3],"m":{"a":1}})",
                   R"({"s":"x","d":"0","z":"UTC","rule":"FREQ=MINUTELY;COUNT=2"})",
                   R"({"n":4,"flag":true,"s":"y","d":"1h","t":"2026-10-25T00:30:00Z"})",
                   R"({"n":"x"})", R"({"nope":1})", "[]", "null", R"({"n":null,"d":null})",
                   R"({"z":"Mars/Phobos"})", R"({"rule":"FREQ=OFTEN"})"});
}

// The live one mostly; the one settled last; an old one; one that never was; none.
TokenHash StimulusOfTape::token(const Record& record) {
  if (record.running && !tape_.chance(15)) return record.running->token_hash;
  if (record.settled && !tape_.chance(30)) return record.settled->token_hash;
  if (!around_.tokens().empty() && tape_.chance(60)) return tape_.of(around_.tokens());
  TokenHash token{};
  if (tape_.chance(60)) token[5] = std::byte{9};
  return token;
}

Failure StimulusOfTape::failure() {
  Failure failure{.code = tape_.of({"c1", "c2", "http_503", "bad", "returned", "crashed"})};
  if (tape_.chance(50)) failure.message = tape_.of({"it broke", "row 17 of 'x' is bad"});
  if (tape_.chance(30)) failure.detail = tape_.of({R"({"n":4,"ok":true})", "[]", "null", "7"});
  if (tape_.chance(15)) failure.retry_after = std::chrono::minutes{10};
  return failure;
}

// --- stimuli -----------------------------------------------------------------------------------

Stimulus::Create StimulusOfTape::create() {
  Stimulus::Create create{.id = around_.new_id(), .data = data()};
  if (tape_.chance(30)) create.parent = Parent{RecordId{1'000'000}, "boss", "b"};
  if (tape_.chance(15)) create.event = tape_.of({"e1", "e2", "restart", "nope"});
  if (!create.event.empty()) create.payload = payload();
  if (tape_.chance(5))
    create.ready_at = Instant{std::chrono::sys_days{std::chrono::year{2026} / 3 / 3}};
  return create;
}

Stimulus::Fire StimulusOfTape::fire(const Machine& machine, const Record& record) {
  Stimulus::Fire fire{.event = event(machine, record), .payload = payload()};
  if (record.id.value == 0 ? tape_.chance(80) : tape_.chance(5)) {
    fire.create = create();
    fire.create->event.clear();
  }
  return fire;
}

Stimulus::Start StimulusOfTape::start() {
  Stimulus::Start start{.worker = tape_.of({"w1", "w2", ""})};
  if (!tape_.chance(2)) start.token_hash = around_.new_token();
  return start;
}

Stimulus::Beat StimulusOfTape::beat(const Record& record) {
  return {.token_hash = token(record), .progress = tape_.of({"", R"({"at":3})", "[1]"})};
}

Stimulus::Done StimulusOfTape::done(const Record& record) {
  return {.token_hash = token(record),
          .result = tape_.of({R"({"n":1})", R"({"n":3,"ok":true})", R"({"ok":false})", "{}",
                              R"({"n":"x"})", "null", "[1,2]"})};
}

Stimulus::Fail StimulusOfTape::fail(const Record& record) {
  return {.token_hash = token(record), .error = failure()};
}

Stimulus::Sent StimulusOfTape::sent(const Machine& machine, const Record& record) {
  Stimulus::Sent sent{.event = event(machine, record), .payload = payload(), .from = RecordId{77}};
  if (tape_.chance(20)) sent.epoch_only = tape_.chance(50) ? record.epoch : record.epoch - 1;
  return sent;
}

Stimulus::ChildChanged StimulusOfTape::child_changed() {
  Stimulus::ChildChanged changed;
  std::vector<Child>& children = around_.children();
  if (children.empty() || tape_.chance(15)) {
    children.push_back({.id = around_.new_id(), .machine = tape_.of({"part", "item"})});
  } else {
    std::swap(children[tape_.below(children.size())], children.back());
    changed.was = children.back().state;
    changed.was_final = children.back().is_final;
    changed.was_held = children.back().is_held;
  }
  Child& child = children.back();
  child.state = tape_.of({"busy", "over", Surroundings::kFresh});
  child.is_final = child.state == "over";
  child.is_held = tape_.chance(20);
  changed.child = child.id;
  changed.machine = child.machine;
  changed.is = child.state;
  changed.is_final = child.is_final;
  changed.is_held = child.is_held;
  return changed;
}

Stimulus::Order StimulusOfTape::order(const Machine& machine) {
  using Verb = Stimulus::Order::Verb;
  Stimulus::Order order{.verb = tape_.up_to(Verb::erase)};
  if (!tape_.chance(5)) order.reason = "because";
  if (order.verb == Verb::hold && tape_.chance(50)) order.text = "wait a bit";
  if (order.verb == Verb::move) {
    order.state = tape_.of(machine.definition().states).name;
    if (tape_.chance(10)) order.state = tape_.of({"nowhere", "discarded"});
  }
  if (order.verb == Verb::patch)
    order.data =
        tape_.of({R"({"n":2})", R"({"flag":true,"k":null})", R"({"s":"p","d":"30s"})",
                  R"({"n":"x"})", R"({"nope":1})", "7", R"({"rule":"FREQ=HOURLY;COUNT=1"})",
                  R"({"d":null,"m":{"a":{"b":1}}})", "{}"});
  return order;
}

}  // namespace pawl
