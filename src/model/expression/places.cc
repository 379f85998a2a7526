#include "model/expression/places.h"

#include <array>
#include <charconv>

#include "base/json_text.h"
#include "model/expression/expression_names.h"

namespace pawl {
namespace {

Operand number(std::int64_t value) { return Operand::of(Decimal(value)); }

Operand absent() { return Operand::of(Operand::Kind::absent); }

template <class T>
Operand or_null(const std::optional<T>& value) {
  return value ? Operand::of(*value) : Operand::of(Operand::Kind::null);
}

Operand text_operand(const std::string& value) { return Operand::of(std::string_view(value)); }

// JSON that is empty where there is none.
Operand json(const std::string& value, Scratch& scratch) {
  return Operand::of(JsonView(value), scratch);
}

Operand id_text(RecordId id, Scratch& scratch) {
  std::array<char, 20> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), id.value);
  return Operand::of(scratch.keep({digits.data(), static_cast<std::size_t>(end - digits.data())}));
}

Operand parent(const Record& record, Scratch& scratch) {
  if (!record.parent) return Operand::of(Operand::Kind::null);
  std::string& map = scratch.blank();
  map += "{\"machine\":";
  append_json_string(map, record.parent->machine);
  map += ",\"key\":";
  append_json_string(map, record.parent->key);
  map += '}';
  return {.kind = Operand::Kind::map, .text = map};
}

Operand roles(const Actor& actor, Scratch& scratch) {
  std::string& list = scratch.blank();
  list += '[';
  for (const std::string& role : actor.roles) {
    if (list.size() > 1) list += ',';
    append_json_string(list, role);
  }
  list += ']';
  return {.kind = Operand::Kind::list, .text = list};
}

// Every place of the root that has a value.
Operand whole(Root root, const Sight& sight, Scratch& scratch) {
  std::string& map = scratch.blank();
  map += '{';
  for (const NamedPlace& place : places_of(root)) {
    const Operand value = value_at(place.place, sight, scratch);
    if (value.kind == Operand::Kind::absent || value.kind == Operand::Kind::none) continue;
    if (map.size() > 1) map += ',';
    append_json_string(map, place.name);
    map += ':';
    append_json(map, value);
  }
  map += '}';
  return {.kind = Operand::Kind::map, .text = map};
}

Operand value_of_record(Place place, const Record& record, Scratch& scratch) {
  switch (place) {
    case Place::record_id:
      return id_text(record.id, scratch);
    case Place::record_key:
      return text_operand(record.key);
    case Place::record_machine:
      return text_operand(record.machine);
    case Place::record_version:
      return number(record.version);
    case Place::record_state:
      return text_operand(record.state);
    case Place::record_revision:
      return number(record.revision);
    case Place::record_epoch:
      return number(record.epoch);
    case Place::record_attempt:
      return number(record.attempt);
    case Place::record_failures:
      return number(record.failures);
    case Place::record_failing_since:
      return or_null(record.failing_since);
    case Place::record_failed_from:
      return record.failed_from.empty() ? Operand::of(Operand::Kind::null)
                                        : text_operand(record.failed_from);
    case Place::record_running:
      return Operand::of(record.running.has_value());
    case Place::record_held:
      return Operand::of(record.hold.has_value());
    case Place::record_parent:
      return parent(record, scratch);
    case Place::record_parent_machine:
      return record.parent ? text_operand(record.parent->machine) : absent();
    case Place::record_parent_key:
      return record.parent ? text_operand(record.parent->key) : absent();
    case Place::record_result:
      return json(record.result, scratch);
    case Place::record_created_at:
      return Operand::of(record.created_at);
    case Place::record_entered_at:
      return Operand::of(record.entered_at);
    case Place::record_planned_at:
      return or_null(record.plan.serving);
    default:
      return absent();
  }
}

Operand value_of_error(Place place, const Failure& error, Scratch& scratch) {
  switch (place) {
    case Place::error_code:
      return text_operand(error.code);
    case Place::error_message:
      return text_operand(error.message);
    case Place::error_detail:
      return json(error.detail, scratch);
    case Place::error_retry_after:
      return or_null(error.retry_after);
    case Place::error_transient:
      return Operand::of(error.transient);
    case Place::error_at:
      return Operand::of(error.at);
    default:
      return absent();
  }
}

}  // namespace

Operand value_at(Place place, const Sight& sight, Scratch& scratch) {
  switch (place) {
    case Place::actor_name:
      return sight.actor ? text_operand(sight.actor->name) : absent();
    case Place::actor_roles:
      return sight.actor ? roles(*sight.actor, scratch) : absent();
    case Place::error_code:
    case Place::error_message:
    case Place::error_detail:
    case Place::error_retry_after:
    case Place::error_transient:
    case Place::error_at:
      return sight.error ? value_of_error(place, *sight.error, scratch) : absent();
    default:
      return sight.record ? value_of_record(place, *sight.record, scratch) : absent();
  }
}

Operand whole_actor(const Sight& sight, Scratch& scratch) {
  return sight.actor ? whole(Root::actor, sight, scratch) : absent();
}

Operand whole_error(const Sight& sight, Scratch& scratch) {
  return sight.error ? whole(Root::error, sight, scratch) : absent();
}

}  // namespace pawl
