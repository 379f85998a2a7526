#include "simulate/step_stimulus.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "model/names.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

using Order = Stimulus::Order;

Error no_record(const Whom& whom) {
  return bad_input("there is no record " + whom.machine + "/" + whom.key);
}

std::string text_of(const Json* json, const std::string& fallback) {
  return json == nullptr ? fallback : json->text;
}

// As JSON text; null is what was not given.
std::string json_text(const Json* json, const std::string& fallback) {
  return json == nullptr || json->kind == Json::Kind::null ? fallback : to_text(*json);
}

Result<Whom> parse_whom(const std::string& record) {
  const std::size_t slash = record.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == record.size())
    return bad_input(in_quotes(record) + " is not a record: write machine/key, or run task");
  return Whom{record.substr(0, slash), record.substr(slash + 1)};
}

Result<Failure> failure_of(const Json& subject) {
  if (subject.kind != Json::Kind::map) return Failure{.code = subject.text};
  Failure failure{.code = text_of(subject.find("code"), ""),
                  .message = text_of(subject.find("message"), ""),
                  .detail = json_text(subject.find("detail"), "")};
  if (const Json* least = subject.find("retry_after")) {
    PAWL_TRY(const Duration duration, parse_duration(least->text));
    failure.retry_after = duration;
  }
  return failure;
}

Result<Order> order_of(const Json& subject) {
  Order order{.reason = "scenario"};
  if (const Json* text = subject.find("hold")) {
    order.verb = Order::Verb::hold;
    order.text = text->text;
  } else if (const Json* state = subject.find("move")) {
    order.verb = Order::Verb::move;
    order.state = state->text;
  } else if (const Json* data = subject.find("patch")) {
    order.verb = Order::Verb::patch;
    order.data = to_text(*data);
  } else if (subject.text == "release") {
    order.verb = Order::Verb::release;
  } else if (subject.text == "migrate") {
    order.verb = Order::Verb::migrate;
  } else if (subject.text != "retry") {
    return bad_input(
        "an order is retry, release, migrate, {hold: text}, {move: state} or {patch: …}");
  }
  return order;
}

// The token a step names; else the live attempt's, else that of the one settled last.
Result<TokenHash> token_of(const Step& step, const Record& record, const Tokens& tokens) {
  if (!step.token.empty()) return tokens.find(step.token);
  if (record.running) return record.running->token_hash;
  return record.settled ? record.settled->token_hash : TokenHash{};
}

Result<void> check_task(const std::string& task, const Machine& machine) {
  if (machine.find_task(task)) return {};
  return bad_input(in_ticks(task) + " is not a task of " + in_ticks(machine.name()) +
                   did_you_mean(task, names_of(machine.definition().tasks)));
}

using What = decltype(Stimulus::what);

Result<What> worker_stimulus(const Step& step, const Record& record, const Tokens& tokens) {
  PAWL_TRY(const TokenHash token, token_of(step, record, tokens));
  if (step.verb == Step::Verb::beat)
    return What(Stimulus::Beat{token, json_text(&step.subject, "")});
  if (step.verb == Step::Verb::done)
    return What(Stimulus::Done{token, json_text(&step.subject, "{}")});
  PAWL_TRY(Failure failure, failure_of(step.subject));
  return What(Stimulus::Fail{token, std::move(failure)});
}

Result<What> what_of(const Step& step, const Record& record, const World& world, Tokens& tokens) {
  switch (step.verb) {
    case Step::Verb::fire:
      return What(
          Stimulus::Fire{.event = step.subject.text, .payload = json_text(&step.with, "{}")});
    case Step::Verb::start:
      PAWL_CHECK(check_task(step.subject.text, world.machine_of(record.id)));
      return What(Stimulus::Start{tokens.make(step.as), "worker"});
    case Step::Verb::order: {
      PAWL_TRY(Order order, order_of(step.subject));
      return What(std::move(order));
    }
    default:
      return worker_stimulus(step, record, tokens);
  }
}

}  // namespace

TokenHash Tokens::make(const std::string& name) {
  ++made_;
  TokenHash token{};
  for (std::size_t i = 0; i < sizeof made_; ++i)
    token[i] = static_cast<std::byte>(made_ >> (8 * i));
  if (!name.empty()) named_[name] = token;
  return token;
}

Result<TokenHash> Tokens::find(const std::string& name) const {
  if (const auto known = named_.find(name); known != named_.end()) return known->second;
  std::vector<std::string> names;
  for (const auto& [known, token] : named_) names.push_back(known);
  return bad_input("no `start` before this step has `as: " + name + "`" +
                   did_you_mean(name, names));
}

Result<Whom> whom_of(const std::string& record, const World& world) {
  constexpr std::string_view kRun = "run ";
  if (!record.starts_with(kRun)) return parse_whom(record);
  const std::string task = record.substr(kRun.size());
  const Record* run = world.latest_run(task);
  if (run == nullptr) return bad_input("no effect has run the task " + in_ticks(task) + " yet");
  return Whom{run->machine, run->key};
}

Whom created_by(const Json& create, const std::string& machine) {
  return {text_of(create.find("machine"), machine), text_of(create.find("key"), "")};
}

Result<Stimulus> step_create(const Json& create, const std::string& machine, const World& world) {
  const Whom whom = created_by(create, machine);
  if (world.machine(whom.machine) == nullptr)
    return bad_input("none of the files has the machine " + in_ticks(whom.machine));
  Stimulus::Create what{.data = json_text(create.find("data"), "{}")};
  if (const Json* parent = create.find("parent")) {
    PAWL_TRY(const Whom of, parse_whom(parent->text));
    const Record* record = world.find(of.machine, of.key);
    if (record == nullptr) return no_record(of);
    what.parent = Parent{record->id, record->machine, record->key};
  }
  return Stimulus{
      .what = std::move(what), .machine = whom.machine, .key = whom.key, .actor = {"app", {}}};
}

Actor actor_of(const Step& step) {
  if (step.actor.kind != Json::Kind::map)
    return step.verb == Step::Verb::order ? Actor{"operator", {"operator"}} : Actor{"app", {}};
  Actor actor{.name = text_of(step.actor.find("name"), "")};
  if (const Json* roles = step.actor.find("roles"))
    for (const Json& role : roles->items) actor.roles.push_back(role.text);
  return actor;
}

Result<Stimulus> step_stimulus(const Step& step, const Whom& whom, const std::string& machine,
                               const World& world, Tokens& tokens) {
  PAWL_ASSERT(step.verb != Step::Verb::none, "a step without a verb is no stimulus");
  if (step.verb == Step::Verb::create) {
    PAWL_TRY(Stimulus stimulus, step_create(step.subject, machine, world));
    stimulus.actor = actor_of(step);
    return stimulus;
  }
  const Record* record = world.find(whom.machine, whom.key);
  if (record == nullptr) return no_record(whom);
  PAWL_TRY(What what, what_of(step, *record, world, tokens));
  return Stimulus{
      .what = std::move(what), .machine = whom.machine, .key = whom.key, .actor = actor_of(step)};
}

}  // namespace pawl
