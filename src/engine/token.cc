#include "engine/token.h"

#include <openssl/sha.h>
#include <sys/random.h>

#include "pawl/assert.h"

namespace pawl {

RandomBits random_bits() {
  RandomBits bits;
  const auto count = getrandom(bits.data(), bits.size(), 0);
  PAWL_ASSERT(count == static_cast<ssize_t>(bits.size()), "the system gives so few bytes at once");
  return bits;
}

std::string token_text(const RandomBits& bits) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bits) {
    text += kDigits[std::to_integer<std::size_t>(byte) >> 4U];
    text += kDigits[std::to_integer<std::size_t>(byte) & 15U];
  }
  return text;
}

TokenHash hash_of_token(std::string_view token) {
  TokenHash hash;
  static_assert(hash.size() == SHA256_DIGEST_LENGTH);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes for a C function
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
         reinterpret_cast<unsigned char*>(hash.data()));  // NOLINT
  return hash;
}

}  // namespace pawl
