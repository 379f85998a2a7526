// DatePattern: `%Y.%m.%d`, the date in the name of an index, written in UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// Knows the conversions of strftime that are numbers: %Y %y %m %d %H %M %S %j %G %V, and %%.
class DatePattern {
 public:
  // Fails at a conversion that it does not know.
  static Result<DatePattern> parse(std::string_view text);

  const std::string& text() const { return text_; }

  // The characters between the conversions.
  std::string literals() const;

  // The most bytes that it writes.
  std::size_t length() const;

  // What it writes is the same from one multiple of this to the next, counted from 1970.
  Duration step() const { return step_; }

  // Of an instant in the years 1 to 9999.
  void append(std::string& out, Instant at) const;

 private:
  DatePattern() = default;

  std::string text_;
  Duration step_ = {};
};

// The last date that was written: nearly all messages of a batch have the same.
class LastDate {
 public:
  // Lives until the next call.
  std::string_view write(const DatePattern& pattern, Instant at);

 private:
  std::string pattern_;
  std::optional<std::int64_t> step_ = {};  // how many of the pattern's since 1970
  std::string text_;
};

}  // namespace pawl
