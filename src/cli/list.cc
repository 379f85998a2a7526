// pawl list: records, by machine, state, label, parent, hold, error.
#include <memory>
#include <ostream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/reply_text.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct ListOptions : ClientOptions {
  std::string machine;
  std::string state;
  std::string prefix;
  std::string label;
  std::string parent;
  std::string error;
  std::string fingerprint;
  std::string created_from;
  std::string created_before;
  bool held = false;
  bool built_in = false;
  std::size_t max = 100;
};

QueryPairs query_of(const ListOptions& options) {
  QueryPairs query;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) query.emplace_back(name, value);
  };
  add("machine", options.machine);
  add("state", options.state);
  add("key_prefix", options.prefix);
  add("label", options.label);
  add("parent", options.parent);
  add("error", options.error);
  add("fingerprint", options.fingerprint);
  add("created_from", options.created_from);
  add("created_before", options.created_before);
  if (options.held) query.emplace_back("held", "true");
  if (options.built_in) query.emplace_back("built_in", "true");
  return query;
}

void print_list_json(const std::vector<std::string>& records, bool is_all, std::ostream& out) {
  out << R"({"items":[)" << join(records, ",", ",") << R"(],"more":)" << (is_all ? "false" : "true")
      << "}\n";
}

void print_list_text(const std::vector<std::string>& records, bool is_all, std::ostream& out) {
  std::vector<std::vector<std::string>> rows{{"RECORD", "STATE", "SINCE", "NEXT", ""}};
  for (const std::string& record : records)
    rows.push_back({said(record, "machine") + "/" + said(record, "key"), said(record, "state"),
                    short_time(said(record, "entered_at")), short_time(said(record, "next_at")),
                    plight_of(record)});
  if (records.empty()) {
    out << "no records\n";
  } else {
    print_table(rows, out);
  }
  if (!is_all) out << "there are more: add a filter, or raise --max\n";
}

ExitCode list(const ListOptions& options, const Surroundings& surroundings) {
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  std::vector<std::string> records;
  std::string from;
  do {  // a page may be short although there is more
    QueryPairs query = query_of(options);
    query.emplace_back("max", std::to_string(std::min<std::size_t>(options.max, 1'000)));
    if (!from.empty()) query.emplace_back("from", from);
    const ApiReply reply = (*client)->call(get("/v1/records", std::move(query)));
    if (!is_ok(reply)) return report_reply(reply, options, "", surroundings);
    for (std::string& record : items_of(reply.body)) records.push_back(std::move(record));
    from = said(reply.body, "next");
  } while (!from.empty() && records.size() < options.max);
  const bool is_all = from.empty() && records.size() <= options.max;
  if (records.size() > options.max) records.resize(options.max);
  (options.json ? print_list_json : print_list_text)(records, is_all, surroundings.out);
  return ExitCode::ok;
}

}  // namespace

void add_list(Command& app, Action& action) {
  auto options = std::make_shared<ListOptions>();
  Command* verb = app.add_subcommand("list", "List records");
  const auto add = [&](const char* name, std::string& into, const char* what, const char* type) {
    return verb->add_option(name, into, what)->check(not_empty())->type_name(type);
  };
  Option* machine = add("MACHINE", options->machine, "only records of this machine", "");
  add("--state", options->state, "only records in this state", "STATE");
  add("--prefix", options->prefix, "only keys that begin with this; needs MACHINE", "TEXT")
      ->needs(machine);
  add("--label", options->label, "only records with this label", "NAME=VALUE");
  add("--parent", options->parent, "only children of this record", "MACHINE/KEY");
  add("--error", options->error, "only records whose last error has this code", "CODE");
  add("--fingerprint", options->fingerprint, "only records whose last error has this fingerprint",
      "HEX");
  add("--created-from", options->created_from, "only records created at this time or later",
      "INSTANT");
  add("--created-before", options->created_before, "only records created before this time",
      "INSTANT");
  verb->add_flag("--held", options->held, "only records on hold");
  verb->add_flag("--built-in", options->built_in, "include side jobs, deliveries and messages");
  verb->add_option("--max", options->max, "show at most this many")
      ->capture_default_str()
      ->check(between(1, 1'000'000));
  add_client_options(*verb, *options);
  verb->footer("Example:\n  pawl list order --state paying --label customer=42");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return list(*options, surroundings); };
  });
}

}  // namespace pawl::cli
