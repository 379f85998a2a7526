// Counter-examples, played by the simulator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "check/counter_example.h"
#include "pawl/machine.h"
#include "pawl/zones.h"

namespace pawl {

// What is wrong with the example as a run of failures without end, or nothing: it plays as it says,
// something fails in it, nothing is done, and in the end the record is where it was before, neither
// final nor on hold. Records are of the first machine.
std::string faults_of(const CounterExample& example,
                      const std::vector<std::shared_ptr<const Machine>>& machines,
                      const Zones& zones);

}  // namespace pawl
