// LoadPlan: which items of a batch are still to be sent, and which of them together.
//
// A request may fail because of one item. To find it, a group is split into halves, which are sent
// on their own, until a group that fails has one item only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace pawl {

class LoadPlan {
 public:
  // All of them in one group, in their order.
  explicit LoadPlan(std::size_t items = 0);

  // The group to send now: what nothing was said of yet. Empty when nothing is left; else it stays
  // the same until something is said of it. Lives until then.
  std::span<const std::uint32_t> next();

  // Said of items of that group, in any order and in parts. When something was said of each, the
  // next group has its turn.
  void finished(std::span<const std::uint32_t> items);
  void again(std::span<const std::uint32_t> items);  // a group of their own, behind all others

  // Said of the group as a whole. `split`: one of its items is the cause; its halves come next.
  // False when there is no half: its only item is the one. `failed`: the same group again; gives
  // how often that was said of it.
  bool split();
  int failed();
  // As `failed`, but behind all others; where it is not `counted`, as if nothing had been said of
  // it before. `mark` is kept from the first time that counts on, also by the halves.
  int put_off(std::uint64_t mark, bool counted = true);
  // Of the group to send now.
  int failures();
  std::optional<std::uint64_t> first_mark();

  // Not finished, in the order of the groups.
  std::vector<std::uint32_t> left() const;
  // One of those is finished after all, whichever group it is in.
  void drop(std::uint32_t item);

  std::size_t remaining() const { return remaining_; }  // not finished
  bool empty() const { return remaining_ == 0; }

 private:
  struct Group {
    std::vector<std::uint32_t> items;
    int failures = 0;
    std::optional<std::uint64_t> mark = {};  // of the first of them, of its other half too
  };

  void drop_what_was_said();
  void say(std::span<const std::uint32_t> items);

  std::deque<Group> groups_;   // the first one is being sent
  std::vector<bool> is_said_;  // of items of the first group; of no other
  std::size_t said_ = 0;       // items of the first group
  std::size_t remaining_;
};

}  // namespace pawl
