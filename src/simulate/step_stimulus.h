// From a step of a scenario to the stimulus that it says.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "pawl/definition.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "simulate/world.h"

namespace pawl {

// A record that a step is about; it need not exist.
struct Whom {
  std::string machine = {};
  std::string key = {};
};

// The attempt tokens of a scenario: counted, and found again by the names that steps give them.
class Tokens {
 public:
  TokenHash make(const std::string& name);

  // The error names the tokens there are.
  Result<TokenHash> find(const std::string& name) const;

 private:
  std::uint64_t made_ = 0;
  std::map<std::string, TokenHash> named_;
};

// `machine/key`, or `run task`: the latest. Fails when nothing runs that task, or it is neither.
Result<Whom> whom_of(const std::string& record, const World& world);

// Of what stands after `create`; `machine` where it names none.
Whom created_by(const Json& create, const std::string& machine);
Result<Stimulus> step_create(const Json& create, const std::string& machine, const World& world);

// Who acts in a step: by default {name: app}, for orders an operator.
Actor actor_of(const Step& step);

// Fails when the step names a record, task or token that does not exist.
Result<Stimulus> step_stimulus(const Step& step, const Whom& whom, const std::string& machine,
                               const World& world, Tokens& tokens);

}  // namespace pawl
