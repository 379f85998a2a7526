#include "model/keys.h"

#include "model/reader.h"

namespace pawl {
namespace {

template <class T>
KeyPlace place_of(const Keys<T>& known) {
  KeyPlace place{known.name, known.subject, {}, known.one_of, known.one_needed};
  for (const KeyOf<T>& key : known.keys) place.keys.push_back(key.key);
  if (known.policy != nullptr)
    for (const KeyOf<Policy>& key : policy_keys().keys) place.keys.push_back(key.key);
  return place;
}

}  // namespace

std::vector<KeyPlace> key_places() {
  return {place_of(machine_keys()),
          place_of(field_keys()),
          place_of(event_keys()),
          place_of(state_keys()),
          place_of(row_keys(RowPlace::plain)),
          place_of(row_keys(RowPlace::on)),
          place_of(row_keys(RowPlace::machine_on)),
          place_of(row_keys(RowPlace::error)),
          place_of(row_keys(RowPlace::give_up)),
          place_of(effect_keys()),
          place_of(hold_keys()),
          place_of(recipient_keys()),
          place_of(policy_keys()),
          place_of(delays_keys()),
          place_of(task_keys()),
          place_of(http_keys()),
          place_of(concurrency_keys()),
          place_of(rate_keys()),
          place_of(schedule_keys()),
          place_of(keep_keys()),
          place_of(migration_keys()),
          place_of(scenario_keys()),
          place_of(step_keys()),
          place_of(create_keys()),
          place_of(fail_keys()),
          place_of(order_keys()),
          place_of(actor_keys()),
          place_of(expect_keys())};
}

}  // namespace pawl
