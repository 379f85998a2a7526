// Tasks that the engine does itself: `http:` of a machine file.
#pragma once

#include <optional>
#include <string>

#include "outside/door.h"
#include "pawl/record.h"
#include "pawl/task.h"

namespace pawl {

// 2xx is done with the JSON of the body as result; else the code is `http_STATUS`, or `network`
// when there was no answer. The door outlives it.
TaskFunction http_task(const Door& door);

// Nothing when the status is 2xx; else what became of the call, for the log of a record.
std::optional<Failure> failure_of(const Result<OutgoingReply>& reply);

}  // namespace pawl
