// Many children under one parent: all are counted, and one more costs what the first one did.
//
// Counted is what is asked of the store and written to it, not time.
#include <cstdio>

#include "gtest/gtest.h"
#include "store/verify.h"
#include "tests/support/driven_engine.h"
#include "tests/support/forwarding_store.h"

namespace pawl {
namespace {

const Instant kStart = *parse_instant("2026-03-02T09:00:00Z");

constexpr const char* kBatch = R"(machine: batch
initial: filling
states:
  filling: {on: {close: waiting}}
  waiting:
    when: [{if: children.parcel.open == 0, to: complete}]
    on: {stop: {effects: [{send: cancel, to: children.parcel}]}}
  complete: {final: true}
)";
constexpr const char* kParcel = R"(machine: parcel
initial: packing
tasks: {pack: {queue: packers}}
states:
  packing: {task: pack, done: packed, on: {cancel: cancelled}}
  packed: {final: true}
  cancelled: {final: true}
)";

struct Cost {
  std::size_t commits = 0;
  std::size_t units = 0;
  std::size_t entries = 0;
  std::size_t messages = 0;  // sent, also those that were taken in the same batch
  std::size_t loads = 0;     // records that were asked for
  std::size_t bytes = 0;     // of data, entries and messages
};

class CountingStore final : public ForwardingStore {
 public:
  CountingStore(std::unique_ptr<Store> inner, Cost& cost)
      : ForwardingStore(*inner), owned_(std::move(inner)), cost_(cost) {}

  Result<std::unique_ptr<Batch>> begin() override {
    PAWL_TRY(auto batch, inner().begin());
    return std::unique_ptr<Batch>(std::make_unique<CountingBatch>(std::move(batch), cost_));
  }
  Result<Page<Record>> list(const Query& query, const Cursor& from) override {
    PAWL_TRY(auto page, inner().list(query, from));
    cost_.loads += page.items.size();
    return page;
  }

 private:
  class CountingBatch final : public ForwardingBatch {
   public:
    CountingBatch(std::unique_ptr<Batch> inner, Cost& cost)
        : ForwardingBatch(std::move(inner)), cost_(cost) {}

    Result<std::vector<Record>> load(std::span<const RecordId> ids) override {
      cost_.loads += ids.size();
      return inner()->load(ids);
    }
    Result<std::vector<Record>> load(std::span<const RecordName> names) override {
      cost_.loads += names.size();
      return inner()->load(names);
    }
    Result<std::vector<Claimed>> claim(std::span<const Claim> claims) override {
      PAWL_TRY(auto claimed, inner()->claim(claims));
      cost_.loads += claimed.size();
      return claimed;
    }
    Result<std::vector<UnitOutcome>> commit(std::span<const Unit> units) override {
      ++cost_.commits;
      cost_.units += units.size();
      for (const Unit& unit : units) {
        cost_.entries += unit.record.entries.size();
        cost_.messages += unit.sent.size();
        cost_.bytes += unit.record.record.data.size();
        for (const Entry& entry : unit.record.entries)
          cost_.bytes += entry.input.size() + entry.changes.size();
        for (const Message& message : unit.sent) cost_.bytes += message.body.size();
      }
      return inner()->commit(units);
    }

   private:
    Cost& cost_;
  };

  std::unique_ptr<Store> owned_;
  Cost& cost_;
};

class FanIn : public testing::TestWithParam<StoreKind> {
 protected:
  // The cost of making so many children, ending each of them, and of the end of their parent.
  static Cost run(std::size_t children, bool by_event) {
    Cost cost;
    DrivenEngine driven(GetParam(), {kBatch, kParcel}, kStart, 960,
                        [&](std::unique_ptr<Store> inner) {
                          return std::make_unique<CountingStore>(std::move(inner), cost);
                        });
    driven.create("batch", "b1");
    const Parent parent{driven.find("batch", "b1")->id, "batch", "b1"};
    const auto submit = [&](decltype(Stimulus::what) what, const std::string& key) {
      driven.engine().submit(
          {.what = std::move(what), .machine = "parcel", .key = key, .actor = {.name = "app"}},
          [](const Result<Answer>& answer) { EXPECT_EQ(answer->kind, Answer::Kind::ok); });
    };
    for (std::size_t i = 0; i < children; ++i)
      submit(Stimulus::Create{.parent = parent}, "p" + std::to_string(i));
    driven.settle();
    driven.fire("batch", "b1", "close");
    if (by_event) {
      driven.fire("batch", "b1", "stop");
    } else {
      for (std::size_t done = 0; done < children;) {
        const auto attempts = driven.claim({"packers"}, kClaimMax);
        if (attempts.empty()) break;
        for (const GivenAttempt& attempt : attempts)
          submit(Stimulus::Done{hash_of_token(attempt.token)}, attempt.given.key);
        driven.settle();
        done += attempts.size();
      }
    }
    const auto batch = driven.find("batch", "b1");
    EXPECT_EQ(batch->state, "complete");
    EXPECT_EQ(batch->children.at(0).all, static_cast<std::int64_t>(children));
    EXPECT_EQ(batch->children.at(0).final, static_cast<std::int64_t>(children));
    EXPECT_LT(driven.log_of(*batch).size(), 6U);  // a child's message is no entry
    const Verified verified = *verify(driven.store());
    EXPECT_TRUE(verified.violations.empty());
    return cost;
  }

  static double per_child(std::size_t cost, std::size_t children) {
    return static_cast<double>(cost) / static_cast<double>(children);
  }

  static void compare(const Cost& few, std::size_t few_children, const Cost& many,
                      std::size_t many_children) {
    const auto expect_flat = [&](const char* what, std::size_t Cost::*part) {
      const double before = per_child(few.*part, few_children);
      const double after = per_child(many.*part, many_children);
      std::printf("%-9s per child: %8.3f of %zu, %8.3f of %zu\n", what, before, few_children, after,
                  many_children);
      EXPECT_LE(after, before * 1.1 + 0.01) << what;
    };
    expect_flat("commits", &Cost::commits);
    expect_flat("units", &Cost::units);
    expect_flat("entries", &Cost::entries);
    expect_flat("messages", &Cost::messages);
    expect_flat("loads", &Cost::loads);
    expect_flat("bytes", &Cost::bytes);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, FanIn, testing::Values(StoreKind::memory, StoreKind::sqlite),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "memory" : "sqlite";
                         });

TEST_P(FanIn, TenThousandChildrenAreDoneAndOneMoreCostsNoMore) {
  compare(run(1'000, false), 1'000, run(10'000, false), 10'000);
}

TEST_P(FanIn, TenThousandChildrenAreReachedByOneEvent) {
  compare(run(1'000, true), 1'000, run(10'000, true), 10'000);
}

}  // namespace
}  // namespace pawl
