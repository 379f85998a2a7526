// The documents of a search_sink, and the bulk API that writes them as OpenSearch 2 does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::sink {

// Why a request, or one item of it, was not carried out.
struct Refusal {
  int status = 0;
  std::string type, reason;
};

// One thing that a bulk request asks for. The views are into its body.
struct Action {
  std::string operation;  // index, create, delete or update
  std::string index;
  std::optional<std::string> id;
  std::optional<std::int64_t> version;
  std::string version_type;  // empty: internal
  std::string_view line, source;
};

// The actions of a body, which the node reads before it writes any: a refusal is of all of them.
std::variant<std::vector<Action>, Refusal> parse_bulk(std::string_view body,
                                                      std::string_view default_index);

struct Outcome {
  std::string operation, index, id;
  int status = 0;
  std::int64_t version = 0;
  std::string_view result;         // created, updated, deleted, not_found
  std::optional<Refusal> refusal;  // then there is no version and no result
};

// Which members of an answer are wanted: filter_path, of which only exact names and `items.*.name`
// are understood. Like the node, leaves out items of which nothing is wanted.
class Filter {
 public:
  explicit Filter(std::string_view filter_path);

  bool wants(std::string_view name) const;       // took, errors
  bool wants_item(std::string_view name) const;  // _id, status, error.type, …

 private:
  std::vector<std::string> patterns_;  // none: everything
};

enum class Engine { opensearch, elasticsearch };

std::string bulk_answer(const std::vector<Outcome>& outcomes, const Filter& filter, Engine engine);
std::string refusal_answer(const Refusal& refusal);

struct Document {
  std::int64_t version = 0;
  std::uint64_t writes = 0;  // how often it was written or deleted
  bool is_deleted = false;   // its version counts on
  std::string source;
};

// Threads may share it.
class Documents {
 public:
  using Objection = std::function<std::optional<Refusal>(const Action&)>;

  // Carries out the actions but those that `objection` refuses.
  std::vector<Outcome> write(const std::vector<Action>& actions, const Objection& objection);

  // Hands NDJSON to `out`, some documents at a time; what is written meanwhile may be missing.
  // `index` is a name, a beginning with `*`, or empty for all.
  void print(std::string_view index, const std::function<void(const std::string&)>& out) const;

  std::size_t count() const;
  void clear();

 private:
  Outcome write_one(const Action& action);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Document> documents_;  // by index and id
  std::size_t alive_ = 0;
  std::uint64_t ids_ = 0;  // made for documents that came without
};

}  // namespace pawl::sink
