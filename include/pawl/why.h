// why: the reason that a record is not moving.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/machine.h"
#include "pawl/record.h"

namespace pawl {

struct Why {
  enum class Kind {
    ready_since,        // a worker may take its task
    running_until,      // an attempt runs
    backing_off_until,  // it failed, and waits for the next attempt
    planned_at,
    timer_at,
    waiting_for_events,
    waiting_for_children,
    on_hold,
    slot,    // as many run as may
    paused,  // an operator stopped its machine, queue or label
    final,
  };

  Kind kind = Kind::final;
  std::optional<Instant> at = {};       // since when, or until when
  std::vector<std::string> names = {};  // events that are accepted, machines of children
  std::optional<Hold> hold = {};
  std::string sentence = {};  // for people

  friend bool operator==(const Why&, const Why&) = default;
};

// What keeps a ready record from being started, which only the engine knows.
struct Blocked {
  Why::Kind kind = Why::Kind::slot;  // or `paused`
  std::string text = {};
};

Why why(const Machine& machine, const Record& record, Instant now,
        const std::optional<Blocked>& blocked = {});

std::string_view to_text(Why::Kind kind);

}  // namespace pawl
