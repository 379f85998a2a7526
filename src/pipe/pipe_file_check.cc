#include "pipe/pipe_file_check.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/expression/value_program.h"
#include "pipe/pipe_values.h"

namespace pawl {
namespace {

using From = TransformConfig::Time::From;

class PipeFileCheck {
 public:
  PipeFileCheck(Reader& reader, const Node& tree, PipeConfig& config)
      : reader_(reader), tree_(tree), config_(config) {}

  void check() {
    check_partitions();
    check_error_topic();
    check_index();
    settle_index_time();
    check_clock();
    check_deletes();
    check_creates();
    check_fields();
    check_expressions();
    check_search();
    check_batch();
  }

 private:
  // The value at the end of these keys, or null when there is none.
  const Node* find(std::initializer_list<std::string_view> keys) const {
    const Node* node = &tree_;
    for (const std::string_view key : keys)
      if (node != nullptr) node = node->find(key);
    return node;
  }

  // Whichever of its names the file uses.
  const Node* find_search(std::string_view key) const {
    const Node* named = find({"elasticsearch", key});
    return named != nullptr ? named : find({"opensearch", key});
  }

  void contradiction(Position at, std::string message) {
    reader_.error("contradiction", at, std::move(message));
  }

  void check_partitions() {
    const KafkaConfig& kafka = config_.kafka;
    if (kafka.assignment == KafkaConfig::Assignment::fixed) {
      if (const Node* instance = find({"kafka", "instance"}))
        contradiction(instance->at,
                      "`instance` has no meaning with `assignment: fixed`; leave it out");
      return;
    }
    for (const TopicChoice& topic : kafka.topics)
      if (!topic.partitions.empty())
        contradiction(topic.at,
                      "a group shares all partitions of " + in_ticks(topic.name) +
                          ", so you cannot choose some; write `assignment: fixed`, or leave "
                          "`partitions` out");
  }

  void check_error_topic() {
    const std::string& errors = config_.errors.topic;
    for (const TopicChoice& topic : config_.kafka.topics)
      if (topic.name == errors)
        contradiction(
            topic.at,
            in_ticks(errors) +
                " is the error topic: failed messages would be read again; name another one in "
                "`errors`, or do not read it");
  }

  bool is_river() const { return config_.transform.message == TransformConfig::Message::river; }

  // A `river` message may say it; then the file's is for those that do not.
  void check_index() {
    const Node* transform = find({"transform"});
    if (transform == nullptr || transform->kind != Node::Kind::map) return;
    if (!is_river() && transform->find("index") == nullptr)
      reader_.error("missing_key", transform->at,
                    "`transform` needs the key `index`, unless it has `message: river`");
  }

  // `{timestamp:%Y}` is short for `{time:%Y}` with `time: {field: timestamp}`. Everything else in
  // the template is left as it is.
  void settle_index_time() {
    TransformConfig& transform = config_.transform;
    std::string settled;
    std::string_view rest = transform.index;
    bool has_time = find({"transform", "time"}) != nullptr;
    while (true) {
      const std::size_t open = rest.find('{');
      const bool is_brace = open != std::string_view::npos && rest.substr(open).starts_with("{{");
      const std::size_t close = is_brace ? open + 1 : rest.find('}', std::min(open, rest.size()));
      if (open == std::string_view::npos || close == std::string_view::npos) break;
      settled += rest.substr(0, open + 1);
      settled += is_brace
                     ? "{"
                     : settled_placeholder(rest.substr(open + 1, close - open - 1), has_time) + "}";
      rest.remove_prefix(close + 1);
    }
    transform.index = settled + std::string(rest);
  }

  std::string settled_placeholder(std::string_view inside, bool& has_time) {
    TransformConfig::Time& time = config_.transform.time;
    const std::size_t colon = inside.find(':');
    std::string_view field = inside.substr(0, colon);
    if (colon == std::string_view::npos || field == "time") return std::string(inside);
    constexpr std::string_view kData = "data.";
    if (field.starts_with(kData)) field.remove_prefix(kData.size());
    if (!check_path(reader_, field, config_.transform.index_at)) return std::string(inside);
    if (!has_time) {
      time = {From::field, std::string(field), TransformConfig::Time::Format::millis, {}};
      has_time = true;
    } else if (time.from != From::field || time.field != field) {
      contradiction(config_.transform.index_at,
                    "the index takes its time from " + in_quotes(field) +
                        ", but the time of a message is " + time_said(time) +
                        "; write {time:…}, or use the same in both");
    }
    return "time" + std::string(inside.substr(colon));
  }

  static std::string time_said(const TransformConfig::Time& time) {
    if (time.from == From::field) return in_quotes(time.field);
    return time.from == From::system ? "the system clock" : "Kafka's timestamp";
  }

  bool index_has(std::string_view placeholder) const {
    return config_.transform.index.find(placeholder) != std::string::npos;
  }

  void check_clock() {
    const TransformConfig& transform = config_.transform;
    const Node* time = find({"transform", "time"});
    if (time == nullptr || transform.time.from != From::system || !index_has("{time:")) return;
    const bool has_id = transform.id.from != TransformConfig::Id::From::none;
    if (has_id && !transform.allow_nondeterministic_index)
      contradiction(
          time->at,
          "an index by the system clock may put a repeated message into another index, as a "
          "second document; use `message` or a field, or write `allow_nondeterministic_index: "
          "true`");
  }

  // What deletes a document has to find it: no field of a message without a value says where.
  void check_deletes() {
    const TransformConfig& transform = config_.transform;
    const Node* tombstone = find({"transform", "tombstone"});
    if (tombstone == nullptr || transform.tombstone != TransformConfig::Tombstone::erase) return;
    const Position at = tombstone->at;
    if (is_river())
      contradiction(at,
                    "a river message without a value does not say which document to delete; write "
                    "`tombstone: skip` or `error`");
    if (transform.id.from != TransformConfig::Id::From::key)
      contradiction(
          at,
          "only the key of a message without a value can say what to delete; write `id: key`, or "
          "`tombstone: skip`");
    if (transform.op == TransformConfig::Op::create)
      contradiction(
          at, "`op: create` is for data streams, which accept no deletes; write skip or error");
    if (index_has("{time:") || index_has("{data."))
      contradiction(
          at,
          "a message without a value lacks the time or fields that the index depends on; use an "
          "index without them, or write skip or error");
  }

  // What is there already is taken for the same message; with other ids it may be another one.
  void check_creates() {
    const TransformConfig& transform = config_.transform;
    const Node* op = find({"transform", "op"});
    if (op == nullptr || transform.op != TransformConfig::Op::create) return;
    const bool is_own_id = transform.id.from == TransformConfig::Id::From::offset ||
                           transform.id.from == TransformConfig::Id::From::none;
    if (!is_own_id || is_river())
      contradiction(
          op->at,
          "a later message with the same id would count as a duplicate; write `op: index`, or use "
          "`id: offset`");
  }

  void check_fields() {
    const TransformConfig& transform = config_.transform;
    for (const auto& [old, renamed] : transform.rename) {
      if (std::find(transform.drop.begin(), transform.drop.end(), old) == transform.drop.end())
        continue;
      if (const Node* rename = find({"transform", "rename", old}))
        contradiction(rename->at, in_quotes(old) + " is also dropped; keep one of the two");
    }
  }

  // Fields may be anything: what a message has is not known before it comes.
  Scope scope() const {
    return {.knows_data = false,
            .sees_record = false,
            .sees_now = config_.transform.allow_nondeterministic_index};
  }

  void check_expressions() {
    for (const Assignment& assignment : config_.transform.set) {
      if (reader_.diagnostics().is_full()) return;
      Diagnostics found;
      ValueProgram::compile(assignment.value.json, scope(), found);
      for (const Diagnostic& finding : found.sorted())
        reader_.error(finding.id, finding.position, of_pipe(finding.message));
    }
    if (config_.transform.drop_if) check_condition(*config_.transform.drop_if);
  }

  void check_condition(const Expression& condition) {
    if (reader_.diagnostics().has_form_error_at(condition.at.position)) return;
    const auto compiled = Program::compile(condition.text, scope());
    if (!compiled) {
      const Position inside = compiled.error().position.value_or(Position{});
      reader_.error("bad_expression", condition.at.inside(condition.text, inside.column),
                    of_pipe(compiled.error().message));
    } else if (!(*compiled)->guard().empty()) {
      const std::string name = printable((*compiled)->guard());
      reader_.error(
          "bad_expression", condition.at.position,
          in_quotes(name) + " is not known; for a field of the message write data." + name);
    } else if ((*compiled)->type() != Type::boolean && (*compiled)->type() != Type::any) {
      reader_.error(
          "bad_expression", condition.at.position,
          "a condition is true or false, not " + std::string(to_text((*compiled)->type())));
    }
  }

  // Names of machines that a pipe does not have; what is said of them is of no use here.
  static std::string of_pipe(const std::string& message) {
    for (const std::string& root : root_names())
      if (message.starts_with(root + " is available only in ") ||
          message.starts_with(root + " is not allowed in "))
        return root + " is not available in a pipe: expressions see only `data`, the message, so " +
               "that the same message always gives the same document";
    return message;
  }

  void check_search() {
    const Node* user = find_search("user");
    const Node* password = find_search("password");
    const Node* api_key = find_search("api_key");
    if (user != nullptr && password == nullptr)
      contradiction(user->at, "`user` needs `password` (env:NAME or file:PATH)");
    if (password != nullptr && user == nullptr)
      contradiction(password->at, "`password` needs `user`");
    if (api_key != nullptr && (user != nullptr || password != nullptr))
      contradiction(api_key->at, "`api_key` replaces `user` and `password`; keep one of the two");
    const Node* certificates = find_search("certificates");
    const std::vector<std::string>& urls = config_.search.urls;
    const bool is_plain =
        !urls.empty() && std::none_of(urls.begin(), urls.end(), [](const std::string& url) {
          return url.starts_with("https://");
        });
    if (certificates != nullptr && is_plain)
      contradiction(
          certificates->at,
          "`certificates` has no effect, as no URL begins with https://; write https://, or leave "
          "it out");
  }

  void check_batch() {
    if (config_.batch.memory >= config_.batch.bytes) return;
    const Node* memory = find({"batch", "memory"});
    const Node* at = memory != nullptr ? memory : find({"batch", "bytes"});
    if (at != nullptr)
      contradiction(at->at,
                    "`memory` must hold at least one batch; make it at least as large as `bytes`");
  }

  Reader& reader_;
  const Node& tree_;
  PipeConfig& config_;
};

}  // namespace

void check_pipe(Reader& reader, const Node& tree, PipeConfig& config) {
  if (tree.kind == Node::Kind::map) PipeFileCheck(reader, tree, config).check();
}

}  // namespace pawl
