#include "pipe/document_edit.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/text.h"
#include "model/expression/json_view.h"
#include "pipe/member_walk.h"

namespace pawl {
namespace {

Error bad_at(const Where& at, std::string message) {
  Error error = bad_input(std::move(message));
  if (at.position.line > 0) error.position = at.position;
  return error;
}

template <class List, class Has>
bool any(const List& list, Has has) {
  return std::any_of(list.begin(), list.end(), has);
}

void begin_member(std::string& out, std::size_t begin, std::string_view key_json) {
  if (out.size() > begin + 1) out += ',';
  out += key_json;
  out += ':';
}

}  // namespace

Result<DocumentEdit> DocumentEdit::make(const TransformConfig& config, const Scope& scope) {
  DocumentEdit edit;
  edit.drop_ = config.drop;
  PAWL_CHECK(edit.add_renames(config));
  PAWL_CHECK(edit.add_sets(config, scope));
  return edit;
}

Result<void> DocumentEdit::add_renames(const TransformConfig& config) {
  for (const auto& names : config.rename) {
    const std::string& from = names.first;
    const std::string& to = names.second;
    if (from.empty() || to.empty())
      return bad_input("`rename` lacks a name; write the old name, then the new one");
    if (from == to)
      return bad_input("`rename` gives " + in_ticks(from) + " the name it already has");
    if (any(rename_, [&](const Rename& other) { return other.from == from; }))
      return bad_input("`rename` renames " + in_ticks(from) + " twice");
    if (any(rename_, [&](const Rename& other) { return other.to == to; }))
      return bad_input("`rename` gives two fields the name " + in_ticks(to));
    if (any(config.drop, [&](const std::string& name) { return name == from; }))
      return bad_input(in_ticks(from) + " is both renamed and dropped; keep one of the two");
    if (any(config.set, [&](const Assignment& set) { return set.name == to; }))
      return bad_input(in_ticks(to) +
                       " is both the new name of a field and set; keep one of the two");
    rename_.push_back({from, to, json_string(to)});
  }
  return {};
}

Result<void> DocumentEdit::add_sets(const TransformConfig& config, const Scope& scope) {
  for (const Assignment& assignment : config.set) {
    if (assignment.name.empty()) return bad_at(assignment.at, "`set` lacks a name");
    if (any(set_, [&](const Set& other) { return other.name == assignment.name; }))
      return bad_at(assignment.at, "`set` sets " + in_ticks(assignment.name) + " twice");
    Diagnostics diagnostics;
    auto program = ValueProgram::compile(assignment.value.json, scope, diagnostics);
    if (program == nullptr) {
      const Diagnostic first = diagnostics.sorted().front();
      Error error = bad_input("`set` of " + in_ticks(assignment.name) + ": " + first.message);
      if (first.position.line > 0) error.position = first.position;
      return error;
    }
    set_.push_back({assignment.name, json_string(assignment.name), std::move(program)});
  }
  return {};
}

Result<void> DocumentEdit::apply(const Sight& sight, Scratch& scratch, std::string& out) const {
  const std::size_t begin = out.size();
  out += '{';
  std::string& written = scratch.blank();
  written.assign(rename_.size(), '\0');
  PAWL_CHECK(append_kept(sight.data, scratch, written, out));
  for (const Set& set : set_) {
    begin_member(out, begin, set.json);
    if (!set.value->render(sight, scratch, out))
      return bad_input("`set` cannot compute " + in_ticks(set.name) + ": " + scratch.why);
  }
  out += '}';
  return {};
}

Result<void> DocumentEdit::append_kept(std::string_view map, Scratch& scratch, std::string& written,
                                       std::string& out) const {
  const std::size_t begin = out.size() - 1;
  for (MemberWalk walk(map); walk.next();) {
    const Scratch::Mark mark(scratch);
    const std::string_view name = JsonView(walk.key()).text(scratch);
    std::string_view key = walk.key();
    const auto renamed = std::find_if(rename_.begin(), rename_.end(),
                                      [&](const Rename& rename) { return rename.from == name; });
    if (renamed == rename_.end() && is_left_out(name)) continue;
    const std::string_view new_name = renamed == rename_.end() ? name : renamed->to;
    if (renamed != rename_.end()) key = renamed->json;
    for (std::size_t i = 0; i < rename_.size(); ++i)
      if (rename_[i].to == new_name && written[i]++ != '\0')
        return bad_input(in_ticks(rename_[i].from) + " cannot be renamed to " + in_ticks(new_name) +
                         ": the document already has that field");
    begin_member(out, begin, key);
    out += walk.value();
  }
  return {};
}

bool DocumentEdit::is_left_out(std::string_view name) const {
  return any(drop_, [&](const std::string& dropped) { return dropped == name; }) ||
         any(set_, [&](const Set& set) { return set.name == name; });
}

}  // namespace pawl
