#include "pipe/partition.h"

#include <algorithm>
#include <exception>

#include "base/json_text.h"
#include "base/prefetch.h"
#include "base/text.h"
#include "pawl/assert.h"
#include "pipe/action_line.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

constexpr std::size_t kTakenAtOnce = 500;
// Batches that are finished behind one that is not: so many are read again after a crash.
constexpr std::size_t kAheadMax = 16;
// Failures of a request in a row, after which it may be one of the documents.
constexpr int kServerErrorsMax = 5;
// States that a lane goes through in one step: a file may send it round and round.
constexpr int kHopsMax = 32;
// Resets at the same offset, after which it may be one of the messages.
constexpr int kResetsMax = 3;

// An action line with the usual names, and what the parser wants behind the last document.
constexpr std::size_t kLineBytes = 160;

// Messages that are fetched into the cache while one is transformed, and how much of them.
constexpr std::size_t kValuesAhead = 2;
constexpr std::size_t kPrefetchMost = 4U << 10U;

std::string count_of(std::size_t n) { return std::to_string(n); }

}  // namespace

Partition::Partition(kafka::PartitionId id, int epoch, const PartitionOptions& options,
                     std::shared_ptr<const PipeMachine> machine, PartitionHost& host, Instant now)
    : id_(std::move(id)),
      epoch_(epoch),
      options_(options),
      machine_(std::move(machine)),
      host_(host),
      bytes_max_(options.batch.bytes) {
  begin_lanes(now);
}

// The first lane finds out where to begin; the others follow once it is known.
void Partition::begin_lanes(Instant now) {
  std::string data = R"({"topic":)";
  append_json_string(data, id_.topic);
  data += R"(,"partition":)" + std::to_string(id_.partition) + R"(,"start":")" +
          (options_.start == KafkaConfig::Start::earliest ? "earliest" : "latest") + "\"}";
  lanes_.clear();
  for (int lane = 0; lane < options_.batch.in_flight; ++lane) {
    const std::string key = to_text(id_) + (lane == 0 ? "" : "/" + std::to_string(lane));
    lanes_.push_back({.lane = Lane(machine_, key, data, now), .batch = nullptr});
  }
  for (std::size_t lane = 1; lane < lanes_.size(); ++lane)
    if (lanes_[lane].lane.start(now)) lanes_[lane].lane.done("{}", now);
}

void Partition::fail(Place& place, std::string_view code, std::string message,
                     std::optional<Duration> retry_after, Instant now) {
  place.lane.fail(code, std::move(message), retry_after, now);
  host_.failed(*this, place.lane.record());
}

void Partition::fail_now(Place& place, std::string_view code, std::string message, Instant now) {
  if (place.lane.start(now)) fail(place, code, std::move(message), std::nullopt, now);
}

// --- Where to begin ---

bool Partition::ask_where(Place& place, bool is_reset, Instant now) {
  if (locating_) return false;
  if (!place.lane.start(now)) return true;
  locating_ = static_cast<std::size_t>(&place - lanes_.data());
  host_.locate(*this, is_reset, lost_offset_);
  return false;
}

void Partition::located(std::int64_t offset, std::unique_ptr<MessageSource> source,
                        std::optional<OffsetGap> gap, Instant now) {
  if (!locating_) return;
  Place& place = lanes_[*locating_];
  locating_.reset();
  source_ = std::move(source);
  is_begun_ = true;
  fault_.reset();
  lost_lane_.reset();
  lost_offset_ = -1;
  next_ = offset;
  // What is lost is done with when it is noted, not before.
  if (ranges_.empty()) watermark_ = gap ? gap->first : offset;
  if (gap) gaps_to_note_.push_back(*std::move(gap));
  place.lane.done("{}", now);
}

void Partition::not_located(std::string_view code, std::string message, Instant now) {
  if (!locating_) return;
  Place& place = lanes_[*locating_];
  locating_.reset();
  fail(place, code, std::move(message), std::nullopt, now);
}

void Partition::kafka_fault(std::string_view code, std::string message, Instant now) {
  const bool is_back = code.empty() && !kafka_code_.empty();
  kafka_code_ = code;
  kafka_message_ = std::move(message);
  if (!is_back) return;
  for (Place& place : lanes_)
    if (place.lane.is_in("retrying") && (!place.batch || !place.batch->is_closed))
      place.lane.retry_now("Kafka is back", Actor{.name = "pipe", .roles = {"operator"}}, now);
}

// --- What can be done now ---

void Partition::step(Instant now) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) step_lane(lane, now);
}

void Partition::step_lane(std::size_t index, Instant now) {
  for (int hop = 0; hop < kHopsMax; ++hop) {
    Place& place = lanes_[index];
    if (!place.lane.is_ready(now)) return;
    const std::string_view state = place.lane.state();
    bool goes_on = false;
    if (state == "assign") {
      if (is_begun_) {
        reset(index, now);
        index = 0;
      }
      goes_on = ask_where(lanes_[index], false, now);
    } else if (state == "reset_offset") {
      goes_on = ask_where(place, true, now);
    } else if (state == "extract") {
      goes_on = extract(index, now);
    } else if (state == "transform") {
      goes_on = transform(place, now);
    } else if (state == "load") {
      goes_on = load(index, now);
    } else if (state == "send_errors") {
      goes_on = send_errors(place, now);
    }
    if (!goes_on) return;
  }
}

std::optional<Instant> Partition::next_at() const {
  std::optional<Instant> next;
  const auto offer = [&](std::optional<Instant> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  for (const Place& place : lanes_)
    if (place.lane.is_in("retrying")) offer(place.lane.next_at());
  if (extracting_) offer(lanes_[*extracting_].batch->since + options_.batch.linger);
  return next;
}

// --- Extract ---

bool Partition::extract(std::size_t index, Instant now) {
  Place& place = lanes_[index];
  if (place.batch && place.batch->is_closed) {
    if (place.batch->on_its_way() == 0) {
      finish(place);
    } else {  // the machine sent it back: what is left, or once more from its messages
      if (place.batch->plan.empty()) {
        outcomes_ -= place.batch->outcomes;
        place.batch->begin_again();
      }
      return place.lane.start(now) && (place.lane.done("{}", now), true);
    }
  }
  if (extracting_ && *extracting_ != index) return false;
  if (is_draining_) {
    if (!extracting_) return retire(place, now);
    return close_batch(place, now);
  }
  if (is_paused_ && extracting_) return close_batch(place, now);  // what was taken goes on
  if (source_ == nullptr || is_paused_ || is_parked_ || ranges_.size() >= kAheadMax) return false;
  if (next_ <= isolate_until_ && !ranges_.empty()) return false;  // one after the other
  if (lost_lane_) {  // until it is known where to go on
    if (*lost_lane_ != index) return false;
    fail_now(place, pipe_code::kOffsetNotAvailable, lost_reason_, now);
    return true;
  }
  if (!kafka_code_.empty() && !extracting_) {
    fail_now(place, kafka_code_, kafka_message_, now);
    return true;
  }
  if (!place.batch) place.batch = new_batch();
  MessageBatch& batch = *place.batch;
  take(batch, index, now);
  const bool has_any = !batch.messages.empty() || !batch.failed.empty();
  if (fault_ && !has_any) {
    const SourceFault fault = *std::exchange(fault_, std::nullopt);
    extracting_.reset();
    const bool is_of_message =
        fault.code == pipe_code::kMessageTooBig || fault.code == pipe_code::kInvalidFormat;
    if (is_of_message || fault.code == pipe_code::kOffsetNotAvailable)
      read_again_from(is_of_message ? next_ : fault.offset, index, fault.message);
    fail_now(place, fault.code, fault.message, now);
    return true;
  }
  if (!has_any) {
    // Behind the last message there may be offsets without one: of transactions, or compacted.
    if (ranges_.empty() && source_->end() > next_) next_ = watermark_ = source_->end();
    return lost_lane_.has_value();
  }
  extracting_ = index;
  const int messages_max = next_ <= isolate_until_ ? 1 : options_.batch.messages;
  const bool is_full = batch.messages.size() >= static_cast<std::size_t>(messages_max) ||
                       batch.bytes >= bytes_max_ || fault_ || lost_lane_ || !batch.failed.empty();
  if (!is_full && now < batch.since + options_.batch.linger) return false;
  return close_batch(place, now);
}

// What is there now, until the batch is full. Messages before `next_` were read before.
void Partition::take(MessageBatch& batch, std::size_t index, Instant now) {
  for (OffsetGap& gap : gaps_to_note_) {
    gaps_ += static_cast<std::uint64_t>(gap.last - gap.first + 1);
    batch.failed.push_back({.first_offset = gap.first,
                            .last_offset = gap.last,
                            .code = std::string(pipe_code::kOffsetNotAvailable),
                            .reason = std::move(gap.reason),
                            .state = "reset_offset"});
  }
  gaps_to_note_.clear();
  const std::size_t most =
      next_ <= isolate_until_ ? 1 : static_cast<std::size_t>(options_.batch.messages);
  while (!fault_ && batch.messages.size() < most && batch.bytes < bytes_max_) {
    const std::size_t before = batch.messages.size();
    const std::size_t room = (bytes_max_ - batch.bytes) / std::max<std::size_t>(1, usual_bytes_);
    fault_ = source_->take(std::clamp<std::size_t>(room, 1, std::min(kTakenAtOnce, most - before)),
                           batch.messages);
    const std::size_t taken = batch.messages.size() - before;
    std::size_t kept = before;
    for (std::size_t i = before; i < batch.messages.size(); ++i) {
      TakenMessage& message = batch.messages[i];
      if (message.offset < next_) continue;
      next_ = message.offset + 1;
      const std::size_t bytes = message.value.value_or("").size() + message.key.value_or("").size();
      batch.bytes += bytes;
      usual_bytes_ = (usual_bytes_ * 15 + bytes) / 16;
      if (kept != i) batch.messages[kept] = std::move(message);
      ++kept;
    }
    batch.messages.resize(kept);
    consumed_ += kept - before;
    if (before == 0 && kept > 0) batch.since = now;
    if (taken == 0) break;
  }
  if (fault_ &&
      (fault_->code == pipe_code::kMessageTooBig || fault_->code == pipe_code::kInvalidFormat)) {
    const auto action = machine_->item_action("extract", fault_->code);
    // It may have been the broker for once: a message is asked for twice.
    const bool is_asked_again =
        std::exchange(doubted_, std::max(fault_->offset, next_)) == std::max(fault_->offset, next_);
    if (action == PipeMachine::ItemAction::again) return;
    if (is_asked_again) {
      pass_over(batch, index, *std::exchange(fault_, std::nullopt), action);
    } else {
      read_again_from(next_, index, std::exchange(fault_, std::nullopt)->message);
    }
  }
}

// The client may have gone past it, or ask for the same one again and again.
void Partition::read_again_from(std::int64_t offset, std::size_t index, std::string reason) {
  lost_lane_ = index;
  lost_offset_ = offset;
  lost_reason_ = std::move(reason);
}

// A message that the client could not hand over: noted, unless the file drops it, and on with the
// next.
void Partition::pass_over(MessageBatch& batch, std::size_t index, const SourceFault& fault,
                          PipeMachine::ItemAction action) {
  const std::int64_t offset = std::max(fault.offset, next_);
  next_ = offset + 1;
  ++gaps_;
  if (action == PipeMachine::ItemAction::errors)
    batch.failed.push_back({.first_offset = offset,
                            .last_offset = offset,
                            .code = std::string(fault.code),
                            .reason = fault.message,
                            .state = "extract"});
  read_again_from(
      next_, index,
      "offset " + std::to_string(offset) + " could not be read and was left out: " + fault.message);
}

bool Partition::close_batch(Place& place, Instant now) {
  extracting_.reset();
  MessageBatch& batch = *place.batch;
  batch.is_closed = true;
  batch.end = next_;
  ranges_.push_back({.batch = batch.id, .end = batch.end});
  if (!place.lane.start(now)) return true;
  place.lane.done(R"({"messages":)" + count_of(batch.messages.size()) + "}", now);
  return true;
}

// --- Transform ---

bool Partition::transform(Place& place, Instant now) {
  MessageBatch& batch = *place.batch;
  if (!batch.plan.empty()) {  // it was, and some of it is loaded
    if (place.lane.start(now)) place.lane.done(R"({"errors":0})", now);
    return true;
  }
  outcomes_ -= batch.outcomes;
  batch.begin_again();
  if (!place.lane.start(now)) return true;
  batch.body.text.reserve(batch.bytes + batch.messages.size() * kLineBytes);  // in one piece
  try {
    for (std::uint32_t i = 0; i < batch.messages.size(); ++i) {
      const TakenMessage& message = batch.messages[i];
      if (i + kValuesAhead < batch.messages.size()) {
        const std::string_view soon = batch.messages[i + kValuesAhead].value.value_or("");
        prefetch(soon.data(), std::min(soon.size(), kPrefetchMost));
      }
      if (message.offset == culprit_) {
        fail_message(place, i, pipe_code::kUncategorised, reset_reason_, nullptr, true);
        continue;
      }
      const Transform::Outcome outcome = host_.transform({.topic = id_.topic,
                                                          .partition = id_.partition,
                                                          .offset = message.offset,
                                                          .timestamp_ms = message.timestamp_ms,
                                                          .key = message.key,
                                                          .value = message.value},
                                                         i, batch.body);
      if (outcome.kind == Transform::Outcome::Kind::appended) continue;
      auto action = PipeMachine::ItemAction::drop;
      if (outcome.kind == Transform::Outcome::Kind::failed)
        action = machine_->item_action("transform", outcome.code);
      if (action == PipeMachine::ItemAction::again) {
        batch.begin_again();
        fail(place, outcome.code, outcome.reason, std::nullopt, now);
        return true;
      }
      if (action == PipeMachine::ItemAction::drop) {
        ++batch.outcomes.skipped;
      } else {
        fail_message(place, i, outcome.code, outcome.reason, nullptr, false);
      }
    }
  } catch (const std::exception& thrown) {
    batch.begin_again();
    fail(place, pipe_code::kUncategorised, thrown.what(), std::nullopt, now);
    return true;
  }
  outcomes_ += batch.outcomes;
  batch.plan = LoadPlan(static_cast<std::uint32_t>(batch.body.items.size()));
  place.lane.done(R"({"errors":)" + count_of(batch.failed.size()) + "}", now);
  return true;
}

void Partition::fail_message(Place& place, std::uint32_t message, std::string_view code,
                             std::string reason, const ItemAnswer* answer, bool retryable) {
  const std::int64_t offset = place.batch->messages[message].offset;
  place.batch->failed.push_back({.message = message,
                                 .first_offset = offset,
                                 .last_offset = offset,
                                 .code = std::string(code),
                                 .reason = std::move(reason),
                                 .state = std::string(place.lane.state()),
                                 .es_status = answer != nullptr ? answer->status : 0,
                                 .es_type = std::string(answer != nullptr ? answer->type : ""),
                                 .attempts = std::max(1, place.lane.record().attempt),
                                 .retryable = retryable});
}

// --- Load ---

bool Partition::load(std::size_t index, Instant now) {
  Place& place = lanes_[index];
  if (place.batch->plan.empty()) {
    place.is_offered = false;
    if (place.lane.start(now))
      place.lane.done(R"({"errors":)" + count_of(place.batch->failed.size()) + "}", now);
    return true;
  }
  if (!place.is_offered) {
    place.is_offered = true;
    host_.ready_to_load({this, index});
  }
  return false;
}

std::string_view Partition::load_text(std::size_t lane) {
  MessageBatch& batch = *lanes_[lane].batch;
  const auto group = batch.plan.next();
  if (group.size() == batch.body.items.size()) return batch.body.text;
  batch.part.clear();
  for (const std::uint32_t item : group) batch.part += batch.body.lines(batch.body.items[item]);
  return batch.part;
}

bool Partition::load_begins(std::size_t lane, Instant now) {
  Place& place = lanes_[lane];
  place.is_offered = false;
  if (!place.lane.is_in("load")) return false;
  return place.lane.is_running() || place.lane.start(now);
}

void Partition::item_answered(std::size_t lane, std::size_t item, const ItemAnswer& answer) {
  Place& place = lanes_[lane];
  MessageBatch& batch = *place.batch;
  const std::uint32_t index = batch.plan.next()[item];
  switch (answer.kind) {
    case ItemAnswer::Kind::indexed:
      ++batch.outcomes.indexed;
      ++outcomes_.indexed;
      place.finished.push_back(index);
      return;
    case ItemAnswer::Kind::duplicate:
      ++batch.outcomes.duplicate;
      ++outcomes_.duplicate;
      place.finished.push_back(index);
      return;
    case ItemAnswer::Kind::busy:
    case ItemAnswer::Kind::blocked:
    case ItemAnswer::Kind::refused:
      break;
  }
  const std::string_view code = answer.kind == ItemAnswer::Kind::busy ? pipe_code::kBulkItemBusy
                                : answer.kind == ItemAnswer::Kind::blocked
                                    ? pipe_code::kBulkItemBlocked
                                    : pipe_code::kBulkItem;
  std::string reason = std::to_string(answer.status) + " " + std::string(answer.type);
  if (!answer.reason.empty()) reason += ": " + std::string(answer.reason);
  if (answer_item_failure(place, index, code, reason, answer)) {
    place.finished.push_back(index);
    return;
  }
  place.again.push_back(index);
  // What is shown is what somebody has to look at.
  if (place.again_code.empty() || code == pipe_code::kBulkItemBlocked) {
    place.again_code = code;
    place.again_message = reason;
  }
  if (code == pipe_code::kBulkItemBlocked) {
    batch.blocked[index] = {answer.status, std::string(answer.type), reason};
  } else {
    batch.blocked.erase(index);
  }
}

// True: nothing more is to be loaded of it.
bool Partition::answer_item_failure(Place& place, std::uint32_t item, std::string_view code,
                                    const std::string& reason, const ItemAnswer& answer) {
  MessageBatch& batch = *place.batch;
  switch (machine_->item_action("load", code)) {
    case PipeMachine::ItemAction::again:
      return false;
    case PipeMachine::ItemAction::drop:
      ++batch.outcomes.skipped;
      ++outcomes_.skipped;
      return true;
    case PipeMachine::ItemAction::errors:
      break;
  }
  fail_message(place, batch.body.items[item].message, code, reason, &answer, false);
  return true;
}

void Partition::load_answered(std::size_t lane, Instant now) {
  Place& place = lanes_[lane];
  MessageBatch& batch = *place.batch;
  retried_ += place.again.size();
  batch.plan.finished(place.finished);
  batch.plan.again(place.again);
  const std::size_t again = place.again.size();
  place.finished.clear();
  place.again.clear();
  if (again > 0) {
    const std::string code = std::exchange(place.again_code, {});
    fail(place, code,
         count_of(again) + " of " + count_of(batch.body.items.size()) +
             " items will be retried: " + std::exchange(place.again_message, {}),
         std::nullopt, now);
    return;
  }
  go_on_loading(lane, now);
}

// The next group, or the end of it.
void Partition::go_on_loading(std::size_t index, Instant now) {
  Place& place = lanes_[index];
  if (place.batch->plan.empty()) {
    place.lane.done(R"({"errors":)" + count_of(place.batch->failed.size()) + "}", now);
    return;
  }
  place.is_offered = true;
  host_.ready_to_load({this, index});
}

// What is wrong with one document only must not keep the others: a request that is refused is sent
// in halves until the document is found. So is, after a while, one on which the search engine
// breaks; but a document is taken to be the cause of that only while others go through.
void Partition::load_failed(std::size_t lane, const BulkFailure& failure, bool was_mixed,
                            Instant now) {
  Place& place = lanes_[lane];
  LoadPlan& plan = place.batch->plan;
  const bool is_server_error = failure.code == pipe_code::kEs5xx;
  // A 400 that is not the search engine's: what stands in between may refuse one document, or all.
  const bool is_doubtful = is_server_error || failure.status == 400;
  const bool suspects_document =
      failure.bisect || (is_doubtful && plan.failures() + 1 >= kServerErrorsMax);
  bool is_culprit = false;
  if (suspects_document && was_mixed) {
    place.batch->is_alone = true;
  } else if (suspects_document && plan.next().size() > 1) {
    plan.split();
  } else {
    is_culprit =
        failure.bisect || (suspects_document && (failure.status == 500 || failure.status == 400) &&
                           plan.first_mark() && host_.bulks_answered() > *plan.first_mark());
    if (is_culprit && answer_culprit(place, failure)) {
      go_on_loading(lane, now);
      return;
    }
    plan.put_off(host_.bulks_answered(), is_doubtful);
  }
  if (failure.bisect && !is_culprit) {
    go_on_loading(lane, now);
    return;
  }
  fail(place, failure.code, failure.message, failure.retry_after, now);
}

// A single document that fails the request it is in.
// False: the file says that it is to be tried again.
bool Partition::answer_culprit(Place& place, const BulkFailure& failure) {
  MessageBatch& batch = *place.batch;
  const std::uint32_t item = batch.plan.next().front();
  const ItemAnswer answer{.kind = ItemAnswer::Kind::refused, .status = failure.status};
  if (failure.code == pipe_code::kEs5xx) {
    fail_message(place, batch.body.items[item].message, failure.code, failure.message, &answer,
                 true);
  } else {
    const std::string_view code =
        failure.status == 413 ? pipe_code::kMessageTooBig : pipe_code::kBulkItem;
    if (!answer_item_failure(place, item, code, failure.message, answer)) return false;
  }
  batch.plan.drop(item);
  return true;
}

// --- Errors ---

bool Partition::send_errors(Place& place, Instant now) {
  MessageBatch& batch = *place.batch;
  if (!batch.plan.empty()) give_up(place);
  if (!place.lane.start(now)) return true;
  place.errors_out = 0;
  for (const FailedMessage& failed : batch.failed)
    if (failed.phase != FailedMessage::Phase::kept) ++place.errors_out;
  if (place.errors_out == 0) {
    place.lane.done("{}", now);
    return true;
  }
  place.again_code.clear();
  for (std::uint32_t i = 0; i < batch.failed.size(); ++i) {
    FailedMessage& failed = batch.failed[i];
    if (failed.phase != FailedMessage::Phase::waiting) continue;
    failed.phase = FailedMessage::Phase::sent;
    host_.send_error(batch.id, i, error_record(batch, failed, now));
  }
  return false;
}

// The machine gave up on what is left of a batch. Where single documents are why, the others are
// loaded after all.
void Partition::give_up(Place& place) {
  MessageBatch& batch = *place.batch;
  const auto& error = place.lane.record().error;
  const bool is_of_items = error && error->code == pipe_code::kBulkItemBlocked;
  for (const std::uint32_t item : batch.plan.left()) {
    const auto blocked = batch.blocked.find(item);
    const std::uint32_t message = batch.body.items[item].message;
    if (is_of_items && blocked == batch.blocked.end()) continue;
    if (is_of_items) {
      const ItemAnswer answer{.status = blocked->second.status, .type = blocked->second.type};
      fail_message(place, message, error->code, blocked->second.reason, &answer, true);
    } else {
      fail_message(place, message, error ? error->code : "", error ? error->message : "given up",
                   nullptr, true);
    }
    batch.plan.drop(item);
  }
}

void Partition::error_settled(std::uint64_t batch_id, std::uint32_t index, std::string_view code,
                              const std::string& message, Instant now) {
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const Place& place) {
    return place.batch && place.batch->id == batch_id;
  });
  if (found == lanes_.end() || index >= found->batch->failed.size()) return;
  MessageBatch& batch = *found->batch;
  FailedMessage& failed = batch.failed[index];
  if (failed.phase != FailedMessage::Phase::sent) return;
  if (code.empty()) {
    failed.phase = FailedMessage::Phase::kept;
    if (failed.message != FailedMessage::kNone) {
      ++(failed.skipped ? batch.outcomes.skipped : batch.outcomes.errors);
      ++(failed.skipped ? outcomes_.skipped : outcomes_.errors);
    }
  } else {
    failed.phase = FailedMessage::Phase::waiting;
    found->again_code = code;
    found->again_message = message;
  }
  if (--found->errors_out > 0 || !found->lane.is_running()) return;
  if (found->again_code.empty()) {
    found->lane.done("{}", now);
  } else {
    fail(*found, std::exchange(found->again_code, {}), "error topic: " + found->again_message,
         std::nullopt, now);
  }
}

bool Partition::waits_for_errors(std::uint64_t batch) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const Place& place) {
    return place.batch && place.batch->id == batch && place.errors_out > 0;
  });
}

ErrorRecord Partition::error_record(const MessageBatch& batch, const FailedMessage& failed,
                                    Instant now) const {
  ErrorRecord record{.pipe = options_.pipe,
                     .code = failed.code,
                     .reason = failed.reason,
                     .state = failed.state,
                     .topic = id_.topic,
                     .partition = id_.partition,
                     .offset = failed.first_offset,
                     .es_status = failed.es_status,
                     .es_type = failed.es_type,
                     .attempts = failed.attempts,
                     .retryable = failed.retryable,
                     .at = now};
  if (failed.message == FailedMessage::kNone) {
    record.last_offset = failed.last_offset;
    return record;
  }
  const TakenMessage& message = batch.messages[failed.message];
  record.timestamp_ms = message.timestamp_ms;
  record.original = message.owner ? kafka::copy_of(*message.owner) : KafkaMessage{};
  if (!message.owner) {
    if (message.key) record.original.key = std::string(*message.key);
    if (message.value) record.original.value = std::string(*message.value);
  }
  record.payload_bytes = static_cast<std::int64_t>(message.value.value_or("").size());
  const auto item = std::lower_bound(
      batch.body.items.begin(), batch.body.items.end(), failed.message,
      [](const BulkItem& one, std::uint32_t wanted) { return one.message < wanted; });
  if (item != batch.body.items.end() && item->message == failed.message) {
    const ActionLine action = read_action_line(batch.body.lines(*item));
    record.index = action.index;
    record.id = action.id;
  }
  return record;
}

// --- The end of a batch ---

void Partition::finish(Place& place) {
  MessageBatch& batch = *place.batch;
  PAWL_ASSERT(batch.outcomes.all() == batch.messages.size(),
              "a batch ends with messages that nothing became of");
  for (Range& range : ranges_)
    if (range.batch == batch.id) {
      range.is_finished = true;
      range.outcomes = batch.outcomes;
    }
  while (!ranges_.empty() && ranges_.front().is_finished) {
    watermark_ = ranges_.front().end;
    ranges_.pop_front();
  }
  if (watermark_ > isolate_until_) isolate_until_ = -1;
  if (watermark_ > culprit_) culprit_ = -1;
  if (watermark_ > doubted_) doubted_ = -1;
  batch.release();  // what was fetched is not kept for it
  spare_.push_back(std::exchange(place.batch, nullptr));
}

std::shared_ptr<MessageBatch> Partition::new_batch() {
  std::shared_ptr<MessageBatch> batch;
  // One that is still being sent for a partition as it was is not ours to write into.
  if (!spare_.empty() && spare_.back().use_count() == 1) batch = spare_.back();
  if (!spare_.empty()) spare_.pop_back();
  if (!batch) batch = std::make_shared<MessageBatch>();
  batch->clear();
  batch->id = host_.next_batch();
  return batch;
}

// Back to what is committed: everything on its way is forgotten, and read again. After several of
// them at one place messages go one by one, so that the one that is the cause is found.
void Partition::reset(std::size_t index, Instant now) {
  ++resets_;
  if (const auto& failed = lanes_[index].batch; failed && failed->is_closed) suspect(*failed);
  if (const auto& error = lanes_[index].lane.record().error) reset_reason_ = error->message;
  for (Place& place : lanes_)
    if (place.batch) forget(place.batch->outcomes, place.batch->messages.size());
  for (const Range& range : ranges_)
    if (range.is_finished) forget(range.outcomes, range.outcomes.all());
  Lane kept = std::move(lanes_[index].lane);
  ranges_.clear();
  gaps_to_note_.clear();
  extracting_.reset();
  locating_.reset();
  lost_lane_.reset();
  lost_offset_ = -1;  // further on than where it begins
  fault_.reset();
  source_.reset();
  is_begun_ = false;
  spare_.clear();
  ++epoch_;
  begin_lanes(now);
  lanes_[0].lane = std::move(kept);
}

// Only what fails when it goes alone is the cause: not what another lane had on its way, and not
// what comes next when Kafka fails.
void Partition::suspect(const MessageBatch& failed) {
  resets_there_ = watermark_ == reset_at_ ? resets_there_ + 1 : 1;
  reset_at_ = watermark_;
  if (resets_there_ >= kResetsMax) isolate_until_ = std::max(isolate_until_, next_);
  if (resets_there_ > kResetsMax && failed.messages.size() == 1)
    culprit_ = failed.messages.front().offset;
}

void Partition::begin_again(const std::string& reason, Instant now) {
  const auto on_its_way = std::find_if(lanes_.begin(), lanes_.end(), [](const Place& place) {
    return place.batch && place.batch->is_closed;
  });
  reset(on_its_way == lanes_.end() ? 0 : static_cast<std::size_t>(on_its_way - lanes_.begin()),
        now);
  lanes_.clear();
  begin_lanes(now);
  reset_reason_ = reason;
  fail_now(lanes_[0], pipe_code::kUncategorised, reason, now);
}

// As if they had never been read.
void Partition::forget(const Outcomes& outcomes, std::uint64_t messages) {
  outcomes_ -= outcomes;
  consumed_ -= messages;
}

// --- From outside ---

std::string Partition::resume(const Actor& actor, const std::string& reason, Instant now) {
  is_paused_ = false;
  std::string refused;
  for (Place& place : lanes_)
    if (place.lane.is_in("retrying") || place.lane.record().hold)
      if (std::string why = place.lane.retry_now(reason, actor, now); !why.empty())
        refused = "its machine refuses to continue: " + why;
  return refused;
}

std::string Partition::skip(std::int64_t offset, const Actor& actor, const std::string& reason,
                            Instant now) {
  for (Place& place : lanes_) {
    if (!place.batch || !place.batch->is_closed || place.lane.is_running()) continue;
    MessageBatch& batch = *place.batch;
    for (const std::uint32_t item : batch.plan.left()) {
      const std::uint32_t message = batch.body.items[item].message;
      if (batch.messages[message].offset != offset) continue;
      fail_message(place, message, pipe_code::kSkipped, "skipped by " + actor.name + ": " + reason,
                   nullptr, false);
      batch.failed.back().skipped = true;
      batch.plan.drop(item);
      // The rest of the batch goes on; where its machine does not let it, it waits as it did.
      static_cast<void>(place.lane.retry_now(reason, actor, now));
      return {};
    }
  }
  return "no message with offset " + std::to_string(offset) +
         " is waiting to be loaded; look at the partition again";
}

void Partition::drain(Instant now) {
  is_draining_ = true;
  locating_.reset();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    if (extracting_ != lane && (!lanes_[lane].batch || !lanes_[lane].batch->is_closed))
      retire(lanes_[lane], now);
  step(now);
}

// A lane without messages has come to its end; the last one to come there ends them all.
bool Partition::retire(Place& place, Instant now) {
  place.lane.fire("revoke", now);
  if (is_drained())
    for (Place& each : lanes_) each.lane.fire("drained", now);
  return false;
}

bool Partition::is_drained() const {
  return std::none_of(lanes_.begin(), lanes_.end(), [](const Place& place) {
    return place.batch && (place.batch->is_closed || !place.batch->messages.empty());
  });
}

std::int64_t Partition::park() {
  is_parked_ = true;
  return next_;
}

const Partition::Place* Partition::oldest() const {
  for (const Range& range : ranges_)
    for (const Place& place : lanes_)
      if (!range.is_finished && place.batch && place.batch->id == range.batch) return &place;
  if (extracting_) return &lanes_[*extracting_];
  // Nothing is on its way: whoever waits says why.
  for (const Place& place : lanes_)
    if (!place.lane.is_in("extract")) return &place;
  return &lanes_.front();
}

// A topic may be about to be made; who is not let in, or finds no index, needs somebody now.
bool PartitionView::is_alarming(Instant now) const {
  if (!hold.empty()) return true;
  if (!failing_since) return false;
  if (code == pipe_code::kEs4xx || code == pipe_code::kBulkItemBlocked) return true;
  constexpr std::chrono::minutes kPatience{1};
  return (code == pipe_code::kTopicNotFound || code == pipe_code::kPartitionNotFound) &&
         now - *failing_since >= kPatience;
}

PartitionView Partition::view() const {
  const Record& record = oldest()->lane.record();
  PartitionView view{.id = id_,
                     .epoch = epoch_,
                     .state = record.state,
                     .since = record.entered_at,
                     .attempt = record.attempt,
                     .failures = record.failures,
                     .is_paused = is_paused_,
                     .is_draining = is_draining_,
                     .watermark = watermark_,
                     .next = next_,
                     .consumed = consumed_,
                     .outcomes = outcomes_,
                     .retried = retried_,
                     .resets = resets_,
                     .gaps = gaps_};
  if (record.state == "retrying") {
    view.of = record.failed_from;
    view.next_at = record.next_at();
  }
  if (record.error && record.failures > 0) {
    view.failing_since = record.failing_since;
    view.code = record.error->code;
    view.error = record.error->message;
  }
  if (record.hold) view.hold = record.hold->text;
  for (const Place& place : lanes_) {
    if (!place.batch || place.batch->messages.empty()) continue;
    ++view.batches;
    view.on_its_way += place.batch->on_its_way();
    view.bytes += place.batch->bytes;
  }
  return view;
}

}  // namespace pawl
