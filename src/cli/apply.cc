// pawl apply: machine files become versions that records move by.
#include <memory>
#include <ostream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/machine_files.h"
#include "cli/reply_text.h"
#include "cli/verb.h"
#include "decide/json_edit.h"

namespace pawl::cli {
namespace {

struct ApplyVerbOptions : ClientOptions {
  std::vector<std::string> paths;
};

Result<std::string> request_body(const ApplyVerbOptions& options) {
  std::string body;
  {
    JsonMap map(body);
    map.boolean("dry_run", options.dry_run);
    map.boolean("channels_elsewhere", true);
    std::string& out = map.member("files");
    for (const std::string& path : options.paths) {
      PAWL_TRY(const std::string text, read_text_file(path));
      out += &path == &options.paths.front() ? "[" : ",";
      JsonMap file(out);
      file.text("path", path);
      file.text("text", text);
    }
    out += "]";
  }
  return body;
}

void print_findings(const std::string& file, std::ostream& err) {
  for (const std::string& finding : items_of(file, "findings"))
    err << said(file, "file") << ':' << said(finding, "line") << ':' << said(finding, "column")
        << ": " << said(finding, "severity") << ": " << printable(said(finding, "message")) << " ["
        << said(finding, "id") << "]\n";
}

std::string fate_text(const std::string& touched) {
  const std::string fate = said(touched, "fate");
  if (fate == "follows") return "go on there by the new version, at their next stimulus";
  if (fate == "moves") return "go on in " + said(touched, "to") + ", at their next stimulus";
  if (fate == "stays") return "stay on their version: the new one has no place for them";
  if (fate == "pinned") return "stay on their version, by pin";
  return "would be left without a state";
}

void print_file(const std::string& file, bool is_good, bool dry_run, std::ostream& out) {
  const std::string name = said(file, "file");
  if (!is_good) {
    out << name << ": not applied\n";
  } else if (said(file, "new") == "false") {
    out << name << ": " << said(file, "machine") << " is at version " << said(file, "version")
        << " already\n";
  } else {
    out << name << ": " << said(file, "machine") << (dry_run ? " would be" : " is") << " version "
        << said(file, "version") << '\n';
  }
  for (const std::string& touched : items_of(file, "touched")) {
    const std::string version = said(touched, "version");
    out << "  "
        << counted(static_cast<std::size_t>(std::stoull(said(touched, "records"))), "record")
        << " in " << said(touched, "state") << (version.empty() ? "" : " of version " + version)
        << ' ' << fate_text(touched) << '\n';
  }
}

ExitCode apply(const ApplyVerbOptions& options, const Surroundings& surroundings) {
  const auto body = request_body(options);
  if (!body) return report(body.error(), "", "", surroundings.err);
  const auto client = open_client(options);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply = (*client)->call(post("/v1/machines", *body));
  if (options.json) surroundings.out << reply.body << '\n';
  if (reply.status != 200 && reply.status != 422)
    return options.json ? exit_code_of(reply) : report_reply(reply, "", surroundings);
  if (options.json) return exit_code_of(reply);
  for (const std::string& file : items_of(reply.body, "files"))
    print_findings(file, surroundings.err);
  for (const std::string& file : items_of(reply.body, "files"))
    print_file(file, is_ok(reply), options.dry_run, surroundings.out);
  return exit_code_of(reply);
}

}  // namespace

void add_apply(CLI::App& app, Action& action) {
  auto options = std::make_shared<ApplyVerbOptions>();
  CLI::App* verb = app.add_subcommand("apply", "Let records move by these machine files");
  verb->add_option("FILE", options->paths, "machine files; all of them are applied, or none")
      ->required();
  add_client_options(*verb, *options);
  verb->add_flag("--dry-run", options->dry_run, "say what would change for live records");
  verb->footer("Example:\n  pawl apply machines/order.yaml machines/parcel.yaml --dry-run");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return apply(*options, surroundings); };
  });
}

}  // namespace pawl::cli
