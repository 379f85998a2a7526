#include "model/definition_json.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/file_words.h"
#include "model/yaml_text.h"
#include "pawl/machine_file.h"
#include "pawl/time.h"

namespace pawl {
namespace {

// The code of a hold that gives only its text.
constexpr std::string_view kHoldCode = "machine";
constexpr std::string_view kHoldCodeOfGivingUp = "gave_up";

// What each part of a definition is in the file.
Json json_of(int number) { return number; }
Json json_of(const std::string& text) { return text; }
Json json_of(const Json& json) { return json; }
Json json_of(const Ref& ref) { return ref.name; }
Json json_of(const Expression& expression) { return expression.text; }
Json json_of(const Value& value) { return value.json; }
Json json_of(const DurationValue& duration);
Json json_of(const Fields& fields);
Json json_of(const Field& field);
Json json_of(const EventDefinition& event);
Json json_of(const Schedule& schedule);
Json json_of(const Delays& delays);
Json json_of(const ErrorRows& error);
Json json_of(const NamedPolicy& named);
Json json_of(const Assignment& assignment);
Json json_of(const Keep& keep);
Json json_of(const Migration& migration);
Json json_of(const Migration::Renamed& renamed);
Json json_of(const EventRows& event);
Json json_of(const TimerRows& timer);
Json json_of(const EffectRow& effect);
Json json_of(const Recipient& recipient);
Json json_of(const State& state);
Json json_of(const Task& task);
Json json_of(const HttpCall& call);
Json json_of(const Concurrency& concurrency);
Json json_of(const Rate& rate);
Json json_of(const Scenario& scenario);
Json json_of(const Step& step);

Json json_of(Policy::Count count);
Json json_of(Policy::Align align);
Json json_of(Schedule::Gap gap);
Json json_of(Schedule::Fold fold);

// The key of a part in the map it stands in.
std::string key_of(const Field& field) { return field.name; }
std::string key_of(const EventDefinition& event) { return event.name; }
std::string key_of(const ErrorRows& error) { return error.code; }
std::string key_of(const NamedPolicy& named) { return named.name; }
std::string key_of(const Assignment& assignment) { return assignment.name; }
std::string key_of(const Migration& migration) { return std::to_string(migration.version); }
std::string key_of(const Migration::Renamed& renamed) { return renamed.from; }
std::string key_of(const EventRows& event) { return event.event.name; }
std::string key_of(const State& state) { return state.name; }
std::string key_of(const Task& task) { return task.name; }
std::string key_of(const Scenario& scenario) { return scenario.title; }
std::string key_of(const TimerRows& timer) {
  const Json delay = json_of(timer.delay);
  return delay.kind == Json::Kind::text ? delay.text : to_text(delay);
}

template <class T>
Json map_of(const std::vector<T>& parts) {
  Json map = Json::map({});
  for (const T& part : parts) map.members.push_back({key_of(part), json_of(part), {}});
  return map;
}

template <class T>
Json list_of(const std::vector<T>& parts) {
  Json list = Json::list({});
  for (const T& part : parts) list.items.push_back(json_of(part));
  return list;
}

Json json_of(const Rows& rows, std::string_view hold_code);

// A map that grows by the keys that are given.
class JsonMap {
 public:
  JsonMap& always(std::string_view key, Json value) {
    map_.members.push_back({std::string(key), std::move(value), {}});
    return *this;
  }
  JsonMap& if_true(std::string_view key, bool flag) { return flag ? always(key, true) : *this; }
  JsonMap& text(std::string_view key, const std::string& text) {
    return text.empty() ? *this : always(key, text);
  }
  JsonMap& json(std::string_view key, const Json& json) {
    return json.kind == Json::Kind::null ? *this : always(key, json);
  }
  template <class T>
  JsonMap& given(std::string_view key, const std::optional<T>& value) {
    return value ? always(key, json_of(*value)) : *this;
  }
  template <class T>
  JsonMap& map(std::string_view key, const std::vector<T>& parts) {
    return parts.empty() ? *this : always(key, map_of(parts));
  }
  template <class T>
  JsonMap& list(std::string_view key, const std::vector<T>& parts) {
    return parts.empty() ? *this : always(key, list_of(parts));
  }
  JsonMap& rows(std::string_view key, const Rows& rows, std::string_view hold_code = kHoldCode) {
    return rows.empty() ? *this : always(key, json_of(rows, hold_code));
  }

  Json take() { return std::move(map_); }

 private:
  Json map_ = Json::map({});
};

void add_policy(JsonMap& keys, const Policy& policy) {
  keys.given("timeout", policy.timeout)
      .given("lease", policy.lease)
      .given("retry", policy.retry)
      .map("errors", policy.errors)
      .rows("give_up", policy.give_up, kHoldCodeOfGivingUp);
  if (policy.failure) keys.always("failure", *policy.failure ? Json(policy.failure->name) : Json());
  keys.given("count", policy.count).given("align", policy.align).given("policy", policy.policy);
}

Json json_of(const NamedPolicy& named) {
  JsonMap keys;
  add_policy(keys, named.policy);
  return keys.take();
}

Json json_of(const ErrorRows& error) { return json_of(error.rows, kHoldCode); }

Json json_of(Policy::Count count) { return word_of(kCountWords, count); }

Json json_of(Policy::Align align) { return word_of(kAlignWords, align); }

Json json_of(const DurationValue& duration) {
  if (!duration.is_fixed()) return duration.value.json;
  const bool negative = duration.fixed < Duration{0};  // the reader will refuse it
  return negative ? Json("-" + to_text(-std::max(duration.fixed, -kDurationMax)))
                  : Json(to_text(duration.fixed));
}

// 1500 is 1.5.
Json thousandths(int milli) {
  std::string digits = std::to_string(milli / 1'000);
  std::string decimals = std::to_string(1'000 + milli % 1'000).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return Json::number(decimals.empty() ? digits : digits + "." + decimals);
}

std::string jitter_text(const Delays& delays) {
  switch (delays.jitter) {
    case Delays::Jitter::none:
      return "";
    case Delays::Jitter::full:
      return "full";
    case Delays::Jitter::equal:
      return "equal";
    case Delays::Jitter::percent:
      return "±" + std::to_string(delays.jitter_percent) + "%";
  }
  return "";
}

Json formula(const Delays& delays) {
  JsonMap keys;
  keys.always("first", json_of(delays.first));
  if (delays.factor_milli != Delays{}.factor_milli)
    keys.always("factor", thousandths(delays.factor_milli));
  keys.given("max", delays.max)
      .text("jitter", jitter_text(delays))
      .given("attempts", delays.attempts);
  return keys.take();
}

Json json_of(const Delays& delays) {
  switch (delays.kind) {
    case Delays::Kind::list:
      return list_of(delays.list);
    case Delays::Kind::formula:
      return formula(delays);
    case Delays::Kind::fixed:
      return json_of(delays.first);
  }
  return "";
}

Json type_of(const FieldType& type) {
  if (type.kind == FieldType::Kind::word) return list_of(type.words);
  return word_of(kFieldTypeWords, type.kind) + (type.required ? "!" : "");
}

Json json_of(const Field& field) {
  JsonMap keys;
  keys.always("type", type_of(field.type));
  keys.given("default", field.fallback).text("doc", field.doc);
  Json json = keys.take();
  return json.members.size() == 1 ? json.members.front().value : json;
}

Json json_of(const Fields& fields) { return map_of(fields); }

Json json_of(const EventDefinition& event) {
  return JsonMap().list("by", event.by).given("with", event.with).text("doc", event.doc).take();
}

Json json_of(Schedule::Gap gap) { return word_of(kGapWords, gap); }

Json json_of(Schedule::Fold fold) { return word_of(kFoldWords, fold); }

// The usual one is left out.
std::string missed_text(Schedule::Missed missed) {
  return missed == Schedule{}.missed ? "" : word_of(kMissedWords, missed);
}

void add_rule(JsonMap& keys, const Schedule& schedule) {
  switch (schedule.kind) {
    case Schedule::Kind::rrule:
      keys.always("rrule", schedule.rule.json);
      return;
    case Schedule::Kind::cron:
      keys.always("cron", schedule.rule.json);
      return;
    case Schedule::Kind::every:
      keys.always("every", json_of(schedule.every));
      return;
  }
}

Json json_of(const Schedule& schedule) {
  JsonMap keys;
  add_rule(keys, schedule);
  return keys.given("tz", schedule.tz)
      .given("anchor", schedule.anchor)
      .text("missed", missed_text(schedule.missed))
      .given("gap", schedule.gap)
      .given("fold", schedule.fold)
      .rows("ended", schedule.ended)
      .take();
}

Json json_of(const Assignment& assignment) { return assignment.value.json; }

Json json_of(const Keep& keep) {
  if (keep.final && !keep.entries) return json_of(*keep.final);
  return JsonMap().given("final", keep.final).given("entries", keep.entries).take();
}

Json json_of(const Migration::Renamed& renamed) { return renamed.to.name; }

Json json_of(const Migration& migration) {
  return JsonMap().map("states", migration.states).map("set", migration.set).take();
}

Json json_of(const EventRows& event) { return json_of(event.rows, kHoldCode); }
Json json_of(const TimerRows& timer) { return json_of(timer.rows, kHoldCode); }

void add_origin(JsonMap& keys, const Row& row) {
  if (row.from == Row::From::all) keys.always("from", "all");
  if (row.from == Row::From::listed) keys.always("from", list_of(row.from_states));
  keys.list("except", row.except);
}

void add_action(JsonMap& keys, const Row& row) {
  const Json delays = row.delays ? json_of(*row.delays) : Json(true);
  switch (row.action) {
    case Row::Action::none:
      return;
    case Row::Action::retry:
      keys.always("retry", delays);
      return;
    case Row::Action::later:
      keys.always("later", delays);
      return;
    case Row::Action::done:
      keys.always("done", true);
      return;
    case Row::Action::give_up:
      keys.always("give_up", true);
      return;
  }
}

void add_hold(JsonMap& keys, const HoldText& hold, std::string_view usual_code) {
  if (hold.code == usual_code && hold.text.json.kind == Json::Kind::text) {
    keys.always("hold", hold.text.json);
  } else {
    keys.always("hold", JsonMap().always("code", hold.code).always("text", hold.text.json).take());
  }
}

Json long_form(const Row& row, std::string_view hold_code) {
  JsonMap keys;
  keys.given("if", row.condition);
  if (row.held != Row::Held::no)
    keys.always("held", row.held == Row::Held::any ? Json("any") : Json(true));
  add_origin(keys, row);
  keys.given("elapsed", row.elapsed)
      .given("to", row.to)
      .given("event", row.event)
      .given("fail", row.fail);
  add_action(keys, row);
  keys.given("checkpoint", row.checkpoint).if_true("transient", row.transient);
  if (row.hold) add_hold(keys, *row.hold, hold_code);
  return keys.map("set", row.set)
      .list("effects", row.effects)
      .text("alert", row.alert)
      .if_true("new_epoch", row.new_epoch)
      .take();
}

// `x` for `{to: x}`, `retry` for `{retry: true}`.
Json short_form(Json row) {
  if (row.members.size() != 1) return row;
  const JsonMember only = row.members.front();
  if (only.key == "to") return only.value;
  const bool is_action = only.key == "retry" || only.key == "done" || only.key == "give_up";
  return is_action && only.value == Json(true) ? Json(only.key) : row;
}

Json json_of(const Rows& rows, std::string_view hold_code) {
  Json list = Json::list({});
  for (const Row& row : rows) list.items.push_back(short_form(long_form(row, hold_code)));
  return list.items.size() == 1 ? list.items.front() : list;
}

Json json_of(const Recipient& recipient) {
  switch (recipient.kind) {
    case Recipient::Kind::self:
      return "self";
    case Recipient::Kind::parent:
      return "parent";
    case Recipient::Kind::children:
      return "children." + recipient.machine;
    case Recipient::Kind::record:
      return JsonMap()
          .always("machine", recipient.machine)
          .always("key", recipient.key.json)
          .take();
  }
  return "";
}

Json json_of(const EffectRow& effect) {
  return JsonMap()
      .always(word_of(kVerbWords, effect.verb), effect.target.name)
      .given("if", effect.condition)
      .given("each", effect.each)
      .given("key", effect.key)
      .given("to", effect.to)
      .given("with", effect.with)
      .given("in", effect.in)
      .given("then", effect.then)
      .given("else", effect.otherwise)
      .if_true("must", effect.must)
      .take();
}

Json json_of(const State& state) {
  JsonMap keys;
  keys.given("id", state.id)
      .text("doc", state.doc)
      .if_true("final", state.final)
      .given("task", state.task)
      .given("started", state.started)
      .given("checkpoint", state.checkpoint);
  add_policy(keys, state.policy);
  return keys.list("effects", state.effects)
      .rows("done", state.done)
      .map("on", state.on)
      .map("after", state.after)
      .map("every", state.every)
      .rows("planned", state.planned)
      .rows("when", state.when)
      .rows("resume", state.resume)
      .take();
}

Json json_of(const HttpCall& call) {
  return JsonMap()
      .always(word_of(kMethodWords, call.method), call.url.json)
      .map("headers", call.headers)
      .given("body", call.body)
      .take();
}

void add_work(JsonMap& keys, const Task& task) {
  switch (task.kind) {
    case Task::Kind::queue:
      keys.always("queue", task.target);
      return;
    case Task::Kind::http:
      keys.given("http", task.http);
      return;
    case Task::Kind::channel:
      keys.always("channel", task.target);
      return;
    case Task::Kind::function:
      keys.always("function", task.target);
      return;
  }
}

Json json_of(const Concurrency& concurrency) {
  if (!concurrency.per) return concurrency.max;
  return JsonMap().always("max", concurrency.max).given("per", concurrency.per).take();
}

Json json_of(const Rate& rate) {
  return JsonMap()
      .always("max", rate.max)
      .always("every", json_of(rate.every))
      .given("per", rate.per)
      .take();
}

Json json_of(const Task& task) {
  JsonMap keys;
  keys.text("doc", task.doc);
  add_work(keys, task);
  keys.given("with", task.with)
      .given("result", task.result)
      .given("key", task.key)
      .given("concurrency", task.concurrency)
      .given("rate", task.rate);
  if (task.priority != Task{}.priority) keys.always("priority", task.priority);
  add_policy(keys, task.policy);
  return keys.take();
}

std::string_view verb_of(Step::Verb verb) {
  switch (verb) {
    case Step::Verb::none:
      return "";
    case Step::Verb::create:
      return "create";
    case Step::Verb::fire:
      return "fire";
    case Step::Verb::start:
      return "start";
    case Step::Verb::beat:
      return "beat";
    case Step::Verb::done:
      return "done";
    case Step::Verb::fail:
      return "fail";
    case Step::Verb::order:
      return "order";
  }
  return "";
}

Json json_of(const Step& step) {
  JsonMap keys;
  keys.text("at", step.at).text("record", step.record);
  if (step.verb != Step::Verb::none) keys.always(verb_of(step.verb), step.subject);
  return keys.json("with", step.with)
      .json("actor", step.actor)
      .text("as", step.as)
      .text("token", step.token)
      .json("expect", step.expect)
      .take();
}

Json json_of(const Scenario& scenario) {
  return JsonMap()
      .always("at", scenario.at)
      .text("tz", scenario.tz)
      .json("create", scenario.create)
      .always("steps", list_of(scenario.steps))
      .take();
}

}  // namespace

Json to_json(const Definition& definition) {
  JsonMap keys;
  keys.always("machine", definition.machine)
      .given("version", definition.version)
      .text("doc", definition.doc)
      .always("initial", definition.initial.name)
      .given("data", definition.data)
      .map("events", definition.events)
      .list("order", definition.order)
      .given("schedule", definition.schedule);
  add_policy(keys, definition.policy);
  return keys.map("policies", definition.policies)
      .map("labels", definition.labels)
      .given("keep", definition.keep)
      .if_true("pin", definition.pin)
      .map("migrate", definition.migrate)
      .map("on", definition.on)
      .map("states", definition.states)
      .map("tasks", definition.tasks)
      .map("scenarios", definition.scenarios)
      .take();
}

std::string print_machine(const Definition& definition) { return to_yaml(to_json(definition)); }

}  // namespace pawl
