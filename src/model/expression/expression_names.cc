#include "model/expression/expression_names.h"

#include <array>

namespace pawl {
namespace {

constexpr std::array<std::string_view, 9> kRoots = {
    "data", "now", "record", "children", "event", "actor", "result", "error", "item"};

constexpr std::array<NamedPlace, 18> kRecord = {{
    {"id", Place::record_id, Type::text},
    {"key", Place::record_key, Type::text},
    {"machine", Place::record_machine, Type::text},
    {"version", Place::record_version, Type::integer},
    {"state", Place::record_state, Type::state},
    {"revision", Place::record_revision, Type::integer},
    {"epoch", Place::record_epoch, Type::integer},
    {"attempt", Place::record_attempt, Type::integer},
    {"failures", Place::record_failures, Type::integer},
    {"failing_since", Place::record_failing_since, Type::time},
    {"failed_from", Place::record_failed_from, Type::state},
    {"running", Place::record_running, Type::boolean},
    {"held", Place::record_held, Type::boolean},
    {"parent", Place::record_parent, Type::map},
    {"result", Place::record_result, Type::any},
    {"created_at", Place::record_created_at, Type::time},
    {"entered_at", Place::record_entered_at, Type::time},
    {"planned_at", Place::record_planned_at, Type::time},
}};

constexpr std::array<NamedPlace, 2> kParent = {{
    {"machine", Place::record_parent_machine, Type::text},
    {"key", Place::record_parent_key, Type::text},
}};

constexpr std::array<NamedPlace, 2> kActor = {{
    {"name", Place::actor_name, Type::text},
    {"roles", Place::actor_roles, Type::list},
}};

constexpr std::array<NamedPlace, 6> kError = {{
    {"code", Place::error_code, Type::text},
    {"message", Place::error_message, Type::text},
    {"detail", Place::error_detail, Type::any},
    {"retry_after", Place::error_retry_after, Type::duration},
    {"transient", Place::error_transient, Type::boolean},
    {"at", Place::error_at, Type::time},
}};

}  // namespace

std::string_view to_text(Type type) {
  switch (type) {
    case Type::any:
      return "a value";
    case Type::null:
      return "null";
    case Type::boolean:
      return "true or false";
    case Type::integer:
    case Type::decimal:
      return "a number";
    case Type::text:
      return "a text";
    case Type::state:
      return "a state";
    case Type::time:
      return "a time";
    case Type::duration:
      return "a duration";
    case Type::list:
      return "a list";
    case Type::map:
      return "a map";
  }
  return "";
}

std::string_view to_text(Root root) { return kRoots[static_cast<std::size_t>(root)]; }

std::optional<Root> find_root(std::string_view name) {
  for (std::size_t i = 0; i < kRoots.size(); ++i)
    if (kRoots[i] == name) return static_cast<Root>(i);
  return std::nullopt;
}

const std::vector<std::string>& root_names() {
  static const std::vector<std::string> names(kRoots.begin(), kRoots.end());
  return names;
}

std::span<const NamedPlace> places_of(Root root) {
  switch (root) {
    case Root::record:
      return kRecord;
    case Root::actor:
      return kActor;
    case Root::error:
      return kError;
    default:
      return {};
  }
}

std::span<const NamedPlace> places_of_parent() { return kParent; }

}  // namespace pawl
