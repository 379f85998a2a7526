// What the parts of a pipe's file have to do with each other, once all of it is read.
#pragma once

#include "model/reader.h"
#include "pipe/pipe_config.h"

namespace pawl {

// Reports settings that do not go together, and settles what one part leaves to another: where the
// index takes its time from. `tree` is what `config` was read from.
void check_pipe(Reader& reader, const Node& tree, PipeConfig& config);

}  // namespace pawl
