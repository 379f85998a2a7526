// pawl fire, restart, discard: events.
#include <memory>

#include "cli/change_verbs.h"

namespace pawl::cli {
namespace {

struct FireOptions : ClientOptions {
  std::string record;
  std::string event;
  std::string payload = "{}";
  std::string create;
  std::string at;
  std::string in;
};

Result<std::string> request_body(const FireOptions& options) {
  PAWL_TRY(const std::string payload, read_json_argument("--payload", options.payload));
  std::string body;
  {
    JsonMap map(body);
    map.text("event", options.event);
    map.json("payload", payload);
    if (!options.create.empty()) {
      PAWL_TRY(const std::string data, read_json_argument("--create", options.create));
      JsonMap create(map.member("create"));
      create.json("data", data);
    }
    if (!options.at.empty()) map.text("at", options.at);
    if (!options.in.empty()) map.text("in", options.in);
    put_common(map, options);
  }
  return body;
}

ExitCode fire(const FireOptions& options, const Surroundings& surroundings) {
  const auto name = parse_record(options.record);
  if (!name) return report(name.error(), "", "", surroundings.err);
  const auto body = request_body(options);
  if (!body) return report(body.error(), "", "", surroundings.err);
  return change_record(options, *name, "/fire", *body, surroundings);
}

Command* add_event(Command& app, Action& action, const std::shared_ptr<FireOptions>& options,
                   const char* name, const char* what) {
  Command* verb = app.add_subcommand(name, what);
  verb->add_option("RECORD", options->record, "MACHINE/KEY")->required();
  add_change_options(*verb, *options);
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return fire(*options, surroundings); };
  });
  return verb;
}

}  // namespace

void add_fire(Command& app, Action& action) {
  auto options = std::make_shared<FireOptions>();
  Command* verb = add_event(app, action, options, "fire", "Fire an event at a record");
  verb->add_option("EVENT", options->event, "name of the event")->required();
  verb->add_option("--payload", options->payload, "payload of the event, or @FILE")
      ->type_name("JSON");
  verb->add_option("--create", options->create,
                   "create the record with this data if it does not exist")
      ->check(not_empty())
      ->type_name("JSON");
  add_later_options(*verb, options->at, options->in);
  verb->footer(
      "Example:\n  pawl fire order/17 submit\n"
      "  pawl fire order/17 cancel --in 2h");
}

void add_restart(Command& app, Action& action) {
  auto options = std::make_shared<FireOptions>();
  options->event = "restart";
  add_event(app, action, options, "restart",
            "Restart a record from its initial state, with all counters reset")
      ->footer("Example:\n  pawl restart order/17 --dry-run");
}

void add_discard(Command& app, Action& action) {
  auto options = std::make_shared<FireOptions>();
  options->event = "discard";
  add_event(app, action, options, "discard", "Discard a record: it ends in the state `discarded`")
      ->footer("Example:\n  pawl discard order/17");
}

}  // namespace pawl::cli
