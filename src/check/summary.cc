#include "check/summary.h"

#include <algorithm>
#include <numeric>

namespace pawl {
namespace {

constexpr std::size_t kFew = 8;

void add_some(std::set<std::uint32_t>& set, const auto& more) {
  for (const std::uint32_t number : more)
    if (set.size() < kFew) set.insert(number);
}

Duration sum(Duration a, Duration b) { return a > kDurationMax - b ? kDurationMax : a + b; }

class Summaries {
 public:
  Summaries(const Walked& walked, const Circles& hidden, const Circles& all)
      : walked_(walked),
        all_(all),
        by_knot_(walked.knots.size()),
        component_of_(walked.knots.size()) {
    for (std::uint32_t knot = 0; knot < by_knot_.size(); ++knot) by_knot_[knot] = of_knot(knot);
    for (const Component& circle : hidden.endless)
      for (const std::uint32_t knot : circle.knots) by_knot_[knot].never_ends = true;
    for (const Component& circle : all.endless) add_repeats(circle);
  }

  std::vector<Summary> all() {
    std::vector<PassageId> passages(walked_.passages.size());
    std::iota(passages.begin(), passages.end(), 0U);
    for (const Component& component : components_of(walked_, passages)) add(component);
    return std::move(by_knot_);
  }

 private:
  Summary of_knot(std::uint32_t id) const {
    const Knot& knot = walked_.knots[id];
    Summary summary{.explored = knot.explored};
    if (knot.ending != Ending::none) summary.outcomes.insert(knot.outcome);
    if (knot.cut_by) {
      summary.failures_max.reset();
      summary.bounds.insert(*knot.cut_by);
    }
    if (knot.timed) summary.longest.reset();
    if (const auto bounds = all_.bounds.find(id); bounds != all_.bounds.end())
      add_some(summary.bounds, bounds->second);
    return summary;
  }

  void add_repeats(const Component& circle) {
    std::set<std::uint32_t> paces;
    for (const PassageId id : circle.passages)
      if (const std::uint32_t pace = walked_.passages[id].pace; pace != 0) paces.insert(pace);
    for (const std::uint32_t knot : circle.knots) {
      by_knot_[knot].repeats = true;
      add_some(by_knot_[knot].paces, paces);
    }
  }

  // What the component leads to has its summaries already.
  void add(const Component& component) {
    Summary summary;
    ++components_;
    for (const std::uint32_t knot : component.knots) component_of_[knot] = components_;
    for (const std::uint32_t knot : component.knots) {
      merge(summary, by_knot_[knot]);
      for (const Passage& passage : walked_.ways_from(knot)) merge(summary, by_knot_[passage.to]);
    }
    for (const std::uint32_t knot : component.knots) add_ways(summary, knot);
    for (const PassageId id : component.passages) add_loop(summary, walked_.passages[id]);
    for (const std::uint32_t knot : component.knots) by_knot_[knot] = summary;
  }

  static void merge(Summary& summary, const Summary& other) {
    summary.never_ends = summary.never_ends || other.never_ends;
    summary.repeats = summary.repeats || other.repeats;
    summary.explored = summary.explored && other.explored;
    if (!other.failures_max) summary.failures_max.reset();
    if (!other.longest) summary.longest.reset();
    add_some(summary.outcomes, other.outcomes);
    add_some(summary.bounds, other.bounds);
    add_some(summary.paces, other.paces);
  }

  void add_ways(Summary& summary, std::uint32_t knot) const {
    for (const Passage& passage : walked_.ways_from(knot)) {
      if (component_of_[passage.to] == component_of_[knot]) continue;
      const Summary& next = by_knot_[passage.to];
      if (summary.failures_max)
        summary.failures_max =
            std::max(*summary.failures_max, passage.failures + *next.failures_max);
      if (summary.longest)
        summary.longest = std::max(*summary.longest, sum(*next.longest, passage.lasted));
    }
  }

  // A tick that changes nothing is no part of the run: it waits for a worker.
  static void add_loop(Summary& summary, const Passage& passage) {
    if (passage.failures > 0) summary.failures_max.reset();
    if (passage.failed || passage.from != passage.to) summary.longest.reset();
  }

  const Walked& walked_;
  const Circles& all_;
  std::vector<Summary> by_knot_;
  std::vector<std::size_t> component_of_;  // 0: none yet
  std::size_t components_ = 0;
};

}  // namespace

std::vector<Summary> summaries_of(const Walked& walked, const Circles& hidden, const Circles& all) {
  return Summaries(walked, hidden, all).all();
}

}  // namespace pawl
