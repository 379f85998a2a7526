// What the texts of a machine read: which fields of `data`, and which names besides.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "pawl/definition.h"

namespace pawl {

// What decides about a machine's ways, by the names it begins with: `record.attempt`, `error`.
struct Reading {
  std::set<std::string, std::less<>> fields = {};  // of `data`
  bool all_data = false;                           // `data` as a whole
  std::set<std::string, std::less<>> names = {};  // `record.attempt`, `record.result`, `error`, …
  std::set<std::string> quoted = {};              // beside errors: `error.code == 'gone'`
  int number_max = 0;  // the largest number that an expression over counters has
};

// All that conditions, lists, durations, error codes, keys and the schedule read, and what the
// fields they read are computed from. Texts for people, labels and payloads for others decide
// nothing.
Reading reading_of(const Definition& definition);

}  // namespace pawl
