// Findings: what is not as it should be. From any thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace pawl::kill {

class Findings {
 public:
  enum class Kind { lost, twice, exceeded, other };

  void add(Kind kind, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (++all_ <= 20) std::fprintf(stderr, "engine_kill: %s\n", what.c_str());
    ++counts_[static_cast<std::size_t>(kind)];
  }

  std::int64_t count(Kind kind) const {
    const std::lock_guard lock(mutex_);
    return counts_[static_cast<std::size_t>(kind)];
  }
  bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return all_ == 0;
  }

 private:
  mutable std::mutex mutex_;
  std::int64_t all_ = 0;
  std::int64_t counts_[4] = {};
};

}  // namespace pawl::kill
