// The metrics of pipes.
#pragma once

#include <vector>

#include "api/metrics_text.h"
#include "pipe/pipe.h"

namespace pawl {

// Nothing where there are no pipes.
void write_pipes(MetricsText& text, const std::vector<PipeView>& pipes);

}  // namespace pawl
