#include "engine/token.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <utility>

#include "pawl/assert.h"

namespace pawl {

// Several at once: to ask the system costs more than what it gives.
RandomBits random_bits() {
  thread_local std::array<RandomBits, 16> given;
  thread_local std::size_t left = 0;
  if (left == 0) {
    const auto count = getrandom(given.data(), sizeof given, 0);
    PAWL_ASSERT(count == static_cast<ssize_t>(sizeof given), "so few bytes are given at once");
    left = given.size();
  }
  return std::exchange(given[--left], {});
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
  // To look it up by its name costs as much as the hash.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  TokenHash hash;
  static_assert(hash.size() == SHA256_DIGEST_LENGTH);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes for a C function
  auto* const bytes = reinterpret_cast<unsigned char*>(hash.data());
  const int done = EVP_Digest(token.data(), token.size(), bytes, nullptr, kSha256, nullptr);
  PAWL_ASSERT(done == 1, "OpenSSL knows SHA-256");
  return hash;
}

}  // namespace pawl
