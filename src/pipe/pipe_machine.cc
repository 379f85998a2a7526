#include "pipe/pipe_machine.h"

#include "base/text.h"
#include "pawl/machine_file.h"
#include "pipe/pipe_codes.h"
#include "policy/answers.h"

namespace pawl {
namespace {

constexpr std::string_view kWorkingStates[] = {"assign",    "extract", "reset_offset",
                                               "transform", "load",    "send_errors"};

// The codes of single messages, by the state of their batch.
constexpr std::pair<std::string_view, std::string_view> kItemCodes[] = {
    {"extract", pipe_code::kMessageTooBig},   {"extract", pipe_code::kInvalidFormat},
    {"transform", pipe_code::kMessageTooBig}, {"transform", pipe_code::kInvalidFormat},
    {"transform", pipe_code::kInvalidEvent},  {"transform", pipe_code::kTransformationError},
    {"load", pipe_code::kBulkItem},           {"load", pipe_code::kBulkItemBusy},
    {"load", pipe_code::kBulkItemBlocked},    {"load", pipe_code::kMessageTooBig},
};

// The row that answers for an item: the first whose code fits; `default` comes last.
const ErrorRows* item_rows(const Machine& machine, std::string_view state, std::string_view code) {
  for (const ErrorRows* rows : machine.policy_of_state(*machine.find_state(state)).errors)
    if (answers_code(rows->code, code)) return rows;
  return nullptr;
}

Error wrong(Position at, std::string message) {
  return {ErrorCode::bad_input, std::move(message), at};
}

Result<void> check_states(const Machine& machine) {
  for (const std::string_view name : kWorkingStates) {
    const auto state = machine.find_state(name);
    if (!state)
      return wrong(
          {}, "a pipe needs the state " + in_quotes(name) + ", which this machine does not have");
    if (!machine.state(*state).task)
      return wrong({}, "the state " + in_quotes(name) + " of a pipe needs a task");
  }
  for (const std::string_view event : {"revoke", "drained"})
    if (!machine.find_event(event))
      return wrong({}, "a pipe fires the event " + in_quotes(event) +
                           ", but no row of this machine accepts it");
  return {};
}

Result<void> check_items(const Machine& machine) {
  for (const auto& [state, code] : kItemCodes) {
    const ErrorRows* rows = item_rows(machine, state, code);
    if (rows == nullptr) continue;
    const Row& row = rows->rows.front();
    if (rows->rows.size() > 1 || row.condition || row.to || row.hold)
      return wrong(
          rows->at.position,
          in_quotes(code) + " applies to single messages: in the state " + in_quotes(state) +
              " handle it with `give_up` (send to the error topic), `retry` or `done` (drop it), "
              "without conditions");
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const PipeMachine>> PipeMachine::read(std::string_view text,
                                                             const Zones& zones) {
  const ReadMachine read = read_machine(text, zones);
  for (const Diagnostic& finding : read.findings)
    if (finding.severity == Diagnostic::Severity::error)
      return wrong(finding.position, finding.message);
  PAWL_CHECK(check_states(*read.machine));
  PAWL_CHECK(check_items(*read.machine));
  return std::shared_ptr<const PipeMachine>(new PipeMachine(read.machine));
}

PipeMachine::ItemAction PipeMachine::item_action(std::string_view state,
                                                 std::string_view code) const {
  const ErrorRows* rows = item_rows(*machine_, state, code);
  if (rows == nullptr) return ItemAction::errors;
  switch (rows->rows.front().action) {
    case Row::Action::retry:
    case Row::Action::later:
      return ItemAction::again;
    case Row::Action::done:
      return ItemAction::drop;
    case Row::Action::none:
    case Row::Action::give_up:
      break;
  }
  return ItemAction::errors;
}

}  // namespace pawl
