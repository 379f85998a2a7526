// Machines: applied, listed, shown.
#include <limits>

#include "api/call.h"
#include "api/documents.h"
#include "base/json_text.h"
#include "base/text.h"
#include "decide/json_edit.h"

namespace pawl {
namespace {

constexpr std::size_t kFilesMax = 1'000;

std::string version_json(const MachineVersion& version, const std::string* text = nullptr) {
  std::string out;
  {
    JsonMap map(out);
    map.text("machine", version.name);
    map.number("version", version.version);
    if (!version.applied_by.empty()) {
      map.text("applied_at", to_text(version.applied_at));
      map.text("applied_by", version.applied_by);
    }
    if (text != nullptr) map.text("text", *text);
  }
  return out;
}

void show_text(const Call& call, const MachineVersion& version) {
  const auto text = call.engine.machine_text(version.name, version.version);
  if (!text) return call.fail(text.error());
  call.ok(version_json(version, &text->value()));
}

}  // namespace

void apply_machines(const SharedCall& call) {
  if (call->request.caller.machines)
    return call->fail(
        "outside_scope",
        "machines can refer to each other: applying them needs an access token for all machines");
  JsonBody body = call->body();
  ApplyOptions options{.by = call->acting(),
                       .dry_run = body.boolean("dry_run"),
                       .channels_elsewhere = body.boolean("channels_elsewhere")};
  std::vector<MachineText> files;
  for (const std::string& item : body.items("files")) {
    JsonBody file(item, "files[" + std::to_string(files.size()) + "]");
    files.push_back({file.required_text("path"), file.text("text")});
    file.require("text");  // an empty one is a finding
    if (const auto wrong = file.finish(); !wrong) return call->fail(wrong.error());
  }
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  if (files.empty() || files.size() > kFilesMax)
    return call->fail("bad_request", "`files` must have 1 to 1000 machine files");
  const auto applied = call->engine.apply(files, options);
  if (!applied) return call->fail(applied.error());
  call->replied({applied->is_good() ? 200 : 422, to_json(*applied)});
}

void list_machines(const SharedCall& call) {
  const auto versions = call->engine.machines();
  if (!versions) return call->fail(versions.error());
  std::vector<MachineVersion> seen;
  for (const MachineVersion& version : *versions)
    if (call->may_see_machine(version.name)) seen.push_back(version);
  std::string out = R"({"items":)";
  append_list(out, seen, [](const MachineVersion& version) { return version_json(version); });
  call->ok(out + "}");
}

void show_machine(const SharedCall& call) {
  const std::string& name = call->parameters[0];
  const auto versions = call->engine.machines();
  if (!versions) return call->fail(versions.error());
  const MachineVersion* newest = nullptr;
  for (const MachineVersion& version : *versions)
    if (version.name == name) newest = &version;
  if (newest == nullptr)
    return call->fail("no_such_machine", "there is no machine " + in_ticks(name));
  show_text(*call, *newest);
}

void show_version(const SharedCall& call) {
  const auto version = parse_whole(call->parameters[1]);
  if (!version || *version < 1 || *version > std::numeric_limits<int>::max())
    return call->fail("no_such_machine", "a version is a whole number from 1");
  const auto versions = call->engine.machines();
  if (!versions) return call->fail(versions.error());
  for (const MachineVersion& one : *versions)
    if (one.name == call->parameters[0] && one.version == *version) return show_text(*call, one);
  call->fail("no_such_machine", "there is no version " + std::to_string(*version) +
                                    " of the machine " + in_ticks(call->parameters[0]));
}

}  // namespace pawl
