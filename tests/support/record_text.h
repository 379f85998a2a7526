// Records and entries as texts, to compare them and to show where they differ.
#pragma once

#include <string>

#include "model/codec.h"

namespace pawl {

inline std::string text_of(const Record& record) {
  const auto number = [](const std::optional<Instant>& at) {
    return at ? std::to_string(at->time_since_epoch().count()) : "none";
  };
  std::string text = core_text(record);
  append_sparse(text, record);
  for (const std::string& one : {number(record.changed_at), number(record.ready_at),
                                 number(record.wake_at), std::to_string(record.revision),
                                 std::to_string(record.writes), std::to_string(record.fence)})
    text += " " + one;
  return text;
}

inline std::string text_of(const Entry& entry) {
  std::string text;
  append_entry(text, entry);
  return text;
}

}  // namespace pawl
