// Narrator: prints a play step by step, for people.
#pragma once

#include "play.h"

namespace pawl {

Watcher narrator();

}  // namespace pawl
