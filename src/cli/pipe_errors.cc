// pawl pipe errors: what a pipe could not load, and why.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <ostream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/error_survey.h"
#include "cli/pipe_verbs.h"
#include "cli/reply_text.h"
#include "cli/store_files.h"
#include "cli/verb.h"
#include "decide/json_edit.h"
#include "pipe/pipe_codes.h"

namespace pawl::cli {
namespace {

// --- list --------------------------------------------------------------------------------------

struct ListErrorsOptions : ErrorsOptions {
  std::size_t limit = 100;
};

std::string item_json(const ErrorRecord& record) {
  std::string json;
  {
    JsonMap map(json);
    map.text("key", error_key(record));
    map.text("at", to_text(record.at));
    map.number("code", pipe_code::number(record.code));
    map.text("error", record.code);
    map.text("pipe", record.pipe);
    map.text("state", record.state);
    map.text("topic", record.topic);
    map.number("partition", record.partition);
    map.number("offset", record.offset);
    if (record.last_offset) map.number("last_offset", *record.last_offset);
    if (!record.index.empty()) map.text("index", record.index);
    if (!record.id.empty()) map.text("id", record.id);
    if (record.es_status != 0) map.number("es_status", record.es_status);
    if (!record.es_type.empty()) map.text("es_type", record.es_type);
    map.number("attempts", record.attempts);
    map.boolean("retryable", record.retryable);
    map.number("payload_bytes", record.payload_bytes);
    map.boolean("payload_omitted", record.payload_omitted);
    map.text("reason", record.reason);
  }
  return json;
}

void print_items(const std::vector<SurveyedError>& records, std::size_t from, std::ostream& out) {
  if (records.empty()) {
    out << "no errors\n";
    return;
  }
  std::vector<std::vector<std::string>> rows{{"AT", "CODE", "SOURCE", "INDEX", "REASON"}};
  for (std::size_t i = from; i < records.size(); ++i) {
    const ErrorRecord& record = records[i].record;
    rows.push_back({short_time(to_text(record.at)), code_text(record), error_key(record),
                    record.index.empty() ? "-" : record.index, record.reason});
  }
  print_table(std::move(rows), out);
  if (from > 0) out << "there are " << from << " earlier ones: use count, or raise --limit\n";
}

ExitCode list_errors(const ListErrorsOptions& options, const Surroundings& surroundings) {
  ExitCode code = ExitCode::ok;
  const auto place = place_of(options, "pipe errors list", surroundings, code);
  if (!place) return code;
  const auto choice = choice_of(options, "pipe errors list", surroundings, code);
  if (!choice) return code;
  const auto records = survey_errors(*place, *choice, surroundings);
  if (!records) return report(records.error(), "", "", surroundings.err);
  const std::size_t from = records->size() - std::min(records->size(), options.limit);
  if (!options.json) {
    print_items(*records, from, surroundings.out);
    return ExitCode::ok;
  }
  std::vector<std::string> items;
  for (std::size_t i = from; i < records->size(); ++i)
    items.push_back(item_json((*records)[i].record));
  surroundings.out << R"({"items":[)" << join(items, ",", ",") << R"(],"more":)"
                   << (from > 0 ? "true" : "false") << "}\n";
  return ExitCode::ok;
}

// --- show --------------------------------------------------------------------------------------

struct ShowErrorOptions : ErrorsOptions {
  std::vector<std::string> words;  // [FILE] KEY
};

// As it is; but what a person sees must not steer the terminal.
std::string payload_text(const std::string& payload, const Surroundings& surroundings) {
  if (!surroundings.screen) return payload;
  std::string shown;
  std::string line;
  for (const char c : payload + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    shown += printable(line) + "\n";
    line.clear();
  }
  shown.pop_back();
  return shown;
}

void print_error(const ErrorRecord& record, const Surroundings& surroundings) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({name, value});
  };
  add("key", error_key(record));
  add("at", to_text(record.at));
  add("code", code_text(record));
  add("reason", record.reason);
  add("pipe", record.pipe);
  add("state", record.state);
  if (record.last_offset) add("lost", "up to offset " + std::to_string(*record.last_offset));
  if (record.timestamp_ms >= 0)
    add("sent", to_text(Instant{std::chrono::milliseconds{record.timestamp_ms}}));
  add("index", record.index);
  add("id", record.id);
  if (record.es_status != 0) add("status", std::to_string(record.es_status));
  add("type", record.es_type);
  add("attempts", std::to_string(record.attempts));
  add("retryable", record.retryable ? "yes" : "no");
  if (record.original.key) rows.push_back({"message key", in_quotes(*record.original.key)});
  for (const auto& [name, value] : record.original.headers)
    rows.push_back({"header " + name, value ? *value : "(null)"});
  add("payload", std::to_string(record.payload_bytes) + " bytes" +
                     (record.payload_omitted ? ", not stored here" : ""));
  print_table(std::move(rows), surroundings.out);
  if (!record.original.value) return;
  const std::string& payload = *record.original.value;
  surroundings.out << '\n';
  if (is_utf8(payload)) {
    surroundings.out << payload_text(payload, surroundings) << '\n';
  } else {
    surroundings.out << printable(payload.substr(0, 1000))
                     << "\n(not text: use --json to see all of it)\n";
  }
}

ExitCode show_error(ShowErrorOptions options, const Surroundings& surroundings) {
  const std::string key = options.words.back();
  if (options.words.size() > 1) options.file = options.words.front();
  ExitCode code = ExitCode::ok;
  const auto place = place_of(options, "pipe errors show", surroundings, code);
  if (!place) return code;
  std::optional<ErrorRecord> latest;
  const auto read = kafka::read_topic(place->kafka, place->topic,
                                      reading_of(*place, surroundings, [&](const auto& message) {
                                        if (kafka::view_of(message).key != key) return;
                                        auto record = read_error(kafka::copy_of(message));
                                        if (record && (!latest || record->at >= latest->at))
                                          latest = *std::move(record);
                                      }));
  end_progress_line(surroundings);
  if (!read) return report(read.error(), "", "", surroundings.err);
  if (!latest)
    return report(
        {ErrorCode::bad_input, "there is no error record with the key " + in_ticks(key) + " in " +
                                   in_ticks(place->topic) +
                                   ": keys are TOPIC/PARTITION/OFFSET, as `list` shows them"},
        "", "", surroundings.err);
  if (options.json) {
    surroundings.out << *write_error(*latest, {.format = ErrorsConfig::Format::json}).value << '\n';
  } else {
    print_error(*latest, surroundings);
  }
  return ExitCode::ok;
}

// --- count -------------------------------------------------------------------------------------

struct CountOptions : ErrorsOptions {
  std::vector<std::string> by = {"code"};
};

struct Aspect {
  std::string_view name;
  std::string (*of)(const ErrorRecord&);
};
constexpr Aspect kAspects[] = {
    {"code", [](const ErrorRecord& record) { return code_text(record); }},
    {"index", [](const ErrorRecord& record) { return record.index; }},
    {"topic", [](const ErrorRecord& record) { return record.topic; }},
    {"partition",
     [](const ErrorRecord& record) {
       return kafka::to_text({record.topic, record.partition});
     }},
    {"type", [](const ErrorRecord& record) { return record.es_type; }},
    {"day", [](const ErrorRecord& record) { return to_text(record.at).substr(0, 10); }}};

std::vector<std::string> aspect_names() {
  std::vector<std::string> names;
  for (const Aspect& aspect : kAspects) names.emplace_back(aspect.name);
  return names;
}

using Counted = std::pair<std::vector<std::string>, std::size_t>;

// The largest first.
std::vector<Counted> count_by(const std::vector<std::string>& by,
                              const std::vector<SurveyedError>& records) {
  std::map<std::vector<std::string>, std::size_t> groups;
  for (const SurveyedError& found : records) {
    std::vector<std::string> values;
    for (const std::string& name : by)
      for (const Aspect& aspect : kAspects)
        if (aspect.name == name) values.push_back(aspect.of(found.record));
    ++groups[values];
  }
  std::vector<Counted> counts(groups.begin(), groups.end());
  std::stable_sort(counts.begin(), counts.end(),
                   [](const Counted& a, const Counted& b) { return a.second > b.second; });
  return counts;
}

void print_counts_json(const std::vector<std::string>& by, const std::vector<Counted>& counts,
                       std::ostream& out) {
  std::vector<std::string> groups;
  for (const auto& [values, records] : counts) {
    JsonMap map(groups.emplace_back());
    map.number("records", static_cast<std::int64_t>(records));
    for (std::size_t i = 0; i < by.size(); ++i) map.text(by[i], values[i]);
  }
  out << R"({"groups":[)" << join(groups, ",", ",") << "]}\n";
}

void print_counts(const std::vector<std::string>& by, const std::vector<Counted>& counts,
                  std::ostream& out) {
  if (counts.empty()) {
    out << "no errors\n";
    return;
  }
  std::vector<std::vector<std::string>> rows{{"RECORDS"}};
  for (const std::string& name : by) rows.front().push_back(to_upper(name));
  for (const auto& [values, records] : counts) {
    auto& row = rows.emplace_back(std::vector<std::string>{std::to_string(records)});
    for (const std::string& value : values) row.push_back(value.empty() ? "-" : value);
  }
  print_table(std::move(rows), out);
}

ExitCode count_errors(const CountOptions& options, const Surroundings& surroundings) {
  ExitCode code = ExitCode::ok;
  const auto place = place_of(options, "pipe errors count", surroundings, code);
  if (!place) return code;
  const auto choice = choice_of(options, "pipe errors count", surroundings, code);
  if (!choice) return code;
  const auto records = survey_errors(*place, *choice, surroundings);
  if (!records) return report(records.error(), "", "", surroundings.err);
  const auto counts = count_by(options.by, *records);
  if (options.json) {
    print_counts_json(options.by, counts, surroundings.out);
  } else {
    print_counts(options.by, counts, surroundings.out);
  }
  return ExitCode::ok;
}

void add_file(Command& verb, ErrorsOptions& options) {
  verb.add_option("FILE", options.file, "the pipe file")->check(not_empty());
}

void add_errors_list(Command& errors, Action& action) {
  auto options = std::make_shared<ListErrorsOptions>();
  Command* verb = errors.add_subcommand("list", "List error records, the latest last");
  add_file(*verb, *options);
  add_choice_options(*verb, *options);
  verb->add_option("--limit", options->limit, "how many of the latest to list")
      ->capture_default_str()
      ->check(between(1, 10'000'000));
  add_place_options(*verb, *options);
  verb->footer("Example:\n  pawl pipe errors list events.yaml --code bulk_item --since 2h");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return list_errors(*options, surroundings);
    };
  });
}

void add_errors_show(Command& errors, Action& action) {
  auto options = std::make_shared<ShowErrorOptions>();
  Command* verb = errors.add_subcommand("show", "Show one error record, with its message");
  verb->add_option("[FILE] KEY", options->words,
                   "the pipe file, and TOPIC/PARTITION/OFFSET of the message")
      ->required()
      ->expected(1, 2)
      ->check(not_empty());
  add_place_options(*verb, *options);
  verb->footer("Example:\n  pawl pipe errors show events.yaml events/3/1234");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return show_error(*options, surroundings);
    };
  });
}

void add_errors_count(Command& errors, Action& action) {
  auto options = std::make_shared<CountOptions>();
  Command* verb = errors.add_subcommand("count", "Count error records");
  add_file(*verb, *options);
  verb->add_option("--by", options->by,
                   "code, index, topic, partition, type or day; separate several by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(aspect_names()))
      ->type_name("ASPECT")
      ->capture_default_str();
  add_choice_options(*verb, *options);
  add_place_options(*verb, *options);
  verb->footer("Example:\n  pawl pipe errors count events.yaml --by code,index");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return count_errors(*options, surroundings);
    };
  });
}

}  // namespace

void add_pipe_errors(Command& pipe, Action& action) {
  Command* errors =
      pipe.add_subcommand("errors", "Inspect and replay messages that could not be loaded");
  errors->require_subcommand(1);
  add_errors_list(*errors, action);
  add_errors_show(*errors, action);
  add_errors_count(*errors, action);
  add_pipe_errors_replay(*errors, action);
}

}  // namespace pawl::cli
