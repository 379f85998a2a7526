// What callers are shown, as JSON: records, entries, answers and the rest, with instants as text.
// What is empty is left out. docs/reference/api.md has every member.
#pragma once

#include <string>

#include "pawl/apply.h"
#include "pawl/pause.h"
#include "pawl/query.h"
#include "pawl/record.h"
#include "pawl/stimulus.h"
#include "pawl/task.h"
#include "pawl/why.h"

namespace pawl {

std::string to_json(const Record& record);
// `name`: in the feed, where entries of all records stand together.
std::string to_json(const Entry& entry, const RecordName* name = nullptr);
std::string to_json(const Answer& answer);
std::string to_json(const Why& why);
std::string to_json(const GivenAttempt& attempt);
std::string to_json(const Pause& pause);
std::string to_json(const Applied& applied);
std::string to_json(const StateCount& count);
std::string to_json(const ErrorCount& count);

// `machine:NAME`, `queue:NAME`, `label:NAME=VALUE`, `everything`.
Result<PauseTarget> parse_pause_target(std::string_view text);

// 16 hex digits: numbers of this size do not survive JSON everywhere.
std::string fingerprint_text(std::uint64_t fingerprint);

void append_list(std::string& out, const auto& items, auto write) {
  out += '[';
  for (const auto& item : items) {
    if (out.back() != '[') out += ',';
    out += write(item);
  }
  out += ']';
}

}  // namespace pawl
