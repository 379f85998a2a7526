#include "policy/answers.h"

#include <algorithm>

namespace pawl {
namespace {

// `default` stands for codes that nothing else names, so a prefix answers for it only when it is
// empty.
bool matches(std::string_view pattern, std::string_view code) {
  if (!pattern.ends_with('*')) return pattern == code;
  pattern.remove_suffix(1);
  return pattern.empty() || (code != "default" && code.starts_with(pattern));
}

bool always_holds(const Row& row) { return !row.condition && !row.elapsed; }

}  // namespace

std::vector<const ErrorRows*> reachable_errors(const ResolvedPolicy& policy) {
  std::vector<const ErrorRows*> reachable;
  for (const ErrorRows* error : policy.errors) {
    const bool answered =
        std::any_of(reachable.begin(), reachable.end(), [&](const ErrorRows* earlier) {
          return matches(earlier->code, error->code) &&
                 std::any_of(earlier->rows.begin(), earlier->rows.end(), always_holds);
        });
    if (!answered) reachable.push_back(error);
  }
  return reachable;
}

std::span<const Row> reachable_rows(std::span<const Row> rows) {
  const auto last = std::find_if(rows.begin(), rows.end(), always_holds);
  return {rows.begin(), last == rows.end() ? last : last + 1};
}

bool answers_code(std::string_view pattern, std::string_view code) {
  if (pattern == "default") return true;
  if (!pattern.ends_with('*')) return pattern == code;
  return code.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool is_built_in(const ErrorRows& error) {
  const std::vector<ErrorRows>& built_in = Machine::built_in_policy().errors;
  return &error >= built_in.data() && &error < built_in.data() + built_in.size();
}

}  // namespace pawl
