// Draw: choices of our own over a generator's raw numbers, because the distributions of the
// standard differ between libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace pawl {

class Draw {
 public:
  explicit Draw(std::mt19937_64& numbers) : numbers_(numbers) {}

  // A number in [0, end).
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(numbers_() % end); }

  // A number in [first, last].
  int between(int first, int last) {
    return first + static_cast<int>(below(static_cast<std::size_t>(last - first) + 1));
  }

  bool chance(int percent) { return between(0, 99) < percent; }

  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

  std::string of(std::initializer_list<const char*> choices) {
    return *(choices.begin() + below(choices.size()));
  }

  // One of the enumerators up to this last one.
  template <class Enum>
  Enum up_to(Enum last) {
    return static_cast<Enum>(below(static_cast<std::size_t>(last) + 1));
  }

 private:
  std::mt19937_64& numbers_;
};

}  // namespace pawl
