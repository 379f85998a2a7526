// Query: which records are asked for; what lists, logs, the feed and the counts give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/record.h"
#include "pawl/time.h"

namespace pawl {

inline constexpr std::size_t kPageMax = 1'000;  // of lists, logs and the feed; at least 1

struct RecordName {
  std::string machine;
  std::string key;

  friend auto operator<=>(const RecordName&, const RecordName&) = default;
};

// A place in a list; empty: its beginning, or its end. Only the store that gave it can read it.
using Cursor = std::string;

template <class T>
struct Page {
  std::vector<T> items;
  Cursor next = {};  // empty: there is no more. A page may be short although there is more.
};

struct Query {
  std::string machine = {};
  std::string state = {};
  std::string key_prefix = {};
  std::optional<Label> label = {};
  std::optional<RecordId> parent = {};
  std::optional<bool> held = {};
  std::string error_code = {};
  std::optional<std::uint64_t> fingerprint = {};
  std::optional<Instant> created_from = {};
  std::optional<Instant> created_before = {};
  bool hides_built_in = false;  // records of `run`, `send` and `delivery`, unless they are named
  std::size_t max = 100;
};

struct LoggedEntry {
  RecordId record = {};
  RecordName name = {};
  Entry entry;
};

struct StateCount {
  std::string machine;
  std::string state;
  std::int64_t records = 0;
  std::int64_t held = 0;

  friend bool operator==(const StateCount&, const StateCount&) = default;
};

struct ErrorCount {
  std::string machine;
  std::string state;
  std::string code;
  std::uint64_t fingerprint = 0;
  std::int64_t count = 0;
  Instant first_at = {};
  Instant last_at = {};
  std::string message = {};  // of the last one

  friend bool operator==(const ErrorCount&, const ErrorCount&) = default;
};

struct Counts {
  std::vector<StateCount> states;  // by machine and state
  std::vector<ErrorCount> errors;  // by machine, state, code and fingerprint
};

// A pause, an access token: named, and compared before it is changed.
struct Setting {
  std::string name;
  std::string value;          // JSON; empty: there is none
  std::int64_t revision = 0;  // 0: there was never one

  friend bool operator==(const Setting&, const Setting&) = default;
};

}  // namespace pawl
