// What the stores have in common when they list: which records match, and how a page is filled.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/store.h"

namespace pawl {

inline constexpr std::size_t kScanMax = 10'000;  // records looked at for one page

// As a cursor of the feed: behind all that there is, whose place is then the page's `next`.
inline constexpr std::string_view kFeedEnd = "end";

bool matches(const Query& query, const Record& record);

// How a list is ordered.
enum class ListOrder { by_id, by_key, by_creation };
ListOrder order_of(const Query& query);

// A cursor is the id, the key, or both numbers of the last record that was looked at.
struct CreationPlace {
  Instant at = kInstantMin;
  std::uint64_t id = 0;

  friend auto operator<=>(const CreationPlace&, const CreationPlace&) = default;
};
Result<std::int64_t> read_number(const Cursor& cursor);  // 0 when it is empty
Result<CreationPlace> read_creation(const Cursor& cursor);
// Fails when the store has never come as far as that place of the feed. Entries that are removed
// take no place away.
Result<void> check_feed_place(std::int64_t place, std::int64_t last);
Cursor cursor_of(const Record& record, ListOrder order);

// Looks at records in order until the page is full. `Next` gives the next one, or a null pointer.
template <class Next>
Result<Page<Record>> fill_page(const Query& query, Next next) {
  const ListOrder order = order_of(query);
  Page<Record> page;
  for (std::size_t looked_at = 0;; ++looked_at) {
    PAWL_TRY(const Record* record, next());
    if (record == nullptr) break;
    if (page.items.size() == std::clamp<std::size_t>(query.max, 1, kPageMax) ||
        looked_at == kScanMax)
      return page;
    if (matches(query, *record)) page.items.push_back(*record);
    page.next = cursor_of(*record, order);
  }
  page.next.clear();
  return page;
}

}  // namespace pawl
