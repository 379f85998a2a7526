#include "sink_documents.h"

#include <simdjson.h>

#include <algorithm>
#include <array>

#include "base/json_text.h"

namespace pawl::sink {
namespace {

constexpr std::size_t kIdBytesMax = 512;
constexpr std::size_t kIndexBytesMax = 255;
constexpr std::size_t kPrintedAtOnce = 1'000;

Refusal illegal_argument(std::string reason) {
  return {400, "illegal_argument_exception", std::move(reason)};
}

Refusal validation_failed(const std::string& reason) {
  return {400, "action_request_validation_exception", "Validation Failed: 1: " + reason + ";"};
}

// Cuts the next line, which has to end with a newline, off the rest.
std::string_view cut_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  const auto line = rest.substr(0, end);
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

std::optional<Refusal> read_parameter(std::string_view name, simdjson::dom::element value,
                                      std::size_t line, Action& action) {
  constexpr std::array<std::string_view, 8> kIgnored = {
      "routing",         "pipeline",          "require_alias",     "if_seq_no",
      "if_primary_term", "dynamic_templates", "retry_on_conflict", "_source"};
  std::string_view text;
  std::int64_t number = 0;
  if (name == "_index" && value.get(text) == simdjson::SUCCESS) {
    action.index = text;
  } else if (name == "_id" && value.get(text) == simdjson::SUCCESS) {
    action.id = text;
  } else if (name == "version_type" && value.get(text) == simdjson::SUCCESS) {
    action.version_type = text == "internal" ? "" : text;
  } else if (name == "version" && value.get(number) == simdjson::SUCCESS) {
    action.version = number;
  } else if (std::find(kIgnored.begin(), kIgnored.end(), name) == kIgnored.end()) {
    return illegal_argument("Action/metadata line [" + std::to_string(line) +
                            "] contains an unknown parameter [" + std::string(name) + "]");
  }
  return std::nullopt;
}

std::optional<Refusal> read_action(std::string_view text, std::size_t line,
                                   simdjson::dom::parser& parser, Action& action) {
  simdjson::dom::object object;
  if (parser.parse(text.data(), text.size()).get(object) != simdjson::SUCCESS || object.size() != 1)
    return Refusal{400, "json_parse_exception",
                   "Malformed action/metadata line [" + std::to_string(line) + "]"};
  const auto [operation, parameters] = *object.begin();
  action.operation = operation;
  if (operation != "index" && operation != "create" && operation != "delete" &&
      operation != "update")
    return illegal_argument("Malformed action/metadata line [" + std::to_string(line) +
                            "], expected one of [create, delete, index, update] but found [" +
                            action.operation + "]");
  simdjson::dom::object members;
  if (parameters.get(members) != simdjson::SUCCESS)
    return illegal_argument("Malformed action/metadata line [" + std::to_string(line) +
                            "], expected START_OBJECT");
  for (const auto& [name, value] : members)
    if (auto refusal = read_parameter(name, value, line, action)) return refusal;
  return std::nullopt;
}

std::optional<Refusal> validate(const Action& action) {
  if (action.index.empty()) return validation_failed("index is missing");
  if (action.id && action.id->size() > kIdBytesMax)
    return validation_failed("id [" + *action.id +
                             "] is too long, must be no longer than 512 bytes but was: " +
                             std::to_string(action.id->size()));
  if (action.operation == "create" && (action.version || !action.version_type.empty()))
    return validation_failed(
        "create operations only support internal versioning. use index instead");
  if (action.operation == "delete" && !action.id) return validation_failed("id is missing");
  if (action.version && action.version_type.empty())
    return validation_failed(
        "internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and `if_primary_term` instead");
  if (!action.version_type.empty() && action.version_type != "external" &&
      action.version_type != "external_gte")
    return illegal_argument("No version type match [" + action.version_type + "]");
  return std::nullopt;
}

std::optional<Refusal> check_index_name(const std::string& name) {
  std::string wrong;
  if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    wrong = "must be lowercase";
  else if (name.find_first_of("\\/*?\"<>| ,#:") != std::string::npos)
    wrong = "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]";
  else if (name.front() == '_' || name.front() == '-' || name.front() == '+')
    wrong = "must not start with '_', '-', or '+'";
  else if (name == "." || name == "..")
    wrong = "must not be '.' or '..'";
  else if (name.size() > kIndexBytesMax)
    wrong = "index name is too long, (" + std::to_string(name.size()) + " > 255)";
  if (wrong.empty()) return std::nullopt;
  return Refusal{400, "invalid_index_name_exception",
                 "Invalid index name [" + name + "], " + wrong};
}

std::optional<Refusal> check_source(const Action& action) {
  if (action.operation == "delete") return std::nullopt;
  if (action.operation == "update") return illegal_argument("this node does not carry out updates");
  thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  const auto error = parser.parse(action.source.data(), action.source.size()).get(object);
  if (error == simdjson::SUCCESS) return std::nullopt;
  return Refusal{400, "mapper_parsing_exception",
                 std::string("failed to parse: ") + simdjson::error_message(error)};
}

std::optional<Refusal> check_version(const Action& action, const Document* current) {
  if (current == nullptr) return std::nullopt;
  const auto begin = "[" + action.id.value_or("") + "]: version conflict, ";
  const auto at = "current version [" + std::to_string(current->version) + "]";
  const auto conflict = [&](const std::string& reason) {
    return Refusal{409, "version_conflict_engine_exception", begin + reason};
  };
  if (action.operation == "create" && !current->is_deleted)
    return conflict("document already exists (" + at + ")");
  if (!action.version) return std::nullopt;
  const auto provided = " the one provided [" + std::to_string(*action.version) + "]";
  if (action.version_type == "external" && *action.version <= current->version)
    return conflict(at + " is higher or equal to" + provided);
  if (action.version_type == "external_gte" && *action.version < current->version)
    return conflict(at + " is higher than" + provided);
  return std::nullopt;
}

}  // namespace

std::variant<std::vector<Action>, Refusal> parse_bulk(std::string_view body,
                                                      std::string_view default_index) {
  if (body.empty()) return Refusal{400, "parse_exception", "request body is required"};
  if (body.back() != '\n')
    return illegal_argument("The bulk request must be terminated by a newline [\\n]");
  thread_local simdjson::dom::parser parser;
  std::vector<Action> actions;
  std::size_t line = 0;
  while (!body.empty()) {
    ++line;
    const auto text = cut_line(body);
    if (text.empty()) continue;
    Action action{.index = std::string(default_index), .line = text};
    if (auto refusal = read_action(text, line, parser, action)) return *std::move(refusal);
    if (action.operation != "delete") {
      if (body.empty()) return validation_failed("no requests added");
      ++line;
      action.source = cut_line(body);
    }
    if (auto refusal = validate(action)) return *std::move(refusal);
    actions.push_back(std::move(action));
  }
  if (actions.empty()) return validation_failed("no requests added");
  return actions;
}

std::vector<Outcome> Documents::write(const std::vector<Action>& actions,
                                      const Objection& objection) {
  std::vector<Outcome> outcomes;
  outcomes.reserve(actions.size());
  for (const auto& action : actions) {
    auto refusal = objection(action);
    if (!refusal) refusal = check_index_name(action.index);
    if (!refusal) refusal = check_source(action);
    if (!refusal) {
      const std::lock_guard lock(mutex_);
      outcomes.push_back(write_one(action));
      continue;
    }
    outcomes.push_back({.operation = action.operation,
                        .index = action.index,
                        .id = action.id.value_or(""),
                        .status = refusal->status,
                        .refusal = refusal});
  }
  return outcomes;
}

Outcome Documents::write_one(const Action& action) {
  Outcome outcome{.operation = action.operation,
                  .index = action.index,
                  .id = action.id ? *action.id : "auto-" + std::to_string(++ids_)};
  auto found = documents_.find({outcome.index, outcome.id});
  outcome.refusal = check_version(action, found == documents_.end() ? nullptr : &found->second);
  if (outcome.refusal) {
    outcome.status = outcome.refusal->status;
    return outcome;
  }
  if (found == documents_.end())
    found = documents_.emplace(std::pair(outcome.index, outcome.id), Document{.is_deleted = true})
                .first;
  auto& document = found->second;
  const bool existed = !document.is_deleted;
  document.version = action.version.value_or(document.version + 1);
  document.is_deleted = action.operation == "delete";
  document.source = action.source;
  ++document.writes;
  alive_ += (document.is_deleted ? 0U : 1U);
  alive_ -= (existed ? 1U : 0U);
  outcome.version = document.version;
  if (document.is_deleted) {
    outcome.status = existed ? 200 : 404;
    outcome.result = existed ? "deleted" : "not_found";
  } else {
    outcome.status = existed ? 200 : 201;
    outcome.result = existed ? "updated" : "created";
  }
  return outcome;
}

void Documents::print(std::string_view index,
                      const std::function<void(const std::string&)>& out) const {
  const bool is_beginning = index.empty() || index.back() == '*';
  const auto wanted =
      is_beginning ? index.substr(0, index.size() - (index.empty() ? 0 : 1)) : index;
  std::pair<std::string, std::string> from(wanted, "");
  for (bool is_done = false; !is_done;) {
    std::string lines;
    {
      const std::lock_guard lock(mutex_);
      auto at = documents_.lower_bound(from);
      std::size_t printed = 0;
      for (; at != documents_.end() && printed < kPrintedAtOnce; ++at, ++printed) {
        const auto& [key, document] = *at;
        if (is_beginning ? !key.first.starts_with(wanted) : key.first != wanted) break;
        if (document.is_deleted) continue;
        lines += "{\"index\":" + json_string(key.first) + ",\"id\":" + json_string(key.second) +
                 ",\"version\":" + std::to_string(document.version) +
                 ",\"writes\":" + std::to_string(document.writes) +
                 ",\"source\":" + document.source + "}\n";
      }
      is_done = printed < kPrintedAtOnce || at == documents_.end();
      if (!is_done) from = at->first;
    }
    if (!lines.empty()) out(lines);
  }
}

std::size_t Documents::count() const {
  const std::lock_guard lock(mutex_);
  return alive_;
}

void Documents::clear() {
  const std::lock_guard lock(mutex_);
  documents_.clear();
  alive_ = 0;
}

Filter::Filter(std::string_view filter_path) {
  while (!filter_path.empty()) {
    const auto end = filter_path.find(',');
    patterns_.emplace_back(filter_path.substr(0, end));
    filter_path.remove_prefix(end == std::string_view::npos ? filter_path.size() : end + 1);
  }
}

bool Filter::wants(std::string_view name) const {
  return patterns_.empty() ||
         std::find(patterns_.begin(), patterns_.end(), name) != patterns_.end();
}

bool Filter::wants_item(std::string_view name) const {
  if (wants("items") || wants("items.*")) return true;
  const std::string full = "items.*." + std::string(name);
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    return full == pattern || full.starts_with(pattern + ".");
  });
}

namespace {

// An object or a list, to which members are added.
void add_member(std::string& object, std::string_view name, std::string_view json) {
  if (object.back() != '{') object += ',';
  object += '"';
  object += name;
  object += "\":";
  object += json;
}

std::string error_object(const Refusal& refusal, const Filter& filter) {
  std::string object = "{";
  if (filter.wants_item("error.type")) add_member(object, "type", json_string(refusal.type));
  if (filter.wants_item("error.reason")) add_member(object, "reason", json_string(refusal.reason));
  return object + '}';
}

std::string item_object(const Outcome& outcome, const Filter& filter, std::uint64_t number) {
  std::string object = "{";
  const auto add = [&](std::string_view name, std::string_view json) {
    if (filter.wants_item(name)) add_member(object, name, json);
  };
  add("_index", json_string(outcome.index));
  add("_id", outcome.id.empty() ? "null" : json_string(outcome.id));
  if (!outcome.refusal) {
    add("_version", std::to_string(outcome.version));
    add("result", '"' + std::string(outcome.result) + '"');
    add("_shards", "{\"total\":1,\"successful\":1,\"failed\":0}");
    add("_seq_no", std::to_string(number));
    add("_primary_term", "1");
  }
  add("status", std::to_string(outcome.status));
  if (outcome.refusal) {
    const auto error = error_object(*outcome.refusal, filter);
    if (error != "{}") add_member(object, "error", error);
  }
  return object + '}';
}

}  // namespace

std::string bulk_answer(const std::vector<Outcome>& outcomes, const Filter& filter, Engine engine) {
  const bool has_errors = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
    return outcome.refusal.has_value();
  });
  const auto add = [&](std::string& answer, std::string_view name, std::string_view json) {
    if (filter.wants(name)) add_member(answer, name, json);
  };
  std::string answer = "{";
  if (engine == Engine::opensearch) add(answer, "took", "1");
  add(answer, "errors", has_errors ? "true" : "false");
  if (engine == Engine::elasticsearch) add(answer, "took", "1");
  std::string items = "[";
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto item = item_object(outcomes[i], filter, i);
    if (item == "{}") continue;
    if (items.size() > 1) items += ',';
    items += "{\"" + outcomes[i].operation + "\":" + item + '}';
  }
  if (items.size() > 1 || outcomes.empty()) add_member(answer, "items", items + ']');
  return answer + '}';
}

std::string refusal_answer(const Refusal& refusal) {
  const auto members =
      "\"type\":" + json_string(refusal.type) + ",\"reason\":" + json_string(refusal.reason);
  return "{\"error\":{\"root_cause\":[{" + members + "}]," + members +
         "},\"status\":" + std::to_string(refusal.status) + "}";
}

}  // namespace pawl::sink
