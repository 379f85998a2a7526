#include "cli/change_verbs.h"

#include <ostream>

#include "base/text.h"
#include "cli/reply_text.h"

namespace pawl::cli {

void put_common(JsonMap& body, const ClientOptions& options) {
  if (!options.idempotency_key.empty()) body.text("idempotency_key", options.idempotency_key);
  if (options.dry_run) body.boolean("dry_run", true);
}

ExitCode change_record(const ClientOptions& options, const RecordName& name, std::string_view path,
                       const std::string& body, const Surroundings& surroundings) {
  const auto client = open_client(options);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply = (*client)->call(post(path_of(name, path), body));
  if (options.json) {
    surroundings.out << reply.body << '\n';
    return exit_code_of(reply);
  }
  const std::string record = name.machine + "/" + name.key;
  if (!is_ok(reply)) return report_reply(reply, record, surroundings);
  const std::string answer = said(reply.body, "answer");
  surroundings.out << printable(record) << ": " << (options.dry_run ? "would be " : "") << answer;
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
