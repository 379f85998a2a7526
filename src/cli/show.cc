// pawl show, log, why: one record, looked at.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>

#include "base/text.h"
#include "cli/client.h"
#include "cli/reply_text.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct ShowOptions : ClientOptions {
  std::string record;
  std::string wait;
};

// A client, and the name that is asked about.
struct Asked {
  RecordName name;
  std::unique_ptr<Client> client;
};

Result<Asked> open(const ShowOptions& options, const Surroundings& surroundings) {
  PAWL_TRY(RecordName name, parse_record(options.record));
  PAWL_TRY(auto client, open_client(options, surroundings));
  return Asked{std::move(name), std::move(client)};
}

Result<Duration> parse_wait(const std::string& text) {
  constexpr Duration kLongest = std::chrono::hours{24 * 365};  // within every clock's reach
  PAWL_TRY(const Duration wait, parse_duration(text));
  return std::min(wait, kLongest);
}

ExitCode print_reply(const ApiReply& reply, const ShowOptions& options,
                     const Surroundings& surroundings) {
  if (options.json || !is_ok(reply)) return report_reply(reply, options, "", surroundings);
  print_record(reply.body, surroundings.out);
  return ExitCode::ok;
}

// One call waits a minute at most.
ExitCode show_final(const Asked& asked, Duration wait, const ShowOptions& options,
                    const Surroundings& surroundings) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + wait;
  for (;;) {
    const auto left = std::chrono::ceil<Duration>(end - Clock::now());
    const bool is_over = left <= Duration{0};
    const QueryPairs query{{"wait", to_text(std::max(left, Duration{0}))}};
    const ApiReply record = asked.client->call(get(path_of(asked.name), query));
    if (!is_ok(record)) return print_reply(record, options, surroundings);
    const ApiReply why = asked.client->call(get(path_of(asked.name, "/why")));
    const bool is_final = said(why.body, "why") == "final";
    if (!is_final && !is_over) continue;
    print_reply(record, options, surroundings);
    if (is_final) return ExitCode::ok;
    surroundings.err << "pawl: " << printable(options.record) << " is not final yet\n";
    return ExitCode::undecided;
  }
}

ExitCode show(const ShowOptions& options, const Surroundings& surroundings) {
  std::optional<Duration> wait;
  if (!options.wait.empty()) {
    const auto parsed = parse_wait(options.wait);
    if (!parsed) return report(parsed.error(), "--wait", options.wait, surroundings.err);
    wait = *parsed;
  }
  const auto asked = open(options, surroundings);
  if (!asked) return report(asked.error(), "", "", surroundings.err);
  if (wait) return show_final(*asked, *wait, options, surroundings);
  return print_reply(asked->client->call(get(path_of(asked->name))), options, surroundings);
}

ExitCode why(const ShowOptions& options, const Surroundings& surroundings) {
  const auto asked = open(options, surroundings);
  if (!asked) return report(asked.error(), "", "", surroundings.err);
  const ApiReply reply = asked->client->call(get(path_of(asked->name, "/why")));
  if (options.json || !is_ok(reply)) return report_reply(reply, options, "", surroundings);
  surroundings.out << printable(options.record + ": " + said(reply.body, "sentence")) << '\n';
  return ExitCode::ok;
}

ExitCode log(const ShowOptions& options, const Surroundings& surroundings) {
  const auto asked = open(options, surroundings);
  if (!asked) return report(asked.error(), "", "", surroundings.err);
  std::string from;
  bool is_first = true;
  do {
    QueryPairs query{{"max", "1000"}};
    if (!from.empty()) query.emplace_back("from", from);
    const ApiReply reply = asked->client->call(get(path_of(asked->name, "/log"), query));
    if (!is_ok(reply)) return report_reply(reply, options, "", surroundings);
    for (const std::string& entry : items_of(reply.body)) {
      if (options.json) {
        surroundings.out << (is_first ? R"({"items":[)" : ",") << entry;
      } else {
        surroundings.out << printable(entry_line(entry)) << '\n';
      }
      is_first = false;
    }
    from = said(reply.body, "next");
  } while (!from.empty());
  if (options.json) surroundings.out << (is_first ? R"({"items":[]})" : "]}") << '\n';
  return ExitCode::ok;
}

Command* add_look(Command& app, Action& action, const char* name, const char* what,
                  const std::shared_ptr<ShowOptions>& options,
                  ExitCode (*act)(const ShowOptions&, const Surroundings&)) {
  Command* verb = app.add_subcommand(name, what);
  verb->add_option("RECORD", options->record, "MACHINE/KEY")->required();
  add_client_options(*verb, *options);
  verb->callback([options, act, &action] {
    action = [options, act](const Surroundings& surroundings) {
      return act(*options, surroundings);
    };
  });
  return verb;
}

}  // namespace

void add_show(Command& app, Action& action) {
  auto options = std::make_shared<ShowOptions>();
  Command* verb = add_look(app, action, "show", "Show a record", options, show);
  verb->add_option("--wait", options->wait,
                   "wait until the record is final, at most this long; exit code 4 if it is not")
      ->check(not_empty())
      ->type_name("DURATION");
  verb->footer("Example:\n  pawl show order/17\n  pawl show order/17 --wait 5m --json");
}

void add_log(Command& app, Action& action) {
  add_look(app, action, "log", "Show the log of a record: everything that has happened to it",
           std::make_shared<ShowOptions>(), log)
      ->footer("Example:\n  pawl log order/17");
}

void add_why(Command& app, Action& action) {
  add_look(app, action, "why", "Explain why a record is not moving",
           std::make_shared<ShowOptions>(), why)
      ->footer("Example:\n  pawl why order/17");
}

}  // namespace pawl::cli
