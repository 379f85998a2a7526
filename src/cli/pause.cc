// pawl pause, unpause: what may not be started.
#include <memory>
#include <ostream>

#include "base/text.h"
#include "cli/change_verbs.h"
#include "cli/reply_text.h"

namespace pawl::cli {
namespace {

struct PauseOptions : ClientOptions {
  std::string what;
  std::string reason;
};

void print_pause(const std::string& pause, std::ostream& out) {
  out << printable(said(pause, "what")) << ": paused since " << short_time(said(pause, "since"))
      << " by " << printable(said(pause, "actor")) << ": " << printable(said(pause, "reason"))
      << '\n';
}

ExitCode call(const PauseOptions& options, const ApiRequest& request,
              const Surroundings& surroundings,
              const std::function<void(const std::string& reply)>& print) {
  const auto client = open_client(options);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply = (*client)->call(request);
  if (options.json) {
    surroundings.out << reply.body << '\n';
    return exit_code_of(reply);
  }
  if (!is_ok(reply)) return report_reply(reply, "", surroundings);
  print(reply.body);
  return ExitCode::ok;
}

std::string body_of(const PauseOptions& options) {
  std::string body;
  {
    JsonMap map(body);
    map.text("what", options.what);
    if (!options.reason.empty()) map.text("reason", options.reason);
    if (options.dry_run) map.boolean("dry_run", true);
  }
  return body;
}

ExitCode pause(const PauseOptions& options, const Surroundings& surroundings) {
  if (options.what.empty())
    return call(options, get("/v1/pauses"), surroundings, [&](const std::string& reply) {
      const auto pauses = items_of(reply);
      for (const std::string& one : pauses) print_pause(one, surroundings.out);
      if (pauses.empty()) surroundings.out << "nothing is paused\n";
    });
  if (options.reason.empty())
    return report_usage("a pause needs a --reason; `pawl why` says it to everybody", "pause",
                        surroundings.err);
  return call(options, post("/v1/pauses", body_of(options)), surroundings,
              [&](const std::string& reply) {
                if (options.dry_run) surroundings.out << "would be: ";
                print_pause(reply, surroundings.out);
              });
}

ExitCode unpause(const PauseOptions& options, const Surroundings& surroundings) {
  return call(
      options, post("/v1/pauses/end", body_of(options)), surroundings, [&](const std::string&) {
        surroundings.out << options.what << (options.dry_run ? ": would go on\n" : ": goes on\n");
      });
}

constexpr const char* kWhat = "machine:NAME, queue:NAME, label:NAME=VALUE or everything";

}  // namespace

void add_pause(CLI::App& app, Action& action) {
  auto options = std::make_shared<PauseOptions>();
  CLI::App* verb =
      app.add_subcommand("pause", "Let nothing of this be started; without WHAT: list pauses");
  verb->add_option("WHAT", options->what, kWhat);
  verb->add_option("--reason", options->reason, "why")->type_name("TEXT");
  add_change_options(*verb, *options);
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return pause(*options, surroundings); };
  });
}

void add_unpause(CLI::App& app, Action& action) {
  auto options = std::make_shared<PauseOptions>();
  CLI::App* verb = app.add_subcommand("unpause", "Let it be started again");
  verb->add_option("WHAT", options->what, kWhat)->required();
  add_change_options(*verb, *options);
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return unpause(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
