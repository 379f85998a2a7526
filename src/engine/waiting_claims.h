// WaitingClaims: who asked for attempts and has none yet, in lines of those that name the same
// queues. Where the first of a line finds nothing, nobody behind it does, so that ten thousand idle
// workers cost a batch no more than one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pawl/result.h"
#include "pawl/task.h"
#include "pawl/time.h"

namespace pawl {

struct WaitingClaim {
  using Answered = std::function<void(Result<std::vector<GivenAttempt>>)>;
  struct Started {
    GivenAttempt attempt;
    std::size_t unit = 0;
  };

  ClaimRequest request;
  Answered answered;
  std::optional<Instant> until = {};  // set at its first batch
  std::vector<Started> started = {};  // in this batch
};

class WaitingClaims {
 public:
  using Number = std::uint64_t;  // the first who came has the lowest
  struct Line {
    std::set<Number> numbers = {};
    std::size_t wanted = 0;  // of each of its queues: a share of what is asked for
  };

  void add(ClaimRequest request, WaitingClaim::Answered answered);
  // Those that came since the last batch wait from now on.
  void begin(Instant now);
  void end_all_but(bool (*is_kept)(const std::string& queue), Instant now);
  WaitingClaim take(Number number);

  bool has(Number number) const { return claims_.contains(number); }
  WaitingClaim& operator[](Number number) { return claims_.at(number); }
  const std::map<Number, WaitingClaim>& all() const { return claims_; }
  const std::map<std::vector<std::string>, Line>& lines() const { return lines_; }  // by queues
  std::optional<Instant> next_end() const;
  std::vector<Number> ended(Instant now) const;  // have waited long enough

 private:
  void set_end(Number number, WaitingClaim& claim, Instant until);

  std::map<Number, WaitingClaim> claims_;
  std::map<std::vector<std::string>, Line> lines_;
  std::set<std::pair<Instant, Number>> ends_;
  std::vector<Number> new_;
  Number last_ = 0;
};

}  // namespace pawl
