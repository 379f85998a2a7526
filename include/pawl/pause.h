// Pause: what an operator has stopped from being started. Attempts that run go on.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "pawl/time.h"

namespace pawl {

struct PauseTarget {
  enum class Kind { everything, machine, queue, label };

  Kind kind = Kind::everything;
  std::string name = {};   // of the machine, queue or label
  std::string value = {};  // of the label: JSON

  friend auto operator<=>(const PauseTarget&, const PauseTarget&) = default;
};

struct Pause {
  PauseTarget target = {};
  std::string reason = {};
  std::string actor = {};
  Instant since = {};
  std::optional<Instant> ended_at = {};  // none: it is in force
  std::string ended_by = {};

  friend bool operator==(const Pause&, const Pause&) = default;
};

// `queue:jobs`, `label:customer="c1"`, `everything`.
std::string to_text(const PauseTarget& target);

// `queue jobs since 2026-03-02T09:00:00Z by eve: the printer is broken`.
std::string to_text(const Pause& pause);

}  // namespace pawl
