// A store that somebody else writes to as well, between the beginning of a batch and its commit.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/forwarding_store.h"

namespace pawl {

class RivalledStore final : public ForwardingStore {
 public:
  // Told what is about to be committed; free to commit to the inner store before it is.
  using Rival = std::function<void(std::span<const Unit> units)>;
  struct Outcomes {
    int committed = 0;
    int lost_race = 0;
    int key_taken = 0;
  };

  explicit RivalledStore(std::unique_ptr<Store> inner)
      : ForwardingStore(*inner), owned_(std::move(inner)) {}

  void set_rival(Rival rival) { rival_ = std::move(rival); }
  const Outcomes& outcomes() const { return outcomes_; }

  Result<std::unique_ptr<Batch>> begin() override {
    PAWL_TRY(auto batch, inner().begin());
    return std::unique_ptr<Batch>(std::make_unique<RivalledBatch>(*this, std::move(batch)));
  }

 private:
  class RivalledBatch final : public ForwardingBatch {
   public:
    RivalledBatch(RivalledStore& store, std::unique_ptr<Batch> inner)
        : ForwardingBatch(std::move(inner)), store_(store) {}

    // What was read before the rival came decides nothing here: the units say what they stand on.
    Result<std::vector<UnitOutcome>> commit(std::span<const Unit> units) override {
      if (const Rival rival = store_.rival_) {  // it may be exchanged while it acts
        inner().reset();
        rival(units);
        PAWL_TRY(inner(), store_.inner().begin());
      }
      PAWL_TRY(auto outcomes, inner()->commit(units));
      for (const UnitOutcome& outcome : outcomes) store_.count(outcome.kind);
      return outcomes;
    }

   private:
    RivalledStore& store_;
  };

  void count(UnitOutcome::Kind kind) {
    using Kind = UnitOutcome::Kind;
    ++(kind == Kind::committed   ? outcomes_.committed
       : kind == Kind::lost_race ? outcomes_.lost_race
                                 : outcomes_.key_taken);
  }

  std::unique_ptr<Store> owned_;
  Rival rival_;
  Outcomes outcomes_;
};

}  // namespace pawl
