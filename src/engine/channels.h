// Channels: whom deliveries go to, in this process.
#pragma once

#include "engine/functions.h"
#include "pawl/task.h"

namespace pawl {

// The functions that carry them out.
Functions functions_of(const Channels& channels);

}  // namespace pawl
