#include "pipe/lane.h"

#include <algorithm>
#include <cstring>

#include "pawl/assert.h"

namespace pawl {
namespace {

const Actor& pipe_actor() {
  static const Actor actor{.name = "pipe", .roles = {"operator"}};
  return actor;
}

}  // namespace

Lane::Lane(std::shared_ptr<const PipeMachine> machine, std::string key, std::string data,
           Instant now)
    : machine_(std::move(machine)), key_(std::move(key)) {
  give(Stimulus::Create{.id = {1}, .data = std::move(data)}, pipe_actor(), now);
}

bool Lane::is_ready(Instant now) {
  while (!is_running() && record_.wake_at && *record_.wake_at <= now) {
    give(Stimulus::Wake{}, pipe_actor(), now);
    if (!decision_.changed) break;
  }
  return !is_running() && !record_.hold && record_.ready_at && *record_.ready_at <= now;
}

bool Lane::start(Instant now) {
  ++starts_;
  return give(Stimulus::Start{.token_hash = token(), .worker = "pipe"}, pipe_actor(), now).kind ==
         Answer::Kind::ok;
}

// An attempt that took longer than the file allows is over all the same, and in this process: its
// outcome is what happened. So it is decided at its deadline at the latest.
void Lane::done(std::string result, Instant now) {
  PAWL_ASSERT(is_running(), "a lane is done with what it has not begun");
  now = std::min(now, record_.running->deadline_at);
  give(Stimulus::Done{.token_hash = token(), .result = std::move(result)}, pipe_actor(), now);
}

void Lane::fail(std::string_view code, std::string message, std::optional<Duration> retry_after,
                Instant now) {
  PAWL_ASSERT(is_running(), "a lane fails at what it has not begun");
  now = std::min(now, record_.running->deadline_at);
  give(Stimulus::Fail{.token_hash = token(),
                      .error = {.code = std::string(code),
                                .message = std::move(message),
                                .retry_after = retry_after}},
       pipe_actor(), now);
}

void Lane::fire(std::string_view event, Instant now) {
  give(Stimulus::Fire{.event = std::string(event)}, pipe_actor(), now);
}

std::string Lane::retry_now(std::string reason, const Actor& actor, Instant now) {
  const Answer& answer = give(Stimulus::Order{.verb = record_.hold ? Stimulus::Order::Verb::release
                                                                   : Stimulus::Order::Verb::retry,
                                              .reason = std::move(reason)},
                              actor, now);
  return answer.kind == Answer::Kind::ok ? "" : answer.reason;
}

const Answer& Lane::give(decltype(Stimulus::what) what, const Actor& actor, Instant now) {
  const Stimulus stimulus{
      .what = std::move(what), .machine = machine_->machine().name(), .key = key_, .actor = actor};
  decide(machine_->machine(), record_, stimulus, std::max(now, record_.changed_at), decision_);
  if (decision_.changed) std::swap(record_, decision_.record);
  return decision_.answer;
}

TokenHash Lane::token() const {
  TokenHash hash{};
  static_assert(sizeof starts_ <= sizeof hash);
  std::memcpy(hash.data(), &starts_, sizeof starts_);
  return hash;
}

}  // namespace pawl
