// Answers of a search engine: either all items are handed out, in order, each with a status that
// fits what it comes to, or none is. What is said of a failure is short and fit to be printed.
//
// The first byte of an input is the number of items sent; the second chooses a status.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/assert.h"
#include "pipe/bulk_answer.h"

namespace {

using namespace pawl;
using Kind = ItemAnswer::Kind;

void check(const ItemAnswer& answer) {
  const int status = answer.status;
  PAWL_ASSERT(status >= 200 && status <= 599, "an item has a status of HTTP");
  PAWL_ASSERT((status < 300) == (answer.kind == Kind::indexed) ||
                  (status == 404 && answer.kind == Kind::indexed),
              "what was not taken is not called indexed");
  PAWL_ASSERT((status >= 500 || status == 429 || status == 408) == (answer.kind == Kind::busy),
              "what is busy is tried again");
  PAWL_ASSERT(answer.reason.size() <= 4'096, "a reason is cut");
  std::size_t sum = 0;  // reads all of it: it has to be there
  for (const char c : answer.type) sum += static_cast<unsigned char>(c);
  for (const char c : answer.reason) sum += static_cast<unsigned char>(c);
  PAWL_ASSERT(sum > 0 || (answer.type.find_first_not_of('\0') == std::string_view::npos),
              "an error is text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t sent = data[0];
  std::size_t called = 0;
  std::vector<int> statuses;
  std::string body(bytes);
  const auto done = read_bulk_answer(body, sent, [&](std::size_t at, const ItemAnswer& answer) {
    PAWL_ASSERT(at == called++, "items come in order");
    statuses.push_back(answer.status);
    check(answer);
  });
  PAWL_ASSERT(called == (done.has_value() ? sent : 0), "all items are handed out, or none");
  // A blank before it, and no shortcut is taken.
  std::string parsed = " " + std::string(bytes);
  std::vector<int> slow;
  const bool is_read = read_bulk_answer(parsed, sent, [&](std::size_t, const ItemAnswer& answer) {
                         slow.push_back(answer.status);
                       }).has_value();
  PAWL_ASSERT(is_read == done.has_value() && slow == statuses, "both ways say the same");
  PAWL_ASSERT(body == bytes, "the body is read, not written");

  const int status = 200 + 2 * data[1];
  const BulkFailure failure = failure_of_status(status, bytes, {});
  PAWL_ASSERT(!failure.bisect || status == 400, "only what a document may have caused is bisected");
  PAWL_ASSERT(failure.message.size() <= 1'100, "a message is cut");
  for (const char c : failure.message)
    PAWL_ASSERT(static_cast<unsigned char>(c) >= 0x20, "a message can be printed");
  return 0;
}
