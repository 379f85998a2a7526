// Every way in which scripts/mutants/sites.py breaks a rule, and what it leaves alone. Each mutant changes what this
// program prints.
#include <array>
#include <compare>
#include <cstdio>
#include <optional>

#define ASSERT(condition) ((condition) ? 0 : 1)

namespace {

enum class Kind { first, second, third, last = third };
enum class Lonely { one };

struct Answer {
  Kind kind;
  int number;
};

struct Ordered {
  int value;
  friend auto operator<=>(const Ordered&, const Ordered&) = default;
};

struct OnlyLess {
  int value;
  bool operator<(const OnlyLess& other) const { return value < other.value; }
};

// Left alone: the compiler has to know it.
static_assert(1 < 2);
constexpr bool kKnown = 1 < 2 && 3 != 4;
struct Sizes {
  int bits : 1 + (2 < 3);
  int numbers[1 + (2 < 3)];
};
template <bool known = (1 < 2)>
int in_template() {
  std::array<int, 1 + (1 < 2)> numbers = {};
  if constexpr (kKnown && known) return sizeof(1 < 2);
  return numbers[0];
}

// Mutated where it runs, not where the compiler computes it.
constexpr int smaller(int a, int b) { return a < b ? a : b - 1; }
static_assert(smaller(2, 2) == 1);

// A table the compiler knows, of functions that run.
constexpr auto kFits = [](int value) { return value <= 2; };

bool compare(int a, int b) { return a < b || a /* > */ > b && a >= 3; }
bool compare(Ordered a, Ordered b) { return a != b && a < Ordered{2}; }
bool compare(OnlyLess a, OnlyLess b) { return a < b; }

Kind kind_of(int value) {
  switch (value) {
    case 1 + (2 > 3): return Kind::first;
    default: return value > 5 ? Kind::second : (Kind::last);
  }
}
Answer answer_of(int value) { return {.kind = Kind::second, .number = value}; }
std::optional<Kind> maybe_kind() { return Kind::first; }
Lonely lonely() { return Lonely::one; }

int statements(int value, std::optional<int> maybe) {
  ASSERT(value < 100);
  int result = 1;
  if (value == 3) result = 2;
  else result += 5;
  if (const int twice = value * 2) result -= twice;
  if (const int half = value / 2; half > 1) ++result;
  if (maybe) result *= *maybe;
  for (int i = 1; i < 3; i++) {
    result += i;
    if (result > 15) return -1;
  }
  // A comment "with a quote.
  while (result > 7 &&  // far too much
         result != 8) {
    result -= 3;
    if (result < 6) return -2;
  }
  do result += 10;
  while (result < 25);
  std::array<int, 2> pair = {1, result};
  pair = {result, 2};
  const auto add = [&result](int more) { result += more; };
  add(pair[0]);
  return result;
}

}  // namespace

int main() {
  for (const int a : {-1, 0, 1, 2, 3, 4, 998}) {
    for (const int b : {0, 1, 2, 4}) {
      std::printf("%d %d ", compare(a, b), compare(Ordered{a}, Ordered{b}));
      std::printf("%d %d %d\n", compare(OnlyLess{a}, OnlyLess{b}), smaller(a, b), statements(a, b));
    }
    std::printf("%d %d %d\n", kFits(a), kind_of(a + 2), statements(a, std::nullopt));
  }
  std::printf("%d %d %d %d\n", *maybe_kind(), answer_of(1).kind, lonely(), in_template<(1 < 2)>());
}
