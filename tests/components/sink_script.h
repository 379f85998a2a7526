// What a search_sink does wrong, and when.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::sink {

// Refuses a document in whose action line or source `match` occurs.
struct ItemFault {
  std::string match;
  int status = 0;
  std::string type, reason;
  int times = -1;  // how many documents more; -1: all
};

enum class Close { never, before, after_headers, mid_body };

// What happens to one bulk request; a value that stands at its default does nothing.
struct Fault {
  int times = 1;  // how many requests more; -1: all

  std::optional<std::size_t> if_body_over;
  std::string if_contains;

  int delay_ms = 0;
  int status = 0;  // of the whole request; its documents are written only with `apply`
  bool apply = false;
  std::string type, reason;         // of the error that is the body,
  std::optional<std::string> body;  // or the body itself
  std::optional<int> retry_after_s;
  Close close = Close::never;
  bool short_items = false, garbage = false, truncate = false;
  std::vector<ItemFault> items;
};

// The faults to come. Threads may share it.
class Script {
 public:
  // Puts the faults of a JSON list in the place of those that are left.
  Result<void> replace(std::string_view json);

  // The fault of a request: the first whose conditions hold. Those before it stay.
  std::shared_ptr<Fault> next(std::string_view body);

  // What `fault` has against a document.
  std::optional<ItemFault> against(Fault& fault, std::string_view action, std::string_view source);

  std::size_t left() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Fault>> faults_;  // and their counts
};

}  // namespace pawl::sink
