// pawl pause, unpause: what may not be started.
#include <memory>
#include <ostream>

#include "base/text.h"
#include "cli/change_verbs.h"
#include "cli/reply_text.h"

namespace pawl::cli {
namespace {

constexpr const char* kWhat = "machine:NAME, queue:NAME, label:NAME=VALUE or everything";

struct PauseOptions : ClientOptions {
  std::string what;
  std::string reason;
};

void print_pause(const std::string& pause, std::ostream& out) {
  out << printable(said(pause, "what")) << ": paused since " << short_time(said(pause, "since"))
      << " by " << printable(said(pause, "actor")) << ": " << printable(said(pause, "reason"))
      << '\n';
}

ExitCode call_pauses(const PauseOptions& options, const ApiRequest& request,
                     const Surroundings& surroundings,
                     const std::function<void(const std::string& reply)>& print) {
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply = (*client)->call(request);
  if (options.json || !is_ok(reply)) return report_reply(reply, options, "", surroundings);
  print(reply.body);
  return ExitCode::ok;
}

std::string pause_body(const PauseOptions& options) {
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
  if (options.what.empty() && (options.dry_run || !options.reason.empty()))
    return report_usage("say what to pause: " + std::string(kWhat), "pause", surroundings.err);
  if (options.what.empty())
    return call_pauses(options, get("/v1/pauses"), surroundings, [&](const std::string& reply) {
      const auto pauses = items_of(reply);
      for (const std::string& one : pauses) print_pause(one, surroundings.out);
      if (pauses.empty()) surroundings.out << "nothing is paused\n";
    });
  if (options.reason.empty())
    return report_usage("a pause needs a --reason, which `pawl why` shows", "pause",
                        surroundings.err);
  return call_pauses(options, post("/v1/pauses", pause_body(options)), surroundings,
                     [&](const std::string& reply) {
                       if (options.dry_run) surroundings.out << "dry run: ";
                       print_pause(reply, surroundings.out);
                     });
}

ExitCode unpause(const PauseOptions& options, const Surroundings& surroundings) {
  return call_pauses(options, post("/v1/pauses/end", pause_body(options)), surroundings,
                     [&](const std::string&) {
                       surroundings.out << (options.dry_run ? "dry run: " : "")
                                        << printable(options.what) << ": resumed\n";
                     });
}

}  // namespace

void add_pause(Command& app, Action& action) {
  auto options = std::make_shared<PauseOptions>();
  Command* verb =
      app.add_subcommand("pause", "Keep new attempts from starting; without WHAT, list pauses");
  verb->add_option("WHAT", options->what, kWhat)->check(not_empty());
  verb->add_option("--reason", options->reason, "why; `pawl why` shows it")
      ->check(not_empty())
      ->type_name("TEXT");
  add_actor_options(*verb, *options);
  verb->footer("Example:\n  pawl pause queue:payments --reason 'the bank is away'\n  pawl pause");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return pause(*options, surroundings); };
  });
}

void add_unpause(Command& app, Action& action) {
  auto options = std::make_shared<PauseOptions>();
  Command* verb = app.add_subcommand("unpause", "End a pause: attempts start again");
  verb->add_option("WHAT", options->what, kWhat)->required()->check(not_empty());
  add_client_options(*verb, *options);
  verb->add_flag("--dry-run", options->dry_run, "show what would happen, but change nothing");
  verb->footer("Example:\n  pawl unpause queue:payments");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return unpause(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
