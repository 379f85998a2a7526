// A disk that is full while it is told to be.
#pragma once

#include <atomic>
#include <memory>

#include "tests/support/forwarding_store.h"

namespace pawl {

class FullDisk final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::unique_ptr<Batch>> begin() override {
    if (is_full) return Error{ErrorCode::environment, "the disk is full"};
    return inner().begin();
  }
  std::atomic<bool> is_full = false;
};

}  // namespace pawl
