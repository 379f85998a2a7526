#include "pawl/assert.h"

#include <cstdio>
#include <cstdlib>

namespace pawl {

void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "pawl: broken invariant: %s (%s) at %s:%d; please report this\n", why,
               condition, file, line);
  std::abort();
}

}  // namespace pawl
