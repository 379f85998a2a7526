#include "pipe/load_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "pawl/assert.h"

namespace pawl {

LoadPlan::LoadPlan(std::size_t items) : is_said_(items), remaining_(items) {
  if (items == 0) return;
  Group all{.items = std::vector<std::uint32_t>(items)};
  std::iota(all.items.begin(), all.items.end(), 0U);
  groups_.push_back(std::move(all));
}

std::span<const std::uint32_t> LoadPlan::next() {
  drop_what_was_said();
  if (groups_.empty()) return {};
  return groups_.front().items;
}

void LoadPlan::finished(std::span<const std::uint32_t> items) {
  say(items);
  remaining_ -= items.size();
}

void LoadPlan::again(std::span<const std::uint32_t> items) {
  if (items.empty()) return;
  say(items);
  groups_.push_back({.items = {items.begin(), items.end()}});
}

bool LoadPlan::split() {
  drop_what_was_said();
  PAWL_ASSERT(!groups_.empty(), "a group that failed is there");
  std::vector<std::uint32_t>& items = groups_.front().items;
  if (items.size() == 1) return false;
  const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
  Group first{.items = {items.begin(), middle}, .mark = groups_.front().mark};
  items.erase(items.begin(), middle);
  groups_.front().failures = 0;
  groups_.push_front(std::move(first));
  return true;
}

int LoadPlan::failed() {
  drop_what_was_said();
  PAWL_ASSERT(!groups_.empty(), "a group that failed is there");
  return ++groups_.front().failures;
}

int LoadPlan::put_off(std::uint64_t mark, bool counted) {
  const int failures = failed();
  Group& group = groups_.front();
  if (!group.mark) group.mark = mark;
  if (!counted) {
    group.failures = 0;
    group.mark.reset();
  }
  groups_.push_back(std::move(groups_.front()));
  groups_.pop_front();
  return failures;
}

int LoadPlan::failures() {
  drop_what_was_said();
  return groups_.empty() ? 0 : groups_.front().failures;
}

std::optional<std::uint64_t> LoadPlan::first_mark() {
  drop_what_was_said();
  return groups_.empty() ? std::nullopt : groups_.front().mark;
}

std::vector<std::uint32_t> LoadPlan::left() const {
  std::vector<std::uint32_t> left;
  for (const Group& group : groups_)
    for (const std::uint32_t item : group.items)
      if (&group != &groups_.front() || !is_said_[item]) left.push_back(item);
  return left;
}

void LoadPlan::drop(std::uint32_t item) {
  drop_what_was_said();
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    if (std::erase(group->items, item) == 0) continue;
    if (group->items.empty()) groups_.erase(group);
    --remaining_;
    return;
  }
}

// Late, so that what `next` gave can be handed in.
void LoadPlan::drop_what_was_said() {
  if (said_ == 0) return;
  std::vector<std::uint32_t>& items = groups_.front().items;
  const auto left = std::stable_partition(items.begin(), items.end(),
                                          [&](std::uint32_t item) { return !is_said_[item]; });
  PAWL_ASSERT(static_cast<std::size_t>(items.end() - left) == said_,
              "something was said only of items of the group that was sent");
  for (auto item = left; item != items.end(); ++item) is_said_[*item] = false;
  items.erase(left, items.end());
  if (items.empty()) groups_.pop_front();
  said_ = 0;
}

void LoadPlan::say(std::span<const std::uint32_t> items) {
  for (const std::uint32_t item : items) {
    PAWL_ASSERT(item < is_said_.size() && !is_said_[item], "something is said of an item once");
    is_said_[item] = true;
  }
  said_ += items.size();
}

}  // namespace pawl
