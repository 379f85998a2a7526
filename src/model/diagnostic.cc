#include "model/diagnostic.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pawl {

void Diagnostics::error(std::string_view id, Position position, std::string message) {
  findings_.push_back({Diagnostic::Severity::error, id, position, std::move(message)});
  ++errors_;
}

void Diagnostics::warning(std::string_view id, Position position, std::string message) {
  findings_.push_back({Diagnostic::Severity::warning, id, position, std::move(message)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> sorted = findings_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.position.line, a.position.column) <
           std::tie(b.position.line, b.position.column);
  });
  return sorted;
}

}  // namespace pawl
