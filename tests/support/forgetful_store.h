// A store that has forgotten what was carried out: the same request is then carried out again.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/forwarding_store.h"

namespace pawl {

class ForgetfulStore final : public ForwardingStore {
 public:
  explicit ForgetfulStore(std::unique_ptr<Store> inner)
      : ForwardingStore(*inner), kept_(std::move(inner)) {}

  Result<std::unique_ptr<Batch>> begin() override {
    class Forgetful final : public ForwardingBatch {
     public:
      using ForwardingBatch::ForwardingBatch;
      Result<std::vector<std::optional<Remembered>>> remembered(
          std::span<const RequestName> requests) override {
        return std::vector<std::optional<Remembered>>(requests.size());
      }
    };
    PAWL_TRY(auto batch, inner().begin());
    return std::unique_ptr<Batch>(std::make_unique<Forgetful>(std::move(batch)));
  }

 private:
  std::unique_ptr<Store> kept_;
};

}  // namespace pawl
