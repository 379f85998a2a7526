// In this program a broken assertion is a failed property, so that its tape can be shrunk.
#include <string>

#include "pawl/assert.h"
#include "properties.h"

namespace pawl {

void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  throw PropertyBroken(std::string("broken invariant: ") + why + " (" + condition + ") at " + file +
                       ":" + std::to_string(line));
}

}  // namespace pawl
