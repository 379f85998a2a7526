#include "decide/limits.h"

#include "decide/built_in.h"
#include "model/expression/duration_of.h"
#include "model/expression/json_view.h"
#include "model/expression/value_program.h"

namespace pawl {

std::vector<StartLimit> limits_of(const Machine& machine, const Record& record, Instant now) {
  const auto state = machine.find_state(record.state);
  if (!state || !machine.state(*state).task) return {};
  const Task& task = machine.task(machine.state(*state).task->id);
  if (!task.concurrency && !task.rate) return {};
  const bool is_aside = machine.is_side_job();
  const Sight sight{.record = &record,
                    .data = is_aside ? JsonView(record.data).member("data").json() : record.data,
                    .now = now};
  Scratch scratch;
  const auto slot = [&](std::string name, const std::optional<Value>& per) {
    name += ':' + (is_aside ? side_job_of(record).machine : record.machine) + '/' + task.name;
    if (!per) return name;
    name += '/';
    per->program->render_text(sight, scratch, name);
    return name;
  };
  std::vector<StartLimit> limits;
  if (task.concurrency)
    limits.push_back(
        {.slot = slot("concurrency", task.concurrency->per), .max = task.concurrency->max});
  if (task.rate) {
    const auto every = duration_of(task.rate->every, sight, scratch);
    limits.push_back({.kind = StartLimit::Kind::rate,
                      .slot = slot("rate", task.rate->per),
                      .max = task.rate->max,
                      .every = every ? *every : Duration{0}});
  }
  return limits;
}

}  // namespace pawl
