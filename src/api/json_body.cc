#include "api/json_body.h"

#include <algorithm>
#include <utility>

#include "base/json_fault.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/text.h"

namespace pawl {

using Kind = JsonView::Kind;

JsonBody::JsonBody(std::string_view json, std::string name) : name_(std::move(name)) {
  if (json.empty()) json = "{}";
  if (const auto checked = check_json(json); !checked) {
    error_ = Error{ErrorCode::bad_input, described() + ": " + checked.error().message,
                   find_json_fault(json)};
    return;
  }
  take_map(JsonView(json));
}

JsonBody::JsonBody(JsonView value, std::string name) : name_(std::move(name)) { take_map(value); }

void JsonBody::take_map(JsonView value) {
  if (value.kind() == Kind::map) {
    map_ = value;
  } else {
    error_ = Error{ErrorCode::bad_input, described() + " must be a map: {…}"};
  }
}

std::string JsonBody::described() const { return name_.empty() ? "the body" : in_ticks(name_); }

void JsonBody::ask(std::string_view name) {
  if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) asked_.push_back(name);
}

std::string JsonBody::path_of(std::string_view name) const {
  return in_ticks(name_.empty() ? std::string(name) : name_ + "." + std::string(name));
}

void JsonBody::fail(std::string_view name, const std::string& what) {
  if (!error_) error_ = Error{ErrorCode::bad_input, path_of(name) + " " + what};
}

bool JsonBody::has(std::string_view name) const {
  const JsonView value = map_.member(name);
  return !value.absent() && value.kind() != Kind::null;
}

JsonView JsonBody::take(std::string_view name, Kind wanted, const char* kind) {
  ask(name);
  const JsonView value = map_.member(name);
  if (value.absent() || value.kind() == Kind::null) return {};
  if (value.kind() == wanted) return value;
  fail(name, std::string("must be ") + kind);
  return {};
}

std::string JsonBody::text(std::string_view name) {
  const JsonView value = take(name, Kind::text, "a string");
  return value.absent() ? std::string() : std::string(value.text(scratch_));
}

void JsonBody::require(std::string_view name) {
  ask(name);
  if (!has(name) && missing_.empty()) missing_ = path_of(name);
}

std::string JsonBody::required_text(std::string_view name) {
  std::string value = text(name);
  if (value.empty() && missing_.empty()) missing_ = path_of(name);
  return value;
}

std::string JsonBody::json(std::string_view name) {
  ask(name);
  return std::string(map_.member(name).json());
}

std::string JsonBody::map(std::string_view name) {
  return std::string(take(name, Kind::map, "a map").json());
}

bool JsonBody::boolean(std::string_view name) {
  return take(name, Kind::boolean, "true or false").boolean();
}

std::optional<std::int64_t> JsonBody::number(std::string_view name) {
  const JsonView value = take(name, Kind::number, "a whole number");
  if (value.absent()) return std::nullopt;
  const auto number = parse_whole(value.json());
  if (!number) fail(name, "must be a whole number");
  return number;
}

std::optional<Duration> JsonBody::duration(std::string_view name) {
  const JsonView given = take(name, Kind::text, "a string");
  if (given.absent()) return std::nullopt;
  const auto duration = parse_duration(given.text(scratch_));
  if (duration) return *duration;
  fail(name, "must be a duration: " + duration.error().message);
  return std::nullopt;
}

std::optional<Instant> JsonBody::instant(std::string_view name) {
  const JsonView given = take(name, Kind::text, "a string");
  if (given.absent()) return std::nullopt;
  const auto instant = parse_instant(given.text(scratch_));
  if (instant) return *instant;
  fail(name, "must be an instant: " + instant.error().message);
  return std::nullopt;
}

std::vector<std::string> JsonBody::texts(std::string_view name) {
  std::vector<std::string> texts;
  for (JsonWalk walk(take(name, Kind::list, "a list of strings")); walk.next();) {
    if (walk.value().kind() != Kind::text) {
      fail(name, "must be a list of strings");
      return {};
    }
    texts.emplace_back(walk.value().text(scratch_));
  }
  return texts;
}

std::vector<std::string> JsonBody::items(std::string_view name) {
  std::vector<std::string> items;
  for (JsonWalk walk(take(name, Kind::list, "a list")); walk.next();)
    items.emplace_back(walk.value().json());
  return items;
}

std::vector<JsonView> JsonBody::values(std::string_view name) {
  std::vector<JsonView> values;
  for (JsonWalk walk(take(name, Kind::list, "a list")); walk.next();)
    values.push_back(walk.value());
  return values;
}

Result<void> JsonBody::finish() {
  if (error_) return *error_;
  std::vector<std::string_view> open = asked_;
  for (JsonWalk walk(map_); walk.next();) {
    const std::string_view name = walk.key().text(scratch_);
    if (const auto found = std::find(open.begin(), open.end(), name); found != open.end()) {
      open.erase(found);
      continue;
    }
    const bool is_known = std::find(asked_.begin(), asked_.end(), name) != asked_.end();
    if (!is_known) return not_a_field(std::string(name));
    fail(name, "is given twice");
    return *error_;
  }
  if (!missing_.empty()) return Error{ErrorCode::bad_input, missing_ + " is missing"};
  return {};
}

// With the nearest one, or all there are.
Error JsonBody::not_a_field(const std::string& name) const {
  std::vector<std::string> known(asked_.begin(), asked_.end());
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) {
    std::sort(known.begin(), known.end());
    hint = "; the fields are " + join(known, ", ", " and ");
  }
  return {ErrorCode::bad_input, path_of(name) + " is not a field here" + hint};
}

}  // namespace pawl
