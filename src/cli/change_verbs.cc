#include "cli/change_verbs.h"

#include <ostream>

#include "base/text.h"
#include "cli/reply_text.h"

namespace pawl::cli {

void put_common(JsonMap& body, const ClientOptions& options) {
  if (!options.idempotency_key.empty()) body.text("idempotency_key", options.idempotency_key);
  if (options.dry_run) body.boolean("dry_run", true);
}

void add_later_options(Command& verb, std::string& at, std::string& in) {
  Option* later = verb.add_option("--at", at, "do it at this time instead of now")
                      ->check(not_empty())
                      ->type_name("INSTANT");
  verb.add_option("--in", in, "do it after this delay instead of now")
      ->check(not_empty())
      ->excludes(later)
      ->type_name("DURATION");
}

ExitCode change_record(const ClientOptions& options, const RecordName& name, std::string_view path,
                       const std::string& body, const Surroundings& surroundings) {
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply = (*client)->call(post(path_of(name, path), body));
  const std::string record = name.machine + "/" + name.key;
  if (options.json || !is_ok(reply)) return report_reply(reply, options, record, surroundings);
  surroundings.out << printable(record) << ": " << (options.dry_run ? "dry run: " : "")
                   << said(reply.body, "answer");
  if (const std::string key = said(reply.body, "key"); !key.empty()) {  // of what is for later
    surroundings.out << ", scheduled; `pawl show "
                     << printable(said(reply.body, "machine") + "/" + key)
                     << "` shows the outcome\n";
    return ExitCode::ok;
  }
  if (const std::string state = said(reply.body, "state"); !state.empty())
    surroundings.out << ", " << state;
  if (const std::string revision = said(reply.body, "revision"); !revision.empty())
    surroundings.out << ", revision " << revision;
  if (const std::string reason = said(reply.body, "reason"); !reason.empty())
    surroundings.out << ": " << printable(reason);
  surroundings.out << '\n';
  return ExitCode::ok;
}

}  // namespace pawl::cli
