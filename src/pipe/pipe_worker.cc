#include "pipe/pipe_worker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <future>
#include <utility>

#include "pawl/assert.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;

// Batches smaller than that go with others; a request is about that large then.
constexpr std::size_t kSmall = 256U << 10U;
// How long at most until everything is looked at again, whatever happened.
constexpr milliseconds kAtMost{250};
constexpr milliseconds kPublishEvery{100};

// A ticket says which worker, which batch and which of its failed messages.
constexpr unsigned kFailedBits = 20;
constexpr unsigned kBatchBits = 38;

}  // namespace

void RequestTimes::add(double seconds) {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
  sum += seconds;
}

PipeWorker::PipeWorker(const PipeParts& parts, std::uint64_t number, Locate locate, Failed failed,
                       Broken broken)
    : parts_(parts),
      number_(number),
      locate_(std::move(locate)),
      failed_(std::move(failed)),
      broken_(std::move(broken)),
      client_(*parts.search),
      event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  PAWL_ASSERT(event_ >= 0, "the machine gives no event descriptor");
  thread_ = std::thread([this] { run(); });
}

PipeWorker::~PipeWorker() {
  join();
  close(event_);
}

void PipeWorker::join() {
  if (!thread_.joinable()) return;
  is_stopping_ = true;
  client_.wake();
  thread_.join();
}

Instant PipeWorker::clock_now() {
  using std::chrono::steady_clock;
  using std::chrono::system_clock;
  static const auto began = std::pair(system_clock::now(), steady_clock::now());
  return std::chrono::floor<Duration>(began.first + (steady_clock::now() - began.second));
}

void PipeWorker::post(std::function<void(PipeWorker&)> what) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(what));
  }
  client_.wake();
}

void PipeWorker::call(const std::function<void(PipeWorker&)>& what) {
  std::promise<void> done;
  post([&](PipeWorker& worker) {
    try {
      what(worker);
    } catch (...) {  // for who waits
      done.set_exception(std::current_exception());
      return;
    }
    done.set_value();
  });
  done.get_future().get();
}

void PipeWorker::wake() { client_.wake(); }

// --- The thread ---

void PipeWorker::run() {
  while (!is_stopping_) {
    try {
      run_posted();
      step();
      client_.poll(until_next(), event_, [this](BulkReply& reply) { replied(reply); });
    } catch (const std::exception& thrown) {
      broken_(thrown.what());
    }
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t got = read(event_, &times, sizeof times);
  }
  run_posted();  // whoever waits in `call` gets an answer
  ready_.clear();
  bulks_.clear();
  partitions_.clear();
}

void PipeWorker::run_posted() {
  std::vector<std::function<void(PipeWorker&)>> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (const auto& what : posted) {
    try {
      what(*this);
    } catch (const std::exception& thrown) {
      broken_(thrown.what());
    }
  }
}

void PipeWorker::step() {
  step_at_ = clock_now();
  for (const auto& [id, partition] : partitions_)
    guarded(*partition, [&, &one = *partition] { one.step(clock_now()); });
  send_bulks();
  if (clock_now() - published_at_ >= kPublishEvery) publish();
}

// What fails without a name (memory that is not there) concerns one partition, and not the process.
template <class What>
void PipeWorker::guarded(Partition& partition, What what) {
  try {
    what();
  } catch (const std::exception& thrown) {
    partition.begin_again(thrown.what(), clock_now());
  }
}

milliseconds PipeWorker::until_next() const {
  milliseconds wait = kAtMost;
  const Instant now = clock_now();
  for (const auto& [id, partition] : partitions_)
    if (const auto next = partition->next_at())
      wait = std::min(wait, std::chrono::ceil<milliseconds>(std::max(*next - now, Duration{0})));
  return wait;
}

void PipeWorker::publish() {
  published_at_ = clock_now();
  std::vector<PartitionView> views;
  views.reserve(partitions_.size());
  for (const auto& [id, partition] : partitions_) {
    PartitionView& view = views.emplace_back(partition->view());
    Outcomes& counted = counted_[id];
    counted.raise_to(view.outcomes);
    view.counted = counted;
  }
  const std::lock_guard lock(mutex_);
  views_.swap(views);
}

// --- Partitions ---

void PipeWorker::add(kafka::PartitionId id, int epoch, std::size_t batch_bytes, bool is_paused) {
  const PartitionOptions options{
      .pipe = parts_.config.name, .batch = parts_.config.batch, .start = parts_.config.kafka.start};
  PartitionHost& host = *this;
  auto partition =
      std::make_unique<Partition>(id, epoch, options, parts_.machine, host, clock_now());
  partition->set_batch_bytes(batch_bytes);
  partition->pause(is_paused);
  counted_.erase(id);
  partitions_.insert_or_assign(std::move(id), std::move(partition));
  published_at_ = {};
}

Partition* PipeWorker::find(const kafka::PartitionId& id) {
  const auto found = partitions_.find(id);
  return found == partitions_.end() ? nullptr : found->second.get();
}

void PipeWorker::remove(const kafka::PartitionId& id) {
  const auto found = partitions_.find(id);
  if (found == partitions_.end()) return;
  std::erase_if(ready_, [&](const LaneRef& ref) { return ref.partition == found->second.get(); });
  std::erase_if(batches_, [&](const auto& waiting) { return waiting.second == id; });
  // What is being sent is in the body; Kafka's client waits for its messages when it ends.
  for (auto& [number, bulk] : bulks_)
    for (Part& part : bulk.parts)
      if (part.id == id) part.batch->messages.clear();
  partitions_.erase(found);
  counted_.erase(id);
  published_at_ = {};
}

void PipeWorker::with(const kafka::PartitionId& id, const std::function<void(Partition&)>& what) {
  if (Partition* partition = find(id)) guarded(*partition, [&] { what(*partition); });
}

void PipeWorker::each(const std::function<void(Partition&)>& what) {
  for (const auto& [id, partition] : partitions_)
    guarded(*partition, [&, &one = *partition] { what(one); });
}

Transform::Outcome PipeWorker::transform(const SourceMessage& source, std::uint32_t message,
                                         BulkBody& body) {
  return parts_.transform->append(source, message, step_at_, workbench_, body);
}

void PipeWorker::locate(Partition& partition, bool is_reset, std::int64_t lost) {
  locate_(partition, is_reset, lost);
}

void PipeWorker::failed(const Partition& partition, const Record& record) {
  failed_(partition.id(), record);
}

std::uint64_t PipeWorker::bulks_answered() const { return parts_.search->answered(); }

// --- Loading ---

void PipeWorker::send_bulks() {
  while (!ready_.empty()) {
    const LaneRef first = ready_.front();
    if (!first.partition->wants_load(first.lane)) {
      ready_.pop_front();
      continue;
    }
    if (!client_.take_place()) return;  // woken when there is one
    ready_.pop_front();
    Bulk bulk;
    add_part(bulk, first);
    // Small batches of other partitions go along.
    std::size_t bytes = bulk.text.size();
    while (!bulk.parts.empty() && !bulk.parts.front().batch->is_alone && bytes > 0 &&
           bytes < kSmall && !ready_.empty()) {
      const LaneRef more = ready_.front();
      if (!more.partition->wants_load(more.lane)) {
        ready_.pop_front();
        continue;
      }
      if (more.partition->batch(more.lane)->is_alone) break;
      if (more.partition->load_text(more.lane).size() >= kSmall) break;
      ready_.pop_front();
      add_part(bulk, more);
      bytes = bulk.text.size();
    }
    if (bulk.parts.empty()) {
      client_.give_back_place(BulkWindow::Answer::neither);
      continue;
    }
    const std::uint64_t id = ++last_bulk_;
    Bulk& kept = bulks_[id] = std::move(bulk);
    const std::string_view text =
        kept.text.empty() ? first.partition->load_text(first.lane) : std::string_view(kept.text);
    client_.send(id, text);
  }
}

// A small one is copied, so that others can follow; a large one is sent from where it is.
void PipeWorker::add_part(Bulk& bulk, LaneRef ref) {
  Partition& partition = *ref.partition;
  if (!partition.load_begins(ref.lane, clock_now())) return;
  const std::string_view text = partition.load_text(ref.lane);
  if (text.size() < kSmall) bulk.text += text;
  const std::size_t items = partition.load_items(ref.lane);
  bulk.items += items;
  bulk.parts.push_back(
      {partition.id(), partition.epoch(), ref.lane, items, partition.batch(ref.lane)});
}

void PipeWorker::replied(BulkReply& reply) {
  const auto found = bulks_.find(reply.id);
  PAWL_ASSERT(found != bulks_.end(), "an answer to no request");
  Bulk bulk = std::move(found->second);
  bulks_.erase(found);
  {
    const std::lock_guard lock(mutex_);
    times_.add(std::chrono::duration<double>(reply.took).count());
    if (reply.failure) statuses_[reply.failure->status] += bulk.items;
  }
  if (reply.failure) {
    bulk_failed(bulk, *reply.failure);
    return;
  }
  answered(bulk, reply);
}

// Whose batch it still is: the partition may have begun again, or be another's.
Partition* PipeWorker::still_there(const Part& part) {
  Partition* partition = find(part.id);
  if (partition != nullptr && partition->epoch() == part.epoch &&
      partition->batch(part.lane) == part.batch)
    return partition;
  late_answers_ += part.items;
  return nullptr;
}

void PipeWorker::answered(Bulk& bulk, BulkReply& reply) {
  std::vector<Partition*> partitions;
  for (const Part& part : bulk.parts) partitions.push_back(still_there(part));
  bool is_pressed = false;
  std::size_t part = 0;
  std::size_t before = 0;  // items of the parts before
  std::array<std::uint64_t, 600> statuses{};
  const auto read =
      read_bulk_answer(reply.body, bulk.items, [&](std::size_t item, const ItemAnswer& answer) {
        while (item - before >= bulk.parts[part].items) before += bulk.parts[part++].items;
        if (answer.kind == ItemAnswer::Kind::busy) is_pressed = true;
        if (answer.status >= 0 && answer.status < 600)
          ++statuses[static_cast<std::size_t>(answer.status)];
        if (partitions[part] != nullptr)
          partitions[part]->item_answered(bulk.parts[part].lane, item - before, answer);
      });
  if (!read) {
    bulk_failed(
        bulk,
        BulkFailure{.code = pipe_code::kNetwork, .message = read.error().message, .status = 200});
    return;
  }
  client_.give_back_place(is_pressed ? BulkWindow::Answer::pressed : BulkWindow::Answer::clean);
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t status = 0; status < statuses.size(); ++status)
      if (statuses[status] > 0) statuses_[static_cast<int>(status)] += statuses[status];
  }
  const Instant now = clock_now();
  finished_ += bulk.items;
  for (std::size_t i = 0; i < bulk.parts.size(); ++i) {
    // One part may make its partition begin again, and then there is no other of it.
    Partition* partition = partitions[i] != nullptr ? still_there(bulk.parts[i]) : nullptr;
    if (partition != nullptr)
      guarded(*partition, [&] { partition->load_answered(bulk.parts[i].lane, now); });
  }
}

void PipeWorker::bulk_failed(const Bulk& bulk, const BulkFailure& failure) {
  const bool is_pressed = failure.status == 429 || failure.status == 503 || failure.status == 0;
  client_.give_back_place(is_pressed ? BulkWindow::Answer::pressed : BulkWindow::Answer::neither);
  const Instant now = clock_now();
  for (const Part& part : bulk.parts)
    if (Partition* partition = still_there(part))
      guarded(*partition,
              [&] { partition->load_failed(part.lane, failure, bulk.parts.size() > 1, now); });
}

// --- Errors ---

void PipeWorker::send_error(std::uint64_t batch, std::uint32_t failed, const ErrorRecord& record) {
  batches_[batch] = {record.topic, record.partition};
  const std::uint64_t ticket = (number_ << (kBatchBits + kFailedBits)) | (batch << kFailedBits) |
                               static_cast<std::uint64_t>(failed);
  parts_.errors->send(ticket, record);
}

std::uint64_t PipeWorker::worker_of(std::uint64_t ticket) {
  return ticket >> (kBatchBits + kFailedBits);
}

void PipeWorker::error_settled(std::uint64_t ticket, std::string code, std::string message) {
  post([ticket, code = std::move(code), message = std::move(message)](PipeWorker& worker) {
    const std::uint64_t batch = (ticket >> kFailedBits) & ((1ULL << kBatchBits) - 1);
    const auto failed = static_cast<std::uint32_t>(ticket & ((1ULL << kFailedBits) - 1));
    const auto found = worker.batches_.find(batch);
    if (found == worker.batches_.end()) return;
    if (Partition* partition = worker.find(found->second)) {
      partition->error_settled(batch, failed, code, message, clock_now());
      if (!partition->waits_for_errors(batch)) worker.batches_.erase(found);
    }
  });
}

// --- From outside ---

std::vector<PartitionView> PipeWorker::views() const {
  const std::lock_guard lock(mutex_);
  return views_;
}

RequestTimes PipeWorker::bulk_times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

std::map<int, std::uint64_t> PipeWorker::items_by_status() const {
  const std::lock_guard lock(mutex_);
  return statuses_;
}

}  // namespace pawl
