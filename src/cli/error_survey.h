// What the verbs on a pipe's errors have in common: which topic, which records, and reading them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "pipe/error_record.h"
#include "pipe/pipe_config.h"
#include "pipe/topic_reader.h"

namespace pawl::cli {

// As given, not yet read.
struct ErrorsOptions {
  std::string file;
  std::string brokers;
  std::string topic;
  std::string timeout = "30s";
  std::string code;
  std::string since;
  std::string source;
  bool only_retryable = false;
  bool json = false;
};

void add_place_options(Command& verb, ErrorsOptions& options);
void add_choice_options(Command& verb, ErrorsOptions& options);

// Where the records are.
struct ErrorsPlace {
  KafkaConfig kafka;
  std::string topic;
  std::chrono::milliseconds patience;
};

// Which of them.
struct ErrorChoice {
  std::optional<int> number = {};
  std::string code = {};
  std::optional<Instant> since = {};
  std::string topic = {};
  std::optional<std::int32_t> partition = {};
  bool only_retryable = false;

  bool has(const ErrorRecord& record) const;
};

// Reads the options; when they are wrong, says so and sets `code`.
std::optional<ErrorsPlace> place_of(const ErrorsOptions& options, std::string_view verb,
                                    const Surroundings& surroundings, ExitCode& code);
std::optional<ErrorChoice> choice_of(const ErrorsOptions& options, std::string_view verb,
                                     const Surroundings& surroundings, ExitCode& code);

// A record, without what the message had, and where in the topic of errors it is.
struct SurveyedError {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  ErrorRecord record = {};
};

// Reads the whole topic. One message may have failed several times, as after a crash: the latest
// record of it counts. By time.
Result<std::vector<SurveyedError>> survey_errors(const ErrorsPlace& place,
                                                 const ErrorChoice& choice,
                                                 const Surroundings& surroundings);

// How `survey_errors` reads; also for who reads by himself. Says how far it is to a person.
kafka::TopicReading reading_of(const ErrorsPlace& place, const Surroundings& surroundings,
                               std::function<void(const rd_kafka_message_t&)> message);

// `12 bulk_item`.
std::string code_text(const ErrorRecord& record);

}  // namespace pawl::cli
