#include "api/pipe_metrics.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace pawl {
namespace {

using Views = std::vector<PipeView>;

// The states of a pipe's machine, so that one is 1 and all others are 0.
constexpr std::string_view kStates[] = {"assign",       "extract",     "transform",
                                        "load",         "send_errors", "retrying",
                                        "reset_offset", "drain",       "stopped"};

void each_partition(const Views& pipes, const auto& write) {
  for (const PipeView& pipe : pipes)
    for (const PartitionView& partition : pipe.partitions)
      write(pipe.name, partition, std::to_string(partition.id.partition));
}

// `value_of` gives none where it is not known.
void write_gauge(MetricsText& text, const Views& pipes, std::string_view name,
                 std::string_view help, std::optional<double> (*value_of)(const PartitionView&)) {
  text.begin(name, "gauge", help);
  each_partition(pipes, [&](const std::string& pipe, const PartitionView& partition,
                            const std::string& number) {
    if (const auto value = value_of(partition))
      text.line({{"pipe", pipe}, {"topic", partition.id.topic}, {"partition", number}}, *value);
  });
}

void write_messages(MetricsText& text, const Views& pipes) {
  text.begin("pipe_messages_total", "counter", "Messages by outcome.");
  each_partition(pipes, [&](const std::string& pipe, const PartitionView& partition,
                            const std::string& number) {
    const Outcomes& counted = partition.counted;
    for (const auto& [outcome, count] : {std::pair{"indexed", counted.indexed},
                                         {"duplicate", counted.duplicate},
                                         {"errors", counted.errors},
                                         {"skipped", counted.skipped}})
      text.line({{"pipe", pipe},
                 {"topic", partition.id.topic},
                 {"partition", number},
                 {"outcome", outcome}},
                as_number(count));
  });
  text.begin("pipe_gap_messages_total", "counter",
             "Messages lost from Kafka before they could be read.");
  each_partition(pipes, [&](const std::string& pipe, const PartitionView& partition,
                            const std::string& number) {
    text.line({{"pipe", pipe}, {"topic", partition.id.topic}, {"partition", number}},
              as_number(partition.gaps));
  });
}

// A state of a file of one's own is one more line while it is the state.
void write_states(MetricsText& text, const Views& pipes) {
  text.begin("pipe_state", "gauge", "1 for the current state of a partition, 0 for all others.");
  each_partition(pipes, [&](const std::string& pipe, const PartitionView& partition,
                            const std::string& number) {
    const auto write = [&](std::string_view state, double value) {
      text.line(
          {{"pipe", pipe}, {"topic", partition.id.topic}, {"partition", number}, {"state", state}},
          value);
    };
    bool is_known = false;
    for (const std::string_view state : kStates) {
      write(state, state == partition.state ? 1 : 0);
      is_known = is_known || state == partition.state;
    }
    if (!is_known) write(partition.state, 1);
  });
  text.begin("pipe_state_seconds_total", "counter", "How long a partition has been in each state.");
  each_partition(pipes, [&](const std::string& pipe, const PartitionView& partition,
                            const std::string& number) {
    for (const auto& [state, seconds] : partition.state_seconds)
      text.line(
          {{"pipe", pipe}, {"topic", partition.id.topic}, {"partition", number}, {"state", state}},
          seconds);
  });
}

// What is read once more counts again in these alone, so that they always add up.
void write_books(MetricsText& text, const Views& pipes) {
  text.begin("pipe_books", "gauge",
             "Messages since the partition was assigned: consumed is the sum of the others.");
  each_partition(pipes, [&](const std::string& pipe, const PartitionView& partition,
                            const std::string& number) {
    for (const auto& [what, count] : {std::pair{"consumed", partition.consumed},
                                      {"indexed", partition.outcomes.indexed},
                                      {"duplicate", partition.outcomes.duplicate},
                                      {"errors", partition.outcomes.errors},
                                      {"skipped", partition.outcomes.skipped},
                                      {"in_flight", partition.on_its_way}})
      text.line(
          {{"pipe", pipe}, {"topic", partition.id.topic}, {"partition", number}, {"of", what}},
          as_number(count));
  });
}

void write_alarms(MetricsText& text, const Views& pipes) {
  text.begin("pipe_alarm", "gauge",
             "1 if the partition needs a person to continue; code names the failure.");
  each_partition(pipes, [&](const std::string& pipe, const PartitionView& partition,
                            const std::string& number) {
    if (partition.is_alarm)
      text.line({{"pipe", pipe},
                 {"topic", partition.id.topic},
                 {"partition", number},
                 {"code", partition.code}},
                1);
  });
}

void write_partitions(MetricsText& text, const Views& pipes) {
  write_messages(text, pipes);
  write_books(text, pipes);
  write_gauge(text, pipes, "pipe_in_flight", "Messages in flight.",
              [](const PartitionView& partition) {
                return std::optional(as_number(partition.on_its_way));
              });
  write_gauge(text, pipes, "pipe_lag", "Unfinished messages of the topic.",
              [](const PartitionView& partition) -> std::optional<double> {
                if (const auto lag = partition.lag()) return static_cast<double>(*lag);
                return std::nullopt;
              });
  write_gauge(text, pipes, "pipe_watermark", "The offset before which everything is finished.",
              [](const PartitionView& partition) -> std::optional<double> {
                if (partition.watermark < 0) return std::nullopt;
                return static_cast<double>(partition.watermark);
              });
  write_states(text, pipes);
  write_alarms(text, pipes);
  write_gauge(text, pipes, "pipe_stalled",
              "1 if there was work but no progress for a minute, and no known reason.",
              [](const PartitionView& partition) {
                return std::optional(partition.is_stalled ? 1.0 : 0.0);
              });
  write_gauge(text, pipes, "pipe_unaccounted",
              "Messages missing from the balance of pawl_pipe_books: must stay 0.",
              [](const PartitionView& partition) {
                return std::optional(static_cast<double>(partition.unaccounted()));
              });
}

void write_times(MetricsText& text, const std::string& pipe, const RequestTimes& times) {
  text.lines({{"pipe", pipe}}, RequestTimes::kBounds, times.counts, times.sum);
}

void write_search(MetricsText& text, const Views& pipes) {
  text.begin("pipe_bulk_seconds", "histogram", "How long bulk requests took.");
  for (const PipeView& pipe : pipes) write_times(text, pipe.name, pipe.bulk_times);
  text.begin("pipe_bulk_items_total", "counter",
             "Items of bulk requests by response status; 0: no response.");
  for (const PipeView& pipe : pipes)
    for (const auto& [status, count] : pipe.items_by_status)
      text.line({{"pipe", pipe.name}, {"status", std::to_string(status)}}, as_number(count));
  text.begin("pipe_window", "gauge", "How many bulk requests may run at once.");
  for (const PipeView& pipe : pipes) text.line({{"pipe", pipe.name}}, pipe.window);
}

void write_group(MetricsText& text, const Views& pipes) {
  text.begin("pipe_rebalances_total", "counter", "Rebalances of partitions.");
  for (const PipeView& pipe : pipes) text.line({{"pipe", pipe.name}}, as_number(pipe.rebalances));
  text.begin("pipe_commits_total", "counter", "Offset commits by outcome.");
  for (const PipeView& pipe : pipes) {
    text.line({{"pipe", pipe.name}, {"outcome", "done"}}, as_number(pipe.commits));
    text.line({{"pipe", pipe.name}, {"outcome", "failed"}}, as_number(pipe.commit_failures));
  }
  text.begin("pipe_commit_seconds", "histogram", "How long offset commits took.");
  for (const PipeView& pipe : pipes) write_times(text, pipe.name, pipe.commit_times);
}

}  // namespace

void write_pipes(MetricsText& text, const std::vector<PipeView>& pipes) {
  if (pipes.empty()) return;
  write_partitions(text, pipes);
  write_search(text, pipes);
  write_group(text, pipes);
}

}  // namespace pawl
