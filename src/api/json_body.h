// JsonBody: a JSON map that a caller gave, read strictly: every member once, none that nobody asked
// for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/expression/json_view.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

class JsonBody {
 public:
  // The text outlives it; empty is a map without members. `name` is where it stands, for messages.
  explicit JsonBody(std::string_view json, std::string name = {});
  // A value of a text that was checked before.
  explicit JsonBody(JsonView value, std::string name = {});

  // What is not there, or null, is empty. What is of another kind is remembered, see `finish`.
  // The names outlive it.
  std::string text(std::string_view name);
  std::string json(std::string_view name);  // any value, as it is written
  std::string map(std::string_view name);   // the same, of a map
  bool boolean(std::string_view name);
  std::optional<std::int64_t> number(std::string_view name);
  std::optional<Duration> duration(std::string_view name);
  std::optional<Instant> instant(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  std::vector<std::string> items(std::string_view name);  // values of a list, as they are written
  std::vector<JsonView> values(std::string_view name);    // the same, where they stand

  // It has to be there; of a text: and not empty.
  void require(std::string_view name);
  std::string required_text(std::string_view name);

  bool has(std::string_view name) const;

  // It may be there: somebody else reads it.
  void leave(std::string_view name) { ask(name); }

  // What is wrong, the first of it, once everything was asked for: a value that does not fit, a
  // member that does not belong here. With its position when the text is not JSON.
  Result<void> finish();

 private:
  void take_map(JsonView value);
  void ask(std::string_view name);
  Error not_a_field(const std::string& name) const;
  JsonView take(std::string_view name, JsonView::Kind wanted, const char* kind);
  void fail(std::string_view name, const std::string& what);
  std::string described() const;
  std::string path_of(std::string_view name) const;

  JsonView map_;
  std::string name_;
  Scratch scratch_;
  std::vector<std::string_view> asked_;  // each once; there are few
  std::optional<Error> error_;
  std::string missing_;  // said last: a name that is misspelt is missing as well
};

// The JSON of an optional map: `{}` where the body has none.
inline std::string or_empty_map(std::string json) { return json.empty() ? "{}" : std::move(json); }

}  // namespace pawl
