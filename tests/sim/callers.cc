#include "callers.h"

#include <utility>

namespace pawl::sim {
namespace {

const std::vector<std::string> kMachines{"job",    "job",   "batch", "page",
                                         "teller", "meter", "list",  "parcel"};

const Actor kApp{.name = "app"};
const Actor kOperator{.name = "eve", .roles = {"operator"}};

std::string payload_of(const std::string& id, const std::string& to = {}) {
  return R"({"id":")" + id + '"' + (to.empty() ? "" : R"(,"to":")" + to + '"') + "}";
}

// Which event, and whether its row writes the id down.
struct Event {
  const char* name;
  bool marks;
};
const std::vector<Event>& events_of(const std::string& machine) {
  static const std::vector<Event> job{{"poke", true}, {"cancel", false}, {"again", false}};
  static const std::vector<Event> batch{{"begin", false}, {"poke", true}, {"stop", true}};
  static const std::vector<Event> parcel{{"poke", true}, {"lose", false}, {"cancel", false}};
  static const std::vector<Event> teller{
      {"tell", true}, {"tell_must", true}, {"tell_late", true}, {"poke", true}};
  static const std::vector<Event> list{{"poke", true}, {"rest", false}};
  static const std::vector<Event> page{{"poke", true}};
  static const std::vector<Event> meter{{"read_now", false}, {"poke", true}};
  if (machine == "job") return job;
  if (machine == "batch") return batch;
  if (machine == "parcel") return parcel;
  if (machine == "teller") return teller;
  if (machine == "list") return list;
  return machine == "page" ? page : meter;
}

}  // namespace

void Callers::begin() {
  for (const char* machine : {"list", "list", "teller", "teller", "meter"}) {
    const RecordName name = new_name(machine);
    const RequestId id = ledger_.add(
        {.what = Stimulus::Create{}, .machine = name.machine, .key = name.key, .actor = kApp});
    network_.send(id, true);
  }
}

void Callers::act() {
  switch (tape_.below(8)) {
    case 0:
    case 1:
      return create();
    case 2:
    case 3:
    case 4:
    case 5:
      return fire();
    case 6:
      return fire_or_create();
    default:
      return order();
  }
}

RecordName Callers::new_name(const std::string& machine) {
  int count = 0;
  for (const RecordName& name : names_) count += name.machine == machine ? 1 : 0;
  return names_.emplace_back(RecordName{machine, machine.substr(0, 1) + std::to_string(count)});
}

RecordName Callers::some_name(const std::string& machine) {
  std::vector<RecordName> known;
  for (const RecordName& name : names_)
    if (name.machine == machine) known.push_back(name);
  return known.empty() ? RecordName{machine, "nobody"} : tape_.of(known);
}

void Callers::ask(Stimulus stimulus, std::string mark) {
  const RequestId id = ledger_.add(std::move(stimulus), std::move(mark));
  network_.send(id, true, [this, id](const Answer& answer) {
    const bool has_key = !ledger_.stimulus(id).idempotency_key.empty();
    if (answer.kind == Answer::Kind::ok && has_key && swarm_.strikes(Fault::key_with_other_body))
      ask_again_with_other_body(id);
  });
}

// The first one is applied, so this one never is.
void Callers::ask_again_with_other_body(RequestId id) {
  Stimulus other = ledger_.stimulus(id);
  auto* fire = std::get_if<Stimulus::Fire>(&other.what);
  if (fire == nullptr) return;
  hits_.struck(Fault::key_with_other_body);
  fire->payload = payload_of("never");
  network_.send(ledger_.add_other_body(std::move(other), id), true);
}

void Callers::create() {
  const std::string& machine = tape_.of(kMachines);
  const RecordName name = tape_.chance(25) ? some_name(machine) : new_name(machine);
  Stimulus::Create create;
  if (machine == "batch") {
    create.data = R"({"parcels":["a")";
    for (int i = tape_.between(0, 3); i > 0; --i) create.data += R"(,"p)" + std::to_string(i) + '"';
    create.data += "]}";
  }
  std::string mark;
  if (tape_.chance(20)) {
    create.event = tape_.of({"poke", "poke", "again", "begin", "unknown"});
    mark = create.event == "poke" ? next_id('c') : "";
    create.payload = payload_of(mark);
  }
  if (tape_.chance(5)) create.data = R"({"no_such_field":1})";
  const std::string key = tape_.chance(30) ? "" : next_id('k');
  ask({.what = std::move(create),
       .machine = name.machine,
       .key = name.key,
       .actor = kApp,
       .idempotency_key = key},
      mark);
}

void Callers::fire() {
  const std::string& machine = tape_.of(kMachines);
  RecordName name = some_name(machine);
  if (machine == "parcel") name.key = some_name("batch").key + ".a";
  const Event& event = tape_.of(events_of(machine));
  const std::string id = next_id('f');
  const bool is_unknown = tape_.chance(4);
  ask({.what = Stimulus::Fire{.event = is_unknown ? "unknown" : event.name,
                              .payload = payload_of(id, tape_.of({"l0", "l1"}))},
       .machine = name.machine,
       .key = name.key,
       .actor = kApp,
       .idempotency_key = next_id('k')},
      event.marks && !is_unknown ? id : "");
}

void Callers::fire_or_create() {
  const RecordName name = tape_.chance(50) ? some_name("job") : new_name("job");
  const std::string id = next_id('f');
  const std::string event = tape_.of({"poke", "poke", "again", "unknown"});
  Stimulus::Fire fire{.event = event, .payload = payload_of(id), .create = Stimulus::Create{}};
  ask({.what = std::move(fire),
       .machine = name.machine,
       .key = name.key,
       .actor = kApp,
       .idempotency_key = next_id('k')},
      event == "poke" ? id : "");
}

void Callers::order() {
  using Verb = Stimulus::Order::Verb;
  const std::string& machine = tape_.of(kMachines);
  Stimulus::Order order{.verb = tape_.up_to(Verb::patch), .reason = "a simulation"};
  if (order.verb == Verb::hold) order.text = "somebody looks";
  if (order.verb == Verb::move) order.state = machine == "page" ? "shown" : "nowhere";
  if (order.verb == Verb::patch)
    order.data = machine == "list" && tape_.chance(70) ? R"({"days":7})" : R"({"seen":1})";
  if (machine == "page" && tape_.chance(20)) order.verb = Verb::erase;
  const RecordName name = some_name(machine);
  ask({.what = std::move(order),
       .machine = name.machine,
       .key = name.key,
       .actor = tape_.chance(10) ? kApp : kOperator,
       .idempotency_key = next_id('k')});
}

void Callers::release(const Record& record) {
  const RequestId id = ledger_.add(
      {.what = Stimulus::Order{.verb = Stimulus::Order::Verb::release, .reason = "the end"},
       .machine = record.machine,
       .key = record.key,
       .actor = kOperator,
       .idempotency_key = next_id('k')});
  network_.send(id, true);
}

}  // namespace pawl::sim
