// What becomes of units that lose a race against another node.
#include <string>
#include <utility>

#include "engine/engine.h"
#include "gtest/gtest.h"
#include "pawl/decide.h"
#include "store/memory/memory_store.h"
#include "store/verify.h"
#include "tests/support/contested_store.h"
#include "tests/support/driven_engine.h"

namespace pawl {
namespace {

const Instant kNow = *parse_instant("2026-03-02T09:00:00Z");
const StoredMachine kListener{"listener", 1, R"(machine: listener
initial: listening
data: {said: {type: string, default: ""}}
states:
  listening: {on: {say: {set: {said: "{data.said}{event.word}"}}}}
)"};

Stimulus::Fire say(const std::string& word) {
  return {.event = "say", .payload = R"({"word":")" + word + R"("})"};
}

// Says something once, before whoever is first.
class Speaking final : public Rival {
 public:
  std::optional<Unit> before(Batch& batch, std::span<const Unit> units) override {
    if (is_done_ || units[0].record.writes_before == 0) return std::nullopt;
    const RecordId id = units[0].record.record.id;
    const Record record = (*batch.load({&id, 1}))[0];
    const auto machine = *read_stored_machine(kListener, all_zones(), {});
    const Decision decision = decide(*machine, record,
                                     {.what = say("c"),
                                      .machine = "listener",
                                      .key = "l1",
                                      .actor = {.name = "rival"}},
                                     kNow);
    Unit unit;
    unit.record.record = decision.record;
    unit.record.entries = decision.entries;
    unit.record.writes_before = record.writes;
    unit.record.fence_before = record.fence;
    return unit;
  }
  void committed(const Unit&) override { is_done_ = true; }
  bool is_done() const { return is_done_; }

 private:
  bool is_done_ = false;
};

// The second unit was decided on what the first one left; the rival leaves the same number of
// writes behind, and other data.
TEST(LostRaceTest, WhatStandsOnALostUnitIsLostAsWell) {
  const auto store = open_memory_store([] { return kNow; });
  ASSERT_TRUE(*store->put_machine(kListener));
  Speaking rival;
  const auto contested_store = contested(*store, rival);
  const auto engine = *Engine::open(*contested_store, {.zones = all_zones()});
  int answers = 0;
  const auto submit = [&](decltype(Stimulus::what) what) {
    engine->submit(
        {.what = std::move(what), .machine = "listener", .key = "l1", .actor = {.name = "app"}},
        [&](const Result<Answer>& answer) {
          EXPECT_EQ(answer->kind, Answer::Kind::ok);
          ++answers;
        });
  };
  submit(Stimulus::Create{});
  while (engine->step()->has_more) {
  }
  submit(say("a"));
  submit(say("b"));
  while (engine->step()->has_more) {
  }
  EXPECT_TRUE(rival.is_done());
  EXPECT_EQ(answers, 3);
  EXPECT_EQ(store->list({.machine = "listener"}, {})->items[0].data, R"({"said":"cab"})");
  EXPECT_TRUE(verify(*store)->violations.empty());
}

}  // namespace
}  // namespace pawl
