// The names of queues: those of machine files, and those in which records wait for the engine
// itself. A name with a colon is never one of a file.
#pragma once

#include <string>
#include <string_view>

#include "pawl/machine.h"
#include "pawl/record.h"

namespace pawl {

inline constexpr std::string_view kSendQueue = "send:";
inline constexpr std::string_view kHttpQueue = "http:";
inline constexpr std::string_view kFunctionQueue = "function:";  // and its name
inline constexpr std::string_view kChannelQueue = "channel:";    // and its name

// Where the record waits while its task is ready; empty when its state has no task.
std::string queue_of(const Machine& machine, const Record& record);

}  // namespace pawl
