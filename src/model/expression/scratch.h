// Scratch: room for what an evaluation has to build.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace pawl {

// Room for the few texts that have to be built during an evaluation (escapes, lists of computed
// items). Reused: nothing is allocated once it has grown. For one thread at a time.
class Scratch {
 public:
  // A copy that lives until `clear`, or until the Mark made before it ends.
  std::string_view keep(std::string_view text) { return blank().assign(text); }

  // An empty text to write into; it lives as long.
  std::string& blank() {
    if (used_ == kept_.size()) kept_.emplace_back();
    std::string& text = kept_[used_++];
    text.clear();
    return text;
  }

  void clear() {
    used_ = 0;
    why.clear();
  }

  // Gives back what was built since it was made.
  class Mark {
   public:
    explicit Mark(Scratch& scratch) : scratch_(scratch), used_(scratch.used_) {}
    ~Mark() { scratch_.used_ = used_; }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    Scratch& scratch_;
    std::size_t used_;
  };

  // Why the last evaluation had no value; empty when it had one. `data.a is null`.
  std::string why;

 private:
  std::deque<std::string> kept_;  // not moved when it grows: views point into it
  std::size_t used_ = 0;
};

}  // namespace pawl
