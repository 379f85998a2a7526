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
#include "model/finding_ids.h"

namespace pawl::cli {
namespace {

struct ApplyVerbOptions : ClientOptions {
  std::vector<std::string> paths;
};

// A directory may be opened later by a process that has the channels; a server has them, or not.
std::string request_body(const ApplyVerbOptions& options, const std::vector<std::string>& texts,
                         bool channels_elsewhere) {
  std::string body;
  {
    JsonMap map(body);
    map.boolean("dry_run", options.dry_run);
    map.boolean("channels_elsewhere", channels_elsewhere);
    std::string& out = map.member("files");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      out += i == 0 ? "[" : ",";
      JsonMap file(out);
      file.text("path", options.paths[i]);
      file.text("text", texts[i]);
    }
    out += "]";
  }
  return body;
}

// The literal, which outlives the reply. A server may know more than this program.
std::string_view id_of(std::string_view id) {
  const FindingId* known = find_finding(id);
  return known != nullptr ? known->id : "unknown";
}

std::vector<Diagnostic> findings_of(const std::string& file) {
  const auto number = [](const std::string& finding, const char* name) {
    return static_cast<int>(parse_whole(said(finding, name)).value_or(0));
  };
  std::vector<Diagnostic> findings;
  for (const std::string& one : items_of(file, "findings"))
    findings.push_back({said(one, "severity") == "error" ? Diagnostic::Severity::error
                                                         : Diagnostic::Severity::warning,
                        id_of(said(one, "id")),
                        {number(one, "line"), number(one, "column")},
                        said(one, "message")});
  return findings;
}

std::string fate_text(const std::string& touched) {
  const std::string fate = said(touched, "fate");
  if (fate == "follows") return "will switch to the new version at their next stimulus";
  if (fate == "moves")
    return "will move to " + said(touched, "to") + " in the new version at their next stimulus";
  if (fate == "stays") return "will stay on their version: the new one has no state for them";
  if (fate == "pinned") return "will stay on their version: they are pinned";
  return "would be left without a state";
}

void print_file(const std::string& file, bool is_good, bool dry_run, std::ostream& out) {
  const std::string name = said(file, "file");
  if (!is_good) {
    out << name << ": not applied\n";
  } else if (said(file, "new") == "false") {
    out << name << ": " << said(file, "machine") << " is already at version "
        << said(file, "version") << '\n';
  } else {
    out << name << ": " << said(file, "machine") << (dry_run ? " would become" : " is")
        << " version " << said(file, "version") << '\n';
  }
  for (const std::string& touched : items_of(file, "touched")) {
    const std::string version = said(touched, "version");
    out << "  "
        << counted(static_cast<std::size_t>(parse_whole(said(touched, "records")).value_or(0)),
                   "record")
        << " in " << said(touched, "state") << (version.empty() ? "" : " of version " + version)
        << ' ' << fate_text(touched) << '\n';
  }
}

ExitCode apply(const ApplyVerbOptions& options, const Surroundings& surroundings) {
  std::vector<std::string> texts;
  for (const std::string& path : options.paths) {
    auto text = read_text_file(path);
    if (!text) return report(text.error(), "", "", surroundings.err);
    texts.push_back(*std::move(text));
  }
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply =
      (*client)->call(post("/v1/machines", request_body(options, texts, (*client)->url().empty())));
  const std::vector<std::string> files = items_of(reply.body, "files");
  if (options.json || files.size() != texts.size())
    return report_reply(reply, options, "", surroundings);
  for (std::size_t i = 0; i < files.size(); ++i)
    report_findings(options.paths[i], texts[i], findings_of(files[i]), surroundings);
  for (const std::string& file : files)
    print_file(file, is_ok(reply), options.dry_run, surroundings.out);
  return exit_code_of(reply);
}

}  // namespace

void add_apply(Command& app, Action& action) {
  auto options = std::make_shared<ApplyVerbOptions>();
  Command* verb =
      app.add_subcommand("apply", "Apply machine files: each becomes a new version of its machine");
  verb->add_option("FILE", options->paths, "machine files; either all are applied or none")
      ->required();
  add_client_options(*verb, *options);
  verb->add_flag("--dry-run", options->dry_run, "show what would change for live records");
  verb->footer("Example:\n  pawl apply machines/order.yaml machines/parcel.yaml --dry-run");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return apply(*options, surroundings); };
  });
}

}  // namespace pawl::cli
