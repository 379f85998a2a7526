#include "pawl/machine_file.h"

#include "model/read_machine.h"

namespace pawl {

ReadMachine read_machine(std::string_view text, const Zones& zones) {
  Diagnostics diagnostics;
  ReadMachine read;
  auto definition = read_definition(text, diagnostics);
  if (definition) read.machine = Machine::make(*std::move(definition), zones, diagnostics);
  read.findings = diagnostics.sorted();
  return read;
}

}  // namespace pawl
