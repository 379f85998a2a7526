// Files of pipes: any bytes give a configuration or findings with a place, never both. And it does
// not take long.
#include <cstdint>
#include <ctime>
#include <string_view>

#include "pawl/assert.h"
#include "pipe/pipe_file.h"

namespace {

// Wide enough for the sanitizers; see fuzz_machine.cc.
constexpr double kSecondsMax = 1.0;
constexpr std::size_t kBytesMax = 65'536;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const double begin = cpu_seconds();
  const auto config = read_pipe(text, diagnostics);
  const double taken = cpu_seconds() - begin;
  PAWL_ASSERT(size > kBytesMax || taken < kSecondsMax, "reading a file takes too long");
  PAWL_ASSERT(config.has_value() != diagnostics.has_errors(),
              "there is a configuration, or a reason why not");
  for (const Diagnostic& finding : diagnostics.sorted()) {
    PAWL_ASSERT(finding.position.line >= 1 && finding.position.column >= 1,
                "a finding has a place");
    for (const char c : finding.message)
      PAWL_ASSERT(static_cast<unsigned char>(c) >= ' ' && c != '\x7f', "it can be printed");
  }
  if (!config) return 0;
  PAWL_ASSERT(!config->name.empty() && !config->kafka.brokers.empty() &&
                  !config->kafka.group.empty() && !config->kafka.topics.empty() &&
                  !config->search.urls.empty(),
              "what a pipe needs is there");
  return 0;
}
