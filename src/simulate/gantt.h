// Gantt: a played scenario as a Mermaid picture: attempts and how they ended, waits, back-offs.
#pragma once

#include <string>

#include "simulate/played.h"

namespace pawl {

// One section for each record. Bars: attempts (`done`, or `crit` with the error's code), the wait
// for the next one, the wait for a worker, states that wait, holds. Milestones: slots of the plan,
// deadlines that passed, final states. Times are those of the scenario's zone.
std::string to_gantt(const Played& played);

}  // namespace pawl
