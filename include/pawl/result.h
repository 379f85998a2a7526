// Result<T>: a value, or the error that explains why there is none.
//
// Errors are for input, peers and the environment; a broken invariant of our own asserts instead,
// and a refusal is an ordinary answer. The member names are those of std::expected, which GCC 12
// does not have.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "pawl/assert.h"

namespace pawl {

// What kind of thing went wrong. Closed: every code has a CLI exit code (src/cli/exit_code.h).
enum class ErrorCode {
  bad_input,        // a text, file or value that a person or program gave is wrong
  environment,      // the machine we run on lacks something (time zone data, a file, a permission)
  damaged,          // what was read is not what was written
  outcome_unknown,  // it may have been made durable or not: open the store again and look
};

// Where in a text the error is; both count from 1, columns in bytes.
struct Position {
  int line = 1;
  int column = 1;

  friend bool operator==(const Position&, const Position&) = default;
};

// Why something could not be done: what was attempted, on what, and what the caller can do about
// it.
struct Error {
  ErrorCode code = ErrorCode::bad_input;
  std::string message;
  std::optional<Position> position = std::nullopt;
};

inline Error bad_input(std::string message) { return {ErrorCode::bad_input, std::move(message)}; }

// An error of input at a column of a one-line text.
inline Error bad_input_at(int column, std::string message) {
  return {ErrorCode::bad_input, std::move(message), Position{1, column}};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // The value; asking for it when there is an error is a bug of the caller.
  const T& value() const& {
    PAWL_ASSERT(has_value(), "value() of a Result that holds an error");
    return *std::get_if<0>(&state_);
  }
  T& value() & {
    PAWL_ASSERT(has_value(), "value() of a Result that holds an error");
    return *std::get_if<0>(&state_);
  }
  T value() && { return std::move(value()); }  // lives on, as in `for (auto& item : *list())`

  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T operator*() && { return std::move(value()); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const& {
    PAWL_ASSERT(!has_value(), "error() of a Result that holds a value");
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    PAWL_ASSERT(!has_value(), "error() of a Result that holds a value");
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }

  const Error& error() const& {
    PAWL_ASSERT(!has_value(), "error() of a Result that holds a value");
    return *error_;
  }
  Error&& error() && {
    PAWL_ASSERT(!has_value(), "error() of a Result that holds a value");
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

// PAWL_TRY(const auto zone, zones.find(name)); declares `zone`, or returns the error to the caller.
#define PAWL_TRY(declaration, expression) PAWL_TRY_AT(__LINE__, declaration, expression)
#define PAWL_TRY_AT(line, declaration, expression) PAWL_TRY_NAMED(line, declaration, expression)
#define PAWL_TRY_NAMED(line, declaration, expression)                          \
  auto pawl_try_##line = (expression);                                         \
  if (!pawl_try_##line.has_value()) return std::move(pawl_try_##line).error(); \
  declaration = *std::move(pawl_try_##line)

// The same for a Result<void>.
#define PAWL_CHECK(expression)                                     \
  if (auto pawl_checked = (expression); !pawl_checked.has_value()) \
  return std::move(pawl_checked).error()

}  // namespace pawl
