// pawl dead: dead letters, records that were given up and wait for a person.
#include <algorithm>
#include <map>
#include <memory>
#include <ostream>

#include "base/text.h"
#include "cli/change_verbs.h"
#include "cli/reply_text.h"
#include "cli/store_files.h"

namespace pawl::cli {
namespace {

struct DeadOptions : ClientOptions {
  std::string machine;
  std::string fingerprint;
  std::string reason;
  bool grouped = false;
};

using Visit = std::function<bool(const std::string& record)>;

// Calls `visit` for every dead letter that is asked for, until it says false.
ApiReply for_each_dead(Client& client, const DeadOptions& options, const Visit& visit) {
  std::string from;
  for (;;) {
    QueryPairs query{{"dead", "true"}, {"max", "1000"}, {"built_in", "true"}};
    if (!options.machine.empty()) query.emplace_back("machine", options.machine);
    if (!options.fingerprint.empty()) query.emplace_back("fingerprint", options.fingerprint);
    if (!from.empty()) query.emplace_back("from", from);
    ApiReply reply = client.call(get("/v1/records", query));
    if (!is_ok(reply)) return reply;
    for (const std::string& record : items_of(reply.body))
      if (!visit(record)) return reply;
    from = said(reply.body, "next");
    if (from.empty()) return reply;
  }
}

// --- looking -----------------------------------------------------------------------------------

// Dead letters with one error.
struct Group {
  std::size_t records = 0;
  std::string machine;
  std::string state;
  std::string code;
  std::string message;
  std::string last;  // when the last one was put on hold
};

std::string group_json(const std::string& fingerprint, const Group& group) {
  std::string out;
  {
    JsonMap map(out);
    map.text("machine", group.machine);
    map.text("state", group.state);
    map.text("code", group.code);
    map.text("fingerprint", fingerprint);
    map.number("records", static_cast<std::int64_t>(group.records));
    map.text("last_at", group.last);
    map.text("message", group.message);
  }
  return out;
}

ExitCode print_groups(const std::vector<std::string>& records, const DeadOptions& options,
                      const Surroundings& surroundings) {
  using Key = std::tuple<std::string, std::string, std::string>;  // machine, state, fingerprint
  std::map<Key, Group> groups;
  for (const std::string& record : records) {
    const std::string machine = said(record, "machine");
    const std::string failed_from = said(record, "failed_from");
    const std::string state = failed_from.empty() ? said(record, "state") : failed_from;
    Group& group = groups[{machine, state, said(record, "error.fingerprint")}];
    ++group.records;
    group.machine = machine;
    group.state = state;
    group.code = said(record, "error.code");
    if (group.code.empty()) group.code = said(record, "hold.code");
    group.message = said(record, "error.message");
    if (group.message.empty()) group.message = said(record, "hold.text");
    group.last = std::max(group.last, said(record, "hold.since"));
  }
  if (options.json) {
    std::vector<std::string> all;
    for (const auto& [key, group] : groups) all.push_back(group_json(std::get<2>(key), group));
    surroundings.out << R"({"groups":[)" << join(all, ",", ",") << "]}\n";
    return ExitCode::ok;
  }
  std::vector<std::vector<std::string>> rows{
      {"RECORDS", "MACHINE", "STATE", "CODE", "FINGERPRINT", "LAST", "MESSAGE"}};
  for (const auto& [key, group] : groups)
    rows.push_back({std::to_string(group.records), group.machine, group.state, group.code,
                    std::get<2>(key), short_time(group.last), group.message});
  print_table(rows, surroundings.out);
  return ExitCode::ok;
}

ExitCode list(const DeadOptions& options, const Surroundings& surroundings) {
  const auto client = open_client(options);
  if (!client) return report(client.error(), "", "", surroundings.err);
  std::vector<std::string> records;
  const ApiReply reply = for_each_dead(**client, options, [&](const std::string& record) {
    records.push_back(record);
    return true;
  });
  if (!is_ok(reply)) return report_reply(reply, "", surroundings);
  if (records.empty() && !options.json) {
    surroundings.out << "no dead letters\n";
    return ExitCode::ok;
  }
  if (options.grouped) return print_groups(records, options, surroundings);
  if (options.json) {
    surroundings.out << R"({"items":[)" << join(records, ",", ",") << "]}\n";
    return ExitCode::ok;
  }
  std::vector<std::vector<std::string>> rows{{"RECORD", "STATE", "SINCE", "FINGERPRINT", ""}};
  for (const std::string& record : records)
    rows.push_back({said(record, "machine") + "/" + said(record, "key"), said(record, "state"),
                    short_time(said(record, "hold.since")), said(record, "error.fingerprint"),
                    plight_of(record)});
  print_table(rows, surroundings.out);
  return ExitCode::ok;
}

// --- steering ----------------------------------------------------------------------------------

struct Tally {
  std::size_t done = 0;
  std::size_t refused = 0;
};

// Each is a decision of its own: one that is refused does not keep the others.
ExitCode for_all(const DeadOptions& options, std::string_view path,
                 const std::function<void(JsonMap&)>& put, const char* done,
                 const Surroundings& surroundings) {
  const auto client = open_client(options);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const auto progress = progress_line(done, surroundings);
  std::vector<RecordName> names;
  ApiReply reply = for_each_dead(**client, options, [&](const std::string& record) {
    names.push_back({said(record, "machine"), said(record, "key")});
    return true;
  });
  if (!is_ok(reply)) return report_reply(reply, "", surroundings);
  std::string body;
  {
    JsonMap map(body);
    put(map);
    put_common(map, options);
  }
  Tally tally;
  for (const RecordName& name : names) {
    reply = (*client)->call(post(path_of(name, path), body));
    if (reply.status >= 500) break;
    if (is_ok(reply)) {
      ++tally.done;
    } else {
      ++tally.refused;
      end_progress_line(surroundings);
      report_reply(reply, name.machine + "/" + name.key, surroundings);
    }
    if (progress && (tally.done + tally.refused) % 100 == 0)
      progress(static_cast<std::int64_t>(tally.done + tally.refused),
               static_cast<std::int64_t>(names.size()));
  }
  end_progress_line(surroundings);
  if (options.json) {
    surroundings.out << R"({"done":)" << tally.done << R"(,"refused":)" << tally.refused
                     << R"(,"of":)" << names.size() << "}\n";
  } else {
    surroundings.out << counted(tally.done, "record") << (options.dry_run ? " would be " : " ")
                     << done << (tally.refused > 0 ? ", " : "")
                     << (tally.refused > 0 ? std::to_string(tally.refused) + " refused" : "")
                     << '\n';
  }
  if (reply.status >= 500) return report_reply(reply, "", surroundings);
  return tally.refused == 0 ? ExitCode::ok : ExitCode::wrong;
}

ExitCode retry(const DeadOptions& options, const Surroundings& surroundings) {
  return for_all(
      options, "/orders",
      [&](JsonMap& body) {
        body.text("order", "retry");
        body.text("reason", options.reason);
      },
      "tried again", surroundings);
}

ExitCode discard(const DeadOptions& options, const Surroundings& surroundings) {
  return for_all(
      options, "/fire", [](JsonMap& body) { body.text("event", "discard"); }, "discarded",
      surroundings);
}

using Act = ExitCode (*)(const DeadOptions&, const Surroundings&);

CLI::App* add_verb(CLI::App& dead, Action& action, const char* name, const char* what,
                   const std::shared_ptr<DeadOptions>& options, Act act) {
  CLI::App* verb = dead.add_subcommand(name, what);
  verb->add_option("--machine", options->machine, "of this machine only");
  verb->add_option("--fingerprint", options->fingerprint, "with this error only")->type_name("HEX");
  verb->callback([options, act, &action] {
    action = [options, act](const Surroundings& surroundings) {
      return act(*options, surroundings);
    };
  });
  return verb;
}

}  // namespace

void add_dead(CLI::App& app, Action& action) {
  CLI::App* dead = app.add_subcommand("dead", "Dead letters: records that were given up");
  dead->require_subcommand(1);
  auto listed = std::make_shared<DeadOptions>();
  CLI::App* verb = add_verb(*dead, action, "list", "List them", listed, list);
  verb->add_flag("--grouped", listed->grouped, "one line an error, by its fingerprint");
  add_client_options(*verb, *listed);
  auto retried = std::make_shared<DeadOptions>();
  verb = add_verb(*dead, action, "retry", "Let them try again, with all counters at zero", retried,
                  retry);
  verb->add_option("--reason", retried->reason, "why; it is kept in the log")
      ->required()
      ->type_name("TEXT");
  add_change_options(*verb, *retried);
  auto discarded = std::make_shared<DeadOptions>();
  verb = add_verb(*dead, action, "discard", "End them", discarded, discard);
  add_change_options(*verb, *discarded);
  dead->footer(
      "Example:\n  pawl dead list --grouped\n  pawl dead retry --machine order --reason 'the bank is back'");
}

}  // namespace pawl::cli
