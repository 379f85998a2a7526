#include "pipe/pipe_file.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "model/reader.h"
#include "model/tree.h"
#include "pipe/pipe_file_check.h"
#include "pipe/pipe_values.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kKiB = 1U << 10U;
constexpr std::size_t kMiB = 1U << 20U;
constexpr std::size_t kGiB = 1U << 30U;

constexpr std::size_t kTopicsMax = 1'000;
constexpr std::size_t kUrlsMax = 64;

// --- kafka ---------------------------------------------------------------------------------------

struct OwnOption {
  std::string_view name;
  std::string_view reason;
};

// Options of librdkafka that the pipe's promises rest on, with the names librdkafka also knows them
// by.
constexpr OwnOption kOwnOptions[] = {
    {"acks", "an error record counts only when all replicas have it"},
    {"auto.commit.enable", "only the pipe commits offsets, and only of messages that are done"},
    {"auto.commit.interval.ms", "use `commit_every`"},
    {"auto.offset.reset", "use `start`"},
    {"batch.num.messages", "an error record that is too large must not block others"},
    {"bootstrap.servers", "use `brokers`"},
    {"delivery.report.only.error",
     "a failed message is done only once its error record is written"},
    {"delivery.timeout.ms", "error records are retried until they are written"},
    {"enable.auto.commit", "only the pipe commits offsets, and only of messages that are done"},
    {"enable.auto.offset.store",
     "only the pipe commits offsets, and only of messages that are done"},
    {"enable.idempotence", "error records are written once, and in order"},
    {"enable.partition.eof", "the pipe has to know where a partition ends"},
    {"fetch.message.max.bytes", "use `fetch_memory`"},
    {"fetch.max.bytes", "use `fetch_memory`"},
    {"group.id", "use `group`"},
    {"group.instance.id", "use `instance`"},
    {"max.in.flight", "error records are written once, and in order"},
    {"max.in.flight.requests.per.connection", "error records are written once, and in order"},
    {"max.partition.fetch.bytes", "use `fetch_memory`"},
    {"message.send.max.retries", "error records are retried until they are written"},
    {"message.timeout.ms", "error records are retried until they are written"},
    {"metadata.broker.list", "use `brokers`"},
    {"offset.store.method", "the brokers store offsets"},
    {"partition.assignment.strategy", "use `assignment`"},
    {"queued.max.messages.kbytes", "use `fetch_memory`"},
    {"queued.min.messages", "use `fetch_memory`"},
    {"receive.message.max.bytes", "a message too large to receive would block all others"},
    {"request.required.acks", "an error record counts only when all replicas have it"},
    {"retries", "error records are retried until they are written"},
    {"transactional.id", "a pipe needs no transactions: repeats change nothing"},
};

// Options that hold a secret.
constexpr std::string_view kSecretOptions[] = {
    "sasl.oauthbearer.client.secret", "sasl.password", "ssl.key.password", "ssl.key.pem",
    "ssl.keystore.password",          "ssl_key"};

void read_option(Reader& reader, const Member& member, std::vector<KafkaConfig::Option>& into) {
  const auto* own = std::find_if(std::begin(kOwnOptions), std::end(kOwnOptions),
                                 [&](const OwnOption& known) { return known.name == member.key; });
  if (own != std::end(kOwnOptions)) {
    reader.error("bad_option", member.key_at,
                 in_ticks(member.key) + " is set by the pipe: " + std::string(own->reason));
    return;
  }
  const bool is_name = !member.key.empty() && member.key.size() <= 100 &&
                       std::all_of(member.key.begin(), member.key.end(), [](char c) {
                         return is_letter(c) || is_digit(c) || c == '.' || c == '_';
                       });
  if (!is_name) {
    reader.error("bad_option", member.key_at,
                 in_quotes(member.key) +
                     " is not the name of a librdkafka option, such as `security.protocol`");
    return;
  }
  KafkaConfig::Option option{.name = member.key, .value = {}, .at = member.key_at};
  const Node& value = member.value;
  const bool is_secret = std::find(std::begin(kSecretOptions), std::end(kSecretOptions),
                                   member.key) != std::end(kSecretOptions);
  if (is_secret || value.text.starts_with("env:") || value.text.starts_with("file:")) {
    read_secret(reader, value, option.secret);
  } else if (value.kind == Node::Kind::number || value.kind == Node::Kind::boolean) {
    option.value = value.text;
  } else {
    read_plain_text(reader, value, "the value of an option: a text, a number, true or false",
                    option.value);
  }
  into.push_back(std::move(option));
}

void read_options(Reader& reader, const Node& node, KafkaConfig& kafka) {
  reader.members(node, "`options`",
                 [&](const Member& member) { read_option(reader, member, kafka.options); });
}

void read_partitions(Reader& reader, const Node& node, TopicChoice& topic) {
  if (!reader.is_list(node, "a list of partitions in brackets ([0, 2])")) return;
  if (node.items.empty())
    reader.error("bad_integer", node.at,
                 "the list of partitions is empty; leave the key out to read them all");
  std::unordered_set<std::int32_t> known;
  for (const Node& item : node.items) {
    if (reader.diagnostics().is_full()) return;
    const auto partition = reader.integer(item, 0, kIntegerMax);
    if (!partition) continue;
    if (!known.insert(*partition).second)
      reader.error("named_twice", item.at,
                   "the partition " + std::to_string(*partition) +
                       " is already in this list; keep one of them");
    topic.partitions.push_back(*partition);
  }
}

const Keys<TopicChoice>& topic_keys() {
  static const Keys<TopicChoice> keys{
      "topic",
      "a topic",
      {{{"topic", Shape::text, "the topic's name", {}, true},
        [](Reader& r, const Node& n, TopicChoice& t) { read_topic(r, n, t.name); }},
       {{"partitions", Shape::names, "which partitions to read, with `assignment: fixed` (all)"},
        read_partitions}}};
  return keys;
}

void read_topics(Reader& reader, const Node& node, KafkaConfig& kafka) {
  if (!reader.is_list(node, "a list of topics in brackets")) return;
  if (node.items.empty())
    reader.error("missing_key", node.at, "the list of topics is empty; a pipe reads at least one");
  if (node.items.size() > kTopicsMax) {
    reader.error("wrong_kind", node.at,
                 "a pipe reads at most " + std::to_string(kTopicsMax) +
                     " topics; split it into several pipes");
    return;
  }
  std::unordered_set<std::string> known;
  for (const Node& item : node.items) {
    if (reader.diagnostics().is_full()) return;
    TopicChoice topic{.name = {}, .at = item.at};
    if (item.kind == Node::Kind::map) {
      reader.keys(item, topic_keys(), topic);
    } else {
      read_topic(reader, item, topic.name);
    }
    if (topic.name.empty()) continue;
    if (!known.insert(topic.name).second)
      reader.error("named_twice", item.at,
                   "the topic " + in_ticks(topic.name) +
                       " is already in this list; keep one of them, with all its partitions");
    kafka.topics.push_back(std::move(topic));
  }
}

const Keys<KafkaConfig>& kafka_keys() {
  static const Keys<KafkaConfig> keys{
      "kafka",
      "`kafka`",
      {{{"brokers", Shape::text, "HOST:PORT,HOST:PORT of some of the brokers", {}, true},
        [](Reader& r, const Node& n, KafkaConfig& k) { read_brokers(r, n, k.brokers); }},
       {{"group",
         Shape::text,
         "the consumer group: offsets are committed under its name, and its members share the "
         "partitions",
         {},
         true},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          read_plain_text(r, n, "the name of a consumer group", k.group);
        }},
       {{"topics",
         Shape::names,
         "a list of topics: NAME, or `{topic: NAME, partitions: [0, 2]}`",
         {},
         true},
        read_topics},
       {{"start", Shape::word,
         "where to begin in a partition that has no committed offset: earliest or latest "
         "(earliest)"},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          static constexpr std::string_view kWords[] = {"earliest", "latest"};
          r.word(n, "a value of `start`", kWords, k.start);
        }},
       {{"assignment", Shape::word,
         "group: the members of the group share the partitions; fixed: this process reads the "
         "partitions in the file (group)"},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          static constexpr std::string_view kWords[] = {"group", "fixed"};
          r.word(n, "an assignment", kWords, k.assignment);
        }},
       {{"instance", Shape::text,
         "the name of this member, with which it keeps its partitions across a restart; must "
         "differ for each process"},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          read_plain_text(r, n, "the name of this member", k.instance);
        }},
       {{"drain_timeout", Shape::duration,
         "how long batches in flight may delay a rebalance, 0s to 5m (20s)"},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          read_span(r, n, {0s, 5min}, k.drain_timeout);
        }},
       {{"commit_every", Shape::duration, "how often to commit offsets, 10ms to 5m (1s)"},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          read_span(r, n, {10ms, 5min}, k.commit_every);
        }},
       {{"find_every", Shape::duration, "how often to look for new partitions, 1s to 1d (5m)"},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          read_span(r, n, {1s, 24h}, k.find_every);
        }},
       {{"fetch_memory", Shape::text,
         "memory for messages fetched ahead, all partitions together, 1MiB to 16GiB (32MiB)"},
        [](Reader& r, const Node& n, KafkaConfig& k) {
          read_size(r, n, {kMiB, 16 * kGiB}, k.fetch_bytes);
        }},
       {{"options", Shape::values,
         "any librdkafka option that the pipe does not set itself; write a secret as env:NAME or "
         "file:PATH"},
        read_options}}};
  return keys;
}

// --- transform -----------------------------------------------------------------------------------

void read_typed_field(Reader& reader, const Member& member, TransformConfig& transform) {
  if (!check_path(reader, member.key, member.key_at)) return;
  Field field;
  field_keys().find("type")->read(reader, member.value, field);
  transform.require.push_back({member.key, std::move(field.type), member.key_at});
}

void read_require(Reader& reader, const Node& node, TransformConfig& transform) {
  if (node.kind == Node::Kind::map) {
    if (!check_field_count(reader, node)) return;
    reader.members(node, "`require`",
                   [&](const Member& member) { read_typed_field(reader, member, transform); });
  } else if (reader.is_list(node, "fields: a list of names, or a map of names and types")) {
    for (Ref& field : read_field_list(reader, node, check_path))
      transform.require.push_back({std::move(field.name), {}, field.at.position});
  }
}

const Keys<TransformConfig>& index_keys() {
  static const Keys<TransformConfig> keys{
      "index",
      "`index`",
      {{{"daily", Shape::text, "NAME: one index per day, NAME-{time:%Y.%m.%d}", {}, true},
        [](Reader& r, const Node& n, TransformConfig& t) {
          std::string name;
          read_plain_text(r, n, "the prefix of the daily indices", name);
          if (!name.empty()) t.index = name + "-{time:%Y.%m.%d}";
        }}}};
  return keys;
}

void read_index(Reader& reader, const Node& node, TransformConfig& transform) {
  transform.index_at = node.at;
  const bool has_value = std::any_of(node.members.begin(), node.members.end(),
                                     [](const Member& member) { return !member.value.empty; });
  if (has_value) {
    reader.keys(node, index_keys(), transform);
  } else {
    read_plain_text(reader, node, "an index: a template (\"events-{topic}\") or {daily: NAME}",
                    transform.index);
  }
}

void read_time_format(Reader& reader, const Node& node, TransformConfig::Time& time) {
  static constexpr std::string_view kWords[] = {"millis", "seconds", "iso_8601"};
  if (node.kind == Node::Kind::text && node.text.find('%') != std::string::npos) {
    time.format = TransformConfig::Time::Format::pattern;
    read_plain_text(reader, node, "a pattern", time.pattern);
  } else {
    reader.word(node, "the format of a time (or a pattern such as \"%Y-%m-%d %H:%M:%S\")", kWords,
                time.format);
  }
}

const Keys<TransformConfig::Time>& time_keys() {
  using Time = TransformConfig::Time;
  static const Keys<Time> keys{
      "time",
      "`time`",
      {{{"field", Shape::text, "the field that holds the time: `timestamp`, `meta.at`", {}, true},
        [](Reader& r, const Node& n, Time& t) {
          std::string field;
          read_plain_text(r, n, "the name of a field", field);
          if (field.empty() || !check_path(r, field, n.at)) return;
          t.from = Time::From::field;
          t.field = field;
        }},
       {{"format", Shape::text, "millis, seconds, iso_8601 or a strptime pattern (iso_8601)"},
        read_time_format}}};
  return keys;
}

void read_time(Reader& reader, const Node& node, TransformConfig& transform) {
  using From = TransformConfig::Time::From;
  if (node.kind == Node::Kind::map) {
    reader.keys(node, time_keys(), transform.time);
    return;
  }
  static constexpr std::string_view kWords[] = {"message", "system"};
  enum class Clock { message, system } clock = Clock::message;
  reader.word(node, "a value of `time` (or {field: NAME, format: millis})", kWords, clock);
  transform.time.from = clock == Clock::system ? From::system : From::message;
}

void read_id(Reader& reader, const Node& node, TransformConfig& transform) {
  using From = TransformConfig::Id::From;
  constexpr std::string_view kField = "field:";
  if (node.kind == Node::Kind::text && node.text.starts_with(kField)) {
    const std::string field = node.text.substr(kField.size());
    if (check_path(reader, field, node.at)) transform.id = {From::field, field};
    return;
  }
  static constexpr std::string_view kWords[] = {"offset", "key", "auto"};
  enum class Word { offset, key, none } word = Word::offset;
  reader.word(node, "a value of `id` (or field:NAME)", kWords, word);
  transform.id.from = word == Word::key    ? From::key
                      : word == Word::none ? From::none
                                           : From::offset;
}

void read_rename(Reader& reader, const Node& node, TransformConfig& transform) {
  if (!check_field_count(reader, node)) return;
  std::unordered_set<std::string> known;
  reader.members(node, "`rename` (old: new)", [&](const Member& member) {
    std::string to;
    read_plain_text(reader, member.value, "the new name of a field", to);
    const bool is_field = check_field(reader, member.key, member.key_at);
    if (to.empty() || !check_field(reader, to, member.value.at) || !is_field) return;
    if (to == member.key)
      reader.error("contradiction", member.key_at,
                   in_quotes(to) + " is already its name; leave it out");
    if (!known.insert(to).second)
      reader.error(
          "named_twice", member.value.at,
          "another field is already renamed to " + in_quotes(to) + "; choose another name");
    transform.rename.emplace_back(member.key, std::move(to));
  });
}

void read_set(Reader& reader, const Node& node, TransformConfig& transform) {
  if (!check_field_count(reader, node)) return;
  reader.members(node, "`set` (field: value)", [&](const Member& member) {
    Value value = reader.value(member.value);
    if (check_field(reader, member.key, member.key_at))
      transform.set.push_back({member.key, std::move(value), {member.key_at}});
  });
}

const Keys<TransformConfig>& transform_keys() {
  using T = TransformConfig;
  static const Keys<T> keys{
      "transform",
      "`transform`",
      {{{"message", Shape::word,
         "plain: the message is the document; river: the message is {index, id, source} (plain)"},
        [](Reader& r, const Node& n, T& t) {
          static constexpr std::string_view kWords[] = {"plain", "river"};
          r.word(n, "a kind of message", kWords, t.message);
        }},
       {{"require", Shape::values,
         "fields that must be present and not null: a list of names, or name -> type"},
        read_require},
       {{"index", Shape::text,
         "where documents go: a template, or `{daily: NAME}`; required unless messages are `river`"},
        read_index},
       {{"time", Shape::text,
         "the time of a message: message (Kafka's timestamp), `{field: NAME, format: FORMAT}`, or "
         "system (message)"},
        read_time},
       {{"id", Shape::text,
         "the document id: offset (TOPIC-PARTITION-OFFSET), key, field:NAME or auto (offset)"},
        read_id},
       {{"op", Shape::word,
         "index, or create for data streams (index); create requires `id: offset` or `id: auto`"},
        [](Reader& r, const Node& n, T& t) {
          static constexpr std::string_view kWords[] = {"index", "create"};
          r.word(n, "an operation", kWords, t.op);
        }},
       {{"rename", Shape::values, "old name -> new name"}, read_rename},
       {{"drop", Shape::names, "fields to leave out"},
        [](Reader& r, const Node& n, T& t) {
          for (Ref& field : read_field_list(r, n, check_field))
            t.drop.push_back(std::move(field.name));
        }},
       {{"set", Shape::values, "field -> value, with `{expressions}` over `data`, the message"},
        read_set},
       {{"drop_if", Shape::expression, "skips messages for which it is true: `data.level < 3`"},
        [](Reader& r, const Node& n, T& t) { t.drop_if = r.expression(n); }},
       {{"tombstone", Shape::word,
         "what to do with a message without a value: skip, delete or error (skip)"},
        [](Reader& r, const Node& n, T& t) {
          static constexpr std::string_view kWords[] = {"skip", "delete", "error"};
          r.word(n, "a value of `tombstone`", kWords, t.tombstone);
        }},
       {{"allow_nondeterministic_index", Shape::boolean,
         "true: the index may depend on the clock, and a repeated message may become a second "
         "document (false)"},
        [](Reader& r, const Node& n, T& t) { r.boolean(n, t.allow_nondeterministic_index); }},
       {{"document_bytes", Shape::text,
         "larger documents go to the error topic, 1KiB to 100MiB (10MiB)"},
        [](Reader& r, const Node& n, T& t) {
          read_size(r, n, {kKiB, 100 * kMiB}, t.document_bytes_max);
        }}}};
  return keys;
}

// --- elasticsearch -------------------------------------------------------------------------------

void read_urls(Reader& reader, const Node& node, SearchConfig& search) {
  if (!reader.is_list(node, "a list of URLs in brackets")) return;
  if (node.items.empty())
    reader.error("missing_key", node.at,
                 "the list of URLs is empty; name at least one search node");
  if (node.items.size() > kUrlsMax) {
    reader.error("wrong_kind", node.at,
                 "a pipe has at most " + std::to_string(kUrlsMax) + " search nodes");
    return;
  }
  for (const Node& item : node.items) {
    std::string url;
    read_node_url(reader, item, url);
    if (url.empty()) continue;
    if (std::find(search.urls.begin(), search.urls.end(), url) != search.urls.end())
      reader.error("named_twice", item.at,
                   in_quotes(url) + " is already in this list; keep one of them");
    search.urls.push_back(std::move(url));
  }
}

const Keys<SearchConfig>& search_keys() {
  using S = SearchConfig;
  static const Keys<S> keys{
      "elasticsearch",
      "`elasticsearch`",
      {{{"urls", Shape::names, "http://HOST:PORT or https://HOST:PORT of its nodes"}, read_urls},
       {{"url", Shape::text, "the same, for a single node"},
        [](Reader& r, const Node& n, S& s) {
          std::string url;
          read_node_url(r, n, url);
          if (!url.empty()) s.urls = {url};
        }},
       {{"user", Shape::text, "for basic authentication, with `password`"},
        [](Reader& r, const Node& n, S& s) {
          read_plain_text(r, n, "the name of a user", s.user);
        }},
       {{"password", Shape::text, "env:NAME or file:PATH"},
        [](Reader& r, const Node& n, S& s) { read_secret(r, n, s.password); }},
       {{"api_key", Shape::text, "env:NAME or file:PATH, instead of `user` and `password`"},
        [](Reader& r, const Node& n, S& s) { read_secret(r, n, s.api_key); }},
       {{"certificates", Shape::text,
         "a PEM file of certificate authorities to trust, instead of the system's"},
        [](Reader& r, const Node& n, S& s) { read_plain_text(r, n, "a file", s.certificates); }},
       {{"timeout", Shape::duration, "how long one bulk request may take, 1s to 10m (60s)"},
        [](Reader& r, const Node& n, S& s) {
          read_span(r, n, {1s, 10min}, s.timeout);
        }},
       {{"bulks", Shape::positive, "the most bulk requests in flight, 1 to 64 (8)"},
        [](Reader& r, const Node& n, S& s) {
          s.bulks_max = r.integer(n, 1, 64).value_or(s.bulks_max);
        }},
       {{"gzip", Shape::boolean, "compresses bulk requests (false)"},
        [](Reader& r, const Node& n, S& s) { r.boolean(n, s.gzip); }},
       {{"pipeline", Shape::text, "an ingest pipeline of the search engine"},
        [](Reader& r, const Node& n, S& s) {
          read_plain_text(r, n, "the name of an ingest pipeline", s.pipeline);
        }}},
      {"urls", "url"},
      true};
  return keys;
}

// --- errors, batch -------------------------------------------------------------------------------

const Keys<ErrorsConfig>& errors_keys() {
  using E = ErrorsConfig;
  static const Keys<E> keys{
      "errors",
      "`errors`",
      {{{"topic", Shape::text, "the topic for failed messages (_errors)"},
        [](Reader& r, const Node& n, E& e) { read_topic(r, n, e.topic); }},
       {{"format", Shape::word,
         "headers: the original message, with the reason in headers; json: everything in one "
         "document (headers)"},
        [](Reader& r, const Node& n, E& e) {
          static constexpr std::string_view kWords[] = {"headers", "json"};
          r.word(n, "a format", kWords, e.format);
        }},
       {{"connect_headers", Shape::boolean,
         "also writes Kafka Connect's headers, `__connect.errors.*` (false)"},
        [](Reader& r, const Node& n, E& e) { r.boolean(n, e.connect_headers); }}}};
  return keys;
}

const Keys<BatchConfig>& batch_keys() {
  using B = BatchConfig;
  static const Keys<B> keys{
      "batch",
      "`batch`",
      {{{"messages", Shape::positive, "the most messages in a batch, 1 to 100000 (5000)"},
        [](Reader& r, const Node& n, B& b) {
          b.messages = r.integer(n, 1, 100'000).value_or(b.messages);
        }},
       {{"bytes", Shape::text, "the most bytes in a batch, 64KiB to 64MiB (1MiB)"},
        [](Reader& r, const Node& n, B& b) {
          read_size(r, n, {64 * kKiB, 64 * kMiB}, b.bytes);
        }},
       {{"linger", Shape::duration, "how long a batch waits to fill up, 0s to 60s (50ms)"},
        [](Reader& r, const Node& n, B& b) {
          read_span(r, n, {0s, 60s}, b.linger);
        }},
       {{"in_flight", Shape::positive,
         "batches of one partition in flight, 1 to 16; 1: strict order (2)"},
        [](Reader& r, const Node& n, B& b) {
          b.in_flight = r.integer(n, 1, 16).value_or(b.in_flight);
        }},
       {{"memory", Shape::text,
         "memory for batches in flight, all partitions together, 1MiB to 16GiB (32MiB)"},
        [](Reader& r, const Node& n, B& b) {
          read_size(r, n, {kMiB, 16 * kGiB}, b.memory);
        }}}};
  return keys;
}

// --- the whole -----------------------------------------------------------------------------------

const Keys<PipeConfig>& pipe_keys() {
  using P = PipeConfig;
  static const auto read_search = [](Reader& r, const Node& n, P& p) {
    r.keys(n, search_keys(), p.search);
  };
  static const Keys<P> keys{
      "pipe",
      "a pipe",
      {{{"pipe", Shape::name, "the pipe's name, shown in views and used in commands", {}, true},
        [](Reader& r, const Node& n, P& p) { r.name(n, "a pipe", p.name); }},
       {{"kafka", Shape::values, "where messages come from", {}, true},
        [](Reader& r, const Node& n, P& p) { r.keys(n, kafka_keys(), p.kafka); }},
       {{"transform", Shape::values, "how a message becomes a document", {}, true},
        [](Reader& r, const Node& n, P& p) { r.keys(n, transform_keys(), p.transform); }},
       {{"elasticsearch", Shape::values, "where documents go"}, read_search},
       {{"opensearch", Shape::values, "another name for `elasticsearch`"}, read_search},
       {{"errors", Shape::values, "where failed messages go"},
        [](Reader& r, const Node& n, P& p) { r.keys(n, errors_keys(), p.errors); }},
       {{"batch", Shape::values, "how much to send at once"},
        [](Reader& r, const Node& n, P& p) { r.keys(n, batch_keys(), p.batch); }},
       {{"workers", Shape::positive, "threads that transform and send, 1 to 64 (one per core)"},
        [](Reader& r, const Node& n, P& p) {
          p.workers = r.integer(n, 1, 64).value_or(p.workers);
        }},
       {{"machine", Shape::text,
         "a machine file with the states and the error table (the built-in one)"},
        [](Reader& r, const Node& n, P& p) { read_plain_text(r, n, "a file", p.machine); }}},
      {"elasticsearch", "opensearch"},
      true};
  return keys;
}

// What read_tree says of machine files, said of pipes.
std::string of_pipes(std::string_view id, std::string message) {
  if (id == "empty_file") return "the file is empty; a pipe begins with `pipe: name`";
  if (id == "several_documents")
    return "a file holds one pipe; put the second one in a file of its own";
  if (id == "alias") return "aliases (*name) are not part of pipe files; write the value again";
  if (id == "merge_key") return "merge keys (<<) are not part of pipe files; write the keys here";
  if (id == "too_many_values")
    return message.substr(0, message.find(';')) + "; split it into several pipes";
  constexpr std::string_view kMachineFile = "machine file";
  if (const std::size_t at = message.find(kMachineFile); at != std::string::npos)
    message.replace(at, kMachineFile.size(), "pipe file");
  return message;
}

std::optional<Node> read_pipe_tree(std::string_view text, Diagnostics& diagnostics) {
  Diagnostics found;
  auto tree = read_tree(text, found);
  for (const Diagnostic& finding : found.sorted())
    if (finding.id != "too_many_findings")
      diagnostics.error(finding.id, finding.position, of_pipes(finding.id, finding.message));
  return tree;
}

template <class T>
KeyPlace place_of(const Keys<T>& known) {
  KeyPlace place{known.name, known.subject, {}, known.one_of, known.one_needed};
  for (const KeyOf<T>& key : known.keys) place.keys.push_back(key.key);
  return place;
}

}  // namespace

std::optional<PipeConfig> read_pipe(std::string_view text, Diagnostics& diagnostics) {
  const auto tree = read_pipe_tree(text, diagnostics);
  if (!tree) return std::nullopt;
  Reader reader(diagnostics);
  PipeConfig config;
  reader.keys(*tree, pipe_keys(), config);
  if (!diagnostics.is_full()) check_pipe(reader, *tree, config);
  if (diagnostics.has_errors()) return std::nullopt;
  return config;
}

std::vector<KeyPlace> pipe_key_places() {
  return {place_of(pipe_keys()),      place_of(kafka_keys()),  place_of(topic_keys()),
          place_of(transform_keys()), place_of(index_keys()),  place_of(time_keys()),
          place_of(search_keys()),    place_of(errors_keys()), place_of(batch_keys())};
}

}  // namespace pawl
