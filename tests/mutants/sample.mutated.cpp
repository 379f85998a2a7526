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
  bool operator<(const OnlyLess& other) const { return (
::pawl_mutant(1) ? (value
<= /*pawl_mutant(1)*/
other.value) : (value < other.value)); }
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
constexpr int smaller(int a, int b) { return (
::pawl_mutant(2) != static_cast<bool>((
::pawl_mutant(3) ? (a
<= /*pawl_mutant(3)*/
b) : (a < b)))) ? a : b - 1; }
static_assert(smaller(2, 2) == 1);

// A table the compiler knows, of functions that run.
constexpr auto kFits = [](int value) { return (
::pawl_mutant(4) ? (value
< /*pawl_mutant(4)*/
2) : (value <= 2)); };

bool compare(int a, int b) { return ((static_cast<bool>((
::pawl_mutant(5) ? (a
<= /*pawl_mutant(5)*/
b) : (a < b))) ==
::pawl_mutant(6)) ? static_cast<bool>(((static_cast<bool>((
::pawl_mutant(7) ? (a
>= /*pawl_mutant(7)*/
b) : (a /* > */ > b))) !=
::pawl_mutant(8)) ? static_cast<bool>((
::pawl_mutant(9) ? (a
> /*pawl_mutant(9)*/
3) : (a >= 3))) :
::pawl_mutant(8))) : !
::pawl_mutant(6)); }
bool compare(Ordered a, Ordered b) { return ((static_cast<bool>((
::pawl_mutant(10) ? (a
== /*pawl_mutant(10)*/
b) : (a != b))) !=
::pawl_mutant(11)) ? static_cast<bool>((
::pawl_mutant(12) ? (a
<= /*pawl_mutant(12)*/
Ordered{2}) : (a < Ordered{2}))) :
::pawl_mutant(11)); }
bool compare(OnlyLess a, OnlyLess b) { return (
::pawl_mutant(13) ? (a
<= /*pawl_mutant(13)*/
b) : (a < b)); }

Kind kind_of(int value) {
  switch (value) {
    case 1 + (2 > 3): return (
::pawl_mutant(14) ? Kind::second : Kind::first);
    default: return (
::pawl_mutant(15) != static_cast<bool>((
::pawl_mutant(16) ? (value
>= /*pawl_mutant(16)*/
5) : (value > 5)))) ? (
::pawl_mutant(17) ? Kind::third : Kind::second) : ((
::pawl_mutant(18) ? Kind::first : Kind::last));
  }
}
Answer answer_of(int value) { return {.kind = (
::pawl_mutant(19) ? Kind::third : Kind::second), .number = value}; }
std::optional<Kind> maybe_kind() { return (
::pawl_mutant(20) ? Kind::second : Kind::first); }
Lonely lonely() { return Lonely::one; }

int statements(int value, std::optional<int> maybe) {
  ASSERT(value < 100);
  int result = 1;
  if ((
::pawl_mutant(21) ? (value
!= /*pawl_mutant(21)*/
3) : (value == 3))) (
::pawl_mutant(22) ? static_cast<void>(0) : static_cast<void>(result = 2));
  else (
::pawl_mutant(23) ? static_cast<void>(0) : static_cast<void>(result += 5));
  if (const int twice = value * 2;
::pawl_mutant(24) != static_cast<bool>(twice)) (
::pawl_mutant(25) ? static_cast<void>(0) : static_cast<void>(result -= twice));
  if (const int half = value / 2; (
::pawl_mutant(26) != static_cast<bool>((
::pawl_mutant(27) ? (half
>= /*pawl_mutant(27)*/
1) : (half > 1))))) (
::pawl_mutant(28) ? static_cast<void>(0) : static_cast<void>(++result));
  if ((
::pawl_mutant(29) != static_cast<bool>(maybe))) (
::pawl_mutant(30) ? static_cast<void>(0) : static_cast<void>(result *= *maybe));
  for (int i = 1; (
::pawl_mutant(31) != static_cast<bool>((
::pawl_mutant(32) ? (i
<= /*pawl_mutant(32)*/
3) : (i < 3)))); (
::pawl_mutant(33) ? static_cast<void>(0) : static_cast<void>(i++))) {
    (
::pawl_mutant(34) ? static_cast<void>(0) : static_cast<void>(result += i));
    if ((
::pawl_mutant(35) != static_cast<bool>((
::pawl_mutant(36) ? (result
>= /*pawl_mutant(36)*/
15) : (result > 15))))) return -1;
  }
  // A comment "with a quote.
  while ((
::pawl_mutant(37) != static_cast<bool>(((static_cast<bool>((
::pawl_mutant(38) ? (result
>= /*pawl_mutant(38)*/
7) : (result > 7))) !=
::pawl_mutant(39)) ? static_cast<bool>((
::pawl_mutant(40) ? (result
== /*pawl_mutant(40)*/
8) : (result != 8))) :
::pawl_mutant(39))))) {
    (
::pawl_mutant(41) ? static_cast<void>(0) : static_cast<void>(result -= 3));
    if ((
::pawl_mutant(42) != static_cast<bool>((
::pawl_mutant(43) ? (result
<= /*pawl_mutant(43)*/
6) : (result < 6))))) return -2;
  }
  do (
::pawl_mutant(44) ? static_cast<void>(0) : static_cast<void>(result += 10));
  while ((
::pawl_mutant(45) != static_cast<bool>((
::pawl_mutant(46) ? (result
<= /*pawl_mutant(46)*/
25) : (result < 25)))));
  std::array<int, 2> pair = {1, result};
  (
::pawl_mutant(47) ? static_cast<void>(0) : static_cast<void>(pair = {result, 2}));
  const auto add = [&result](int more) { (
::pawl_mutant(48) ? static_cast<void>(0) : static_cast<void>(result += more)); };
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
