// pawl show, log, why: one record, looked at.
#include <memory>
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

// Gets it, and says it by `print` unless JSON is asked for.
template <class Print>
ExitCode look(const ShowOptions& options, std::string_view path, const QueryPairs& query,
              const Surroundings& surroundings, Print print) {
  const auto name = parse_record(options.record);
  if (!name) return report(name.error(), "", "", surroundings.err);
  const auto client = open_client(options);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply = (*client)->call(get(path_of(*name, path), query));
  if (options.json) {
    surroundings.out << reply.body << '\n';
    return exit_code_of(reply);
  }
  if (!is_ok(reply)) return report_reply(reply, "", surroundings);
  print(reply.body);
  return ExitCode::ok;
}

ExitCode show(const ShowOptions& options, const Surroundings& surroundings) {
  QueryPairs query;
  if (!options.wait.empty()) query = {{"wait", options.wait}, {"until", "final"}};
  return look(options, "", query, surroundings,
              [&](const std::string& record) { print_record(record, surroundings.out); });
}

ExitCode why(const ShowOptions& options, const Surroundings& surroundings) {
  return look(options, "/why", {}, surroundings, [&](const std::string& reply) {
    surroundings.out << options.record << ": " << printable(said(reply, "sentence")) << '\n';
  });
}

ExitCode log(const ShowOptions& options, const Surroundings& surroundings) {
  const auto name = parse_record(options.record);
  if (!name) return report(name.error(), "", "", surroundings.err);
  const auto client = open_client(options);
  if (!client) return report(client.error(), "", "", surroundings.err);
  std::string from;
  bool is_first = true;
  if (options.json) surroundings.out << R"({"items":[)";
  do {
    QueryPairs query{{"max", "1000"}};
    if (!from.empty()) query.emplace_back("from", from);
    const ApiReply reply = (*client)->call(get(path_of(*name, "/log"), query));
    if (!is_ok(reply)) return report_reply(reply, "", surroundings);
    for (const std::string& entry : items_of(reply.body)) {
      if (!options.json) {
        surroundings.out << printable(entry_line(entry)) << '\n';
      } else {
        surroundings.out << (is_first ? "" : ",") << entry;
      }
      is_first = false;
    }
    from = said(reply.body, "next");
  } while (!from.empty());
  if (options.json) surroundings.out << "]}\n";
  return ExitCode::ok;
}

CLI::App* add_look(CLI::App& app, Action& action, const char* name, const char* what,
                   const std::shared_ptr<ShowOptions>& options,
                   ExitCode (*act)(const ShowOptions&, const Surroundings&)) {
  CLI::App* verb = app.add_subcommand(name, what);
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

void add_show(CLI::App& app, Action& action) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* verb = add_look(app, action, "show", "Show a record", options, show);
  verb->add_option("--wait", options->wait, "until it is final, at most so long")
      ->type_name("DURATION");
}

void add_log(CLI::App& app, Action& action) {
  add_look(app, action, "log", "What has happened to a record", std::make_shared<ShowOptions>(),
           log);
}

void add_why(CLI::App& app, Action& action) {
  add_look(app, action, "why", "Why a record is not moving", std::make_shared<ShowOptions>(), why);
}

}  // namespace pawl::cli
