// Edges: every hop a machine allows, for checks and pictures.
#pragma once

#include <string>
#include <vector>

#include "pawl/machine.h"

namespace pawl {

struct Edge {
  enum class Why {
    done,      // the task was done
    event,     // fired at this state
    machine,   // fired, by a row of every state
    implicit,  // `restart` and `discard`, which every machine has
    after,
    every,
    planned,
    ended,
    when,
    started,  // an attempt begins
    resume,
    error,    // an error code has a state of its own
    failure,  // to the state in which failed records wait, or straight back to the checkpoint
    rewound,  // from there back to the checkpoint
    give_up,
  };

  StateId from = 0;
  StateId to = 0;
  Why why = Why::event;
  std::string label = {};    // event, error code, delay
  const Row* row = nullptr;  // null for `started`, `failure` and `rewound`
};

// In the order of the file, at most kRowsMax of them. A row that fires an event goes where that
// event leads in its state.
std::vector<Edge> edges_of(const Machine& machine);

// By StateId: whether these edges lead there from one of the open states, or it is one.
std::vector<bool> reachable_from(std::vector<StateId> open, const std::vector<Edge>& edges,
                                 std::size_t state_count);

// By StateId: whether a record can get there, also by `migrate`.
std::vector<bool> reachable_states(const Machine& machine, const std::vector<Edge>& edges);

// Whether work in this state can fail: it has a task, runs one for another, or a row says so.
bool can_fail(const Machine& machine, StateId state);

// By StateId: whether failed records of some state wait there.
std::vector<bool> failure_states(const Machine& machine);

// Whether the condition counts children: only their messages can make it true.
bool reads_children(const Row& row);

// Where a failure in this state comes back to, when its error row says nothing else.
StateId checkpoint_of(const Machine& machine, StateId state);

}  // namespace pawl
