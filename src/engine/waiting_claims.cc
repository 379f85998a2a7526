#include "engine/waiting_claims.h"

#include <algorithm>

namespace pawl {
namespace {

std::size_t share_of(const ClaimRequest& request) {
  return 1 + (request.max - 1) / std::max<std::size_t>(1, request.queues.size());
}

}  // namespace

void WaitingClaims::add(ClaimRequest request, WaitingClaim::Answered answered) {
  const Number number = ++last_;
  Line& line = lines_[request.queues];
  line.numbers.insert(number);
  line.wanted += share_of(request);
  new_.push_back(number);
  claims_.emplace(number, WaitingClaim{std::move(request), std::move(answered)});
}

void WaitingClaims::begin(Instant now) {
  for (const Number number : std::exchange(new_, {}))
    if (const auto claim = claims_.find(number); claim != claims_.end() && !claim->second.until)
      set_end(number, claim->second, now + claim->second.request.wait);
}

void WaitingClaims::end_all_but(bool (*is_kept)(const std::string& queue), Instant now) {
  for (auto& [number, claim] : claims_)
    if (std::none_of(claim.request.queues.begin(), claim.request.queues.end(), is_kept))
      set_end(number, claim, now);
}

WaitingClaim WaitingClaims::take(Number number) {
  auto node = claims_.extract(number);
  WaitingClaim& claim = node.mapped();
  if (claim.until) ends_.erase({*claim.until, number});
  const auto line = lines_.find(claim.request.queues);
  line->second.numbers.erase(number);
  line->second.wanted -= share_of(claim.request);
  if (line->second.numbers.empty()) lines_.erase(line);
  return std::move(claim);
}

std::optional<Instant> WaitingClaims::next_end() const {
  if (ends_.empty()) return std::nullopt;
  return ends_.begin()->first;
}

std::vector<WaitingClaims::Number> WaitingClaims::ended(Instant now) const {
  std::vector<Number> numbers;
  for (const auto& [until, number] : ends_) {
    if (until > now) break;
    numbers.push_back(number);
  }
  return numbers;
}

void WaitingClaims::set_end(Number number, WaitingClaim& claim, Instant until) {
  if (claim.until) ends_.erase({*claim.until, number});
  claim.until = until;
  ends_.emplace(until, number);
}

}  // namespace pawl
