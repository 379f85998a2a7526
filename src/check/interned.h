// Interned: equal values kept once, each by its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace pawl {

template <class T>
class Interned {
 public:
  std::uint32_t number_of(const T& value) {
    const auto [found, is_new] =
        numbers_.emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (is_new) values_.push_back(value);
    return found->second;
  }

  const T& operator[](std::uint32_t number) const { return values_[number]; }
  std::size_t size() const { return values_.size(); }

 private:
  std::map<T, std::uint32_t> numbers_;
  std::vector<T> values_;
};

}  // namespace pawl
