#include "engine/token.h"

#include <openssl/evp.h>
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
