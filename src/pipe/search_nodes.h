// SearchNodes: which node of the search engine a request goes to. They take turns; one that cannot
// be reached is left alone for a second, and twice as long each time it fails again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "pawl/time.h"

namespace pawl {

// For all threads.
class SearchNodes {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // At least one.
  explicit SearchNodes(std::vector<std::string> urls);

  // The one whose turn it is among those that are up or due to be tried again; when there is none,
  // the one that is due soonest. Others do not try it again before the answer, or the delay.
  std::size_t choose(Time now);

  // What became of a request to a node that was chosen. `failed`: it could not be reached, or did
  // not answer. Requests that were under way when it first failed count as one failure of it.
  void answered(std::size_t at);
  void failed(std::size_t at, std::string error, Time now);

  struct View {
    std::string url;
    bool is_down = false;
    std::string error = {};  // the last one
    std::uint64_t bulks = 0;
    std::uint64_t failures = 0;
  };
  std::vector<View> views() const;

 private:
  struct Node {
    View view;
    Duration delay = {};
    Time due = {};
    bool is_tried = false;  // while it is down
  };

  mutable std::mutex mutex_;
  std::vector<Node> nodes_;
  std::size_t turn_ = 0;
};

}  // namespace pawl
