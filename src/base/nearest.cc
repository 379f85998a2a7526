#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"

namespace pawl {
namespace {

// Longer words are compared by their beginning, and no more words than that: all of it together
// must not take long, whatever somebody wrote.
constexpr std::size_t kComparedMax = 64;
constexpr std::size_t kCandidatesMax = 1'000;

// Where both are alike, there is nothing to count.
void strip_alike(std::string_view& a, std::string_view& b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
}

// The number of insertions, deletions, replacements and swaps of neighbours between two words; any
// number above `most` when there are more than that.
std::size_t typing_mistakes(std::string_view a, std::string_view b, std::size_t most) {
  strip_alike(a, b);
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  std::size_t fewest_before = 0;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    const std::size_t fewest = *std::min_element(row.begin(), row.end());
    if (std::min(fewest, fewest_before) > most) return most + 1;
    fewest_before = fewest;
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known,
                                 std::size_t most) {
  const std::string lower = to_lower(word.substr(0, kComparedMax));
  const std::size_t mistakes_max = 1 + lower.size() / 4;
  std::vector<std::pair<std::size_t, const std::string*>> near;
  std::size_t compared = 0;
  for (const std::string& candidate : known) {
    if (lower.size() > candidate.size() + mistakes_max) continue;
    if (candidate.size() > lower.size() + mistakes_max) continue;
    if (++compared > kCandidatesMax) break;
    const std::size_t mistakes = typing_mistakes(lower, to_lower(candidate), mistakes_max);
    if (mistakes <= mistakes_max && mistakes < lower.size())
      near.emplace_back(mistakes, &candidate);
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
  std::vector<std::string> words = nearest(word, known);
  if (words.empty()) return "";
  for (std::string& near : words) near = printable(near);
  return "; did you mean " + join(words, ", ", " or ") + "?";
}

}  // namespace pawl
