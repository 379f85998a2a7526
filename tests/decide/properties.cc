#include "properties.h"

namespace pawl {

void expect(bool holds, const char* sentence) {
  if (!holds) throw PropertyBroken(sentence);
}

void expect_equal(const std::string& found, const std::string& expected, const char* sentence) {
  if (found != expected)
    throw PropertyBroken(std::string(sentence) + "\n     found: " + found +
                         "\n  expected: " + expected);
}

const Machine& Decided::machine_after() const {
  const bool follows = newest && decision.record.version == newest->version();
  return follows ? *newest : machine;
}

const State& Decided::state_after() const {
  const auto id = machine_after().find_state(decision.record.state);
  expect(id.has_value(), "a record is in a state of its machine");
  return machine_after().state(*id);
}

bool Decided::has_put_on_hold(const char* code) const {
  const auto& hold = decision.record.hold;
  return hold && hold->code == code && hold->since == at();
}

}  // namespace pawl
