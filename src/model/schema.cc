#include "model/schema.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/keys.h"
#include "model/reader.h"

namespace pawl {
namespace {

constexpr const char* kNamePattern = "^[a-z][a-z0-9_]*$";

Json object(std::vector<std::pair<std::string, Json>> members) {
  Json json = Json::map({});
  for (auto& [key, value] : members) json.members.push_back({std::move(key), std::move(value), {}});
  return json;
}

Json ref(std::string_view name) { return object({{"$ref", "#/$defs/" + std::string(name)}}); }

Json any_of(std::vector<Json> choices) {
  return object({{"anyOf", Json::list(std::move(choices))}});
}

Json type(const char* word) { return object({{"type", word}}); }

Json text_like(std::string pattern) {
  return object({{"type", "string"}, {"pattern", std::move(pattern)}});
}

Json number_from(int least, int most = kIntegerMax) {
  return object({{"type", "integer"}, {"minimum", least}, {"maximum", most}});
}

Json words(std::span<const std::string_view> words) {
  Json list = Json::list({});
  for (const std::string_view word : words) list.items.emplace_back(std::string(word));
  return object({{"enum", std::move(list)}});
}

Json list_of(Json item) { return object({{"type", "array"}, {"items", std::move(item)}}); }

// A map whose keys are the user's own.
Json map_of(Json value) {
  return object({{"type", "object"}, {"additionalProperties", std::move(value)}});
}

Json map_of(const char* key_pattern, Json value) {
  Json map = map_of(std::move(value));
  map.members.push_back({"propertyNames", object({{"pattern", key_pattern}}), {}});
  return map;
}

Json named(Json value) { return map_of(kNamePattern, std::move(value)); }

// A row, or several.
Json rows_of(Json one) {
  Json list = list_of(one);
  list.members.push_back({"minItems", 1, {}});
  return any_of({std::move(one), std::move(list)});
}

Json row_of(std::string_view row) { return any_of({ref("name"), ref(row)}); }

Json error_row() {
  Json name = text_like(kNamePattern);
  name.members.push_back({"not", object({{"const", "later"}}), {}});
  return any_of({std::move(name), ref("error_row")});
}

// How long is too long, only the reader knows.
std::string fixed_duration_pattern() {
  return "0|[0-9]+(ms|s|m|h|d)|[0-9]+ (millisecond|second|minute|hour|day|week)s?"
         "|[Pp](?=[0-9Tt])([0-9]+[Ww])?([0-9]+[Dd])?"
         "([Tt](?=[0-9])([0-9]+[Hh])?([0-9]+[Mm])?([0-9]+([.,][0-9]{1,6})?[Ss])?)?";
}

std::string with_template(const std::string& pattern) {
  return "^(" + pattern + "|[\\s\\S]*\\{[\\s\\S]*)$";
}

std::string duration_pattern() { return with_template(fixed_duration_pattern()); }

Json duration() { return any_of({object({{"const", 0}}), text_like(duration_pattern())}); }

// One value, or `[from, to]`.
Json or_between(const Json& one) {
  Json pair = list_of(one);
  pair.members.push_back({"minItems", 2, {}});
  pair.members.push_back({"maxItems", 2, {}});
  return any_of({one, std::move(pair)});
}

Json expected_count() { return or_between(number_from(0)); }

Json type_of_field() {
  std::string any_type;
  for (const std::string_view word : kFieldTypeWords)
    any_type += (any_type.empty() ? "" : "|") + std::string(word);
  Json list = list_of(ref("name"));
  list.members.push_back({"minItems", 1, {}});
  list.members.push_back({"uniqueItems", true, {}});
  return any_of({text_like("^(" + any_type + ")!?$"), std::move(list)});
}

Json names() {
  Json names = list_of(ref("name"));
  names.members.push_back({"uniqueItems", true, {}});
  return names;
}

Json delays() {
  return any_of({object({{"const", false}}), duration(), list_of(duration()), ref("delays")});
}

Json later_delays() {
  Json list = list_of(duration());
  list.members.push_back({"minItems", 1, {}});
  return any_of({duration(), std::move(list), ref("delays")});
}

Json schema_of(const Key& key) {
  switch (key.shape) {
    case Shape::name:
      return ref("name");
    case Shape::name_or_null:
      return any_of({ref("name"), type("null")});
    case Shape::names:
      return names();
    case Shape::text:
      return type("string");
    case Shape::boolean:
      return type("boolean");
    case Shape::only_true:
      return object({{"const", true}});
    case Shape::natural:
      return number_from(0);
    case Shape::positive:
      return number_from(1);
    case Shape::priority:
      return number_from(0, 9);
    case Shape::factor:
      return object({{"type", "number"}, {"minimum", 1}, {"maximum", 1000}});
    case Shape::jitter:
      return text_like("^(none|full|equal|±([1-9][0-9]?|100)%)$");
    case Shape::word:
      return words(key.words);
    case Shape::held:
      return object({{"enum", Json::list({true, false, "any"})}});
    case Shape::from:
      return any_of({object({{"enum", Json::list({"open", "all"})}}), names()});
    case Shape::expression:
      return object({{"type", Json::list({"string", "boolean"})}});
    case Shape::value:
    case Shape::anything:
      return Json::map({});
    case Shape::values:
      return named(Json::map({}));
    case Shape::headers:
      return type("object");
    case Shape::assignments:
      return any_of({named(Json::map({})), names()});
    case Shape::fail:
      return text_like(with_template("[a-z][a-z0-9_]*"));
    case Shape::hold:
      return any_of({type("string"), ref("hold")});
    case Shape::duration:
      return duration();
    case Shape::delays:
      return delays();
    case Shape::action_delays:
      return any_of({object({{"const", true}}), delays()});
    case Shape::later_delays:
      return later_delays();
    case Shape::recipient:
      return any_of({text_like("^(self|parent|children\\.[a-z][a-z0-9_]*)$"), ref("recipient")});
    case Shape::type:
      return type_of_field();
    case Shape::fields:
      return named(any_of({type_of_field(), ref("field")}));
    case Shape::events:
      return named(ref("event"));
    case Shape::effects:
      return any_of({ref("effect"), list_of(ref("effect"))});
    case Shape::rows:
      return rows_of(row_of("row"));
    case Shape::give_up_rows:
      return rows_of(row_of("give_up_row"));
    case Shape::on:
      return named(rows_of(row_of("event_row")));
    case Shape::machine_on:
      return named(rows_of(row_of("machine_row")));
    case Shape::timers: {
      Json timers = map_of(rows_of(row_of("row")));
      timers.members.push_back({"propertyNames", text_like(duration_pattern()), {}});
      return timers;
    }
    case Shape::errors:
      return map_of("^([a-z][a-z0-9_]*\\*?|\\*)$", rows_of(error_row()));
    case Shape::states:
      return named(ref("state"));
    case Shape::tasks:
      return named(ref("task"));
    case Shape::policies:
      return named(any_of({type("string"), ref("policy")}));
    case Shape::schedule:
      return ref("schedule");
    case Shape::http:
      return ref("http");
    case Shape::concurrency:
      return any_of({number_from(1), ref("concurrency")});
    case Shape::rate:
      return ref("rate");
    case Shape::keep:
      return any_of({duration(), ref("keep")});
    case Shape::renames:
      return named(ref("name"));
    case Shape::migrate:
      return map_of("^[1-9][0-9]{0,9}$", ref("migration"));
    case Shape::scenarios:
      return map_of(ref("scenario"));
    case Shape::steps:
      return list_of(ref("step"));
    case Shape::create:
      return ref("create");
    case Shape::step_fail:
      return any_of({ref("name"), ref("failure")});
    case Shape::order:
      return any_of({words(kOrderWords), ref("order")});
    case Shape::actor:
      return ref("actor");
    case Shape::expect:
      return ref("expect");
    case Shape::step_time:
      return text_like("^([^+][\\s\\S]*|\\+(" + fixed_duration_pattern() + "))?$");
    case Shape::expected_time:
      return or_between(object({{"type", Json::list({"string", "null"})}}));
    case Shape::expected_count:
      return expected_count();
    case Shape::expected_children:
      return named(named(expected_count()));
    case Shape::text_or_null:
      return object({{"type", Json::list({"string", "null"})}});
    case Shape::texts:
      return list_of(type("string"));
    case Shape::map:
      return type("object");
  }
  return Json::map({});
}

// At most one of the keys: no two of them together.
Json forbidden_pairs(const KeyPlace& place) {
  Json pairs = Json::list({});
  for (std::size_t a = 0; a < place.one_of.size(); ++a)
    for (std::size_t b = a + 1; b < place.one_of.size(); ++b)
      pairs.items.push_back(object({{"required", Json::list({std::string(place.one_of[a]),
                                                             std::string(place.one_of[b])})}}));
  return object({{"anyOf", std::move(pairs)}});
}

// Keys that an effect needs because of its verb.
Json needed_by_verbs() {
  return object({{"send", Json::list({"to"})}, {"create", Json::list({"key"})}});
}

Json needed_keys(const KeyPlace& place) {
  Json one = Json::list({});
  for (const std::string_view key : place.one_of)
    one.items.push_back(object({{"required", Json::list({std::string(key)})}}));
  return one;
}

Json schema_of(const KeyPlace& place) {
  Json properties = Json::map({});
  Json required = Json::list({});
  for (const Key& key : place.keys) {
    Json schema = schema_of(key);
    schema.members.push_back({"description", std::string(key.doc), {}});
    properties.members.push_back({std::string(key.name), std::move(schema), {}});
    if (key.required) required.items.emplace_back(std::string(key.name));
  }
  Json schema = object(
      {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}});
  if (!required.items.empty()) schema.members.push_back({"required", std::move(required), {}});
  if (place.one_of.size() > 1) schema.members.push_back({"not", forbidden_pairs(place), {}});
  if (place.one_needed) schema.members.push_back({"anyOf", needed_keys(place), {}});
  if (place.name == effect_keys().name)
    schema.members.push_back({"dependentRequired", needed_by_verbs(), {}});
  return schema;
}

}  // namespace

Json machine_schema() {
  const std::vector<KeyPlace> all = key_places();
  Json definitions = object({{"name", text_like(kNamePattern)}});
  for (std::size_t i = 1; i < all.size(); ++i)
    definitions.members.push_back({std::string(all[i].name), schema_of(all[i]), {}});
  Json schema = object(
      {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Pawl machine"}});
  for (JsonMember& member : schema_of(all[0]).members) schema.members.push_back(std::move(member));
  schema.members.push_back({"$defs", std::move(definitions), {}});
  return schema;
}

}  // namespace pawl
