#include "store/query.h"

#include <algorithm>
#include <charconv>

#include "model/built_in_names.h"

namespace pawl {
namespace {

const Error kNoCursor{ErrorCode::bad_input,
                      "this is not a cursor of this list: start again without one"};

bool read_whole(std::string_view digits, auto& value) {
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
}

}  // namespace

bool matches(const Query& query, const Record& record) {
  const auto in = [](const std::string& wanted, const std::string& given) {
    return wanted.empty() || wanted == given;
  };
  if (!in(query.machine, record.machine) || !in(query.state, record.state)) return false;
  if (query.hides_built_in && query.machine.empty() && is_built_in(record.machine)) return false;
  if (!record.key.starts_with(query.key_prefix)) return false;
  if (query.label &&
      std::find(record.labels.begin(), record.labels.end(), *query.label) == record.labels.end())
    return false;
  if (query.parent && (!record.parent || record.parent->id != *query.parent)) return false;
  if (query.held && *query.held != record.hold.has_value()) return false;
  const Failure* error = record.error ? &*record.error : nullptr;
  if (!query.error_code.empty() && (!error || error->code != query.error_code)) return false;
  if (query.fingerprint && (!error || error->fingerprint != *query.fingerprint)) return false;
  if (query.created_from && record.created_at < *query.created_from) return false;
  return !query.created_before || record.created_at < *query.created_before;
}

ListOrder order_of(const Query& query) {
  if (!query.key_prefix.empty()) return ListOrder::by_key;
  return query.created_from || query.created_before ? ListOrder::by_creation : ListOrder::by_id;
}

Result<std::int64_t> read_number(const Cursor& cursor) {
  std::int64_t value = 0;
  if (!cursor.empty() && !read_whole(cursor, value)) return kNoCursor;
  return value;
}

Result<void> check_feed_place(std::int64_t place, std::int64_t last) {
  if (place <= last) return {};
  return Error{
      ErrorCode::bad_input,
      "the position " + std::to_string(place) + " is beyond the end of the feed, " +
          std::to_string(last) +
          ": it comes from another store, or from this one before an older backup was restored; "
          "start again without a position, or continue from `end`"};
}

Result<CreationPlace> read_creation(const Cursor& cursor) {
  CreationPlace place;
  if (cursor.empty()) return place;
  const std::size_t point = cursor.find('.');
  std::int64_t at = 0;
  if (point == Cursor::npos || !read_whole(std::string_view(cursor).substr(0, point), at) ||
      !read_whole(std::string_view(cursor).substr(point + 1), place.id))
    return kNoCursor;
  place.at = Instant(Duration(at));
  return place;
}

Cursor cursor_of(const Record& record, ListOrder order) {
  switch (order) {
    case ListOrder::by_key:
      return record.key;
    case ListOrder::by_creation:
      return std::to_string(record.created_at.time_since_epoch().count()) + "." +
             std::to_string(record.id.value);
    case ListOrder::by_id:
      break;
  }
  return std::to_string(record.id.value);
}

}  // namespace pawl
