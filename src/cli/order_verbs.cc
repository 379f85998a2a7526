// pawl retry, release, hold, move, patch, erase: orders of an operator.
#include <functional>
#include <memory>

#include "cli/change_verbs.h"

namespace pawl::cli {
namespace {

struct OrderOptions : ClientOptions {
  std::string order;
  std::string record;
  std::string reason;
  std::string text;
  std::string state;
  std::string data;
};

ExitCode give(const OrderOptions& options, const Surroundings& surroundings) {
  const auto name = parse_record(options.record);
  if (!name) return report(name.error(), "", "", surroundings.err);
  std::string body;
  {
    JsonMap map(body);
    map.text("order", options.order);
    map.text("reason", options.reason);
    if (!options.text.empty()) map.text("text", options.text);
    if (!options.state.empty()) map.text("state", options.state);
    if (!options.data.empty()) {
      const auto data = read_json_argument("PATCH", options.data);
      if (!data) return report(data.error(), "", "", surroundings.err);
      map.json("data", *data);
    }
    put_common(map, options);
  }
  return change_record(options, *name, "/orders", body, surroundings);
}

void add_order(Command& app, Action& action, const char* order, const char* what,
               const char* example,
               const std::function<void(Command&, OrderOptions&)>& add_own = {}) {
  auto options = std::make_shared<OrderOptions>();
  options->order = order;
  Command* verb = app.add_subcommand(order, what);
  verb->add_option("RECORD", options->record, "MACHINE/KEY")->required();
  if (add_own) add_own(*verb, *options);
  verb->add_option("--reason", options->reason, "why; recorded in the log")
      ->required()
      ->check(not_empty())
      ->type_name("TEXT");
  add_change_options(*verb, *options);
  verb->footer("Example:\n  pawl " + std::string(example));
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return give(*options, surroundings); };
  });
}

}  // namespace

void add_orders(Command& app, Action& action) {
  add_order(app, action, "retry", "Retry a record now, also one that was given up",
            "retry order/17 --reason 'the bank is back'");
  add_order(app, action, "release", "Release a record on hold: it continues where it stopped",
            "release order/17 --reason 'the customer has answered'");
  add_order(app, action, "hold", "Put a record on hold, so that nothing moves it",
            "hold order/17 'call the customer' --reason 'the address is odd'",
            [](Command& verb, OrderOptions& options) {
              verb.add_option("TEXT", options.text, "message for people: what to do about it")
                  ->required()
                  ->check(not_empty());
            });
  add_order(app, action, "move", "Move a record to another state",
            "move order/17 paid --reason 'paid in cash'", [](Command& verb, OrderOptions& options) {
              verb.add_option("STATE", options.state, "state of its machine")
                  ->required()
                  ->check(not_empty());
            });
  add_order(app, action, "patch", "Change the data of a record",
            "patch order/17 '{\"amount\": 12}' --reason 'a typing mistake'",
            [](Command& verb, OrderOptions& options) {
              verb.add_option("PATCH", options.data, "JSON merge patch (RFC 7396), or @FILE")
                  ->required()
                  ->check(not_empty());
            });
  add_order(app, action, "erase", "Erase the data of a final record, also from its log",
            "erase order/17 --reason 'the customer asked for it'");
}

}  // namespace pawl::cli
