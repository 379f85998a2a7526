// Components are found by Tarjan's algorithm, without recursion: a walk may be long.
#include "check/circles.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "pawl/assert.h"

namespace pawl {
namespace {

using KnotId = std::uint32_t;

// The passages by the knot they leave, for those knots that have some.
class Ways {
 public:
  Ways(const Walked& walked, const std::vector<PassageId>& passages) : walked_(walked) {
    for (const PassageId id : passages) {
      ways_[walked.passages[id].from].push_back(id);
      ways_.try_emplace(walked.passages[id].to);
    }
  }

  const std::vector<PassageId>& from(KnotId knot) const { return ways_.at(knot); }
  KnotId target(PassageId id) const { return walked_.passages[id].to; }

  std::vector<KnotId> knots() const {
    std::vector<KnotId> knots;
    for (const auto& [knot, ways] : ways_) knots.push_back(knot);
    std::sort(knots.begin(), knots.end());
    return knots;
  }

 private:
  const Walked& walked_;
  std::unordered_map<KnotId, std::vector<PassageId>> ways_;
};

class Tarjan {
 public:
  explicit Tarjan(const Ways& ways) : ways_(ways) {}

  std::vector<Component> components() {
    for (const KnotId knot : ways_.knots())
      if (!marks_.contains(knot)) visit(knot);
    for (const KnotId knot : ways_.knots())
      for (const PassageId way : ways_.from(knot))
        if (component_.at(knot) == component_.at(ways_.target(way)))
          components_[component_.at(knot)].passages.push_back(way);
    return std::move(components_);
  }

 private:
  struct Mark {
    std::size_t number = 0;
    std::size_t lowest = 0;
    bool on_stack = false;
  };
  struct Visit {
    KnotId knot;
    std::size_t next = 0;
  };

  void enter(KnotId knot) {
    const std::size_t number = marks_.size();
    marks_[knot] = {number, number, true};
    stack_.push_back(knot);
    visits_.push_back({knot});
  }

  void visit(KnotId begin) {
    enter(begin);
    while (!visits_.empty()) {
      const KnotId knot = visits_.back().knot;
      const std::vector<PassageId>& ways = ways_.from(knot);
      if (visits_.back().next == ways.size()) {
        leave(knot);
        continue;
      }
      const KnotId target = ways_.target(ways[visits_.back().next++]);
      const auto known = marks_.find(target);
      if (known == marks_.end()) {
        enter(target);
      } else if (known->second.on_stack) {
        Mark& mark = marks_[knot];
        mark.lowest = std::min(mark.lowest, known->second.number);
      }
    }
  }

  void leave(KnotId knot) {
    visits_.pop_back();
    const Mark mark = marks_[knot];
    if (!visits_.empty()) {
      Mark& before = marks_[visits_.back().knot];
      before.lowest = std::min(before.lowest, mark.lowest);
    }
    if (mark.lowest != mark.number) return;
    Component& component = components_.emplace_back();
    KnotId taken = 0;
    do {
      taken = stack_.back();
      stack_.pop_back();
      marks_[taken].on_stack = false;
      component_[taken] = components_.size() - 1;
      component.knots.push_back(taken);
    } while (taken != knot);
  }

  const Ways& ways_;
  std::unordered_map<KnotId, Mark> marks_;
  std::unordered_map<KnotId, std::size_t> component_;
  std::vector<KnotId> stack_;
  std::vector<Visit> visits_;
  std::vector<Component> components_;
};

ClockSet both(const ClockSet& a, const ClockSet& b) {
  ClockSet set;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(set));
  return set;
}

// The clocks that go on as they were all the way round.
ClockSet kept_by_all(const Walked& walked, const std::vector<PassageId>& passages) {
  ClockSet kept = walked.clock_sets[walked.passages[passages.front()].kept];
  for (const PassageId id : passages)
    if (!kept.empty()) kept = both(kept, walked.clock_sets[walked.passages[id].kept]);
  return kept;
}

bool is_limit(const Walked& walked, std::uint32_t clock) {
  return std::get<0>(walked.clocks[clock]) == Clock::Kind::elapsed;
}

bool looks_at(const Walked& walked, PassageId id, const ClockSet& limits) {
  return !both(walked.clock_sets[walked.passages[id].limits], limits).empty();
}

// Of the clocks that are kept all the way, those that end it.
ClockSet bounds_of(const Walked& walked, const std::vector<PassageId>& passages) {
  ClockSet bounds;
  for (const std::uint32_t clock : kept_by_all(walked, passages)) {
    const bool is_asked = !is_limit(walked, clock) ||
                          std::any_of(passages.begin(), passages.end(),
                                      [&](PassageId id) { return looks_at(walked, id, {clock}); });
    if (is_asked) bounds.push_back(clock);
  }
  return bounds;
}

bool has_failure(const Walked& walked, const std::vector<PassageId>& passages) {
  return std::any_of(passages.begin(), passages.end(),
                     [&](PassageId id) { return walked.passages[id].failed; });
}

}  // namespace

std::vector<Component> components_of(const Walked& walked, const std::vector<PassageId>& passages) {
  const Ways ways(walked, passages);
  return Tarjan(ways).components();
}

Circles circles_in(const Walked& walked, std::vector<PassageId> passages) {
  Circles circles;
  std::vector<std::vector<PassageId>> open{std::move(passages)};
  while (!open.empty()) {
    const std::vector<PassageId> part = std::move(open.back());
    open.pop_back();
    for (Component& component : components_of(walked, part)) {
      if (!has_failure(walked, component.passages)) continue;
      const ClockSet bounds = bounds_of(walked, component.passages);
      if (bounds.empty()) {
        circles.endless.push_back(std::move(component));
        continue;
      }
      for (const KnotId knot : component.knots) circles.bounds.try_emplace(knot, bounds);
      // What never looks at the limit is not bound by it; any other clock ends every part.
      if (!std::all_of(bounds.begin(), bounds.end(),
                       [&](std::uint32_t clock) { return is_limit(walked, clock); }))
        continue;
      std::erase_if(component.passages, [&](PassageId id) { return looks_at(walked, id, bounds); });
      open.push_back(std::move(component.passages));
    }
  }
  return circles;
}

namespace {

// The shortest ways from a knot, or to it when they are `backward`, by some passages.
class Reach {
 public:
  Reach(const Walked& walked, KnotId knot, const Component& within, bool backward)
      : walked_(walked), knot_(knot), backward_(backward) {
    std::unordered_map<KnotId, std::vector<PassageId>> ways;
    for (const PassageId id : within.passages) ways[near_end(id)].push_back(id);
    std::deque<KnotId> open{knot};
    distance_[knot] = 0;
    while (!open.empty()) {
      const KnotId at = open.front();
      open.pop_front();
      for (const PassageId id : ways[at]) {
        if (!distance_.emplace(far_end(id), distance_[at] + 1).second) continue;
        reached_by_[far_end(id)] = id;
        open.push_back(far_end(id));
      }
    }
  }

  std::size_t distance(KnotId knot) const { return distance_.at(knot); }

  std::vector<PassageId> way(KnotId knot) const {
    std::vector<PassageId> way;
    for (; knot != knot_; knot = near_end(way.back())) way.push_back(reached_by_.at(knot));
    if (!backward_) std::reverse(way.begin(), way.end());
    return way;
  }

 private:
  KnotId near_end(PassageId id) const {
    return backward_ ? walked_.passages[id].to : walked_.passages[id].from;
  }
  KnotId far_end(PassageId id) const {
    return backward_ ? walked_.passages[id].from : walked_.passages[id].to;
  }

  const Walked& walked_;
  KnotId knot_;
  bool backward_;
  std::unordered_map<KnotId, std::size_t> distance_;
  std::unordered_map<KnotId, PassageId> reached_by_;
};

// Ways round from one knot back to it.
class Rounds {
 public:
  Rounds(const Walked& walked, const Component& within, KnotId knot)
      : walked_(walked),
        within_(within),
        out_(walked, knot, within, false),
        back_(walked, knot, within, true) {}

  // The shortest that takes a wanted passage; empty when there is none.
  template <class Wanted>
  std::vector<PassageId> shortest(Wanted is_wanted) const {
    std::optional<PassageId> best;
    for (const PassageId id : within_.passages)
      if (is_wanted(id) && (!best || length(id) < length(*best))) best = id;
    if (!best) return {};
    std::vector<PassageId> way = out_.way(walked_.passages[*best].from);
    way.push_back(*best);
    const std::vector<PassageId> back = back_.way(walked_.passages[*best].to);
    way.insert(way.end(), back.begin(), back.end());
    return way;
  }

 private:
  std::size_t length(PassageId id) const {
    return out_.distance(walked_.passages[id].from) + back_.distance(walked_.passages[id].to);
  }

  const Walked& walked_;
  const Component& within_;
  Reach out_;
  Reach back_;
};

// Has a failure in it, and no clock that ends it.
std::vector<PassageId> way_round(const Walked& walked, const Component& endless, KnotId knot) {
  const Rounds rounds(walked, endless, knot);
  std::vector<PassageId> way =
      rounds.shortest([&](PassageId id) { return walked.passages[id].failed; });
  for (ClockSet bounds = bounds_of(walked, way); !bounds.empty(); bounds = bounds_of(walked, way)) {
    const std::vector<PassageId> more = rounds.shortest([&](PassageId id) {
      return both(walked.clock_sets[walked.passages[id].kept], {bounds.front()}).empty();
    });
    PAWL_ASSERT(!more.empty(), "no clock is kept by all passages of an endless part");
    way.insert(way.end(), more.begin(), more.end());
  }
  return way;
}

}  // namespace

EndlessRun run_into(const Walked& walked, const std::vector<Component>& endless, KnotId begin) {
  constexpr std::size_t kWorkMax = 100'000;  // passages looked at, once a circle is known
  std::unordered_map<KnotId, const Component*> circle_of;
  for (const Component& circle : endless)
    for (const KnotId knot : circle.knots) circle_of[knot] = &circle;
  std::unordered_map<KnotId, PassageId> reached_by;
  std::deque<KnotId> open{begin};
  std::set<KnotId> known{begin};
  EndlessRun best;
  for (std::size_t work = 0; !open.empty() && work < kWorkMax;) {
    const KnotId knot = open.front();
    open.pop_front();
    if (const auto circle = circle_of.find(knot); circle != circle_of.end()) {
      work += circle->second->passages.size();
      EndlessRun run{.circle = way_round(walked, *circle->second, knot)};
      for (KnotId at = knot; at != begin; at = walked.passages[run.lead_in.back()].from)
        run.lead_in.push_back(reached_by.at(at));
      std::reverse(run.lead_in.begin(), run.lead_in.end());
      if (best.circle.empty() || run.length() < best.length()) best = std::move(run);
    }
    for (const Passage& passage : walked.ways_from(knot)) {
      if (!known.insert(passage.to).second) continue;
      reached_by[passage.to] = static_cast<PassageId>(&passage - walked.passages.data());
      open.push_back(passage.to);
    }
  }
  PAWL_ASSERT(!best.circle.empty(), "an endless part can be reached");
  return best;
}

}  // namespace pawl
