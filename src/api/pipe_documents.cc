#include "api/pipe_documents.h"

#include <charconv>
#include <cmath>

#include "api/documents.h"
#include "decide/json_edit.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

void add_text(JsonMap& map, std::string_view name, std::string_view value) {
  if (!value.empty()) map.text(name, value);
}

void add_count(JsonMap& map, std::string_view name, std::uint64_t count) {
  map.number(name, static_cast<std::int64_t>(count));
}

void add_offset(JsonMap& map, std::string_view name, std::int64_t offset) {
  if (offset >= 0) map.number(name, offset);
}

// To a tenth.
void add_rate(JsonMap& map, std::string_view name, double per_second) {
  char text[32];
  const auto end =
      std::to_chars(std::begin(text), std::end(text), std::round(per_second * 10) / 10);
  map.json(name, std::string_view(text, end.ptr));
}

void add_failure(JsonMap& map, const PartitionView& partition) {
  if (!partition.code.empty()) {
    map.number("code", pipe_code::number(partition.code));
    map.text("error", partition.code);
  }
  add_text(map, "reason", partition.error);
  map.number("attempt", partition.attempt);
  map.number("failures", partition.failures);
  if (partition.next_at) map.text("next_at", to_text(*partition.next_at));
  add_text(map, "hold", partition.hold);
}

std::string to_json(const SearchCluster::NodeView& node) {
  std::string out;
  {
    JsonMap map(out);
    map.text("url", node.url);
    map.boolean("down", node.is_down);
    add_text(map, "error", node.error);
    add_count(map, "bulks", node.bulks);
    add_count(map, "failures", node.failures);
  }
  return out;
}

}  // namespace

std::string to_json(const PartitionView& partition) {
  std::string out;
  {
    JsonMap map(out);
    map.text("topic", partition.id.topic);
    map.number("partition", partition.id.partition);
    map.number("epoch", partition.epoch);
    map.text("state", partition.state);
    add_text(map, "of", partition.of);
    map.text("since", to_text(partition.since));
    add_failure(map, partition);
    map.boolean("paused", partition.is_paused);
    if (partition.pause) {
      JsonMap pause(map.member("pause"));
      pause.text("by", partition.pause->by);
      pause.text("reason", partition.pause->reason);
      pause.text("since", to_text(partition.pause->since));
    }
    map.boolean("draining", partition.is_draining);
    map.boolean("stalled", partition.is_stalled);
    map.boolean("alarm", partition.is_alarm);
    {
      JsonMap offset(map.member("offset"));
      add_offset(offset, "committed", partition.committed);
      add_offset(offset, "watermark", partition.watermark);
      add_offset(offset, "next", partition.next);
      add_offset(offset, "high", partition.high);
      if (const auto lag = partition.lag()) offset.number("lag", *lag);
    }
    {
      JsonMap on_its_way(map.member("in_flight"));
      add_count(on_its_way, "batches", partition.batches);
      add_count(on_its_way, "items", partition.on_its_way);
      add_count(on_its_way, "bytes", partition.bytes);
    }
    {
      JsonMap rate(map.member("rate"));
      add_rate(rate, "in", partition.in_per_second);
      add_rate(rate, "out", partition.out_per_second);
    }
    {
      JsonMap counts(map.member("counts"));
      add_count(counts, "consumed", partition.consumed);
      add_count(counts, "indexed", partition.outcomes.indexed);
      add_count(counts, "duplicate", partition.outcomes.duplicate);
      add_count(counts, "errors", partition.outcomes.errors);
      add_count(counts, "skipped", partition.outcomes.skipped);
      add_count(counts, "retried_items", partition.retried);
      add_count(counts, "resets", partition.resets);
      add_count(counts, "gaps", partition.gaps);
    }
    map.number("unaccounted", partition.unaccounted());
  }
  return out;
}

std::string to_json(const PipeView& pipe) {
  std::string out;
  {
    JsonMap map(out);
    map.text("name", pipe.name);
    append_list(map.member("partitions"), pipe.partitions,
                [](const PartitionView& partition) { return to_json(partition); });
    map.number("window", pipe.window);
    map.number("bulks", pipe.bulks);
    append_list(map.member("nodes"), pipe.nodes,
                [](const SearchCluster::NodeView& node) { return to_json(node); });
    add_text(map, "kafka", pipe.kafka);
    add_count(map, "rebalances", pipe.rebalances);
    add_count(map, "commits", pipe.commits);
    add_count(map, "commit_failures", pipe.commit_failures);
    add_count(map, "late_answers", pipe.late_answers);
  }
  return out;
}

}  // namespace pawl
