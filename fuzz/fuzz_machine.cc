// Machine files: any bytes give a machine or findings with a place, and what is accepted prints and
// reads back as the same machine, byte for byte. And it does not take long.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "pawl/assert.h"
#include "pawl/machine_file.h"
#include "tests/model/well_formed.h"

namespace {

// A file of any size is read within 100 ms as shipped. The sanitizers and the counters of the
// fuzzer make it about ten times slower, and small inputs, which are all that is tried here, must
// stay within that; larger ones are measured by hostile_files_test.
constexpr double kSecondsMax = 1.0;
constexpr std::size_t kBytesMax = 65'536;

// Of this thread only, so that a busy machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  static const Zones zones = *Zones::open();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const double begin = cpu_seconds();
  const ReadMachine read = read_machine(text, zones);
  const double taken = cpu_seconds() - begin;
  PAWL_ASSERT(size > kBytesMax || taken < kSecondsMax, "reading a file takes too long");
  const std::string malformed = what_is_malformed(text, read);
  if (!malformed.empty()) std::fprintf(stderr, "%s\n", malformed.c_str());
  PAWL_ASSERT(malformed.empty(), "the answer of the reader is well formed");
  if (!read.machine) return 0;

  const std::string printed = print_machine(read.machine->definition());
  const ReadMachine again = read_machine(printed, zones);
  if (!again.machine) std::fprintf(stderr, "%s", findings_text(again.findings).c_str());
  PAWL_ASSERT(again.machine, "what is printed can be read");
  PAWL_ASSERT(again.machine->definition() == read.machine->definition(),
              "what is printed reads back equal");
  PAWL_ASSERT(print_machine(again.machine->definition()) == printed, "it prints the same again");
  return 0;
}
