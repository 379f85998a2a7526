// Cursor: a walk through a one-line text that can say where it stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "pawl/result.h"

namespace pawl {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

 protected:
  bool at_end() const { return at_ == text_.size(); }

  // The character at the cursor; NUL at the end.
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  Error error(std::string message) const { return error_at(at_, std::move(message)); }
  static Error error_at(std::size_t at, std::string message) {
    return bad_input_at(static_cast<int>(at) + 1, std::move(message));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace pawl
