// The words of the closed lists of a machine file, in the order of their enumerators: the reader
// reads them, the printer writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl {

inline constexpr std::string_view kFieldTypeWords[] = {"string", "int",      "decimal", "bool",
                                                       "time",   "duration", "list",    "map",
                                                       "any",    "rrule",    "cron",    "zone"};
inline constexpr std::string_view kCountWords[] = {"state", "epoch", "lifetime"};
inline constexpr std::string_view kAlignWords[] = {"planned", "retry", "only_planned",
                                                   "whichever_first"};
inline constexpr std::string_view kMissedWords[] = {"none", "last", "all"};
inline constexpr std::string_view kGapWords[] = {"shift", "skip"};
inline constexpr std::string_view kFoldWords[] = {"first", "last", "both"};
inline constexpr std::string_view kVerbWords[] = {"notify", "run", "send", "create"};
// Orders that need nothing else; the others are written `{hold: text}`.
inline constexpr std::string_view kOrderWords[] = {"retry", "release", "migrate"};
inline constexpr std::string_view kAnswerWords[] = {"ok",        "refused", "stale",
                                                    "duplicate", "none",    "error"};
inline constexpr std::string_view kMethodWords[] = {"get", "post", "put", "delete"};

template <class Enum, std::size_t kCount>
std::string word_of(const std::string_view (&words)[kCount], Enum value) {
  return std::string(words[static_cast<std::size_t>(value)]);
}

}  // namespace pawl
