// pawl pipe errors replay: messages that failed, once more.
//
// The topic is read twice: first to know which record of each message is the latest and whether it
// is wanted, then to send those. So payloads are never all in memory.
#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <set>

#include "base/text.h"
#include "cli/error_survey.h"
#include "cli/pipe_verbs.h"
#include "cli/store_files.h"
#include "cli/verb.h"
#include "pipe/pipe_codes.h"

namespace pawl::cli {
namespace {

constexpr std::string_view kReplayed = "pawl.replayed";
constexpr std::size_t kNamesShown = 20;  // of those that were not replayed

struct ReplayOptions : ErrorsOptions {
  std::string to;
  bool dry_run = false;
};

// Whether the message itself is gone: it was too large, or is one of many that were lost.
bool is_without_message(const ErrorRecord& record) {
  return record.payload_omitted || record.last_offset.has_value();
}

KafkaMessage replayed_message(ErrorRecord record) {
  const std::string key = error_key(record);
  KafkaMessage message = std::move(record.original);
  std::erase_if(message.headers, [](const auto& header) { return header.first == kReplayed; });
  message.headers.emplace_back(std::string(kReplayed), key);
  return message;
}

class Replay {
 public:
  Replay(const ErrorsPlace& place, const ReplayOptions& options, const Surroundings& surroundings)
      : place_(place), options_(options), surroundings_(surroundings) {}

  ExitCode run(const std::vector<SurveyedError>& records) {
    for (const SurveyedError& found : records) {
      if (is_without_message(found.record)) {
        without_message_.push_back(error_key(found.record));
      } else {
        wanted_.emplace(found.partition, found.offset);
        targets_.insert(options_.to.empty() ? found.record.topic : options_.to);
      }
    }
    if (options_.dry_run) done_ = wanted_.size();
    const auto sent = options_.dry_run || wanted_.empty() ? Result<void>() : send();
    const ExitCode code = say();
    return sent ? code : report(sent.error(), "", "", surroundings_.err);
  }

 private:
  Result<void> send() {
    PAWL_TRY(producer_, make_producer());
    PAWL_CHECK(find_targets());
    const auto read = kafka::read_topic(
        place_.kafka, place_.topic,
        reading_of(place_, surroundings_, [&](const auto& message) { take(message); }));
    end_progress_line(surroundings_);
    const auto at_most = place_.patience + std::chrono::seconds{5};
    rd_kafka_flush(producer_.get(), static_cast<int>(at_most.count()));
    producer_.reset();
    while (!on_their_way_.empty())  // of a producer that broke
      settle(on_their_way_.begin()->first, RD_KAFKA_RESP_ERR__TIMED_OUT);
    return read;
  }

  // Else each message would be waited for until its time is over.
  Result<void> find_targets() {
    for (const std::string& topic : targets_) {
      std::string_view code;
      const auto found = kafka::partitions_of(producer_.get(), topic, place_.patience, &code);
      if (!found && code == pipe_code::kTopicNotFound) return found.error();
    }
    return {};
  }

  Result<kafka::Client> make_producer() {
    PAWL_TRY(kafka::Conf conf,
             kafka::make_conf(place_.kafka,
                              {{"acks", "all"},
                               {"enable.idempotence", "true"},
                               {"message.timeout.ms", std::to_string(place_.patience.count())},
                               {"message.max.bytes", "50000000"},
                               {"batch.size", "500000"},
                               {"queue.buffering.max.kbytes", "65536"},
                               {"partitioner", "murmur2_random"},
                               {"topic.metadata.propagation.max.ms", "5000"}}));
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_dr_msg_cb(
        conf.get(), [](rd_kafka_t*, const rd_kafka_message_t* report, void* replay) {
          const auto serial = reinterpret_cast<std::uint64_t>(report->_private);  // NOLINT
          static_cast<Replay*>(replay)->settle(serial, report->err);
        });
    return kafka::make_client(RD_KAFKA_PRODUCER, std::move(conf));
  }

  void take(const rd_kafka_message_t& message) {
    if (wanted_.erase({message.partition, message.offset}) == 0) return;
    auto record = read_error(kafka::copy_of(message));
    if (!record) return;  // it was one when it was read first
    const std::string topic = options_.to.empty() ? record->topic : options_.to;
    // Back to where it was: what has one key stays together.
    const std::int32_t partition = options_.to.empty() ? record->partition : RD_KAFKA_PARTITION_UA;
    const std::uint64_t serial = ++serial_;
    on_their_way_.emplace(serial, error_key(*record));
    const KafkaMessage replayed = replayed_message(*std::move(record));
    const auto produce = [&] {
      return kafka::produce(producer_.get(), topic, partition, replayed,
                            reinterpret_cast<void*>(serial));  // NOLINT: no pointer
    };
    auto error = produce();
    for (; error == RD_KAFKA_RESP_ERR__QUEUE_FULL; error = produce())
      rd_kafka_poll(producer_.get(), 100);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) settle(serial, error);
    rd_kafka_poll(producer_.get(), 0);
  }

  void settle(std::uint64_t serial, rd_kafka_resp_err_t error) {
    const auto found = on_their_way_.extract(serial);
    if (found.empty()) return;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++done_;
    } else if (++failed_ <= kNamesShown) {
      surroundings_.err << "pawl: " << printable(found.mapped())
                        << " was not replayed: " << kafka::to_text(error) << '\n';
    }
  }

  ExitCode say() const {
    say_without_message();
    if (failed_ > kNamesShown)
      surroundings_.err << "pawl: and " << failed_ - kNamesShown << " more were not replayed\n";
    if (options_.json) {
      surroundings_.out << R"({"replayed":)" << done_ << R"(,"without_payload":)"
                        << without_message_.size() << R"(,"failed":)" << failed_ << "}\n";
    } else {
      surroundings_.out << (options_.dry_run ? "dry run: " : "") << counted(done_, "message")
                        << (options_.dry_run ? " would be replayed" : " replayed");
      if (!without_message_.empty())
        surroundings_.out << ", " << without_message_.size() << " left out (no payload)";
      if (failed_ > 0) surroundings_.out << ", " << failed_ << " failed";
      surroundings_.out << '\n';
    }
    if (failed_ > 0) return ExitCode::environment;
    return without_message_.empty() ? ExitCode::ok : ExitCode::wrong;
  }

  void say_without_message() const {
    for (std::size_t i = 0; i < std::min(without_message_.size(), kNamesShown); ++i)
      surroundings_.err << "pawl: " << printable(without_message_[i])
                        << " cannot be replayed: its record has no payload\n";
    if (without_message_.size() > kNamesShown)
      surroundings_.err << "pawl: and " << without_message_.size() - kNamesShown
                        << " more cannot be replayed\n";
  }

  const ErrorsPlace& place_;
  const ReplayOptions& options_;
  const Surroundings& surroundings_;
  kafka::Client producer_;
  std::set<std::pair<std::int32_t, std::int64_t>> wanted_;  // in the topic of errors
  std::set<std::string> targets_;                           // topics they go to
  std::vector<std::string> without_message_;
  std::uint64_t serial_ = 0;
  std::map<std::uint64_t, std::string> on_their_way_;  // the keys of records, by serial
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
};

ExitCode replay(const ReplayOptions& options, const Surroundings& surroundings) {
  ExitCode code = ExitCode::ok;
  const auto place = place_of(options, "pipe errors replay", surroundings, code);
  if (!place) return code;
  const auto choice = choice_of(options, "pipe errors replay", surroundings, code);
  if (!choice) return code;
  const auto records = survey_errors(*place, *choice, surroundings);
  if (!records) return report(records.error(), "", "", surroundings.err);
  return Replay(*place, options, surroundings).run(*records);
}

}  // namespace

void add_pipe_errors_replay(Command& errors, Action& action) {
  auto options = std::make_shared<ReplayOptions>();
  Command* verb = errors.add_subcommand("replay", "Put failed messages back into their topic");
  verb->add_option("FILE", options->file, "the pipe file")->check(not_empty());
  add_choice_options(*verb, *options);
  verb->add_flag("--only-retryable", options->only_retryable,
                 "only messages that are not themselves at fault");
  verb->add_option("--to", options->to, "send to this topic instead of the original one")
      ->check(not_empty())
      ->type_name("TOPIC");
  verb->add_flag("--dry-run", options->dry_run, "only print how many would be sent");
  add_place_options(*verb, *options);
  verb->footer("Example:\n  pawl pipe errors replay events.yaml --code 12 --since 2h --dry-run");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return replay(*options, surroundings); };
  });
}

}  // namespace pawl::cli
