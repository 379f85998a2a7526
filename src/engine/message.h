// What stands in an inbox, as text: a stimulus for the record, or the rest of an event for
// children.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pawl/effect.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

// An event for more children than one step reaches: the others follow from here. In the inbox of
// the record that sends it.
struct Spread {
  std::string machine;  // of the children
  std::string event;
  std::string payload = "{}";
  std::string id;                  // of the effect
  std::optional<Instant> at = {};  // not before then
  bool must = false;               // again until it is accepted
  Cursor from = {};                // in the list of children
  std::uint64_t up_to = 0;         // the last id there was when it was sent
};

std::string message_text(const Stimulus& stimulus);
std::string message_text(const Spread& spread);

// The stimulus names no record: it is the one whose inbox it stands in.
std::variant<Stimulus, Spread> read_message(std::string_view text);

}  // namespace pawl
