#include "tests/support/contested_store.h"

#include <utility>

namespace pawl {
namespace {

class ContestedBatch final : public Batch {
 public:
  ContestedBatch(std::unique_ptr<Batch> inner, Rival& rival)
      : inner_(std::move(inner)), rival_(rival) {}

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
    auto first = rival_.before(*inner_, units);
    if (!first) return inner_->commit(units);
    std::vector<Unit> all{*std::move(first)};
    for (Unit unit : units) {
      for (SentHere& sent : unit.taken_here) ++sent.unit;
      for (std::size_t& earlier : unit.after) ++earlier;
      all.push_back(std::move(unit));
    }
    PAWL_TRY(std::vector<UnitOutcome> outcomes, inner_->commit(all));
    if (outcomes.front().kind == UnitOutcome::Kind::committed) rival_.committed(all.front());
    outcomes.erase(outcomes.begin());
    return outcomes;
  }

 private:
  std::unique_ptr<Batch> inner_;
  Rival& rival_;
};

class ContestedStore final : public Store {
 public:
  ContestedStore(Store& inner, Rival& rival) : inner_(inner), rival_(rival) {}

  Result<std::unique_ptr<Batch>> begin() override {
    PAWL_TRY(auto batch, inner_.begin());
    return std::unique_ptr<Batch>(std::make_unique<ContestedBatch>(std::move(batch), rival_));
  }
  Result<std::vector<bool>> extend(std::span<const Beat> beats) override {
    if (auto error = rival_.keeps_from_beating()) return *std::move(error);
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
    if (auto error = rival_.keeps_from_forgetting()) return *std::move(error);
    return inner_.forget_requests(before, max);
  }

 private:
  Store& inner_;
  Rival& rival_;
};

}  // namespace

std::unique_ptr<Store> contested(Store& store, Rival& rival) {
  return std::make_unique<ContestedStore>(store, rival);
}

}  // namespace pawl
