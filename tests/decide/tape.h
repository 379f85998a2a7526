// Tape: bytes from which choices are drawn.
//
// One format for all who play random machines and stimuli: the property tests, the fuzzer, the
// simulator. A tape that is used up gives zeros, and zero is the simplest choice everywhere, so a
// shorter tape is a simpler play.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

using TapeBytes = std::vector<std::uint8_t>;

class Tape {
 public:
  // The bytes outlive the tape.
  explicit Tape(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool is_used_up() const { return next_ >= bytes_.size(); }

  // A number in [0, end); `end` is at most 65,536.
  std::size_t below(std::size_t end);

  // A number in [first, last].
  int between(int first, int last);

  bool chance(int percent);

  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

  std::string of(std::initializer_list<const char*> choices);

  // One of the enumerators up to this last one.
  template <class Enum>
  Enum up_to(Enum last) {
    return static_cast<Enum>(below(static_cast<std::size_t>(last) + 1));
  }

 private:
  std::size_t byte();

  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

std::string to_hex(std::span<const std::uint8_t> bytes);

// Blanks and line ends are skipped; none when there is anything else that is no hex digit.
std::optional<TapeBytes> from_hex(std::string_view hex);

}  // namespace pawl
