// A child moved: its parent counts, and looks at its `when` rows.
#include <algorithm>

#include "decide/turn.h"

namespace pawl {

void count_in(ChildCounts& counts, const std::string& state, int more) {
  auto in = std::find_if(counts.states.begin(), counts.states.end(),
                         [&](const ChildCounts::InState& known) { return known.state == state; });
  if (in == counts.states.end()) {
    counts.states.push_back({.state = state, .count = more});
  } else if ((in->count += more) == 0) {
    counts.states.erase(in);
  }
}

void Turn::on(const Stimulus::ChildChanged& changed) {
  ChildCounts& counts = children_of(changed.machine);
  if (changed.was.empty()) {
    ++counts.all;
  } else {
    count_in(counts, changed.was, -1);
    --(changed.was_final ? counts.final : counts.open);
    if (changed.was_held && !changed.was_final) --counts.hold;
  }
  count_in(counts, changed.is, +1);
  ++(changed.is_final ? counts.final : counts.open);
  if (changed.is_held && !changed.is_final) ++counts.hold;
}

}  // namespace pawl
