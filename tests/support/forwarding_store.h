// A store that hands every call on to another one: what a test changes of it, it overrides.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace pawl {

class ForwardingBatch : public Batch {
 public:
  explicit ForwardingBatch(std::unique_ptr<Batch> inner) : inner_(std::move(inner)) {}

  Instant now() const override { return inner_->now(); }
  Result<std::vector<Record>> load(std::span<const RecordId> ids) override {
    return inner_->load(ids);
  }
  Result<std::vector<Record>> load(std::span<const RecordName> names) override {
    return inner_->load(names);
  }
  Result<std::vector<Claimed>> claim(std::span<const Claim> claims) override {
    return inner_->claim(claims);
  }
  Result<std::vector<std::optional<Remembered>>> remembered(
      std::span<const RequestName> requests) override {
    return inner_->remembered(requests);
  }
  Result<std::vector<Slot>> slots(std::span<const std::string> names) override {
    return inner_->slots(names);
  }
  Result<std::vector<UnitOutcome>> commit(std::span<const Unit> units) override {
    return inner_->commit(units);
  }

 protected:
  std::unique_ptr<Batch>& inner() { return inner_; }

 private:
  std::unique_ptr<Batch> inner_;
};

class ForwardingStore : public Store {
 public:
  // It outlives this one.
  explicit ForwardingStore(Store& inner) : inner_(inner) {}

  Store& inner() { return inner_; }

  Result<std::unique_ptr<Batch>> begin() override { return inner_.begin(); }
  Result<std::vector<bool>> extend(std::span<const Beat> beats) override {
    return inner_.extend(beats);
  }
  Result<std::optional<Instant>> next_due(std::span<const std::string> queues) override {
    return inner_.next_due(queues);
  }
  Result<Page<Record>> list(const Query& query, const Cursor& from) override {
    return inner_.list(query, from);
  }
  Result<Page<Entry>> log(RecordId record, const Cursor& from, std::size_t max) override {
    return inner_.log(record, from, max);
  }
  Result<Page<LoggedEntry>> feed(const Cursor& from, std::size_t max) override {
    return inner_.feed(from, max);
  }
  Result<Counts> counts() override { return inner_.counts(); }
  Result<RecordId> last_id() override { return inner_.last_id(); }
  Result<std::vector<std::string>> queues() override { return inner_.queues(); }
  Result<bool> put_machines(std::span<const StoredMachine> machines) override {
    return inner_.put_machines(machines);
  }
  Result<std::optional<StoredMachine>> machine(const std::string& name, int version) override {
    return inner_.machine(name, version);
  }
  Result<std::vector<StoredMachine>> machines() override { return inner_.machines(); }
  Result<Setting> put_setting(const Setting& setting) override {
    return inner_.put_setting(setting);
  }
  Result<std::vector<Setting>> settings(const std::string& prefix) override {
    return inner_.settings(prefix);
  }
  Result<std::vector<Violation>> violations() override { return inner_.violations(); }
  Result<std::size_t> forget_requests(Instant before, std::size_t max) override {
    return inner_.forget_requests(before, max);
  }

 private:
  Store& inner_;
};

}  // namespace pawl
