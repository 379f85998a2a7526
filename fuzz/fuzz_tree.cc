// Machine files as trees: any bytes give a tree or a finding, and every finding has a place inside
// the text.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "model/tree.h"
#include "pawl/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const auto tree = read_tree(text, diagnostics);
  PAWL_ASSERT(tree || diagnostics.has_errors(), "without a tree there is a reason");
  const int lines =
      1 + static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
        return c == '\n' || c == '\r' ||
               static_cast<unsigned char>(c) >= 0x80;  // YAML breaks lines at U+0085 and others too
      }));
  for (const Diagnostic& finding : diagnostics.sorted()) {
    PAWL_ASSERT(finding.position.line >= 1 && finding.position.line <= lines,
                "a finding has a line of the text");
    PAWL_ASSERT(finding.position.column >= 1 && !finding.message.empty() && !finding.id.empty(),
                "a finding says what and where");
  }
  return 0;
}
