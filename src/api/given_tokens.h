// GivenTokens: which attempt tokens were given for which records, the last of them. An attempt that
// is over leaves no trace of its token in the record; who shows one that is here has held it, and
// may be told what became of the attempt.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_set>

#include "pawl/query.h"
#include "pawl/record.h"

namespace pawl {

// From any thread.
class GivenTokens {
 public:
  // At least so many of the last ones are known, and at most twice as many.
  static constexpr std::size_t kKept = 25'000;

  void add(const RecordName& record, const TokenHash& token);
  bool has(const RecordName& record, const TokenHash& token) const;

 private:
  struct FirstBytes {  // they are those of a hash already
    std::size_t operator()(const TokenHash& hash) const;
  };
  using Hashes = std::unordered_set<TokenHash, FirstBytes>;

  mutable std::mutex mutex_;
  Hashes newer_;  // of token and record together
  Hashes older_;
};

}  // namespace pawl
