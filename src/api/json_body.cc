#include "api/json_body.h"

#include <utility>

#include "base/json_text.h"
#include "base/nearest.h"
#include "base/text.h"

namespace pawl {

using Kind = JsonView::Kind;

JsonBody::JsonBody(std::string_view json, std::string name) : name_(std::move(name)) {
  if (json.empty()) json = "{}";
  const std::string of = name_.empty() ? "the body" : in_ticks(name_);
  if (const auto checked = check_json(json); !checked) {
    error_ = Error{ErrorCode::bad_input, of + ": " + checked.error().message};
    return;
  }
  map_ = JsonView(json);
  if (map_.kind() != Kind::map) {
    error_ = Error{ErrorCode::bad_input, of + " has to be a map: {…}"};
    map_ = {};
  }
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
  asked_.emplace(name);
  const JsonView value = map_.member(name);
  if (value.absent() || value.kind() == Kind::null) return {};
  if (value.kind() == wanted) return value;
  fail(name, std::string("has to be ") + kind);
  return {};
}

std::string JsonBody::text(std::string_view name) {
  Scratch scratch;
  const JsonView value = take(name, Kind::text, "a text");
  return value.absent() ? std::string() : std::string(value.text(scratch));
}

void JsonBody::require(std::string_view name) {
  asked_.emplace(name);
  if (!has(name) && missing_.empty()) missing_ = path_of(name);
}

std::string JsonBody::required_text(std::string_view name) {
  std::string value = text(name);
  if (value.empty() && missing_.empty()) missing_ = path_of(name);
  return value;
}

std::string JsonBody::json(std::string_view name) {
  asked_.emplace(name);
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
  if (!number) fail(name, "has to be a whole number");
  return number;
}

std::optional<Duration> JsonBody::duration(std::string_view name) {
  const std::string value = text(name);
  if (value.empty()) return std::nullopt;
  const auto duration = parse_duration(value);
  if (duration) return *duration;
  fail(name, "has to be a duration: " + duration.error().message);
  return std::nullopt;
}

std::optional<Instant> JsonBody::instant(std::string_view name) {
  const std::string value = text(name);
  if (value.empty()) return std::nullopt;
  const auto instant = parse_instant(value);
  if (instant) return *instant;
  fail(name, "has to be an instant: " + instant.error().message);
  return std::nullopt;
}

std::vector<std::string> JsonBody::texts(std::string_view name) {
  std::vector<std::string> texts;
  Scratch scratch;
  for (JsonWalk walk(take(name, Kind::list, "a list of texts")); walk.next();) {
    if (walk.value().kind() != Kind::text) {
      fail(name, "has to be a list of texts");
      return {};
    }
    texts.emplace_back(walk.value().text(scratch));
  }
  return texts;
}

std::vector<std::string> JsonBody::items(std::string_view name) {
  std::vector<std::string> items;
  for (JsonWalk walk(take(name, Kind::list, "a list")); walk.next();)
    items.emplace_back(walk.value().json());
  return items;
}

Result<void> JsonBody::finish() {
  if (error_) return *error_;
  Scratch scratch;
  std::set<std::string, std::less<>> met;
  for (JsonWalk walk(map_); walk.next();) {
    const std::string name(walk.key().text(scratch));
    if (!asked_.contains(name)) {
      const std::vector<std::string> known(asked_.begin(), asked_.end());
      fail(name, "is not a field here" + did_you_mean(name, known));
    } else if (!met.insert(name).second) {
      fail(name, "stands twice");
    }
  }
  if (error_) return *error_;
  if (!missing_.empty()) return Error{ErrorCode::bad_input, missing_ + " is missing"};
  return {};
}

}  // namespace pawl
