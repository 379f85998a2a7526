// The file of a pipe: from YAML (or JSON) to a PipeConfig, by tables of keys.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/keys.h"
#include "pawl/diagnostic.h"
#include "pipe/pipe_config.h"

namespace pawl {

// Reads a pipe's file. Everything that is wrong is in the diagnostics, each with its place and what
// to write instead; then there is no configuration. Secrets are not read, files are not opened and
// nobody is asked; the template of the index and what librdkafka thinks of an option are checked
// by Transform::make and kafka::make_conf.
std::optional<PipeConfig> read_pipe(std::string_view text, Diagnostics& diagnostics);

// Every key of the file, the pipe's own first; docs/reference/pipe.md has a line for each.
std::vector<KeyPlace> pipe_key_places();

}  // namespace pawl
