// Pawl inside a program. An order is charged by a C++ function, which fails twice and is tried
// again; then the office is told.
//
//   embed order.yaml DIRECTORY        the order is kept in DIRECTORY
//   embed slow_order.yaml --virtual   in memory, on a clock of its own: weeks pass in an instant
//
// Run it twice on one directory: the order is there already, and nobody is charged again.
#include <pawl/engine.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

// The task `charge`. Pawl calls it on a thread of its own, and calls it again if it fails or if the
// process dies before the result is stored. Pass the outside key to a real bank: it is the same for
// every attempt, so the bank charges only once.
pawl::TaskResult charge(pawl::TaskRun& run) {
  const pawl::Answer& given = run.given();
  if (given.attempt <= 2)
    return {.failure = pawl::Failure{.code = "bank_unreachable", .message = "no answer"}};
  return {.result = R"({"receipt":"for )" + given.outside_key + "\"}"};
}

// The channel `office`. Returns nothing if the message got through, and otherwise the failure.
std::optional<pawl::Failure> tell_the_office(const pawl::Delivered& message) {
  std::cout << "office received: " << message.payload << '\n';
  return std::nullopt;
}

// Applying a file again changes nothing.
pawl::Result<void> apply(pawl::Engine& engine, const std::string& path) {
  std::ifstream stream(path);
  if (!stream) return pawl::Error{pawl::ErrorCode::environment, "cannot read " + path};
  const pawl::MachineText file{path, std::string(std::istreambuf_iterator<char>(stream), {})};
  PAWL_TRY(const pawl::Applied applied, engine.apply({&file, 1}));
  for (const pawl::Diagnostic& finding : applied.machines[0].findings)
    std::cerr << path << ':' << finding.position.line << ": " << finding.message << '\n';
  if (!applied.is_good()) return pawl::Error{pawl::ErrorCode::bad_input, path + " was not applied"};
  return {};
}

pawl::Result<void> print_log(pawl::Engine& engine, pawl::RecordId record) {
  PAWL_TRY(const pawl::Page<pawl::Entry> log, engine.log(record));
  for (const pawl::Entry& entry : log.items) {
    std::cout << pawl::to_text(entry.at) << "  " << pawl::to_text(entry.kind);
    if (entry.error) std::cout << ' ' << entry.error->code;
    if (entry.from != entry.to) std::cout << " -> " << entry.to;
    std::cout << '\n';
  }
  return {};
}

pawl::Result<void> run(const std::string& file, const std::string& place) {
  pawl::EngineOptions options{.functions = {{"charge", charge}},
                              .channels = {{"office", tell_the_office}}};
  const bool is_virtual = place == "--virtual";
  if (is_virtual) {
    PAWL_TRY(options.virtual_clock, pawl::parse_instant("2026-03-02T09:00:00Z"));
  } else {
    options.directory = place;
  }
  PAWL_TRY(const auto engine, pawl::Engine::open(std::move(options)));
  PAWL_CHECK(apply(*engine, file));

  // Durable when it returns. The key is the caller's own: created twice, it exists once.
  const pawl::RecordName order{"order", "17"};
  PAWL_TRY(const pawl::Answer created, engine->create(order, R"({"amount":12})"));
  std::cout << "create order 17: " << pawl::to_text(created.kind) << '\n';

  if (is_virtual) PAWL_CHECK(engine->run_until(engine->now() + 24h * 30));
  PAWL_TRY(const std::optional<pawl::Record> record, engine->wait(order, std::nullopt, 10s));
  if (!record) return pawl::Error{pawl::ErrorCode::bad_input, created.reason};
  std::cout << record->state << ' ' << record->data << '\n';
  PAWL_CHECK(print_log(*engine, record->id));
  PAWL_TRY(const std::optional<pawl::Why> why, engine->why(order));
  std::cout << "why: " << why->sentence << '\n';
  if (why->kind == pawl::Why::Kind::final) return {};
  return pawl::Error{pawl::ErrorCode::environment, "the order is not finished"};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: embed MACHINE.yaml DIRECTORY|--virtual\n";
    return 2;
  }
  if (const auto ran = run(argv[1], argv[2]); !ran) {
    std::cerr << "embed: " << ran.error().message << '\n';
    return 1;
  }
  return 0;
}
