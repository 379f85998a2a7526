// Tapes of machines and stimuli: whatever happens to a record, every decision has its properties.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "pawl/zones.h"
#include "tests/decide/play.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  static const Zones zones = *Zones::open();
  Played played;
  try {
    play_tape({data, size}, zones, played);
  } catch (const PropertyBroken& broken) {
    std::fprintf(stderr, "%s\nPAWL_TAPE=%s\n", broken.what(), to_hex({data, size}).c_str());
    std::abort();
  }
  return 0;
}
