// A runner with nothing to do, for idle.py to look at: idle_runner DIRECTORY.
//
// A thousand records wait for a timer that is days away, others for events; a claim and a caller
// wait, functions and a channel are there. Says `ready` and stays until it is told to end.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "engine/runner.h"
#include "pawl/zones.h"
#include "store/sqlite/sqlite_store.h"

namespace {

using namespace pawl;

constexpr int kSleeping = 1'000;

const std::vector<StoredMachine> kMachines{{"sleeper", 1, R"(machine: sleeper
initial: sleeping
states: {sleeping: {after: {3d: over}, on: {wake: over}}, over: {final: true}}
)"},
                                           {"waiter", 1, R"(machine: waiter
initial: waiting
states: {waiting: {on: {wake: over}}, over: {final: true}}
)"},
                                           {"task", 1, R"(machine: task
initial: working
tasks: {work: {function: work}}
states: {working: {task: work, done: {to: over, effects: [{notify: journal}]}}, over: {final: true}}
)"}};

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "idle_runner: %s\n", result.error().message.c_str());
  std::_Exit(1);
}

void create(Runner& runner, const std::string& machine, const std::string& key) {
  must(runner.call(
      {.what = Stimulus::Create{}, .machine = machine, .key = key, .actor = {.name = "app"}}));
}

}  // namespace

int main(int, char** arguments) {
  const auto store = must(open_sqlite_store({.directory = arguments[1]}));
  must(store->put_machines(kMachines));
  StepperOptions engine{.zones = must(Zones::open())};
  engine.ward = std::string(arguments[1]) + "/ward";
  std::promise<void> delivered;
  const auto runner = must(Runner::open(
      *store, std::move(engine),
      {.functions = {{"work", [](TaskRun&) { return TaskResult{}; }}},
       .channels = {
           {"journal", log_channel([&](const std::string&) { delivered.set_value(); })}}}));

  std::vector<Stimulus> sleepers;
  std::vector<Stepper::Answered> answered;
  for (int i = 0; i < kSleeping; ++i) {
    sleepers.push_back({.what = Stimulus::Create{},
                        .machine = "sleeper",
                        .key = std::to_string(i),
                        .actor = {.name = "app"}});
    answered.emplace_back([](const Result<Answer>& answer) { must(answer); });
  }
  runner->submit(std::move(sleepers), std::move(answered));
  create(*runner, "waiter", "one");
  create(*runner, "task", "one");
  must(runner->wait({"task", "one"}, {}, std::chrono::seconds{30}));
  delivered.get_future().get();

  runner->claim({.queues = {"jobs"}, .wait = std::chrono::hours{1}}, [](const auto&) {});
  std::thread waits([&] { (void)runner->wait({"waiter", "one"}, {}, std::chrono::hours{1}); });
  std::printf("ready\n");
  std::fflush(stdout);
  char one = 0;
  (void)!read(STDIN_FILENO, &one, 1);
  std::_Exit(0);  // nobody wakes the one who waits
}
