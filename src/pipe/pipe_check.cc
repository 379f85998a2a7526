#include "pipe/pipe_check.h"

#include <simdjson.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "pipe/action_line.h"
#include "pipe/offset_choice.h"
#include "pipe/pipe_codes.h"
#include "pipe/topic_reader.h"
#include "pipe/transform.h"

namespace pawl {
namespace {

using kafka::PartitionId;
using FindingKind = CheckFinding::Kind;
using std::chrono::milliseconds;

constexpr std::int64_t kHeadersRoom = 8 << 10;  // of the headers of an error, with its reason
constexpr std::size_t kBulkMuch = 90U << 20U;   // search engines take 100 MB unless told otherwise
constexpr int kTypelessSince = 7;

std::string number(std::int64_t count, const char* what) {
  return counted(static_cast<std::size_t>(count), what);
}

// --- Kafka -------------------------------------------------------------------------------------

// What to do about an error of the client itself.
std::string remedy_of(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__RESOLVE:
      return "a host in `kafka.brokers` does not resolve: correct the name, or fix DNS on this "
             "machine";
    case RD_KAFKA_RESP_ERR__SSL:
      return "the TLS handshake failed: compare `security.protocol`, `ssl.ca.location` and "
             "`ssl.certificate.location` in `kafka.options` with the brokers' listener";
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return "the brokers rejected the login: check `sasl.mechanism`, `sasl.username` and "
             "`sasl.password` in `kafka.options`";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return "allow this user to read the group";
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return "allow this user to describe the cluster";
    default:
      return "check that the brokers are running, that `kafka.brokers` has their hosts and ports, "
             "and that `security.protocol` in `kafka.options` matches the listener";
  }
}

// Of a code that asking for a topic failed with.
std::string remedy_of(std::string_view code) {
  if (code == pipe_code::kTopicNotFound)
    return "create the topic, or correct its name; a user without permission to describe it "
           "cannot see it";
  return "try again; if it persists, look at the brokers' log";
}

class KafkaCheck {
 public:
  KafkaCheck(const PipeConfig& config, const PipeCheckOptions& options, PipeCheck& into)
      : config_(config), options_(options), into_(into) {}

  // Whether the brokers answer.
  bool reach();
  void look_at_topics();
  void look_at_errors();

 private:
  struct Heard {
    rd_kafka_resp_err_t error;
    std::string text;
  };

  static void on_error(rd_kafka_t*, int error, const char* reason, void* self);
  void say_unreachable(rd_kafka_resp_err_t error);
  void look_at_topic(const TopicChoice& choice);
  void look_at_sizes();
  bool has_all(const TopicChoice& choice, const std::vector<std::int32_t>& there);
  bool look_at_offsets(TopicFound& topic);
  void say_topic(const TopicFound& topic);
  void add(FindingKind kind, std::string about, std::string text, std::string remedy = "") {
    into_.findings.push_back({kind, std::move(about), std::move(text), std::move(remedy)});
  }

  const PipeConfig& config_;
  const PipeCheckOptions& options_;
  PipeCheck& into_;
  std::vector<Heard> heard_;  // outlives the client
  kafka::Client client_;
  std::optional<std::int64_t> errors_bytes_max_;
};

void KafkaCheck::on_error(rd_kafka_t*, int error, const char* reason, void* self) {
  static_cast<KafkaCheck*>(self)->heard_.push_back(
      {static_cast<rd_kafka_resp_err_t>(error), reason != nullptr ? reason : ""});
}

// Asks as a member of the group would, which it never becomes.
bool KafkaCheck::reach() {
  auto conf = kafka::make_conf(config_.kafka, {{"group.id", config_.kafka.group},
                                               {"enable.auto.commit", "false"},
                                               {"allow.auto.create.topics", "false"},
                                               {"reconnect.backoff.max.ms", "1000"}});
  if (!conf) {
    add(FindingKind::problem, "brokers", conf.error().message, "correct `kafka.options`");
    return false;
  }
  rd_kafka_conf_set_opaque(conf->get(), this);
  rd_kafka_conf_set_error_cb(conf->get(), on_error);
  auto client = kafka::make_client(RD_KAFKA_CONSUMER, *std::move(conf));
  if (!client) {
    add(FindingKind::problem, "brokers", client.error().message, "correct `kafka.options`");
    return false;
  }
  client_ = *std::move(client);
  const rd_kafka_metadata_t* answer = nullptr;
  const auto error = rd_kafka_metadata(client_.get(), 0, nullptr, &answer,
                                       static_cast<int>(options_.patience.count()));
  const kafka::Metadata metadata(answer);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    say_unreachable(error);
    return false;
  }
  for (int i = 0; i < metadata->broker_cnt; ++i)
    into_.brokers.push_back(std::string(metadata->brokers[i].host) + ":" +
                            std::to_string(metadata->brokers[i].port));
  std::sort(into_.brokers.begin(), into_.brokers.end());
  add(FindingKind::ok, "brokers",
      counted(into_.brokers.size(), "broker") + ": " + join(into_.brokers, ", ", ", "));
  return true;
}

// What was told on the way says more than that the time is over; of that all brokers are down, the
// least.
void KafkaCheck::say_unreachable(rd_kafka_resp_err_t error) {
  while (rd_kafka_poll(client_.get(), 0) > 0) continue;
  std::string text;
  for (const Heard& heard : heard_) {
    if (heard.error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) continue;
    error = heard.error;
    text = heard.text;
    break;
  }
  add(FindingKind::problem, "brokers",
      "no broker in " + config_.kafka.brokers + " answers: " + kafka::to_text(error) +
          (text.empty() ? "" : ": " + text),
      remedy_of(error));
}

void KafkaCheck::look_at_topics() {
  for (const TopicChoice& choice : config_.kafka.topics) look_at_topic(choice);
  look_at_sizes();
  for (const TopicFound& topic : into_.topics) say_topic(topic);
}

// Of all topics at once, and without much patience: nothing depends on it but a comparison.
void KafkaCheck::look_at_sizes() {
  std::vector<std::string> names;
  for (const TopicFound& topic : into_.topics) names.push_back(topic.name);
  names.push_back(config_.errors.topic);
  const auto sizes = kafka::message_bytes_max_of(client_.get(), names, options_.patience / 10);
  for (std::size_t i = 0; i < into_.topics.size(); ++i)
    into_.topics[i].message_bytes_max = sizes[i];
  errors_bytes_max_ = sizes.back();
}

void KafkaCheck::look_at_topic(const TopicChoice& choice) {
  const std::string about = "topic " + choice.name;
  std::string_view code;
  const auto there = kafka::partitions_of(client_.get(), choice.name, options_.patience, &code);
  if (!there) {
    add(FindingKind::problem, about, there.error().message, remedy_of(code));
    return;
  }
  if (!has_all(choice, *there)) return;
  TopicFound topic{.name = choice.name};
  for (const std::int32_t partition : choice.partitions.empty() ? *there : choice.partitions)
    topic.partitions.push_back({.partition = partition});
  if (!look_at_offsets(topic)) return;
  into_.topics.push_back(std::move(topic));
}

bool KafkaCheck::has_all(const TopicChoice& choice, const std::vector<std::int32_t>& there) {
  std::vector<std::string> missing;
  for (const std::int32_t partition : choice.partitions)
    if (!std::binary_search(there.begin(), there.end(), partition))
      missing.push_back(std::to_string(partition));
  if (missing.empty()) return true;
  add(FindingKind::problem, "topic " + choice.name,
      "it has " + counted(there.size(), "partition") + ", but no partition " +
          join(missing, ", ", " or "),
      "correct `partitions` of this topic, or add partitions to the topic");
  return false;
}

// Where it reaches from and to, and where the group is.
bool KafkaCheck::look_at_offsets(TopicFound& topic) {
  const kafka::Partitions committed(
      rd_kafka_topic_partition_list_new(static_cast<int>(topic.partitions.size())));
  std::vector<PartitionId> ids;
  for (const PartitionFound& found : topic.partitions) {
    ids.push_back({topic.name, found.partition});
    rd_kafka_topic_partition_list_add(committed.get(), topic.name.c_str(), found.partition);
  }
  std::string_view code;
  const auto ends = kafka::ends_of(client_.get(), ids, options_.patience, &code);
  if (!ends) {
    add(FindingKind::problem, "topic " + topic.name, ends.error().message, remedy_of(code));
    return false;
  }
  auto error = rd_kafka_committed(client_.get(), committed.get(),
                                  static_cast<int>(options_.patience.count()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    PartitionFound& found = topic.partitions[i];
    const rd_kafka_topic_partition_t& answer = committed->elems[i];
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = answer.err;
    found.ends = (*ends)[i];
    if (answer.offset >= 0) found.committed = answer.offset;
    found.lag =
        found.ends.high - choose_offset(found.committed, found.ends, config_.kafka.start).offset;
  }
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  add(FindingKind::problem, "group " + config_.kafka.group,
      "cannot get its committed offsets in " + in_ticks(topic.name) + ": " + kafka::to_text(error),
      remedy_of(error));
  return false;
}

void KafkaCheck::say_topic(const TopicFound& topic) {
  std::int64_t there = 0;
  std::int64_t lag = 0;
  std::int64_t lost = 0;
  std::int64_t beyond = 0;
  std::size_t fresh = 0;
  for (const PartitionFound& found : topic.partitions) {
    there += found.ends.high - found.ends.low;
    lag += found.lag;
    if (!found.committed) ++fresh;
    if (found.committed && *found.committed < found.ends.low)
      lost += found.ends.low - *found.committed;
    if (found.committed && *found.committed > found.ends.high) ++beyond;
  }
  add(FindingKind::ok, "topic " + topic.name,
      counted(topic.partitions.size(), "partition") + ", " + number(there, "message") +
          (topic.message_bytes_max
               ? ", each at most " + std::to_string(*topic.message_bytes_max) + " bytes"
               : ""));
  const std::string about = "group " + config_.kafka.group;
  std::string text = number(lag, "message") + " of " + in_ticks(topic.name) + " to read";
  if (fresh > 0)
    text += "; " + counted(fresh, "partition") + " without a committed offset: starting at the " +
            (config_.kafka.start == KafkaConfig::Start::earliest ? "first message" : "end");
  add(FindingKind::ok, about, text);
  if (lost > 0)
    add(FindingKind::warning, about,
        number(lost, "message") + " of " + in_ticks(topic.name) +
            " were deleted before they were read: the error topic will record which",
        "give the topic a longer retention, or run the pipe more often");
  if (beyond > 0)
    add(FindingKind::warning, about,
        "the committed offsets of " + number(beyond, "partition") + " of " + in_ticks(topic.name) +
            " are beyond the end of the topic: the pipe continues at the end",
        "if the topic was recreated, use another `group` to read all of it");
}

void KafkaCheck::look_at_errors() {
  const std::string& name = config_.errors.topic;
  const std::string about = "errors " + name;
  std::string_view code;
  const auto there = kafka::partitions_of(client_.get(), name, options_.patience, &code);
  if (!there) {
    add(FindingKind::problem, about, there.error().message,
        code == pipe_code::kTopicNotFound
            ? "create it, with room for the largest message: until it exists, a message that "
              "fails blocks its partition"
            : remedy_of(code));
    return;
  }
  into_.findings.push_back(about_errors_limit(config_.errors, errors_bytes_max_, into_.topics));
}

// --- The search engine -------------------------------------------------------------------------

std::string member(const simdjson::dom::element& document, const char* pointer) {
  std::string_view text;
  return document.at_pointer(pointer).get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

void read_version(const std::string& body, NodeFound& found) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(body).get(document) != simdjson::SUCCESS) return;
  found.version = member(document, "/version/number");
  if (found.version.empty()) return;
  const std::string distribution = member(document, "/version/distribution");
  found.distribution = distribution == "opensearch" ? "OpenSearch"
                       : distribution.empty()       ? "Elasticsearch"
                                                    : distribution;
}

bool is_too_old(const NodeFound& found) {
  if (found.distribution != "Elasticsearch") return false;
  const auto major = parse_whole(found.version.substr(0, found.version.find('.')));
  return major && *major < kTypelessSince;
}

void look_at_search(const PipeConfig& config, const PipeCheckOptions& options, PipeCheck& into) {
  SearchConfig search = config.search;
  search.timeout = std::min<Duration>(search.timeout, options.patience);
  const auto cluster = SearchCluster::make(search);
  if (!cluster) {
    into.findings.push_back({FindingKind::problem, "search", cluster.error().message,
                             "correct the file, or the secret it points to"});
    return;
  }
  bool is_reached = false;
  for (const SearchCluster::Asked& asked : (*cluster)->ask_all("/")) {
    NodeFound found{.url = asked.url};
    into.findings.push_back(about_node(asked, found));
    into.nodes.push_back(std::move(found));
    is_reached |= asked.status == 200;
  }
  if (config.search.pipeline.empty() || !is_reached) return;
  for (const auto& asked : (*cluster)->ask_all("/_ingest/pipeline/" + config.search.pipeline)) {
    if (asked.status == 404)
      into.findings.push_back({FindingKind::problem, "search " + asked.url,
                               "there is no ingest pipeline " + in_ticks(config.search.pipeline),
                               "create it, or correct `pipeline`"});
    if (asked.status != 0) return;
  }
}

// --- The transformation ------------------------------------------------------------------------

class Trial {
 public:
  Trial(const Transform& transform, const PipeMachine& machine, Instant now, DryRun& run)
      : transform_(transform), machine_(machine), now_(now), run_(run) {}

  void take(const rd_kafka_message_t& message) {
    ++run_.messages;
    const SourceMessage source = kafka::view_of(message);
    body_.clear();
    const auto outcome = transform_.append(source, 0, now_, workbench_, body_);
    switch (outcome.kind) {
      case Transform::Outcome::Kind::appended:
        ++run_.documents;
        ++run_.indices[read_action_line(body_.lines(body_.items.front())).index];
        return;
      case Transform::Outcome::Kind::skipped:
        ++run_.skipped;
        return;
      case Transform::Outcome::Kind::failed:
        break;
    }
    DryRun::Failed& failed = run_.failed[std::string(outcome.code)];
    if (++failed.messages > 1) return;
    failed.action = machine_.item_action("transform", outcome.code);
    failed.first =
        run_.topic + "/" + std::to_string(source.partition) + "/" + std::to_string(source.offset);
    failed.reason = outcome.reason;
  }

 private:
  const Transform& transform_;
  const PipeMachine& machine_;
  const Instant now_;
  DryRun& run_;
  Transform::Workbench workbench_;
  BulkBody body_;
};

void try_topic(const PipeConfig& config, const PipeMachine& machine, const Transform& transform,
               const PipeCheckOptions& options, const TopicFound& topic, PipeCheck& into) {
  DryRun run{.topic = topic.name};
  Trial trial(transform, machine, options.now, run);
  kafka::TopicReading reading{
      .message = [&](const rd_kafka_message_t& message) { trial.take(message); },
      .patience = options.patience,
      .last = options.messages};
  for (const PartitionFound& found : topic.partitions)
    reading.partitions.push_back(found.partition);
  const auto read = kafka::read_topic(config.kafka, topic.name, reading);
  if (read) {
    into.findings.push_back(about_dry_run(run));
  } else {
    into.findings.push_back(
        {FindingKind::problem, "transform " + topic.name, read.error().message,
         "allow this user to read the topic; otherwise look at the brokers' log"});
  }
  into.dry_runs.push_back(std::move(run));
}

void try_messages(const PipeConfig& config, const PipeMachine& machine,
                  const PipeCheckOptions& options, PipeCheck& into) {
  const auto transform = Transform::make(config.transform);
  if (!transform) {
    into.findings.push_back({FindingKind::problem, "transform", transform.error().message,
                             "correct `transform` in the file"});
    return;
  }
  if (!(*transform)->is_repeatable())
    into.findings.push_back({FindingKind::warning, "transform",
                             "a repeated message may become a second document, as the file allows",
                             "choose an `id` and an `index` that depend on the message alone"});
  if (options.messages == 0) return;
  for (const TopicFound& topic : into.topics)
    try_topic(config, machine, **transform, options, topic, into);
}

// --- The plan ----------------------------------------------------------------------------------

void make_plan(const PipeConfig& config, const PipeCheckOptions& options, PipeCheck& into) {
  std::size_t partitions = 0;
  for (const TopicFound& topic : into.topics) partitions += topic.partitions.size();
  into.is_plan_of_kafka = partitions > 0;
  into.plan = plan_of(config, partitions > 0 ? partitions : kPartitionsGuess, options.cores);
  if (into.plan.fetch_memory() > config.kafka.fetch_bytes)
    into.findings.push_back(
        {FindingKind::warning, "plan",
         "this many partitions need " + size_text(into.plan.fetch_memory()) +
             " to fetch ahead, which is more than `fetch_memory`",
         "spread the partitions over more processes of this group, or raise `fetch_memory`"});
  if (into.plan.batch_bytes > kBulkMuch)
    into.findings.push_back(
        {FindingKind::warning, "plan",
         "bulks of " + size_text(into.plan.batch_bytes) +
             " are near the limit of what a search engine accepts in one request",
         "make `batch.bytes` smaller, or `http.max_content_length` larger"});
}

}  // namespace

const char* to_text(CheckFinding::Kind kind) {
  switch (kind) {
    case FindingKind::ok:
      return "ok";
    case FindingKind::warning:
      return "warning";
    case FindingKind::problem:
      break;
  }
  return "problem";
}

bool PipeCheck::is_good() const {
  return std::none_of(findings.begin(), findings.end(), [](const CheckFinding& finding) {
    return finding.kind == FindingKind::problem;
  });
}

PipeCheck check_pipe(const PipeConfig& config, const PipeMachine& machine,
                     const PipeCheckOptions& options) {
  PipeCheck check;
  KafkaCheck brokers(config, options, check);
  if (brokers.reach()) {
    brokers.look_at_topics();
    brokers.look_at_errors();
  }
  look_at_search(config, options, check);
  try_messages(config, machine, options, check);
  make_plan(config, options, check);
  return check;
}

CheckFinding about_dry_run(const DryRun& run) {
  const std::string about = "transform " + run.topic;
  if (run.messages == 0) return {FindingKind::ok, about, "no messages to try"};
  const std::size_t failed = run.messages - run.documents - run.skipped;
  const std::string text = "of the last " + counted(run.messages, "message") + ", " +
                           counted(run.documents, "document") + ", " + std::to_string(run.skipped) +
                           " skipped, " + std::to_string(failed) + " failed";
  const std::string remedy =
      failed == 0 ? ""
                  : "compare `transform` with these messages; the first one for each code is below";
  const bool is_again = std::any_of(run.failed.begin(), run.failed.end(), [](const auto& one) {
    return one.second.action == PipeMachine::ItemAction::again;
  });
  if (is_again)
    return {FindingKind::problem, about, text + ", some of which the machine would retry forever",
            "handle the code with `give_up` in the machine: a bad message does not get better"};
  return {failed == 0              ? FindingKind::ok
          : failed == run.messages ? FindingKind::problem
                                   : FindingKind::warning,
          about, text, remedy};
}

CheckFinding about_errors_limit(const ErrorsConfig& errors, std::optional<std::int64_t> errors_max,
                                const std::vector<TopicFound>& topics) {
  const std::string about = "errors " + errors.topic;
  const TopicFound* largest = nullptr;
  for (const TopicFound& topic : topics)
    if (topic.message_bytes_max &&
        (largest == nullptr || *topic.message_bytes_max > *largest->message_bytes_max))
      largest = &topic;
  if (!errors_max || largest == nullptr)
    return {FindingKind::ok, about,
            "it exists; the brokers do not say how large its messages may be"};
  const std::int64_t source_max = *largest->message_bytes_max;
  // Bytes that are no text grow by a third as base64.
  const std::int64_t needed =
      (errors.format == ErrorsConfig::Format::json ? source_max / 3 * 4 + 4 : source_max) +
      kHeadersRoom;
  const std::string text = "messages of at most " + std::to_string(*errors_max) + " bytes";
  if (*errors_max >= needed) return {FindingKind::ok, about, "it exists, " + text};
  const std::string why = text + ", but one of " + in_ticks(largest->name) + " may have " +
                          std::to_string(source_max) +
                          ": the largest would be recorded without their payload";
  const std::string remedy = "set `max.message.bytes` of " + in_ticks(errors.topic) + " to " +
                             std::to_string(needed) + " or more";
  return {*errors_max < source_max ? FindingKind::problem : FindingKind::warning, about, why,
          remedy};
}

CheckFinding about_node(const SearchCluster::Asked& asked, NodeFound& found) {
  const std::string about = "search " + asked.url;
  found.status = asked.status;
  if (asked.status == 0)
    return {FindingKind::problem, about, "it does not answer: " + asked.why,
            "check that it is running and that the URL is right: http or https, host, port; with "
            "https, that `certificates` contains its certificate authority"};
  const std::string status = "it answers with HTTP " + std::to_string(asked.status);
  if (asked.status == 401)
    return {FindingKind::problem, about, status + ": it rejects the pipe's credentials",
            "check `user` and `password`, or `api_key`"};
  if (asked.status == 403 || asked.status == 405)
    return {FindingKind::ok, about,
            status + " when asked for its version; bulk requests may still be allowed"};
  if (asked.status / 100 == 3)
    return {FindingKind::problem, about, status + ", a redirect",
            "write the URL it redirects to: a pipe does not follow redirects"};
  if (asked.status != 200)
    return {FindingKind::problem, about, status,
            asked.status >= 500 ? "wait until it is ready, or look at its log"
                                : "check that this is the URL of the search engine"};
  read_version(asked.body, found);
  if (found.version.empty())
    return {FindingKind::warning, about, "it answers, but gives no version",
            "check that this is the URL of a search engine"};
  if (is_too_old(found))
    return {FindingKind::problem, about,
            found.distribution + " " + found.version +
                " requires mapping types, which the pipe does not write",
            "use Elasticsearch 7 or later, or OpenSearch"};
  return {FindingKind::ok, about, found.distribution + " " + found.version};
}

std::string size_text(std::size_t bytes) {
  constexpr std::pair<std::size_t, const char*> kUnits[] = {
      {std::size_t{1} << 30U, " GiB"}, {std::size_t{1} << 20U, " MiB"}, {1U << 10U, " KiB"}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes < unit) continue;
    const std::size_t tenths = bytes * 10 / unit;
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
    return text + name;
  }
  return counted(bytes, "byte");
}

}  // namespace pawl
