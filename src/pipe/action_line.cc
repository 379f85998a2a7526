#include "pipe/action_line.h"

#include "model/expression/json_view.h"
#include "model/expression/scratch.h"

namespace pawl {

ActionLine read_action_line(std::string_view lines) {
  Scratch scratch;
  const JsonView action(lines.substr(0, lines.find('\n')));
  for (const std::string_view op : {"index", "create", "delete"}) {
    const JsonView of = action.member(op);
    if (of.absent()) continue;
    ActionLine line;
    if (const JsonView index = of.member("_index"); !index.absent())
      line.index = index.text(scratch);
    if (const JsonView id = of.member("_id"); !id.absent()) line.id = id.text(scratch);
    return line;
  }
  return {};
}

}  // namespace pawl
