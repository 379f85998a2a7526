#include "pipe/search_nodes.h"

#include <algorithm>
#include <utility>

#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr Duration kDelayFirst = std::chrono::seconds{1};
constexpr Duration kDelayMax = std::chrono::seconds{30};

}  // namespace

SearchNodes::SearchNodes(std::vector<std::string> urls) {
  PAWL_ASSERT(!urls.empty(), "there is a node to send to");
  for (std::string& url : urls) nodes_.push_back({.view = {.url = std::move(url)}});
}

std::size_t SearchNodes::choose(Time now) {
  const std::lock_guard lock(mutex_);
  std::size_t chosen = turn_;
  for (std::size_t step = 0; step < nodes_.size(); ++step) {
    const std::size_t at = (turn_ + step) % nodes_.size();
    const Node& node = nodes_[at];
    if (!node.view.is_down || node.due <= now) {
      chosen = at;
      break;
    }
    if (node.due < nodes_[chosen].due) chosen = at;
  }
  turn_ = (chosen + 1) % nodes_.size();
  Node& node = nodes_[chosen];
  ++node.view.bulks;
  if (node.view.is_down) {
    node.is_tried = true;
    node.due = now + node.delay;
  }
  return chosen;
}

void SearchNodes::answered(std::size_t at) {
  const std::lock_guard lock(mutex_);
  nodes_[at].view.is_down = false;
  nodes_[at].delay = {};
}

void SearchNodes::failed(std::size_t at, std::string error, Time now) {
  const std::lock_guard lock(mutex_);
  Node& node = nodes_[at];
  ++node.view.failures;
  node.view.error = std::move(error);
  if (node.view.is_down && !node.is_tried) return;
  node.delay = node.view.is_down ? std::min(2 * node.delay, kDelayMax) : kDelayFirst;
  node.due = now + node.delay;
  node.view.is_down = true;
  node.is_tried = false;
}

std::vector<SearchNodes::View> SearchNodes::views() const {
  const std::lock_guard lock(mutex_);
  std::vector<View> views;
  views.reserve(nodes_.size());
  for (const Node& node : nodes_) views.push_back(node.view);
  return views;
}

}  // namespace pawl
