// Any valid machine prints and reads back equal; any text at all is read without a crash, and what
// is wrong with it has a place.
#include "random_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "draw.h"
#include "model/definition_json.h"
#include "model/read_machine.h"
#include "model/yaml_text.h"
#include "mutate_text.h"
#include "pawl/machine_file.h"
#include "well_formed.h"

namespace pawl {
namespace {

// How many machines, and as many mutants. PAWL_MACHINES=n makes it n.
int machines() {
  const char* count = std::getenv("PAWL_MACHINES");
  return count == nullptr ? 10'000 : std::atoi(count);
}

// From this many on every part is drawn.
constexpr int kEnoughForAllParts = 5'000;

const Zones& zones() {
  static const Zones opened = *Zones::open();
  return opened;
}

// PAWL_SEED=n runs the one machine that a failure named.
template <class Check>
void for_each_seed(Check check) {
  const char* one = std::getenv("PAWL_SEED");
  if (one != nullptr) {
    check(std::strtoull(one, nullptr, 10));
    return;
  }
  for (int seed = 1; seed <= machines() && !testing::Test::HasFailure(); ++seed)
    check(static_cast<std::uint64_t>(seed));
}

TEST(RandomMachine, IsValidAndReadsBackEqual) {
  PartCounts counts;
  for_each_seed([&](std::uint64_t seed) {
    SCOPED_TRACE("PAWL_SEED=" + std::to_string(seed));
    std::mt19937_64 numbers(seed);
    const Definition definition = random_machine(numbers);
    counts.add(definition);
    const std::string text = print_machine(definition);

    Diagnostics made;
    const auto machine = Machine::make(definition, zones(), made);
    ASSERT_NE(machine, nullptr) << findings_text(made.sorted()) << text;
    ASSERT_EQ(machine->definition(), definition);

    const ReadMachine read = read_machine(text, zones());
    ASSERT_NE(read.machine, nullptr) << findings_text(read.findings) << text;
    ASSERT_EQ(read.machine->definition(), definition) << text;
    ASSERT_EQ(print_machine(read.machine->definition()), text);
    ASSERT_EQ(what_is_malformed(text, read), "") << text;

    Diagnostics of_json;
    const std::string json = to_pretty_json(to_json(definition));
    const auto from_json = read_definition(json, of_json);
    ASSERT_TRUE(from_json && !of_json.has_errors()) << findings_text(of_json.sorted()) << json;
    ASSERT_EQ(*from_json, definition) << json;
  });
  if (std::getenv("PAWL_SEED") != nullptr || machines() < kEnoughForAllParts) return;
  for (const auto& [part, count] : counts.all()) EXPECT_GT(count, 0) << part << " was never drawn";
  std::printf("%d machines, %zu parts drawn\n", machines(), counts.all().size());
}

// The rows of the definition for that event in that state, found the slow way.
std::vector<const Row*> searched(const std::vector<EventRows>& on, const std::string& event) {
  std::vector<const Row*> found;
  for (const EventRows& rows : on)
    if (rows.event.name == event)
      for (const Row& row : rows.rows) found.push_back(&row);
  return found;
}

bool names(const std::vector<Ref>& refs, const std::string& name) {
  return std::find(refs.begin(), refs.end(), Ref(name)) != refs.end();
}

TEST(RandomMachine, TablesAgreeWithASearch) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 numbers(seed);
    Diagnostics none;
    const auto machine = Machine::make(random_machine(numbers), zones(), none);
    ASSERT_NE(machine, nullptr);
    const Definition& definition = machine->definition();
    for (EventId event = 0; event < machine->event_count(); ++event) {
      const std::string& name = machine->event_name(event);
      const std::vector<const Row*> own = searched(definition.on, name);
      const auto rows = machine->machine_rows(event);
      const bool implicit = own.empty() && !rows.empty();
      ASSERT_TRUE(implicit ? name == "restart" || name == "discard" : own.size() == rows.size());
      for (StateId id = 0; id < machine->state_count(); ++id) {
        const State& state = machine->state(id);
        std::vector<const Row*> found;
        for (const Row& row : machine->rows(id, event)) found.push_back(&row);
        ASSERT_EQ(found, searched(state.on, name)) << state.name << " " << name;
        for (std::size_t i = 0; i < own.size(); ++i) {
          const bool in = own[i]->from == Row::From::all ||
                          (own[i]->from == Row::From::open && !state.final) ||
                          names(own[i]->from_states, state.name);
          ASSERT_EQ(rows[i].row, own[i]);
          ASSERT_EQ(rows[i].in[id], in && !names(own[i]->except, state.name));
        }
      }
    }
  }
}

TEST(RandomMachine, MutatedIsRefusedWithAPlaceOrReadsBackEqual) {
  int accepted = 0;
  std::map<std::string_view, int> ids;
  for_each_seed([&](std::uint64_t seed) {
    SCOPED_TRACE("PAWL_SEED=" + std::to_string(seed));
    std::mt19937_64 numbers(seed);
    Draw draw(numbers);
    const Definition definition = random_machine(numbers);
    std::string text =
        draw.chance(80) ? print_machine(definition) : to_pretty_json(to_json(definition));
    for (int i = draw.chance(60) ? 1 : draw.between(2, 3); i > 0; --i) text = mutated(draw, text);

    const ReadMachine read = read_machine(text, zones());
    ASSERT_EQ(what_is_malformed(text, read), "") << text;
    for (const Diagnostic& finding : read.findings) ++ids[finding.id];
    if (!read.machine) return;
    ++accepted;
    const std::string printed = print_machine(read.machine->definition());
    const ReadMachine again = read_machine(printed, zones());
    ASSERT_NE(again.machine, nullptr) << findings_text(again.findings) << text << printed;
    ASSERT_EQ(again.machine->definition(), read.machine->definition()) << text << printed;
    ASSERT_EQ(print_machine(again.machine->definition()), printed);
  });
  std::printf("%d of %d mutants are machines; findings of %zu kinds\n", accepted, machines(),
              ids.size());
}

}  // namespace
}  // namespace pawl
