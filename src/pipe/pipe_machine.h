// PipeMachine: the states, the error table and the delays of a pipe, as its machine file says them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pawl/machine.h"
#include "pawl/result.h"

namespace pawl {

// Immutable: for all threads.
class PipeMachine {
 public:
  // The text of a machine file. It must have the states that a pipe goes through, each with its
  // task, and answer for items without conditions; what is wrong is said with its place.
  static Result<std::shared_ptr<const PipeMachine>> read(std::string_view text, const Zones& zones);
  // machines/qanal.yaml, as it was when the program was built.
  static std::string_view built_in();

  const Machine& machine() const { return *machine_; }

  // What becomes of a single message that fails with that code while its batch is in that state.
  enum class ItemAction {
    errors,  // `give_up`: to the topic of errors
    again,   // `retry`, `later`
    drop,    // `done`
  };
  ItemAction item_action(std::string_view state, std::string_view code) const;

 private:
  explicit PipeMachine(std::shared_ptr<const Machine> machine) : machine_(std::move(machine)) {}

  std::shared_ptr<const Machine> machine_;
};

}  // namespace pawl
