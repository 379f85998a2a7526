#include "cli/error_survey.h"

#include <algorithm>
#include <limits>
#include <ostream>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "cli/machine_files.h"
#include "cli/store_files.h"
#include "cli/verb.h"
#include "pipe/pipe_codes.h"
#include "pipe/pipe_file.h"

namespace pawl::cli {
namespace {

using std::chrono::milliseconds;

// Of a pipe's file; says what is wrong with it.
std::optional<PipeConfig> read_file(const std::string& path, const Surroundings& surroundings,
                                    ExitCode& code) {
  const auto text = read_text_file(path);
  if (!text) {
    code = report(text.error(), path, "", surroundings.err);
    return std::nullopt;
  }
  Diagnostics diagnostics;
  auto config = read_pipe(*text, diagnostics);
  report_findings(path, *text, diagnostics.sorted(), surroundings);
  if (!config) code = ExitCode::wrong;
  return config;
}

// An instant, or how long ago.
Result<Instant> parse_since(const std::string& text, Instant now) {
  if (const auto instant = parse_instant(text)) return *instant;
  const auto ago = parse_duration(text);
  if (ago) return now - std::min(*ago, now - kInstantMin);
  return Error{ErrorCode::bad_input,
               "--since: " + in_quotes(text) +
                   " is neither an instant such as 2026-03-02T09:00:00Z nor a duration such as 2h"};
}

Result<void> read_code(const std::string& text, ErrorChoice& choice) {
  if (const auto number = parse_whole(text)) {
    choice.number = static_cast<int>(std::clamp<std::int64_t>(*number, -1, 99));
    if (*number >= 0 && *number <= 13) return {};
  } else {
    choice.code = text;
    if (pipe_code::number(text) != 0 || text == pipe_code::kUncategorised ||
        text == pipe_code::kSkipped)
      return {};
  }
  return Error{ErrorCode::bad_input,
               "--code: " + in_quotes(text) +
                   " is not a pipe error code: use 0 to 13, or a name such as bulk_item"};
}

Result<void> read_source(const std::string& text, ErrorChoice& choice) {
  const std::size_t slash = text.find('/');
  choice.topic = text.substr(0, slash);
  if (slash == std::string::npos) return {};
  const auto partition = parse_whole(std::string_view(text).substr(slash + 1));
  if (!partition || *partition < 0 || *partition > std::numeric_limits<std::int32_t>::max())
    return Error{ErrorCode::bad_input,
                 "--source: " + in_quotes(text) + " is neither TOPIC nor TOPIC/PARTITION"};
  choice.partition = static_cast<std::int32_t>(*partition);
  return {};
}

Result<ErrorChoice> read_choice(const ErrorsOptions& options, Instant now) {
  ErrorChoice choice{.only_retryable = options.only_retryable};
  if (!options.code.empty()) PAWL_CHECK(read_code(options.code, choice));
  if (!options.source.empty()) PAWL_CHECK(read_source(options.source, choice));
  if (!options.since.empty()) {
    PAWL_TRY(choice.since, parse_since(options.since, now));
  }
  return choice;
}

bool is_later(const SurveyedError& a, const SurveyedError& b) {
  return std::tie(a.record.at, a.partition, a.offset) >
         std::tie(b.record.at, b.partition, b.offset);
}

// The latest record of each message.
class Survey {
 public:
  void take(const rd_kafka_message_t& message) {
    auto record = read_error(kafka::copy_of(message));
    if (!record) {
      if (++unreadable_ == 1) problem_ = record.error().message;
      return;
    }
    record->original = {};
    SurveyedError found{message.partition, message.offset, *std::move(record)};
    const auto [known, is_new] = latest_.try_emplace(error_key(found.record), found);
    if (!is_new && is_later(found, known->second)) known->second = std::move(found);
  }

  std::vector<SurveyedError> chosen(const ErrorChoice& choice) {
    std::vector<SurveyedError> records;
    for (auto& [key, found] : latest_)
      if (choice.has(found.record)) records.push_back(std::move(found));
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return is_later(b, a); });
    return records;
  }

  void say_unreadable(const std::string& topic, std::ostream& err) const {
    if (unreadable_ == 0) return;
    err << "pawl: " << counted(unreadable_, "message") << " of " << in_ticks(topic)
        << " skipped; the first: " << printable(problem_) << '\n';
  }

 private:
  std::unordered_map<std::string, SurveyedError> latest_;  // by key
  std::size_t unreadable_ = 0;
  std::string problem_;
};

}  // namespace

void add_place_options(Command& verb, ErrorsOptions& options) {
  verb.add_option("--brokers", options.brokers, "HOST:PORT,… to use instead of a pipe file")
      ->check(not_empty())
      ->type_name("BROKERS");
  verb.add_option("--topic", options.topic, "the error topic, if not the one in the file")
      ->check(not_empty())
      ->type_name("TOPIC");
  verb.add_option("--timeout", options.timeout, "give up when the brokers are silent for this long")
      ->capture_default_str()
      ->check(not_empty())
      ->type_name("DURATION");
  verb.add_flag("--json", options.json, "one JSON object");
}

void add_choice_options(Command& verb, ErrorsOptions& options) {
  verb.add_option("--code", options.code, "only this code: its number or name")
      ->check(not_empty())
      ->type_name("CODE");
  verb.add_option("--since", options.since, "only since this instant, or this long ago: 2h")
      ->check(not_empty())
      ->type_name("INSTANT|DURATION");
  verb.add_option("--source", options.source, "only messages of this topic, or TOPIC/PARTITION")
      ->check(not_empty())
      ->type_name("TOPIC");
}

std::optional<ErrorsPlace> place_of(const ErrorsOptions& options, std::string_view verb,
                                    const Surroundings& surroundings, ExitCode& code) {
  const auto usage = [&](const std::string& message) {
    code = report_usage(message, verb, surroundings.err);
    return std::nullopt;
  };
  if (options.file.empty() == options.brokers.empty())
    return usage("say where the errors are: give the pipe FILE, or --brokers");
  const auto timeout = parse_duration(options.timeout);
  if (!timeout) return usage("--timeout: " + timeout.error().message);
  PipeConfig config;
  config.kafka.brokers = options.brokers;
  if (!options.file.empty()) {
    auto read = read_file(options.file, surroundings, code);
    if (!read) return std::nullopt;
    config = *std::move(read);
  }
  return ErrorsPlace{config.kafka, options.topic.empty() ? config.errors.topic : options.topic,
                     std::chrono::ceil<milliseconds>(*timeout)};
}

std::optional<ErrorChoice> choice_of(const ErrorsOptions& options, std::string_view verb,
                                     const Surroundings& surroundings, ExitCode& code) {
  auto choice = read_choice(options, surroundings.now());
  if (choice) return *std::move(choice);
  code = report_usage(choice.error().message, verb, surroundings.err);
  return std::nullopt;
}

bool ErrorChoice::has(const ErrorRecord& record) const {
  return (!number || pipe_code::number(record.code) == *number) &&
         (code.empty() || record.code == code) && (!since || record.at >= *since) &&
         (topic.empty() || record.topic == topic) &&
         (!partition || record.partition == *partition) && (!only_retryable || record.retryable);
}

kafka::TopicReading reading_of(const ErrorsPlace& place, const Surroundings& surroundings,
                               std::function<void(const rd_kafka_message_t&)> message) {
  return {.message = std::move(message),
          .progress = progress_line("messages of " + place.topic + " read:", surroundings),
          .patience = place.patience};
}

Result<std::vector<SurveyedError>> survey_errors(const ErrorsPlace& place,
                                                 const ErrorChoice& choice,
                                                 const Surroundings& surroundings) {
  Survey survey;
  const auto read = kafka::read_topic(
      place.kafka, place.topic,
      reading_of(place, surroundings, [&](const auto& message) { survey.take(message); }));
  end_progress_line(surroundings);
  if (!read) return read.error();
  survey.say_unreadable(place.topic, surroundings.err);
  return survey.chosen(choice);
}

std::string code_text(const ErrorRecord& record) {
  return std::to_string(pipe_code::number(record.code)) + " " + record.code;
}

}  // namespace pawl::cli
