// Keys: every key of the machine file, where it may stand and what may stand after it. The reader
// reads by these tables, and the JSON Schema is printed from them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace pawl {

// What may stand after a key.
enum class Shape {
  name,
  name_or_null,
  names,  // a list of names
  text,
  boolean,
  only_true,
  natural,   // a whole number from 0 on
  positive,  // … from 1 on
  priority,
  factor,
  jitter,
  word,  // one of Key::words
  held,
  from,
  expression,
  value,        // any JSON with placeholders
  values,       // name -> value
  headers,      // text -> value
  assignments,  // name -> value, or a list of names
  fail,         // a name or a value
  hold,
  duration,
  delays,
  action_delays,  // true or delays
  later_delays,   // delays, at least one
  recipient,
  type,
  fields,
  events,
  effects,
  rows,
  give_up_rows,
  on,
  machine_on,
  timers,
  errors,
  states,
  tasks,
  policies,
  schedule,
  http,
  concurrency,
  rate,
  keep,
  renames,  // old state -> new state
  migrate,
  scenarios,
  steps,
  create,
  step_fail,
  order,
  actor,
  expect,
  step_time,          // an instant, a time of day or +duration
  expected_time,      // … or null, or [from, to]
  expected_count,     // a whole number, or [from, to]
  expected_children,  // machine -> state -> expected_count
  text_or_null,
  texts,
  map,       // a JSON map without placeholders
  anything,  // JSON without placeholders
};

struct Key {
  std::string_view name;
  Shape shape;
  std::string_view doc;  // one line, for editors
  std::span<const std::string_view> words = {};
  bool required = false;
};

// The keys of one kind of map.
struct KeyPlace {
  std::string_view name;     // `state`: the definition in the schema
  std::string_view subject;  // `a state`: for messages
  std::vector<Key> keys;
  std::vector<std::string_view> one_of = {};  // keys of which there is at most one …
  bool one_needed = false;                    // … and at least one
};

// All places, the machine first.
std::vector<KeyPlace> key_places();

}  // namespace pawl
