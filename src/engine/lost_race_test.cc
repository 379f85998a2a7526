// What becomes of a batch of which the store does not do all.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/stepper.h"
#include "gtest/gtest.h"
#include "pawl/decide.h"
#include "store/memory/memory_store.h"
#include "store/verify.h"
#include "tests/support/contested_store.h"
#include "tests/support/driven_engine.h"

namespace pawl {
namespace {

const Instant kRaceStart = *parse_instant("2026-03-02T09:00:00Z");
const StoredMachine kListener{"listener", 1, R"(machine: listener
initial: listening
data: {said: {type: string, default: ""}}
states:
  listening:
    on:
      say: {set: {said: "{data.said}{event.word}"}}
      shout: {set: {said: "{data.said}!"}, effects: [{notify: neighbours}]}
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
    const Decision decision =
        decide(*machine, record,
               {.what = say("c"), .machine = "listener", .key = "l1", .actor = {.name = "rival"}},
               kRaceStart);
    Unit unit;
    unit.record.record = decision.record;
    unit.record.entries = decision.entries;
    unit.record.writes_before = record.writes;
    unit.record.fence_before = record.fence;
    return unit;
  }
  void committed(const Unit&) override { is_done_ = true; }
  bool is_done() const { return is_done_; }
  void speak_again() { is_done_ = false; }

 private:
  bool is_done_ = false;
};

// The second unit was decided on what the first one left; the rival leaves the same number of
// writes behind, and other data.
TEST(LostRaceTest, WhatStandsOnALostUnitIsLostAsWell) {
  const auto store = open_memory_store([] { return kRaceStart; });
  ASSERT_TRUE(*store->put_machine(kListener));
  Speaking rival;
  const auto contested_store = contested(*store, rival);
  const auto engine = *Stepper::open(*contested_store, {.zones = all_zones()});
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

// A delivery that is made and started in a batch that loses its race was never under way: a channel
// takes eight at a time.
TEST(LostRaceTest, AStartThatIsLostTakesNoPlaceInItsChannel) {
  const auto store = open_memory_store([] { return kRaceStart; });
  ASSERT_TRUE(*store->put_machine(kListener));
  Speaking rival;
  const auto contested_store = contested(*store, rival);
  const auto engine = *Stepper::open(*contested_store, {.zones = all_zones()});
  const auto submit = [&](const GivenAttempt* attempt, decltype(Stimulus::what) what) {
    engine->submit({.what = std::move(what),
                    .machine = attempt == nullptr ? "listener" : attempt->given.machine,
                    .key = attempt == nullptr ? "l1" : attempt->given.key,
                    .actor = {.name = "app"}},
                   [](const Result<Answer>&) {});
    while (engine->step()->has_more) {
    }
  };
  submit(nullptr, Stimulus::Create{});
  for (int i = 0; i <= kUnderWayMax; ++i) {
    rival.speak_again();
    std::vector<GivenAttempt> given;
    engine->claim({.queues = {"channel:neighbours"}, .wait = std::chrono::hours{1}},
                  [&](auto attempts) { given = *std::move(attempts); });
    submit(nullptr, Stimulus::Fire{.event = "shout"});
    ASSERT_TRUE(rival.is_done());
    ASSERT_EQ(given.size(), 1U) << "after " << i << " lost starts";
    submit(&given[0], Stimulus::Done{hash_of_token(given[0].token)});
  }
}

// No space was left for the beat, after the units were made durable.
class FullForBeats final : public Rival {
 public:
  std::optional<Unit> before(Batch&, std::span<const Unit>) override { return std::nullopt; }
  void committed(const Unit&) override {}
  std::optional<Error> keeps_from_beating() override {
    return Error{ErrorCode::environment, "the disk is full"};
  }
};

TEST(LostRaceTest, ABeatThatCannotBeWrittenFailsAlone) {
  const StoredMachine job{"job", 1, R"(machine: job
initial: working
tasks: {work: {queue: jobs, lease: 1m}}
states:
  working: {task: work, done: finished}
  finished: {final: true}
)"};
  const auto store = open_memory_store([] { return kRaceStart; });
  ASSERT_TRUE(*store->put_machine(job));
  FullForBeats rival;
  const auto contested_store = contested(*store, rival);
  const auto engine = *Stepper::open(*contested_store, {.zones = all_zones()});
  const auto create = [&](const std::string& key, Stepper::Answered answered) {
    engine->submit({.what = Stimulus::Create{}, .machine = "job", .key = key, .actor = {"app"}},
                   std::move(answered));
  };
  std::vector<GivenAttempt> given;
  create("j1", [](const Result<Answer>&) {});
  engine->claim({.queues = {"jobs"}}, [&](auto attempts) { given = *std::move(attempts); });
  ASSERT_TRUE(engine->step());
  ASSERT_EQ(given.size(), 1U);

  std::optional<Result<Answer>> beaten;
  std::optional<Result<Answer>> created;
  engine->submit({.what = Stimulus::Beat{hash_of_token(given[0].token)},
                  .machine = "job",
                  .key = "j1",
                  .actor = {"worker"}},
                 [&](Result<Answer> answer) { beaten = std::move(answer); });
  create("j2", [&](Result<Answer> answer) { created = std::move(answer); });
  EXPECT_FALSE(engine->step());
  EXPECT_FALSE(*beaten);
  ASSERT_TRUE(*created);
  EXPECT_EQ((*created)->kind, Answer::Kind::ok);
  EXPECT_EQ(store->list({.machine = "job"}, {})->items.size(), 2U);
}

// Nor for the list of what is forgotten, which nobody waits for.
class FullForForgetting final : public Rival {
 public:
  std::optional<Unit> before(Batch&, std::span<const Unit>) override { return std::nullopt; }
  void committed(const Unit&) override {}
  std::optional<Error> keeps_from_forgetting() override {
    return Error{ErrorCode::environment, "the disk is full"};
  }
};

TEST(LostRaceTest, WhatWasCommittedIsAnsweredAlthoughNothingCanBeForgotten) {
  const auto store = open_memory_store([] { return kRaceStart; });
  ASSERT_TRUE(*store->put_machine(kListener));
  FullForForgetting rival;
  const auto contested_store = contested(*store, rival);
  const auto engine = *Stepper::open(*contested_store, {.zones = all_zones()});
  std::optional<Result<Answer>> created;
  engine->submit({.what = Stimulus::Create{}, .machine = "listener", .key = "l1", .actor = {"app"}},
                 [&](Result<Answer> answer) { created = std::move(answer); });
  EXPECT_FALSE(engine->step());
  ASSERT_TRUE(created);
  ASSERT_TRUE(*created);
  EXPECT_EQ((*created)->kind, Answer::Kind::ok);
}

}  // namespace
}  // namespace pawl
