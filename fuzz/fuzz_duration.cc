// Durations and instants: what is accepted prints and reads back equal; what is not has a message
// and a column.
#include <cstdint>
#include <string_view>

#include "pawl/assert.h"
#include "pawl/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = [&](const auto& read, auto parse) {
    if (read) {
      const auto back = parse(to_text(*read));
      PAWL_ASSERT(back && *back == *read, "printed text reads back equal");
    } else {
      const auto& error = read.error();
      PAWL_ASSERT(error.position && error.position->column >= 1 &&
                      error.position->column <= static_cast<int>(size) + 1 &&
                      !error.message.empty(),
                  "a mistake has a place and a message");
    }
  };
  check(parse_duration(text), [](std::string_view t) { return parse_duration(t); });
  check(parse_instant(text), [](std::string_view t) { return parse_instant(t); });
  return 0;
}
