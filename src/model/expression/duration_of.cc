#include "model/expression/duration_of.h"

#include "base/text.h"
#include "model/expression/value_program.h"

namespace pawl {
namespace {

Error no_duration(const Value& value, const std::string& why) {
  return {ErrorCode::bad_input, in_ticks(value.json.text) + " is not a duration: " + why};
}

}  // namespace

Result<Duration> duration_of(const DurationValue& value, const Sight& sight, Scratch& scratch) {
  if (value.is_fixed()) return value.fixed;
  PAWL_ASSERT(value.value.program != nullptr, "the templates of a machine are compiled");
  const Scratch::Mark mark(scratch);
  std::string& text = scratch.blank();
  if (!value.value.program->render_text(sight, scratch, text))
    return no_duration(value.value, scratch.why);
  if (text == "null") return no_duration(value.value, "it is null");
  auto duration = parse_duration(text);
  if (!duration) return no_duration(value.value, duration.error().message);
  return duration;
}

}  // namespace pawl
