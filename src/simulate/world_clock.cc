// How time passes in a world: what is due happens at its own instant, the earliest first.
//
// One thing is not simply due when its instant has come: the deadline of an attempt. A result that
// comes at that very instant still counts, so the deadline is decided once the clock has passed it,
// but as of its own instant. A run that ends exactly there leaves it alone (`postponed_`), and what
// else is due at that instant happens.
#include <algorithm>
#include <utility>

#include "decide/consequences.h"
#include "simulate/world.h"

namespace pawl {
namespace {

// Attempts of the world's own never share a token with those of its callers, who count from 1.
TokenHash own_token(std::uint64_t number) {
  TokenHash token;
  token.fill(std::byte{0xff});
  for (std::size_t i = 0; i < sizeof number; ++i)
    token[i] = static_cast<std::byte>(number >> (8 * i));
  return token;
}

Stimulus to_record(const Record& record, decltype(Stimulus::what) what) {
  return {.what = std::move(what), .machine = record.machine, .key = record.key, .actor = engine()};
}

Error nothing_due(const Record& record, Instant now) {
  return {ErrorCode::bad_input, "the record " + record.machine + "/" + record.key + " woke at " +
                                    to_text(now) + ", but nothing was due: this is a bug in Pawl"};
}

bool is_deadline_now(const Record& record, Instant now) {
  return record.running && record.running->deadline_at == now;
}

}  // namespace

std::optional<Instant> World::next_due() const {
  if (shelf_.due().empty()) return std::nullopt;
  return std::max(now_, shelf_.due().begin()->at);
}

Result<void> World::run_until(Instant until) {
  if (until < now_)
    return Error{ErrorCode::bad_input, "it is already " + to_text(now_) +
                                           ", and time does not go back to " + to_text(until)};
  decisions_ = 0;
  postponed_.clear();
  PAWL_CHECK(settle());
  while (const auto due = first_due(until)) {
    now_ = std::max(now_, due->at);
    PAWL_CHECK(act(due->id, until));
    PAWL_CHECK(settle());
  }
  now_ = until;
  return {};
}

std::optional<Shelf::Due> World::first_due(Instant until) const {
  for (const Shelf::Due& due : shelf_.due()) {
    if (due.at > until) break;
    if (!postponed_.contains(due.id)) return due;
  }
  return std::nullopt;
}

Result<void> World::act(RecordId id, Instant until) {
  const Record& record = shelf_.find(id)->record;
  if (record.machine == kSendMachine && record.ready_at && *record.ready_at <= now_)
    return carry_out(id);
  return wake(record, until);
}

Result<void> World::wake(const Record& record, Instant until) {
  const bool passed = now_ < until;
  const std::int64_t writes = record.writes;
  const std::optional<Instant> wake_at = record.wake_at;
  Stimulus stimulus = to_record(record, Stimulus::Wake{.passed = passed});
  PAWL_CHECK(decide_one(stimulus, Origin::outside));
  if (record.writes != writes || record.wake_at != wake_at) return {};
  if (passed || !is_deadline_now(record, now_)) return nothing_due(record, now_);
  postponed_.insert(record.id);
  return {};
}

// Does for a `send` what a worker does for a task.
Result<void> World::carry_out(RecordId send) {
  const Record& record = shelf_.find(send)->record;
  const TokenHash token = own_token(++tokens_);
  Stimulus start = to_record(record, Stimulus::Start{.token_hash = token, .worker = "engine"});
  PAWL_TRY(const Answer started, decide_one(start, Origin::outside));
  if (started.kind != Answer::Kind::ok || !record.running) return {};
  PAWL_TRY(Stimulus end, settled(delayed_message_of(record), record, token));
  PAWL_CHECK(decide_one(end, Origin::outside));
  return {};
}

// Delivers the message; gives what is to be said about it. A message that must be accepted and
// meets a hold is tried again later, since what waits in an inbox may still be refused.
Result<Stimulus> World::settled(const DelayedMessage& message, const Record& send,
                                TokenHash token) {
  const std::string name = message.machine + "/" + message.key;
  const auto not_accepted = [&](std::string why) {
    return to_record(send, Stimulus::Fail{.token_hash = token,
                                          .error = {.code = "refused", .message = std::move(why)}});
  };
  const Stimulus done = to_record(send, Stimulus::Done{.token_hash = token});
  KeptRecord* receiver = shelf_.find(message.machine, message.key);
  if (receiver == nullptr) {
    const std::string why = "there is no record " + name;
    note(why + ": the message is not delivered");
    return message.must ? not_accepted(why) : done;
  }
  Stimulus sent = to_record(receiver->record, message.sent);
  sent.idempotency_key = send.key;
  PAWL_TRY(const Answer answer, decide_one(sent, Origin::message));
  if (message.must &&
      (answer.waits || (answer.kind != Answer::Kind::ok && answer.kind != Answer::Kind::duplicate)))
    return not_accepted(answer.reason.empty() ? name + " is on hold" : answer.reason);
  if (answer.waits) receiver->inbox.push_back(std::move(sent));
  return done;
}

}  // namespace pawl
