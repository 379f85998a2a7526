// pawl create: a new record.
#include <memory>

#include "cli/change_verbs.h"

namespace pawl::cli {
namespace {

struct CreateOptions : ClientOptions {
  std::string record;
  std::string data = "{}";
  std::string parent;
  std::string event;
  std::string payload;
  std::string at;
  std::string in;
};

Result<std::string> request_body(const CreateOptions& options) {
  PAWL_TRY(const std::string data, read_json_argument("--data", options.data));
  std::string body;
  {
    JsonMap map(body);
    map.json("data", data);
    if (!options.parent.empty()) {
      PAWL_TRY(const RecordName name, parse_record(options.parent));
      JsonMap parent(map.member("parent"));
      parent.text("machine", name.machine);
      parent.text("key", name.key);
    }
    if (!options.event.empty()) map.text("event", options.event);
    if (!options.payload.empty()) {
      PAWL_TRY(const std::string payload, read_json_argument("--payload", options.payload));
      map.json("payload", payload);
    }
    if (!options.at.empty()) map.text("at", options.at);
    if (!options.in.empty()) map.text("in", options.in);
    put_common(map, options);
  }
  return body;
}

ExitCode create(const CreateOptions& options, const Surroundings& surroundings) {
  const auto name = parse_record(options.record);
  if (!name) return report(name.error(), "", "", surroundings.err);
  const auto body = request_body(options);
  if (!body) return report(body.error(), "", "", surroundings.err);
  return change_record(options, *name, "", *body, surroundings);
}

}  // namespace

void add_create(Command& app, Action& action) {
  auto options = std::make_shared<CreateOptions>();
  Command* verb =
      app.add_subcommand("create", "Create a record; an existing one is left unchanged");
  verb->add_option("RECORD", options->record, "MACHINE/KEY")->required();
  verb->add_option("--data", options->data, "data of the record, or @FILE")->type_name("JSON");
  verb->add_option("--parent", options->parent, "create it as a child of this record")
      ->check(not_empty())
      ->type_name("MACHINE/KEY");
  Option* event = verb->add_option("--event", options->event, "event to fire in the same commit")
                      ->check(not_empty());
  verb->add_option("--payload", options->payload, "payload of the event, or @FILE")
      ->check(not_empty())
      ->needs(event)
      ->type_name("JSON");
  add_later_options(*verb, options->at, options->in);
  add_change_options(*verb, *options);
  verb->footer(
      "Example:\n  pawl create order/17 --data '{\"amount\": 12}'\n"
      "  pawl create order/18 --data @order.json --event pay");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return create(*options, surroundings); };
  });
}

}  // namespace pawl::cli
