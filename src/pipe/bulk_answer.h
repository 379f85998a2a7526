// What the search engine said to a bulk request: about each item, or about the whole.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct ItemAnswer {
  enum class Kind {
    indexed,    // 200, 201; of a delete also 404
    duplicate,  // 409 that proves that it is there already
    busy,       // 408, 429, 5xx: this item again
    blocked,    // 403, a block, no such index: again, and somebody has to look
    refused,    // every other 4xx: never
  };
  Kind kind = Kind::indexed;
  int status = 0;
  std::string_view type = {};  // of an error, as the search engine calls it; shown, never compared,
                               // but for blocks and missing indices
  std::string_view reason = {};  // of an error
};

// Reads the answer with status 200 to a request of `sent` items and calls `item` for each, in
// order, when all of it was understood; else calls nothing and fails: nothing is known of any item.
// `body` is padded on the way. What items point at lives until the next call on this thread.
Result<void> read_bulk_answer(std::string& body, std::size_t sent,
                              const std::function<void(std::size_t, const ItemAnswer&)>& item);

// What a request that failed as a whole comes to.
struct BulkFailure {
  std::string_view code;  // of pipe_code
  std::string message;    // for people, with what the search engine said
  bool bisect = false;    // 400, 413, an answer that is too long: some of the documents are why
  int status = 0;         // 0: no answer
  std::optional<Duration> retry_after = {};
};

// Of an answer whose status is not 200.
BulkFailure failure_of_status(int status, std::string_view body,
                              std::optional<Duration> retry_after);
// Of a transfer that ended without one: `code` is a CURLcode.
BulkFailure failure_of_transfer(int code, std::string_view message);

}  // namespace pawl
