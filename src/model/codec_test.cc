#include "model/codec.h"

#include <limits>

#include "gtest/gtest.h"

namespace pawl {
namespace {

TokenHash hash_of(int seed) {
  TokenHash hash{};
  for (std::size_t i = 0; i < hash.size(); ++i)
    hash[i] = static_cast<std::byte>((static_cast<int>(i) * 37 + seed) % 256);
  return hash;
}

Instant at(int seconds) { return Instant(std::chrono::seconds(1'700'000'000 + seconds)); }

Record full_record() {
  Record record{.id = {7}, .machine = "order", .version = 3, .key = "o\"1", .created_at = at(0)};
  record.parent = Parent{{3}, "basket", "b/1"};
  record.state = "paying";
  record.entered_at = at(1);
  record.revision = 9;
  record.changed_at = at(2);
  record.epoch = 2;
  record.failures = 4;
  record.failing_since = at(3);
  record.failed_from = "new";
  record.error = Failure{.code = "oops",
                         .message = "no",
                         .detail = R"({"pages":3})",
                         .retry_after = std::chrono::seconds(20),
                         .transient = true,
                         .at = at(4),
                         .fingerprint = 12345};
  record.hold = Hold{"gave_up", "look", at(5), Hold::By::engine};
  record.data = R"({"a":[1,2]})";
  record.result = R"({"n":1})";
  record.labels = {{"customer", "\"c1\""}};
  record.priority = 2;
  record.ready_at = at(6);
  record.wake_at = at(7);
  record.task_at = at(8);
  record.timers = {{Timer::Kind::every, 1, at(9)}, {Timer::Kind::come_back, 0, at(10)}};
  record.plan = {"2026-01-01T00:00:00", "Europe/Berlin", at(11), at(12)};
  record.streak = {"paying", "oops", 2, 1, "new"};
  record.spent = true;
  record.task_seq = 5;
  record.left_tasks = {{"new", 4}};
  record.children = {{.machine = "parcel",
                      .all = 3,
                      .open = 2,
                      .final = 1,
                      .hold = 1,
                      .states = {{"packing", 2}, {"sent", 1}}}};
  record.attempt = 3;
  record.fence = 99;
  record.running = Attempt{hash_of(1), "w1", at(13), at(14), at(15), "\"page 3\""};
  record.settled = Settled{98, hash_of(2), Settled::Verb::fail, "new", 8};
  record.writes = 40;
  return record;
}

// I3: the core can be folded from the changes, and the quiet part stands in the input.
TEST(Codec, CoreAndQuietPartTogetherAreTheRecord) {
  const Record record = full_record();
  std::string input;
  append_input(input, {.what = Stimulus::Wake{}}, record);
  Record core;
  fold(core, core_text(record));
  EXPECT_EQ(joined(core, read_input(input).quiet), record);
}

TEST(Codec, ChangesHoldOnlyTheFieldsThatAreNamed) {
  Record record = full_record();
  std::string changes;
  append_changes(changes, record, kCoreEpoch | kCoreHold);
  EXPECT_EQ(
      changes,
      R"({"epoch":2,"hold":{"code":"gave_up","text":"look","since":1700000005000000,"by":3}})");
  record.hold.reset();
  changes.clear();
  append_changes(changes, record, kCoreHold);
  EXPECT_EQ(changes, R"({"hold":null})");
  Record folded = full_record();
  fold(folded, changes);
  EXPECT_EQ(folded, record);
}

TEST(Codec, AResultThatIsGoneIsFolded) {
  Record record = full_record();
  Record folded = record;
  record.result.clear();
  record.failing_since.reset();
  fold(folded, core_text(record));
  EXPECT_EQ(folded, record);
}

template <class What>
Stimulus read_back(What what) {
  Stimulus given{.what = std::move(what),
                 .actor = {"eve", {"operator", "admin"}, "shop"},
                 .idempotency_key = "k1",
                 .known = {{"parcel", "p1", {4}, RecordId{7}, "packing"}}};
  std::string input;
  append_input(input, given, {});
  const Stimulus read = read_input(input).stimulus;
  EXPECT_EQ(read.actor, given.actor);
  EXPECT_EQ(read.idempotency_key, given.idempotency_key);
  EXPECT_EQ(read.known, given.known);
  std::string again;
  append_input(again, read, {});
  EXPECT_EQ(again, input);
  return read;
}

TEST(Codec, EveryStimulusReadsBack) {
  using Verb = Stimulus::Order::Verb;
  const Stimulus::Create create{{5}, "{\"a\":1}", Parent{{1}, "m", "k"}, "go", "[]", at(3)};
  EXPECT_EQ(std::get<Stimulus::Create>(read_back(create).what), create);
  const auto fire =
      std::get<Stimulus::Fire>(read_back(Stimulus::Fire{"go", "{\"b\":2}", create}).what);
  EXPECT_EQ(fire.event, "go");
  EXPECT_EQ(fire.payload, "{\"b\":2}");
  EXPECT_EQ(fire.create, create);
  const auto start =
      std::get<Stimulus::Start>(read_back(Stimulus::Start{hash_of(3), "w", {"s"}}).what);
  EXPECT_EQ(start.slots, std::vector<std::string>{"s"});
  EXPECT_EQ(start.token_hash, hash_of(3));
  EXPECT_EQ(start.worker, "w");
  EXPECT_EQ(std::get<Stimulus::Beat>(read_back(Stimulus::Beat{hash_of(4), "1"}).what).progress,
            "1");
  EXPECT_EQ(std::get<Stimulus::Done>(read_back(Stimulus::Done{hash_of(5), "[3]"}).what).result,
            "[3]");
  const Failure failure{.code = "c", .message = "m", .detail = "{}", .retry_after = Duration{5}};
  EXPECT_EQ(std::get<Stimulus::Fail>(read_back(Stimulus::Fail{hash_of(6), failure}).what).error,
            failure);
  EXPECT_TRUE(std::get<Stimulus::Wake>(read_back(Stimulus::Wake{true}).what).passed);
  const auto sent = std::get<Stimulus::Sent>(read_back(Stimulus::Sent{"e", "{}", {9}, 3}).what);
  EXPECT_EQ(sent.from, RecordId{9});
  EXPECT_EQ(sent.epoch_only, 3);
  const auto child = std::get<Stimulus::ChildChanged>(
      read_back(Stimulus::ChildChanged{{2}, "m", "a", "b", false, true, true, false}).what);
  EXPECT_EQ(child.is, "b");
  EXPECT_TRUE(child.is_final && child.was_held);
  EXPECT_FALSE(child.was_final || child.is_held);
  const auto order = std::get<Stimulus::Order>(
      read_back(Stimulus::Order{Verb::patch, "why", "t", "c", "s", "{\"x\":null}"}).what);
  EXPECT_EQ(order.code, "c");
  EXPECT_EQ(order.verb, Verb::patch);
  EXPECT_EQ(order.data, "{\"x\":null}");
}

// Texts are gathered in pieces: one of any length, wherever it falls, is written whole.
TEST(Codec, TextsOfAnyLengthReadBack) {
  for (std::size_t length = 0; length < 1'100; ++length) {
    const Answer plain{.state = std::string(length, 'x'), .revision = 12, .result = "{}"};
    EXPECT_EQ(read_answer(answer_text(plain)), plain) << length;
    const Answer quoted{.state = std::string(length, 'x') + '"', .revision = 12, .result = "{}"};
    EXPECT_EQ(read_answer(answer_text(quoted)), quoted) << length;
    const Answer json{.state = "s", .revision = 12, .result = '"' + std::string(length, 'x') + '"'};
    EXPECT_EQ(read_answer(answer_text(json)), json) << length;
  }
}

TEST(Codec, NumbersOfAnyLengthReadBack) {
  std::vector<std::int64_t> numbers{std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max(), 1'700'000'012'345'678,
                                    7'009'020'304'050'607};
  for (std::int64_t power = 1; power < std::numeric_limits<std::int64_t>::max() / 10; power *= 10)
    numbers.insert(numbers.end(), {power - 1, power, power + 1, -power, -power - 1});
  for (const std::int64_t number : numbers) {
    const Answer answer{.revision = number};
    EXPECT_EQ(read_answer(answer_text(answer)), answer) << number;
    EXPECT_TRUE(number == 0 ||
                answer_text(answer).find(":" + std::to_string(number)) != std::string::npos);
  }
}

TEST(Codec, WhatIsMostlyEmptyReadsBackOntoTheRest) {
  const Record full = full_record();
  std::string text;
  append_sparse(text, full);
  Record record{.id = full.id,
                .machine = full.machine,
                .key = full.key,
                .created_at = full.created_at,
                .state = full.state,
                .entered_at = full.entered_at,
                .revision = full.revision,
                .changed_at = full.changed_at,
                .data = full.data,
                .priority = full.priority,
                .ready_at = full.ready_at,
                .wake_at = full.wake_at,
                .fence = full.fence,
                .writes = full.writes};
  read_sparse(text, record);
  EXPECT_EQ(record, full);
  text.clear();
  append_sparse(text, {});
  EXPECT_EQ(text, "{}");
}

// Members stand in the order they are written in; in another one they are found as well.
TEST(Codec, AnyOrderOfMembersReadsBack) {
  Record record;
  read_sparse(R"({"settled":{"seq":4,"fence":2},"unknown":1,"epoch":3,)"
              R"("running":{"worker":"w","token_hash":""}})",
              record);
  EXPECT_EQ(record.settled->seq, 4);
  EXPECT_EQ(record.settled->fence, 2);
  EXPECT_EQ(record.epoch, 3);
  EXPECT_EQ(record.running->worker, "w");
}

TEST(Codec, AnEntryReadsBack) {
  const Entry entry{.seq = 3,
                    .at = at(1),
                    .kind = Entry::Kind::failed,
                    .event = "go",
                    .from = "a",
                    .to = "b",
                    .epoch = 2,
                    .attempt = 4,
                    .fence = 99,
                    .error = Failure{.code = "oops", .detail = "[1]"},
                    .cause = "when",
                    .actor = {"eve", {"operator"}, "shop"},
                    .idempotency_key = "k\"1",
                    .input = R"({"fire":{}})",
                    .changes = R"({"state":"b"})",
                    .next_at = at(2),
                    .delays_left = 0,
                    .row = "errors.default"};
  for (const Entry& one : {entry, Entry{}}) {
    std::string text;
    append_entry(text, one);
    EXPECT_EQ(read_entry(text), one);
  }
}

TEST(Codec, AnAnswerIsRemembered) {
  const Answer answer{.kind = Answer::Kind::ok, .state = "paying", .revision = 12, .result = "{}"};
  EXPECT_EQ(read_answer(answer_text(answer)), answer);
}

}  // namespace
}  // namespace pawl
