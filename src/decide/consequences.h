// Consequences: what the effects of a decision become, as stimuli of other records.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/built_in_names.h"
#include "pawl/effect.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/stimulus.h"

namespace pawl {

// Who acts when no caller does.
Actor engine();

// Whether the effect is carried out by a record of a built-in machine. A `notify` always is, where
// there are channels.
bool needs_carrier(const Effect& effect);

// Of a `create`: the stimulus that makes the child.
Stimulus creation_of(const Effect& effect, const Record& asker);

// Of a plain `send` to one record: what stands in its inbox.
Stimulus message_of(const Effect& effect, const Record& asker);

// Of a `send` to children: the same to one of them, with an id of its own.
Effect to_one_child(const Effect& effect, const std::string& key);

// Keys of the records of that machine that the effects make.
std::vector<std::string> keys_created(std::span<const Effect> effects, std::string_view machine);

// Of a child that its parent counted in the initial state when it asked for it: what has changed
// since then; none when nothing has.
std::optional<Stimulus::ChildChanged> since_counted(Stimulus::ChildChanged change,
                                                    const Machine& machine);

}  // namespace pawl
