// AnswerTable: how often each stimulus was answered in each way.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/decide.h"

namespace pawl {

class AnswerTable {
 public:
  void add(const Stimulus& stimulus, Answer::Kind kind);

  // As a page of text; a cell that cannot occur is a dash.
  std::string text() const;

  // The cells that can occur and were hit less often, and those that cannot occur and were hit.
  std::vector<std::string> faults(std::int64_t least) const;

  // Why the cell cannot occur; empty when it can.
  static std::string_view why_not(std::size_t row, Answer::Kind kind);

 private:
  static constexpr std::size_t kRows = 16;
  static constexpr std::size_t kKinds = 6;

  std::array<std::array<std::int64_t, kKinds>, kRows> hits_ = {};
};

}  // namespace pawl
