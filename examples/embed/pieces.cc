// What else docs/guides/embed.md shows, a function each, and each of them tried out. Uses no disk:
// an engine without a directory keeps its records in memory.
#include <pawl/engine.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr const char* kParcel = R"(
machine: parcel
initial: filling
data: {items: int}
states:
  filling: {on: {close: [{if: data.items > 0, to: packing}]}, after: {7d: abandoned}}
  packing: {task: pack, done: shipped}
  shipped: {effects: [{notify: customer}], final: true}
  abandoned: {final: true}
tasks:
  pack: {queue: packers, timeout: 10m, retry: [1m, 1h]}
)";

// --- fire --------------------------------------------------------------------------------------

std::string close_parcel(pawl::Engine& engine, const std::string& key) {
  const auto answer = engine.fire({"parcel", key}, "close");
  if (!answer) return "the engine failed: " + answer.error().message;
  switch (answer->kind) {
    case pawl::Answer::Kind::ok:
      return "it is now " + answer->state;
    case pawl::Answer::Kind::refused:  // not in this state, or a condition failed
      return answer->reason;
    default:  // no such record or event, or an invalid payload
      return "bad request: " + answer->reason;
  }
}

bool would_close(pawl::Engine& engine, const std::string& key) {
  const auto answer = engine.fire({"parcel", key}, "close", "{}", {.dry_run = true});
  return answer && answer->kind == pawl::Answer::Kind::ok;
}

// --- once, whatever happens --------------------------------------------------------------------

// If the outcome is unknown, the engine has stopped: open it again and repeat the call with the
// same key. If the first call was carried out, the answer is the one that was lost.
pawl::Result<pawl::Answer> close_once(std::unique_ptr<pawl::Engine>& engine,
                                      const pawl::EngineOptions& options, const std::string& key,
                                      const std::string& request_id) {
  const auto ask = [&] {
    return engine->fire({"parcel", key}, "close", "{}", {.idempotency_key = request_id});
  };
  auto answer = ask();
  if (answer || answer.error().code != pawl::ErrorCode::outcome_unknown) return answer;
  engine.reset();  // releases the directory
  PAWL_TRY(engine, pawl::Engine::open(options));
  return ask();
}

// --- a worker ----------------------------------------------------------------------------------

// Run it on as many threads as you like. They must end before the engine does.
void pack_parcels(pawl::Engine& engine, const std::atomic<bool>& stops) {
  while (!stops) {
    const auto attempts = engine.claim({.queues = {"packers"}, .worker = "anna", .wait = 100ms});
    if (!attempts) return;  // the engine has stopped
    for (const pawl::GivenAttempt& attempt : *attempts) {
      const auto beat = engine.beat(attempt, R"({"packed":1})");
      if (beat && beat->cancel) continue;  // another worker has it, or it is no longer needed
      const bool is_torn = attempt.given.attempt > 1;
      const auto settled = is_torn ? engine.fail(attempt, {.code = "torn", .message = "wet box"})
                                   : engine.done(attempt, R"({"weight":3})");
      if (!settled) std::cerr << settled.error().message << '\n';
    }
  }
}

// --- many at once ------------------------------------------------------------------------------

// The creates share commits, so a thousand cost little more than one.
void open_parcels(pawl::Engine& engine, const std::vector<std::string>& keys) {
  std::vector<pawl::Stimulus> stimuli;
  for (const std::string& key : keys)
    stimuli.push_back({.what = pawl::Stimulus::Create{.data = R"({"items":1})"},
                       .machine = "parcel",
                       .key = key,
                       .actor = {.name = "shop"}});
  const auto unanswered = std::make_shared<std::latch>(std::ssize(stimuli));
  engine.submit(stimuli, [unanswered](std::size_t, const pawl::Result<pawl::Answer>& answer) {
    if (!answer) std::cerr << answer.error().message << '\n';
    unanswered->count_down();
  });
  unanswered->wait();
}

// --- following ---------------------------------------------------------------------------------

// Reads everything since the stored position, and advances the position.
pawl::Result<int> follow(pawl::Engine& engine, pawl::Cursor& place) {
  int entries = 0;
  for (;;) {
    PAWL_TRY(const auto page, engine.feed(place));
    place = page.next;
    if (page.items.empty()) return entries;
    for (const pawl::LoggedEntry& logged : page.items)
      entries += logged.name.machine == "parcel" ? 1 : 0;
  }
}

// --- operators ---------------------------------------------------------------------------------

pawl::Result<pawl::Answer> stop_for_a_look(pawl::Engine& engine, const std::string& key) {
  const pawl::CallOptions eve{.actor = {.name = "eve", .roles = {"operator"}}};
  return engine.order({"parcel", key},
                      {.verb = pawl::Stimulus::Order::Verb::hold,
                       .reason = "the customer called",
                       .text = "ask for the new address"},
                      eve);
}

// --- tried out ---------------------------------------------------------------------------------

int failures = 0;

void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "pieces: failed: " << what << '\n';
  ++failures;
}

pawl::EngineOptions in_memory() {
  const auto print = [](const std::string& line) { std::cout << line + '\n'; };
  return {.channels = {{"customer", pawl::log_channel(print)}}};
}

std::unique_ptr<pawl::Engine> engine_with_parcels(const pawl::EngineOptions& options) {
  auto engine = pawl::Engine::open(options);
  const pawl::MachineText file{"parcel.yaml", kParcel};
  if (engine && (*engine)->apply({&file, 1})->is_good()) return *std::move(engine);
  std::cerr << "pieces: cannot open the engine or apply the machine\n";
  std::exit(1);
}

// A test of a machine: no store to clean up, and no waiting.
void a_parcel_is_abandoned_after_a_week() {
  const pawl::Instant monday = *pawl::parse_instant("2026-03-02T09:00:00Z");
  pawl::EngineOptions options = in_memory();
  options.virtual_clock = monday;
  const auto engine = engine_with_parcels(options);
  expect(engine->create({"parcel", "a"})->kind == pawl::Answer::Kind::ok, "it is created");
  expect(engine->run_until(monday + 24h * 7 - 1s).has_value(), "the clock moves");
  expect((*engine->show({"parcel", "a"}))->state == "filling", "it waits until the last second");
  expect(engine->run_until(monday + 24h * 7).has_value(), "the clock moves");
  expect((*engine->show({"parcel", "a"}))->state == "abandoned", "then it is abandoned");
}

void a_parcel_is_closed_once() {
  const pawl::EngineOptions options = in_memory();
  auto engine = engine_with_parcels(options);
  expect(engine->create({"parcel", "a"}, R"({"items":0})")->kind == pawl::Answer::Kind::ok, "a");
  expect(engine->create({"parcel", "b"}, R"({"items":2})")->kind == pawl::Answer::Kind::ok, "b");
  expect(!would_close(*engine, "a") && would_close(*engine, "b"), "a dry run says which");
  expect((*engine->show({"parcel", "b"}))->state == "filling", "and changes nothing");
  expect(close_parcel(*engine, "a").starts_with("`close` is not accepted"), "a is empty");
  expect(close_parcel(*engine, "c").starts_with("bad request"), "c does not exist");
  const auto closed = close_once(engine, options, "b", "request 1");
  expect(closed->kind == pawl::Answer::Kind::ok, "b is closed");
  expect(*close_once(engine, options, "b", "request 1") == *closed, "the same answer again");
  expect((*engine->show({"parcel", "b"}))->revision == closed->revision, "closed once");
  expect(stop_for_a_look(*engine, "b")->kind == pawl::Answer::Kind::ok, "b is held");
  expect((*engine->why({"parcel", "b"}))->kind == pawl::Why::Kind::on_hold, "and says so");
}

void parcels_are_packed() {
  const auto engine = engine_with_parcels(in_memory());
  pawl::Cursor place;
  open_parcels(*engine, {"a", "b", "c"});
  expect(*follow(*engine, place) == 3, "three are opened, and are in the feed");
  std::atomic<bool> stops = false;
  std::thread worker([&] { pack_parcels(*engine, stops); });
  for (const char* key : {"a", "b", "c"})
    expect(close_parcel(*engine, key) == "it is now packing", "it is closed");
  for (const char* key : {"a", "b", "c"}) {
    const auto record = engine->wait({"parcel", key}, std::nullopt, 1min);
    expect((*record)->state == "shipped", "it is shipped");
  }
  stops = true;
  worker.join();
  expect(*follow(*engine, place) == 6, "closed and shipped, thrice");
}

}  // namespace

int main() {
  a_parcel_is_abandoned_after_a_week();
  a_parcel_is_closed_once();
  parcels_are_packed();
  return failures == 0 ? 0 : 1;
}
