// In this program a broken assertion is a finding, so that its seed is printed and kept.
#include "broken.h"
#include "pawl/assert.h"

namespace pawl {

void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  throw sim::Broken(std::string("broken invariant: ") + why + " (" + condition + ") at " + file +
                    ":" + std::to_string(line));
}

}  // namespace pawl
