// WrappedEngine: an engine with something between it and its store, where a test lets things go
// wrong that a good store never does.
#pragma once

#include <functional>
#include <memory>

#include "pawl/engine.h"
#include "pawl/result.h"
#include "store/store.h"

namespace pawl {

struct WrappedEngine {
  using Wrap = std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)>;

  static Result<std::unique_ptr<Engine>> open(EngineOptions options, const Wrap& wrap);
};

}  // namespace pawl
