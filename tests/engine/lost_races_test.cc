// Another writer comes between what the engine decides and what it commits: whoever asked is
// answered by a second decision, nothing is done twice, and nothing is lost.
#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "engine/queue_name.h"
#include "gtest/gtest.h"
#include "store/verify.h"
#include "tests/support/driven_engine.h"
#include "tests/support/rivalled_store.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kStart = *parse_instant("2026-03-02T09:00:00Z");

// Every machine can be poked, which is what the other writer does.
constexpr const char* kCounter = R"(machine: counter
initial: counting
data: {n: {type: int, default: 0}, told: {type: int, default: 0}, pokes: {type: int, default: 0}}
states:
  counting:
    on:
      add: {set: {n: "{data.n + 1}"}}
      tell: {effects: [{send: told, to: {machine: counter, key: "{event.to}"}}]}
      told: {set: {told: "{data.told + 1}"}}
      poke: {set: {pokes: "{data.pokes + 1}"}}
    after: {90d: over}
  over: {final: true}
)";
constexpr const char* kJob = R"(machine: job
initial: working
data: {pokes: {type: int, default: 0}}
tasks: {work: {queue: jobs, concurrency: 2, retry: [1s]}}
states:
  working: {task: work, done: finished, on: {poke: {set: {pokes: "{data.pokes + 1}"}}}}
  finished: {final: true}
)";
constexpr const char* kAlarm = R"(machine: alarm
initial: set
data: {rings: {type: int, default: 0}, pokes: {type: int, default: 0}}
states:
  set:
    every: {10s: {set: {rings: "{data.rings + 1}"}}}
    on: {poke: {set: {pokes: "{data.pokes + 1}"}}}
)";

// The other writer: an engine on the same store, with ids of its own.
class Rival {
 public:
  explicit Rival(Store& store) : store_(store) {}

  void apply(Stimulus stimulus) {
    with_engine([&](Stepper& engine) {
      stimulus.actor = {.name = "rival"};
      engine.submit(std::move(stimulus), [&](Result<Answer> answer) {
        if (answer->kind == Answer::Kind::ok) ++done_;
      });
    });
  }

  std::vector<GivenAttempt> claim(const std::string& queue) {
    std::vector<GivenAttempt> given;
    with_engine([&](Stepper& engine) {
      engine.claim({.queues = {queue}, .worker = "rival"},
                   [&](auto attempts) { given = *std::move(attempts); });
    });
    return given;
  }

  // Takes messages, and whatever else is there to be done.
  void work() {
    with_engine([](Stepper&) {});
  }

  void purge(const Record& record) {
    Unit unit;
    unit.record.record = record;
    unit.record.writes_before = record.writes;
    unit.record.fence_before = record.fence;
    unit.record.purges = true;
    ASSERT_TRUE((*store_.begin())->commit({&unit, 1}));
  }

  int done() const { return done_; }

 private:
  class OwnIds final : public ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    Result<RecordId> last_id() override {
      PAWL_TRY(const RecordId last, inner().last_id());
      return RecordId{last.value + 1'000'000};
    }
  };

  template <class Act>
  void with_engine(Act act) {
    OwnIds view(store_);
    StepperOptions options{.zones = all_zones()};
    options.random = [this] {
      RandomBits bits{};
      bits[15] = std::byte{1};
      ++tokens_;
      for (std::size_t i = 0; i < sizeof tokens_; ++i)
        bits[i] = static_cast<std::byte>(tokens_ >> (8 * i));
      return bits;
    };
    auto engine = *Stepper::open(view, std::move(options));
    act(*engine);
    while (engine->step()->has_more) {
    }
  }

  Store& store_;
  std::uint64_t tokens_ = 0;
  int done_ = 0;
};

class LostRaces : public testing::TestWithParam<StoreKind> {
 protected:
  DrivenEngine& open(std::size_t batch_max = 960) {
    driven_ = std::make_unique<DrivenEngine>(
        GetParam(), std::vector<std::string>{kCounter, kJob, kAlarm}, kStart, batch_max,
        [this](std::unique_ptr<Store> inner) {
          auto contested = std::make_unique<RivalledStore>(std::move(inner));
          contested_ = contested.get();
          rival_ = std::make_unique<Rival>(contested->inner());
          return contested;
        });
    return *driven_;
  }

  // Before the next commit, once.
  void before_commit(std::function<void()> act) {
    contested_->set_rival([this, act = std::move(act)](std::span<const Unit>) {
      contested_->set_rival({});
      act();
    });
  }

  void TearDown() override {
    if (!driven_) return;
    const Verified verified = *verify(driven_->store());
    for (const Violation& violation : verified.violations)
      ADD_FAILURE() << violation.invariant << " of " << violation.record.value << ": "
                    << violation.what;
  }

  Stimulus poke(const std::string& machine, const std::string& key) {
    return {.what = Stimulus::Fire{.event = "poke"}, .machine = machine, .key = key};
  }
  std::string data_of(const std::string& machine, const std::string& key) {
    const auto record = driven_->find(machine, key);
    return record ? record->data : "none";
  }

  std::unique_ptr<DrivenEngine> driven_;
  RivalledStore* contested_ = nullptr;
  std::unique_ptr<Rival> rival_;
};

INSTANTIATE_TEST_SUITE_P(Stores, LostRaces, testing::Values(StoreKind::memory, StoreKind::sqlite),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "memory" : "sqlite";
                         });

TEST_P(LostRaces, AChangeIsDecidedAgainOnWhatTheOtherLeft) {
  auto& driven = open();
  driven.create("counter", "c");
  before_commit([&] { rival_->apply(poke("counter", "c")); });
  EXPECT_EQ(driven.fire("counter", "c", "add").kind, Answer::Kind::ok);
  EXPECT_EQ(contested_->outcomes().lost_race, 1);
  EXPECT_EQ(data_of("counter", "c"), R"({"n":1,"told":0,"pokes":1})");
  EXPECT_EQ(driven.find("counter", "c")->revision, 3);
}

TEST_P(LostRaces, ANameThatWasTakenInBetweenIsADuplicate) {
  auto& driven = open();
  before_commit(
      [&] { rival_->apply({.what = Stimulus::Create{}, .machine = "counter", .key = "c"}); });
  EXPECT_EQ(driven.create("counter", "c").kind, Answer::Kind::duplicate);
  EXPECT_EQ(contested_->outcomes().key_taken, 1);
  EXPECT_EQ(driven.all("counter").size(), 1U);
}

TEST_P(LostRaces, ARecordThatIsGoneIsSaidToBeGone) {
  auto& driven = open();
  driven.create("counter", "c");
  before_commit([&] { rival_->purge(*driven.find("counter", "c")); });
  EXPECT_EQ(driven.fire("counter", "c", "add").kind, Answer::Kind::error);
  EXPECT_TRUE(driven.all("counter").empty());
}

TEST_P(LostRaces, AMessageWhoseTakerIsLostIsTakenLater) {
  auto& driven = open();
  driven.create("counter", "a");
  driven.create("counter", "b");
  before_commit([&] { rival_->apply(poke("counter", "b")); });
  EXPECT_EQ(driven.fire("counter", "a", "tell", R"({"to":"b"})").kind, Answer::Kind::ok);
  EXPECT_EQ(data_of("counter", "b"), R"({"n":0,"told":1,"pokes":1})");
}

TEST_P(LostRaces, AMessageWhoseSenderIsLostIsSentOnce) {
  auto& driven = open();
  driven.create("counter", "a");
  driven.create("counter", "b");
  before_commit([&] { rival_->apply(poke("counter", "a")); });
  EXPECT_EQ(driven.fire("counter", "a", "tell", R"({"to":"b"})").kind, Answer::Kind::ok);
  EXPECT_EQ(contested_->outcomes().lost_race, 2);  // of both
  EXPECT_EQ(data_of("counter", "b"), R"({"n":0,"told":1,"pokes":0})");
}

// Somebody else may have made as many writes as the engine thought of.
TEST_P(LostRaces, WhatFollowsOnALostDecisionIsLostWithIt) {
  auto& driven = open();
  driven.create("counter", "c");
  before_commit([&] { rival_->apply(poke("counter", "c")); });
  for (int i = 0; i < 3; ++i)
    driven.engine().submit({.what = Stimulus::Fire{.event = "add"},
                            .machine = "counter",
                            .key = "c",
                            .actor = {.name = "app"}},
                           [](const Result<Answer>&) {});
  driven.settle();
  EXPECT_EQ(contested_->outcomes().lost_race, 3);
  EXPECT_EQ(data_of("counter", "c"), R"({"n":3,"told":0,"pokes":1})");
}

TEST_P(LostRaces, AMessageReachesTheOneWhoHasTheNameInTheEnd) {
  auto& driven = open();
  driven.create("counter", "a");
  driven.engine().submit(
      {.what = Stimulus::Create{}, .machine = "counter", .key = "b", .actor = {.name = "app"}},
      [](const Result<Answer>& answer) { EXPECT_EQ(answer->kind, Answer::Kind::duplicate); });
  before_commit(
      [&] { rival_->apply({.what = Stimulus::Create{}, .machine = "counter", .key = "b"}); });
  EXPECT_EQ(driven.fire("counter", "a", "tell", R"({"to":"b"})").kind, Answer::Kind::ok);
  EXPECT_EQ(data_of("counter", "b"), R"({"n":0,"told":1,"pokes":0})");
}

TEST_P(LostRaces, AMessageThatTheOtherTookIsNotTakenAgain) {
  auto& driven = open(1);  // no room: it is left in the inbox
  driven.create("counter", "a");
  driven.create("counter", "b");
  driven.engine().submit({.what = Stimulus::Fire{.event = "tell", .payload = R"({"to":"b"})"},
                          .machine = "counter",
                          .key = "a",
                          .actor = {.name = "app"}},
                         [](const Result<Answer>&) {});
  ASSERT_TRUE(driven.engine().step());
  EXPECT_EQ(data_of("counter", "b"), R"({"n":0,"told":0,"pokes":0})");
  before_commit([&] { rival_->work(); });
  driven.settle();
  EXPECT_EQ(contested_->outcomes().lost_race, 1);
  EXPECT_EQ(data_of("counter", "b"), R"({"n":0,"told":1,"pokes":0})");
}

TEST_P(LostRaces, AnAttemptThatDidNotStartIsGivenToNobody) {
  auto& driven = open();
  driven.create("job", "j1");
  std::vector<GivenAttempt> of_rival;
  before_commit([&] { of_rival = rival_->claim("jobs"); });
  EXPECT_TRUE(driven.claim({"jobs"}).empty());
  ASSERT_EQ(of_rival.size(), 1U);
  EXPECT_EQ(driven.done(of_rival[0]).kind, Answer::Kind::ok);
}

// What was lost is claimed again, also when nobody wants to wait.
TEST_P(LostRaces, AClaimThatLostItsRaceGetsWhatIsThere) {
  auto& driven = open();
  driven.create("job", "j1");
  before_commit([&] { rival_->apply(poke("job", "j1")); });
  const auto given = driven.claim({"jobs"});
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(driven.find("job", "j1")->running->token_hash, hash_of_token(given[0].token));
}

TEST_P(LostRaces, WhoWaitsAtASlotIsNotForgotten) {
  auto& driven = open();
  for (int i = 0; i < 4; ++i) driven.create("job", "j" + std::to_string(i));
  const auto running = driven.claim({"jobs"}, 4);
  ASSERT_EQ(running.size(), 2U);
  before_commit([&] { rival_->apply(poke("job", "j2")); });  // who is about to be let go
  driven.done(running[0]);
  driven.done(running[1]);
  EXPECT_EQ(driven.claim({"jobs"}, 4).size(), 2U);
}

TEST_P(LostRaces, WhoWaitedForAPauseIsNotForgotten) {
  auto& driven = open();
  driven.create("job", "j1");
  driven.create("job", "j2");
  const PauseTarget target{PauseTarget::Kind::machine, "job"};
  ASSERT_TRUE(driven.engine().pause({target, "a test", "eve", kStart}));
  EXPECT_TRUE(driven.claim({"jobs"}, 2).empty());
  ASSERT_TRUE(driven.engine().unpause(target, {}));
  before_commit([&] {
    // A change that leaves it where it waits.
    Unit unit;
    unit.record.record = *driven.find("job", "j1");
    unit.record.queue = pause_queue(target);
    unit.record.writes_before = unit.record.record.writes++;
    ASSERT_TRUE((*contested_->inner().begin())->commit({&unit, 1}));
  });
  driven.settle();
  EXPECT_EQ(driven.claim({"jobs"}, 2).size(), 2U);
}

TEST_P(LostRaces, ATimerRingsOnceAndAtItsTime) {
  auto& driven = open();
  driven.create("alarm", "a");
  for (int i = 1; i <= 5; ++i) {
    before_commit([&] { rival_->apply(poke("alarm", "a")); });
    driven.run_until(kStart + i * seconds{10});
  }
  EXPECT_EQ(data_of("alarm", "a"), R"({"rings":5,"pokes":5})");
  EXPECT_EQ(driven.find("alarm", "a")->wake_at, kStart + seconds{60});
}

// --- at random ---------------------------------------------------------------------------------

TEST_P(LostRaces, NothingIsLostOrDoneTwice) {
  for (const std::size_t batch_max : {std::size_t{1}, std::size_t{960}}) {
    auto& driven = open(batch_max);
    std::mt19937_64 random(batch_max);
    const auto below = [&](std::size_t end) { return random() % end; };
    const auto key = [&] { return "k" + std::to_string(below(4)); };
    std::map<std::string, int> added;
    std::map<std::string, int> told;
    std::map<std::string, int> poked;
    std::set<std::string> jobs;
    std::set<std::string> done;
    std::map<std::string, GivenAttempt> running;
    const auto keep = [&](const std::vector<GivenAttempt>& given) {
      for (const GivenAttempt& attempt : given) {
        const auto record = driven.find("job", attempt.given.key);
        ASSERT_TRUE(record->running) << attempt.given.key;
        EXPECT_EQ(record->running->token_hash, hash_of_token(attempt.token));
        EXPECT_TRUE(running.emplace(attempt.given.key, attempt).second);
      }
    };

    // The other writer goes for what is about to be committed.
    const auto contest = [&](std::span<const Unit> units) {
      if (below(2) == 0) return;
      const Unit& unit = units[below(units.size())];
      const Record& record = unit.record.record;
      if (unit.record.writes_before == 0) {
        if (record.machine == "job") jobs.insert(record.key);
        rival_->apply({.what = Stimulus::Create{}, .machine = record.machine, .key = record.key});
      } else if (record.running && below(2) == 0) {
        for (const GivenAttempt& attempt : rival_->claim("jobs"))
          running.emplace(attempt.given.key, attempt);
      } else if (below(4) == 0) {
        rival_->work();
      } else {
        const int before = rival_->done();
        rival_->apply(poke(record.machine, record.key));
        if (rival_->done() > before) ++poked[record.machine + record.key];
      }
    };
    for (std::size_t i = 0; i < 4; ++i) driven.create("counter", "k" + std::to_string(i));
    contested_->set_rival(contest);

    for (int i = 0; i < 400; ++i) {
      int asked = 0;
      int answered = 0;
      const auto submit = [&](Stimulus stimulus, std::function<void()> on_ok) {
        ++asked;
        stimulus.actor = {.name = "app"};
        driven.engine().submit(std::move(stimulus),
                               [&answered, on_ok = std::move(on_ok)](Result<Answer> answer) {
                                 ++answered;
                                 if (answer->kind == Answer::Kind::ok) on_ok();
                               });
      };
      for (std::size_t n = 1 + below(5); n > 0; --n) switch (below(5)) {
          case 0: {
            const std::string to = key();
            submit({.what = Stimulus::Fire{.event = "tell", .payload = R"({"to":")" + to + "\"}"},
                    .machine = "counter",
                    .key = key()},
                   [&told, to] { ++told[to]; });
            break;
          }
          case 1: {
            const std::string name = "j" + std::to_string(below(60));
            submit({.what = Stimulus::Create{}, .machine = "job", .key = name},
                   [&jobs, name] { jobs.insert(name); });
            break;
          }
          case 2:
            if (running.empty()) break;
            submit({.what = Stimulus::Done{hash_of_token(running.begin()->second.token)},
                    .machine = "job",
                    .key = running.begin()->first},
                   [&done, name = running.begin()->first] {
                     EXPECT_TRUE(done.insert(name).second) << name;
                   });
            running.erase(running.begin());
            break;
          default: {
            const std::string to = key();
            submit({.what = Stimulus::Fire{.event = "add"}, .machine = "counter", .key = to},
                   [&added, to] { ++added[to]; });
          }
        }
      if (below(3) == 0) {
        ASSERT_NO_FATAL_FAILURE(keep(driven.claim({"jobs"}, 1 + below(3))));
      }
      driven.settle();
      EXPECT_EQ(answered, asked);
      if (below(10) == 0) driven.run_until(driven.now() + seconds{1});
    }
    contested_->set_rival({});
    driven.settle();

    for (std::size_t i = 0; i < 4; ++i) {
      const std::string name = "k" + std::to_string(i);
      EXPECT_EQ(data_of("counter", name), R"({"n":)" + std::to_string(added[name]) + R"(,"told":)" +
                                              std::to_string(told[name]) + R"(,"pokes":)" +
                                              std::to_string(poked["counter" + name]) + "}");
    }
    // Nobody waits for ever.
    for (;;) {
      for (const auto& [name, attempt] : running) {
        EXPECT_EQ(driven.done(attempt).kind, Answer::Kind::ok);
        EXPECT_TRUE(done.insert(name).second) << name;
      }
      running.clear();
      keep(driven.claim({"jobs"}, 10));
      if (running.empty()) break;
    }
    EXPECT_EQ(done, jobs);
    const auto& outcomes = contested_->outcomes();
    std::printf("batch_max %zu: %d committed, %d lost races, %d names taken\n", batch_max,
                outcomes.committed, outcomes.lost_race, outcomes.key_taken);
    EXPECT_GT(outcomes.lost_race, 50);
    EXPECT_GT(outcomes.key_taken, 5);
    TearDown();
  }
}

}  // namespace
}  // namespace pawl
