// Sight: what expressions see while one stimulus is decided; Scope: what they may name where they
// stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pawl/definition.h"
#include "pawl/record.h"

namespace pawl {

class Zone;

// Views only: whoever evaluates keeps alive what they point at.
struct Sight {
  const Record* record = nullptr;
  std::string_view data = "{}";            // JSON; not record->data while a row sets it
  std::optional<std::string_view> event;   // JSON
  std::optional<std::string_view> result;  // JSON
  std::optional<std::string_view> item;    // JSON
  const Actor* actor = nullptr;
  const Failure* error = nullptr;
  Instant now = {};
  const Zone* zone = nullptr;  // of times written without offset; null: UTC
};

// Fields null: not declared, any field goes. A name that is not seen is an error.
struct Scope {
  const Definition* definition = nullptr;  // `data`, states, `order`
  const State* state = nullptr;            // the record is in it; null: in one of several
  bool knows_data = true;   // false: any field goes, as in the data of an older version
  bool sees_record = true;  // and `children`; false: there is data and no record that has it
  bool sees_now = true;
  bool sees_event = false;  // and `actor`
  const Fields* event = nullptr;
  bool sees_result = false;
  const Fields* result = nullptr;
  bool sees_error = false;
  bool sees_item = false;
};

}  // namespace pawl
