#include "pawl/diagnostic.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/finding_ids.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

bool before(Position a, Position b) {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

}  // namespace

void Diagnostics::error(std::string_view id, Position position, std::string message) {
  add(Diagnostic::Severity::error, errors_, id, position, std::move(message));
}

void Diagnostics::error_at(std::string_view id, const Where& at, std::string message) {
  const bool unread = at.position.line > 0 && has_form_error_at(at.position);
  if (!unread) error(id, at.position, std::move(message));
}

void Diagnostics::warning(std::string_view id, Position position, std::string message) {
  add(Diagnostic::Severity::warning, warnings_, id, position, std::move(message));
}

void Diagnostics::add(Diagnostic::Severity severity, std::size_t& count, std::string_view id,
                      Position position, std::string message) {
  const FindingId* known = find_finding(id);
  PAWL_ASSERT(known != nullptr, "a finding without a line in finding_ids.cc");
  if (++count > kFindingsMax) return;
  findings_.push_back({severity, id, position, std::move(message)});
  if (known->kind == FindingId::Kind::form || known->kind == FindingId::Kind::text)
    form_errors_.push_back(position);
}

bool Diagnostics::has_form_error_between(Position from, Position to) const {
  return std::any_of(form_errors_.begin(), form_errors_.end(), [&](Position position) {
    return !before(position, from) && before(position, to);
  });
}

bool Diagnostics::has_form_error_at(Position at) const {
  return has_form_error_between(at, {at.line, at.column + 1});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> sorted = findings_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return before(a.position, b.position);
  });
  if (errors_ >= kFindingsMax || warnings_ > kFindingsMax)  // the reader stops at that many errors
    sorted.push_back({is_full() ? Diagnostic::Severity::error : Diagnostic::Severity::warning,
                      "too_many_findings", sorted.back().position,
                      "there may be more findings than these " + std::to_string(findings_.size()) +
                          "; fix these first"});
  return sorted;
}

}  // namespace pawl
