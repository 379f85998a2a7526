#include "pipe/batch.h"

#include <algorithm>

#include "base/prefetch.h"

namespace pawl {

Outcomes& Outcomes::operator+=(const Outcomes& more) {
  indexed += more.indexed;
  duplicate += more.duplicate;
  errors += more.errors;
  skipped += more.skipped;
  return *this;
}

Outcomes& Outcomes::operator-=(const Outcomes& less) {
  indexed -= less.indexed;
  duplicate -= less.duplicate;
  errors -= less.errors;
  skipped -= less.skipped;
  return *this;
}

void Outcomes::raise_to(const Outcomes& most) {
  indexed = std::max(indexed, most.indexed);
  duplicate = std::max(duplicate, most.duplicate);
  errors = std::max(errors, most.errors);
  skipped = std::max(skipped, most.skipped);
}

void MessageBatch::release() {
  constexpr std::size_t kAhead = 8;
  constexpr std::size_t kOpBytes = 256;  // what the client keeps around a message
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i + kAhead < messages.size()) prefetch(messages[i + kAhead].owner.get(), kOpBytes);
    messages[i].owner.reset();
  }
  messages.clear();
}

void MessageBatch::begin_again() {
  body.clear();
  plan = LoadPlan(0);
  part.clear();
  is_alone = false;
  blocked.clear();
  std::erase_if(failed,
                [](const FailedMessage& one) { return one.message != FailedMessage::kNone; });
  outcomes = {};
}

void MessageBatch::clear() {
  begin_again();
  messages.clear();
  failed.clear();
  bytes = 0;
  end = 0;
  is_closed = false;
}

}  // namespace pawl
