// What one message costs between Kafka and the body of a bulk request: nanoseconds of CPU for an
// event of 505 and one of 1,048 bytes, by what the pipe's file asks for, and how often memory is
// asked for. The goal is that of a plain event with a fixed index and two required fields.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "counted_new.h"
#include "pipe/transform.h"

namespace pawl::bench {
namespace {

constexpr std::size_t kBatch = 5'000;
constexpr int kRounds = 40;
constexpr double kGoalNs = 450;

// An event as services write them, with a text that makes it as long as is wanted.
std::string event(std::size_t number, std::size_t bytes, const char* before, const char* after) {
  char text[600];
  std::snprintf(
      text, sizeof text,
      R"json(%s{"eventName":"page_view","timestamp":"2026-11-16T09:%02zu:%02zu.%03zuZ","id":"%08zx-4f1c-9d2e","user":{"id":%zu,"country":"DE","plan":"pro"},"session":"s-%08zu","url":"https://shop.example/products/%zu?ref=mail","tags":["a","checkout","%zu"],"duration_ms":%zu.25,"ok":true,"status":200,"referrer":null,"agent":"Mozilla/5.0 (X11; Linux x86_64)","message":")json",
      before, number / 60 % 60, number % 60, number % 1000, number * 2'654'435'761U % 0xffffffffU,
      100'000 + number % 899'999, number, number % 9'999, number % 97, number % 5'000);
  std::string event = text;
  const std::string end = std::string("\"}") + after;
  static const std::string kWords = "the quick brown fox jumps over the lazy dog and on ";
  while (event.size() + end.size() < bytes) event += kWords[event.size() % kWords.size()];
  return event + end;
}

std::vector<std::string> events(std::size_t bytes, const char* before = "",
                                const char* after = "") {
  std::vector<std::string> events;
  for (std::size_t i = 0; i < kBatch; ++i) events.push_back(event(i, bytes, before, after));
  return events;
}

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The median of the rounds; the first ones warm up.
double measure(const char* title, const TransformConfig& config,
               const std::vector<std::string>& values) {
  const auto transform = *Transform::make(config);
  Transform::Workbench bench;
  BulkBody body;
  std::vector<double> rounds;
  std::int64_t asked = 0;
  for (int round = 0; round < kRounds; ++round) {
    body.clear();
    const std::int64_t before = allocations();
    const double begin = cpu_ns();
    for (std::size_t i = 0; i < values.size(); ++i)
      (void)transform->append({.topic = "events",
                               .partition = 7,
                               .offset = static_cast<std::int64_t>(1'000'000 + i),
                               .timestamp_ms = 1'794'819'600'123,
                               .key = "user-1234",
                               .value = values[i]},
                              static_cast<std::uint32_t>(i), Instant{}, bench, body);
    rounds.push_back((cpu_ns() - begin) / static_cast<double>(values.size()));
    asked = allocations() - before;
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  const double median = rounds[kRounds / 2];
  std::printf("  %-46s %5zu B %7.0f ns  best %5.0f  %4.2f GB/s  %.2f allocations  %zu appended\n",
              title, values[0].size(), median, *std::min_element(rounds.begin(), rounds.end()),
              static_cast<double>(values[0].size()) / median,
              static_cast<double>(asked) / static_cast<double>(values.size()), body.items.size());
  return median;
}

int run() {
  using Time = TransformConfig::Time;
  const TransformConfig plain{.require = {{"eventName", {FieldType::Kind::string}},
                                          {"timestamp", {FieldType::Kind::string}}},
                              .index = "events"};
  TransformConfig daily = plain;
  daily.index = "events-{time:%Y.%m.%d}";
  TransformConfig by_field = daily;
  by_field.time = {.from = Time::From::field, .field = "timestamp"};
  by_field.id = {TransformConfig::Id::From::field, "id"};
  TransformConfig edited = plain;
  edited.rename = {{"eventName", "name"}};
  edited.drop = {"agent"};
  edited.set = {{"slow", "{data.duration_ms > 1000}"}};
  TransformConfig chosen = plain;
  chosen.drop_if = "data.status >= 500";
  const TransformConfig river{.message = TransformConfig::Message::river};

  double goal = 0;
  for (const std::size_t bytes : {505UL, 1'048UL}) {
    const auto values = events(bytes);
    const double ns = measure("plain, fixed index, 2 required", plain, values);
    if (bytes == 505) goal = ns;
    measure("by the day of the message", daily, values);
    measure("by the day of a field, id of a field", by_field, values);
    measure("drop_if", chosen, values);
    measure("rename, drop, set", edited, values);
    measure("river", river, events(bytes, R"({"index":"events","id":"x","source":)", "}"));
  }
  std::printf("  goal: at most %.0f ns for 505 B: %s\n", kGoalNs,
              goal <= kGoalNs ? "met" : "MISSED");
  return goal <= kGoalNs ? 0 : 1;
}

}  // namespace
}  // namespace pawl::bench

int main() { return pawl::bench::run(); }
