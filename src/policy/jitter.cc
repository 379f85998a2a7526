// The draw has to be the same wherever and whenever a decision is replayed, so the hash is written
// out here: FNV-1a over the bytes of the names, each with its length, and after every part the
// finaliser of SplitMix64, since FNV alone leaves the high bits of short texts alike, and those
// decide.
#include "policy/jitter.h"

#include <algorithm>

namespace pawl {
namespace {

__extension__ typedef unsigned __int128 Natural;  // NOLINT(modernize-use-using)

constexpr std::uint64_t kFnvBasis = 0xcbf2'9ce4'8422'2325;
constexpr std::uint64_t kFnvPrime = 0x0000'0100'0000'01b3;

std::uint64_t mixed(std::uint64_t hash) {
  hash += 0x9e37'79b9'7f4a'7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58'476d'1ce4'e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d0'49bb'1331'11eb;
  return hash ^ (hash >> 31);
}

std::uint64_t with(std::uint64_t hash, std::uint64_t number) { return mixed(hash ^ number); }

std::uint64_t with(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return with(hash, static_cast<std::uint64_t>(text.size()));
}

// A part of a hundred, rounded down; the product may be too large for 64 bits.
Duration percent_of(Duration delay, int percent) {
  return delay / 100 * percent + delay % 100 * percent / 100;
}

}  // namespace

std::uint64_t jitter_draw(std::string_view machine, std::string_view key, std::int64_t revision,
                          std::int64_t fence) {
  std::uint64_t hash = with(with(kFnvBasis, machine), key);
  hash = with(hash, static_cast<std::uint64_t>(revision));
  return with(hash, static_cast<std::uint64_t>(fence));
}

JitterRange jitter_range(Duration delay, const Delays& delays) {
  switch (delays.jitter) {
    case Delays::Jitter::none:
      break;
    case Delays::Jitter::full:
      return {Duration{0}, delay};
    case Delays::Jitter::equal:
      return {delay - delay / 2, delay};
    case Delays::Jitter::percent: {
      const Duration spread = percent_of(delay, delays.jitter_percent);
      return {delay - spread, std::min(delay + spread, kDurationMax)};
    }
  }
  return {delay, delay};
}

Duration jittered(Duration delay, const Delays& delays, std::uint64_t draw) {
  const JitterRange range = jitter_range(delay, delays);
  const auto choices = static_cast<std::uint64_t>((range.most - range.least).count()) + 1;
  const auto chosen = static_cast<std::uint64_t>(Natural{draw} * choices >> 64);
  return range.least + Duration{static_cast<std::int64_t>(chosen)};
}

}  // namespace pawl
