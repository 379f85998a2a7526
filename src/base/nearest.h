// Did you mean …: the known words nearest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// Up to `most` of `known` that are a few typing mistakes away from `word` (case does not count),
// nearest first.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known,
                                 std::size_t most = 3);

// `; did you mean a, b or c?`, or nothing when no known word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace pawl
