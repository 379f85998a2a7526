#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"

namespace pawl {
namespace {

// The number of insertions, deletions, replacements and swaps of neighbours between two words.
std::size_t typing_mistakes(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known,
                                 std::size_t most) {
  const std::string lower = to_lower(word.substr(0, 64));
  const std::size_t mistakes_max = 1 + lower.size() / 4;
  std::vector<std::pair<std::size_t, const std::string*>> near;
  for (const std::string& candidate : known) {
    const std::size_t mistakes = typing_mistakes(lower, to_lower(candidate));
    if (mistakes <= mistakes_max) near.emplace_back(mistakes, &candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> words;
  for (const auto& [mistakes, word_near] : near) {
    const bool listed = std::find(words.begin(), words.end(), *word_near) != words.end();
    if (words.size() < most && mistakes <= near.front().first + 1 && !listed)
      words.push_back(*word_near);
  }
  return words;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::vector<std::string> words = nearest(word, known);
  if (words.empty()) return "";
  return "; did you mean " + join(words, ", ", " or ") + "?";
}

}  // namespace pawl
