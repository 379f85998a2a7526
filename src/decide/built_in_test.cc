// Side jobs and delayed messages are records of machines that Pawl makes.
#include "decide/built_in.h"

#include "decide/test_world.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAsker = R"(
machine: job
initial: new
order: [new, over]
data: {patience: {type: duration, default: 30s}, url: string}
states:
  new: {on: {go: {effects: [{run: sweep, then: found, else: lost}, {run: clean, in: 1h}]}, found: over, lost: over}}
  over: {final: true}
retry: [7s]
tasks:
  sweep:
    queue: sweeps
    with: {url: "{data.url}"}
    key: "{record.key}/sweep"
    timeout: "{data.patience}"
    retry: [1m]
    errors:
      fatal: [{if: "record.state == 'new' or record.state < 'over'", retry: true}, {to: over}]
      odd: {hold: "odd"}
    give_up: {to: over, alert: oncall, effects: [{notify: mail}, {send: lost, to: self}]}
  clean: {queue: sweeps}
)";

class BuiltInTest : public testing::Test {
 protected:
  BuiltInTest() : asker_(kAsker, R"({"url":"http://x"})"), machines_(test_zones()) {
    asker_.give(Stimulus::Fire{.event = "go"});
  }

  // The record that carries out the effect.
  void make(std::size_t effect) {
    const Stimulus create =
        carrier_of(asker_.last().effects.at(effect), asker_.record(), {9}, asker_.now());
    Record asked;
    asked.data = std::get<Stimulus::Create>(create.what).data;
    machine_ = machines_.run(side_job_of(asked), asker_.machine());
    record_ = decide(*machine_, {}, create, asker_.now()).record;
  }

  Decision give(decltype(Stimulus::what) what, Duration later = {}) {
    now_ += later;
    Decision decision = decide(*machine_, record_, {.what = std::move(what)}, asker_.now() + now_);
    if (decision.changed) record_ = decision.record;
    return decision;
  }

  OneRecord asker_;
  BuiltIns machines_;
  std::shared_ptr<const Machine> machine_;
  Record record_;
  Duration now_ = {};
};

TEST_F(BuiltInTest, ASideJobIsAChildThatRuns) {
  make(0);
  EXPECT_EQ(record_.machine, "run");
  EXPECT_EQ(record_.state, "running");
  EXPECT_EQ(record_.key, asker_.last().effects[0].id);
  ASSERT_TRUE(record_.parent);
  EXPECT_EQ(record_.parent->key, "k1");
  EXPECT_EQ(asker_.record().children.at(0).machine, "run");
  EXPECT_EQ(asker_.record().children.at(0).open, 2);
}

TEST_F(BuiltInTest, TheWorkerGetsWhatWasAskedFor) {
  make(0);
  const Decision started = give(Stimulus::Start{.token_hash = token(1)});
  EXPECT_EQ(started.answer.task, "sweep");
  EXPECT_EQ(started.answer.payload, R"({"url":"http://x"})");
  EXPECT_EQ(started.answer.outside_key, "k1/sweep");
  EXPECT_EQ(started.answer.deadline_at, asker_.now() + 30s);  // of the data of the asker
}

TEST_F(BuiltInTest, DoneSendsTheResultToTheAsker) {
  make(0);
  give(Stimulus::Start{.token_hash = token(1)});
  const Decision done = give(Stimulus::Done{.token_hash = token(1), .result = R"({"n":3})"});
  EXPECT_EQ(record_.state, "finished");
  ASSERT_EQ(done.effects.size(), 1U);
  EXPECT_EQ(done.effects[0].target, "found");
  EXPECT_EQ(done.effects[0].machine, "job");
  EXPECT_EQ(done.effects[0].key, "k1");
  EXPECT_EQ(done.effects[0].payload, R"({"n":3})");
  ASSERT_TRUE(done.to_parent);
  EXPECT_EQ(done.to_parent->is, "finished");
  EXPECT_TRUE(done.to_parent->is_final);
}

TEST_F(BuiltInTest, GivenUpSendsTheErrorWhenItHasElse) {
  make(0);
  give(Stimulus::Start{.token_hash = token(1)});
  give(Stimulus::Fail{.token_hash = token(1), .error = {.code = "oops"}});
  EXPECT_EQ(record_.ready_at, asker_.now() + 1min);  // its own policy, not the machine's
  give(Stimulus::Start{.token_hash = token(2)}, 1min);
  const Decision failed =
      give(Stimulus::Fail{.token_hash = token(2), .error = {.code = "oops", .message = "no"}});
  EXPECT_EQ(record_.state, "failed");
  EXPECT_FALSE(record_.hold);
  ASSERT_EQ(failed.effects.size(), 3U);
  EXPECT_EQ(failed.effects[0].target, "oncall");
  EXPECT_EQ(failed.effects[1].target, "mail");
  EXPECT_EQ(failed.effects[2].target, "lost");
  Scratch scratch;
  EXPECT_EQ(JsonView(failed.effects[2].payload).member("code").text(scratch), "oops");
}

// A condition over states of the asker can be read, and does not hold.
TEST_F(BuiltInTest, StatesOfTheAskerMeanGivingUp) {
  make(0);
  give(Stimulus::Start{.token_hash = token(1)});
  give(Stimulus::Fail{.token_hash = token(1), .error = {.code = "fatal"}});
  EXPECT_EQ(record_.state, "failed");
}

TEST_F(BuiltInTest, AHoldOfTheAskerMeansGivingUp) {
  make(0);
  give(Stimulus::Start{.token_hash = token(1)});
  give(Stimulus::Fail{.token_hash = token(1), .error = {.code = "odd"}});
  EXPECT_EQ(record_.state, "failed");
}

TEST_F(BuiltInTest, WithoutElseItRestsOnHold) {
  make(1);
  EXPECT_EQ(record_.ready_at, asker_.now() + 1h);
  for (int attempt = 1; attempt <= 10; ++attempt) {
    give(Stimulus::Start{.token_hash = token(attempt)}, 2h);
    give(Stimulus::Fail{.token_hash = token(attempt), .error = {.code = "oops", .message = "no"}});
  }
  EXPECT_EQ(record_.state, "running");
  ASSERT_TRUE(record_.hold);
  EXPECT_EQ(record_.hold->code, "gave_up");
  EXPECT_EQ(record_.hold->text, "no");
}

TEST_F(BuiltInTest, ADelayedMessageIsARecordToo) {
  Effect send{.verb = Effect::Verb::send,
              .id = "1/4/0",
              .target = "ping",
              .payload = R"({"a":1})",
              .in = 5min,
              .machine = "job",
              .key = "k2",
              .must = true,
              .epoch_only = 3};
  const Stimulus create = carrier_of(send, asker_.record(), {9}, asker_.now());
  EXPECT_EQ(create.machine, "send");
  EXPECT_EQ(machines_.send()->task(0).kind, Task::Kind::function);
  EXPECT_EQ(machines_.send()->task(0).target, "deliver");
  const Record record = decide(*machines_.send(), {}, create, asker_.now()).record;
  EXPECT_EQ(record.state, "sending");
  EXPECT_EQ(record.ready_at, asker_.now() + 5min);
  EXPECT_FALSE(record.parent);
  const DelayedMessage message = delayed_message_of(record);
  EXPECT_EQ(message.machine, "job");
  EXPECT_EQ(message.key, "k2");
  EXPECT_EQ(message.sent.event, "ping");
  EXPECT_EQ(message.sent.payload, R"({"a":1})");
  EXPECT_EQ(message.sent.from, RecordId{1});
  EXPECT_EQ(message.sent.epoch_only, 3);
  EXPECT_TRUE(message.must);
  send.must = false;
  send.epoch_only.reset();
  const Record other = decide(*machines_.send(), {},
                              carrier_of(send, asker_.record(), {10}, asker_.now()), asker_.now())
                           .record;
  EXPECT_FALSE(delayed_message_of(other).must);
  EXPECT_EQ(delayed_message_of(other).sent.epoch_only, std::nullopt);
}

}  // namespace
}  // namespace pawl
