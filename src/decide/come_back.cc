// The delay after a failure is over: back to where work can go on.
#include "decide/turn.h"
#include "model/edges.h"

namespace pawl {

// Called without an entry when the delay is over, and with one by an operator's order.
void Turn::come_back() {
  std::erase_if(record_.timers,
                [](const Timer& timer) { return timer.kind == Timer::Kind::come_back; });
  if (!failure_) failure_ = record_.error;
  const StateId checkpoint =
      machine_->find_state(record_.streak.checkpoint).value_or(checkpoint_of(*machine_, state_));
  if (checkpoint == state_) {
    come_back_in_place();
  } else if (!machine_->is_failure_state(state_)) {  // it gave up in place
    open({Entry::Kind::rewound});
    hop(checkpoint, By::coming_back);
    come_back_in_place();
  } else if (!rewind_to(checkpoint)) {
    come_back_in_place();
  }
  close();
}

// The state's own `resume` rows; without one that holds its task is ready, or nobody knows how to
// go on.
void Turn::come_back_in_place() {
  const Choice choice = choose(here().resume);
  if (choice) {
    const bool moves = choice.row->to || choice.event_row || choice.row->fail;
    const bool fails = choice.row->fail || (choice.event_row && choice.event_row->fail);
    if (moves) close();  // of the rewind, or of the order
    take(choice, {Entry::Kind::resumed, {}, "resume"}, By::coming_back);
    if (fails) return;
  }
  if (here().task) {
    record_.task_at = now_;
    record_.spent = false;
    return;
  }
  const bool has_way = choice || (here().resume.empty() && !machine_->is_failure_state(state_));
  if (has_way) return;
  open({Entry::Kind::resumed});
  put_on_hold("no_way_back", "no `resume` row matches", Hold::By::engine);
  close();
}

// False when the checkpoint's `resume` rows are all refused: then it did not happen.
bool Turn::rewind_to(StateId checkpoint) {
  const StateId from = state_;
  const State& target = machine_->state(checkpoint);
  Choice choice;
  if (!target.resume.empty()) {
    state_ = checkpoint;
    record_.state = target.name;
    choice = choose(target.resume);
    state_ = from;
    record_.state = here().name;
    if (!choice) return false;
  }
  open({Entry::Kind::rewound});
  hop(checkpoint, By::coming_back);
  if (!choice) return true;
  const bool stays = !choice.row->to && !choice.event_row && !choice.row->fail;
  if (!stays) close();
  take(choice, {Entry::Kind::resumed, {}, "resume"}, By::coming_back);
  return true;
}

}  // namespace pawl
