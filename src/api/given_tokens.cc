#include "api/given_tokens.h"

#include <cstring>
#include <string>
#include <utility>

#include "pawl/task.h"

namespace pawl {
namespace {

// Names have no zero bytes.
TokenHash hash_of(const RecordName& record, const TokenHash& token) {
  std::string text(reinterpret_cast<const char*>(token.data()), token.size());
  text += record.machine;
  text += '\0';
  text += record.key;
  return hash_of_token(text);
}

}  // namespace

std::size_t GivenTokens::FirstBytes::operator()(const TokenHash& hash) const {
  std::size_t first = 0;
  std::memcpy(&first, hash.data(), sizeof first);
  return first;
}

void GivenTokens::add(const RecordName& record, const TokenHash& token) {
  const TokenHash hash = hash_of(record, token);
  const std::lock_guard lock(mutex_);
  if (newer_.size() >= kKept) older_ = std::exchange(newer_, {});
  newer_.insert(hash);
}

bool GivenTokens::has(const RecordName& record, const TokenHash& token) const {
  const TokenHash hash = hash_of(record, token);
  const std::lock_guard lock(mutex_);
  return newer_.count(hash) > 0 || older_.count(hash) > 0;
}

}  // namespace pawl
