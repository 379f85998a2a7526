// The engine on the store in memory and on SQLite, driven by one tape: the same answers after every
// step, and in the end the same records, logs, counts, queues and notes.
//
// PAWL_SEED repeats a play, PAWL_PLAYS makes the run longer.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

#include "gtest/gtest.h"
#include "pawl/machine_file.h"
#include "store/verify.h"
#include "tests/decide/answer_table.h"
#include "tests/decide/machine_of_tape.h"
#include "tests/decide/stimulus_of_tape.h"
#include "tests/decide/surroundings.h"
#include "tests/decide/tape.h"
#include "tests/support/driven_engine.h"
#include "tests/support/record_text.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

const Instant kStart = *parse_instant("2026-03-02T09:00:00Z");
constexpr int kStepsMax = 160;            // of one play
constexpr int kBatchesMax = 100;          // that may follow from one step: some machines never rest
constexpr std::uint64_t kIdsMax = 3'000;  // of one play: some make records without end,
constexpr std::size_t kDecisionsMax = 8'000;  // or send messages to themselves
constexpr std::uint64_t kPlays = 100;         // in which everything happens
constexpr std::size_t kKeys = 3;              // of each machine
constexpr std::size_t kTape = 4'000;

// --- the machines ------------------------------------------------------------------------------

// What random machines make and send to.
constexpr const char* kPart = R"(machine: part
initial: fresh
tasks: {shape: {queue: shapers, retry: [10s]}}
events: {e1: {}, e2: {}}
states:
  fresh: {task: shape, done: busy, on: {e1: busy, e2: over}}
  busy: {on: {e2: {to: over, effects: [{send: e1, to: parent}]}}, after: {1m: over}}
  over: {final: true}
)";
constexpr const char* kItem = R"(machine: item
initial: fresh
events: {e1: {}, e2: {}, e3: {}}
states:
  fresh: {on: {e1: busy}, after: {30s: busy}}
  busy: {on: {e2: {to: over}, e3: {effects: [{notify: ops}]}}, after: {1h: over}}
  over: {final: true}
)";
// Children, events for all of them, and a count that ends their parent.
constexpr const char* kBatch = R"(machine: batch
initial: collecting
data: {parcels: list}
states:
  collecting:
    on:
      begin: {to: waiting, effects: [{create: parcel, each: data.parcels, key: "{record.key}{item}"}]}
  waiting:
    when: [{if: children.parcel.open == 0, to: complete}]
    on:
      stop: {effects: [{send: cancel, to: children.parcel}]}
      told: {}
    after: {1d: late}
  late: {final: true}
  complete: {final: true}
)";
constexpr const char* kParcel = R"(machine: parcel
initial: packing
tasks: {pack: {queue: packers, retry: [5s, 1m], lease: 20s, timeout: 2m}}
states:
  packing: {task: pack, done: {to: packed, effects: [{send: told, to: parent}]}, on: {cancel: cancelled}}
  packed: {final: true}
  cancelled: {final: true}
)";
// Limits of both kinds, and a label to pause by.
constexpr const char* kUpload = R"(machine: upload
initial: sending
data: {to: string}
labels: {to: "{data.to}"}
tasks:
  send: {queue: uploads, concurrency: {max: 2, per: "{data.to}"}, rate: {max: 3, every: 30s}}
states:
  sending: {task: send, done: sent, on: {cancel: cancelled}}
  sent: {final: true}
  cancelled: {final: true}
)";
// Messages at once, later, and until they are accepted; side jobs and deliveries.
constexpr const char* kTeller = R"(machine: teller
initial: telling
tasks: {draw: {queue: drawers}}
data: {items: string}
states:
  telling:
    on:
      tell: {effects: [{send: add, to: {machine: teller, key: "{event.to}"}, with: {n: 1}}]}
      later: {effects: [{send: add, to: {machine: teller, key: "{event.to}"}, with: {n: 2}, in: 40s}]}
      must: {effects: [{send: push, to: {machine: teller, key: "{event.to}"}, must: true}]}
      aside: {effects: [{run: draw, then: add, else: add}, {notify: oncall}]}
      add: {set: {items: "{data.items}{event.n}"}}
      open: opened
    after: {9d: over}
  opened:
    on: {push: telling, add: {}}
    after: {1h: telling}
  over: {final: true}
)";

const std::vector<std::string> kFixed{kPart, kItem, kBatch, kParcel, kUpload, kTeller};
const std::vector<std::string> kQueues{"work",    "shapers",     "packers",       "uploads",
                                       "drawers", "channel:ops", "channel:oncall"};

// --- one of the two ----------------------------------------------------------------------------

struct Heard {
  std::vector<Answer> answers = {};
  std::vector<GivenAttempt> attempts = {};
  std::size_t claims_answered = 0;
};

bool operator==(const Heard& a, const Heard& b) {
  return a.answers == b.answers && a.claims_answered == b.claims_answered &&
         std::equal(a.attempts.begin(), a.attempts.end(), b.attempts.begin(), b.attempts.end(),
                    [](const GivenAttempt& one, const GivenAttempt& other) {
                      return one.given == other.given && one.token == other.token;
                    });
}

std::string text_of(const Heard& heard) {
  std::ostringstream text;
  for (const Answer& answer : heard.answers)
    text << to_text(answer.kind) << " " << answer.state << " " << answer.revision << " "
         << answer.reason << "\n";
  for (const GivenAttempt& attempt : heard.attempts)
    text << attempt.token << " " << attempt.given.machine << "/" << attempt.given.key << " "
         << attempt.given.fence << "\n";
  text << heard.claims_answered << " claims\n";
  return text.str();
}

std::string number_of(const std::optional<Instant>& at) {
  return at ? std::to_string(at->time_since_epoch().count()) : "none";
}

// Everything that can be seen of a store and of the engine on it.
std::string state_of(DrivenEngine& driven) {
  std::ostringstream text;
  Store& store = driven.store();
  for (const Record& record : driven.all()) {
    text << record.id.value << " " << pawl::text_of(record) << "\n";
    for (const Entry& entry : driven.log_of(record)) text << "  " << pawl::text_of(entry) << "\n";
    const auto why = driven.engine().why(record);
    text << "  " << static_cast<int>(why->kind) << " " << why->sentence << "\n";
  }
  Cursor from;
  for (;;) {
    const auto page = *store.feed(from, kPageMax);
    if (page.items.empty()) break;
    for (const LoggedEntry& logged : page.items)
      text << logged.record.value << "@" << logged.entry.seq << " ";
    from = page.next;
  }
  const Counts counts = *store.counts();
  for (const StateCount& count : counts.states)
    text << "\n"
         << count.machine << " " << count.state << " " << count.records << " " << count.held;
  for (const ErrorCount& error : counts.errors)
    text << "\n"
         << error.machine << " " << error.state << " " << error.code << " " << error.fingerprint
         << " " << error.count << " " << number_of(error.first_at) << " "
         << number_of(error.last_at) << " " << error.message;
  const std::vector<std::string> queues = *store.queues();
  text << "\n";
  for (const std::string& queue : queues) text << queue << " ";
  text << number_of(*store.next_due(queues)) << " " << store.last_id()->value << "\n";
  for (const std::string& note : driven.notes()) text << note << "\n";
  for (const Pause& pause : driven.engine().pauses()) text << to_text(pause) << "\n";
  const auto batch = *store.begin();
  const Claim inbox{.kind = Claim::Kind::inbox, .max = kPageMax};
  const std::vector<Claimed> claimed = *batch->claim({&inbox, 1});
  for (const Claimed& one : claimed)
    for (const Message& message : one.messages)
      text << message.id.value << " to " << message.to.value << " " << message.body << "\n";
  return text.str();
}

// --- a play ------------------------------------------------------------------------------------

struct Tally {
  AnswerTable answers;
  std::map<std::string, int> others;
};

class Play {
 public:
  Play(Tape& tape, std::size_t batch_max, Tally& tally)
      : tape_(tape),
        tally_(tally),
        definition_(definition_of(tape)),
        memory_(StoreKind::memory, kFixed, kStart, batch_max),
        sqlite_(StoreKind::sqlite, kFixed, kStart, batch_max),
        stimuli_(tape, around_) {
    apply_version(definition_);
  }

  void run() {
    for (int i = 0; i < kStepsMax && !tape_.is_used_up(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      step();
      compare_answers();
      if (i % 40 == 39) compare_states();
      if (testing::Test::HasFailure()) return;
      if (is_too_large()) break;
    }
    batches();
    compare_answers();
    compare_states();
    for (DrivenEngine* driven : {&memory_, &sqlite_}) {
      const Verified verified = *verify(driven->store());
      for (const Violation& violation : verified.violations)
        ADD_FAILURE() << violation.invariant << " of " << violation.record.value << ": "
                      << violation.what << "\n"
                      << print_machine(definition_) << state_of(*driven);
    }
    tally_.others["records"] += static_cast<int>(memory_.all().size());
  }

 private:
  void step() {
    switch (tape_.between(0, 15)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return of_tape();
      case 5:
      case 6:
      case 7:
      case 8:
        return of_fixed();
      case 9:
      case 10:
        return claim();
      case 11:
      case 12:
        return settle();
      case 13:
      case 14:
        return pass_time();
      default:
        return tape_.chance(40) ? restart() : tape_.chance(60) ? pause() : next_version();
    }
  }

  // --- what is given to both -------------------------------------------------------------------

  void submit(const Stimulus& stimulus) {
    asked_.push_back(stimulus);
    for (auto [driven, heard] : both())
      driven->engine().submit(stimulus, [heard = heard](Result<Answer> answer) {
        ASSERT_TRUE(answer) << answer.error().message;
        heard->answers.push_back(*std::move(answer));
      });
    // Without that the next one is decided in the same batch.
    if (!tape_.chance(35)) batches();
  }

  // Stimuli about the records of the machine on the tape. What only the engine itself gives comes
  // from the clock, claims and other records here.
  void of_tape() {
    const std::string key = "k" + std::to_string(tape_.below(kKeys));
    const Record record = memory_.find("m", key).value_or(Record{});
    const Machine* newest = memory_.engine().machines().newest("m");
    const auto own = record.id.value == 0 ? nullptr : *memory_.engine().machines().of(record);
    Stimulus stimulus = stimuli_.next(own ? *own : *newest, record, memory_.now());
    if (std::holds_alternative<Stimulus::Start>(stimulus.what)) return claim();
    if (std::holds_alternative<Stimulus::Wake>(stimulus.what)) return pass_time();
    if (std::holds_alternative<Stimulus::Sent>(stimulus.what) ||
        std::holds_alternative<Stimulus::ChildChanged>(stimulus.what))
      return of_fixed();
    if (stimulus.key == "k") stimulus.key = key;  // else it is one of before, again
    stimulus.dry_run = tape_.chance(5);
    submit(stimulus);
  }

  void of_fixed() {
    const std::string key = "f" + std::to_string(tape_.below(kKeys));
    const std::string payload = R"({"to":"f)" + std::to_string(tape_.below(kKeys + 1)) + "\"}";
    Stimulus stimulus{.machine = tape_.of({"batch", "teller", "upload", "teller", "nothing"}),
                      .key = key,
                      .actor = {.name = "app"}};
    if (stimulus.machine == "upload") stimulus.key += std::to_string(tape_.below(4));
    const bool is_there = memory_.find(stimulus.machine, stimulus.key).has_value();
    if (tape_.chance(10)) {
      stimulus.actor = {"eve", {"operator"}};
      stimulus.what = order();
    } else if (!is_there || tape_.chance(10)) {
      Stimulus::Create create{.data = "{}"};
      if (stimulus.machine == "batch")
        create.data = tape_.chance(20) ? many_parcels() : R"({"parcels":["a","b","c"]})";
      if (stimulus.machine == "upload") create.data = tape_.of({R"({"to":"a"})", R"({"to":"b"})"});
      if (stimulus.machine == "teller") create.data = R"({"items":""})";
      stimulus.what = create;
    } else if (stimulus.machine == "batch") {
      stimulus.what = Stimulus::Fire{.event = tape_.of({"begin", "stop", "told"})};
    } else if (stimulus.machine == "upload") {
      stimulus.what = Stimulus::Fire{.event = "cancel"};
    } else {
      stimulus.what = Stimulus::Fire{
          .event = tape_.of({"tell", "later", "must", "aside", "open", "add", "push"}),
          .payload = payload};
    }
    submit(stimulus);
  }

  Stimulus::Order order() {
    using Verb = Stimulus::Order::Verb;
    const auto verb = std::vector<Verb>{Verb::hold, Verb::release, Verb::retry}[tape_.below(3)];
    return {.verb = verb, .reason = "a test", .text = "wait"};
  }

  std::string many_parcels() {
    std::string list;
    for (int i = 0; i < 60; ++i) list += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\"";
    return R"({"parcels":[)" + list + "]}";
  }

  void claim() {
    ClaimRequest request{
        .queues = {tape_.of(kQueues)}, .max = 1 + tape_.below(4), .worker = tape_.of({"w1", "w2"})};
    while (tape_.chance(50)) request.queues.push_back(tape_.of(kQueues));
    if (tape_.chance(30)) request.wait = seconds{tape_.between(1, 90)};
    for (auto [driven, heard] : both())
      driven->engine().claim(request, [heard = heard](Result<std::vector<GivenAttempt>> given) {
        ASSERT_TRUE(given) << given.error().message;
        ++heard->claims_answered;
        heard->attempts.insert(heard->attempts.end(), given->begin(), given->end());
      });
    if (!tape_.chance(20)) batches();
    ++tally_.others["claims"];
  }

  // What a worker says about an attempt that it was given, not always one that still runs.
  void settle() {
    if (given_.empty()) return claim();
    const std::size_t back = tape_.chance(80) ? 0 : tape_.below(given_.size());
    const GivenAttempt& attempt = given_[given_.size() - 1 - back];
    const TokenHash token = hash_of_token(attempt.token);
    Stimulus stimulus{
        .machine = attempt.given.machine, .key = attempt.given.key, .actor = {.name = "worker"}};
    switch (tape_.between(0, 4)) {
      case 0:
        stimulus.what = Stimulus::Beat{token, tape_.of({"", R"({"page":2})"})};
        break;
      case 1:
        stimulus.what = Stimulus::Fail{token, {.code = tape_.of({"c1", "boom", "http_503"})}};
        break;
      default:
        stimulus.what = Stimulus::Done{token, tape_.of({"{}", R"({"n":3})"})};
    }
    submit(stimulus);
  }

  // To what comes next, a bit, or far.
  void pass_time() {
    ++tally_.others["clock"];
    const Instant now = memory_.now();
    const std::optional<Instant> next = *memory_.store().next_due(kQueues);
    switch (tape_.between(0, 4)) {
      case 0:
        return run_until(now + Duration{1});
      case 1:
        return run_until(now + seconds{tape_.between(1, 90)});
      case 2:
        return run_until(now + (tape_.chance(20) ? Duration{hours{30}} : Duration{minutes{20}}));
      default:
        return run_until(std::max(now, next.value_or(now)));
    }
  }

  void restart() {
    ++tally_.others["restarts"];
    const Duration closed = seconds{tape_.chance(50) ? 0 : tape_.between(1, 200)};
    for (auto [driven, heard] : both()) driven->reopen(closed);
    asked_.clear();  // whoever was not answered asks no more
    tally_asked();
  }

  void pause() {
    using Kind = PauseTarget::Kind;
    const std::vector<PauseTarget> targets{{Kind::machine, "upload"},
                                           {Kind::queue, "packers"},
                                           {Kind::label, "to", R"("a")"},
                                           {Kind::machine, "m"},
                                           {}};
    const PauseTarget& target = tape_.of(targets);
    const bool pauses = tape_.chance(40);
    std::vector<bool> were_paused;
    for (auto [driven, heard] : both()) {
      if (pauses) {
        ASSERT_TRUE(driven->engine().pause({target, "a test", "eve", driven->now()}));
      } else {
        were_paused.push_back(*driven->engine().unpause(target, {}));
      }
    }
    if (!pauses) {
      EXPECT_EQ(were_paused[0], were_paused[1]);
    }
    ++tally_.others[pauses ? "pauses" : were_paused[0] ? "unpauses" : "unpauses of nothing"];
    batches();
  }

  void next_version() {
    if (definition_.version == 3) return;
    definition_ = next_version_of(definition_, tape_);
    apply_version(definition_);
    ++tally_.others["versions"];
  }

  void apply_version(const Definition& definition) {
    const std::string text = print_machine(definition);
    for (auto [driven, heard] : both()) driven->apply_machine(text, *definition.version);
  }

  // --- both in step ----------------------------------------------------------------------------

  // One batch of each. Nothing when they differ.
  std::optional<Stepper::Stepped> batch(bool passed) {
    const auto expected = memory_.engine().step(passed);
    const auto got = sqlite_.engine().step(passed);
    EXPECT_TRUE(expected && got);
    if (!expected || !got) return std::nullopt;
    EXPECT_EQ(got->has_more, expected->has_more);
    EXPECT_EQ(got->next, expected->next);
    EXPECT_EQ(got->units, expected->units);
    ++tally_.others["batches"];
    decisions_ += expected->units;
    return testing::Test::HasFailure() ? std::nullopt : std::optional(*expected);
  }

  bool is_too_large() {
    return decisions_ > kDecisionsMax || memory_.store().last_id()->value > kIdsMax;
  }

  void batches() {
    for (int i = 0; i < kBatchesMax && !is_too_large(); ++i) {
      const auto stepped = batch(false);
      if (!stepped || !stepped->has_more) break;
    }
    keep_attempts();
  }

  void run_until(Instant until) {
    for (int i = 0; i < kBatchesMax && !is_too_large(); ++i) {
      const auto stepped = batch(memory_.now() < until);
      if (!stepped) return;
      if (stepped->has_more) continue;
      if (!stepped->next || *stepped->next > until) {
        set_clock(until);
        break;
      }
      set_clock(std::max(memory_.now(), *stepped->next));
    }
    keep_attempts();
  }

  void set_clock(Instant now) {
    memory_.set_clock(now);
    sqlite_.set_clock(now);
  }

  void keep_attempts() {
    const auto& attempts = of_memory_.attempts;
    given_.insert(given_.end(), attempts.begin() + static_cast<std::ptrdiff_t>(attempts_kept_),
                  attempts.end());
    tally_.others["attempts"] += static_cast<int>(attempts.size() - attempts_kept_);
    attempts_kept_ = attempts.size();
  }

  void compare_answers() {
    EXPECT_TRUE(of_sqlite_ == of_memory_) << "memory:\n"
                                          << text_of(of_memory_) << "sqlite:\n"
                                          << text_of(of_sqlite_);
    tally_asked();
  }

  // Answers come in the order of what was asked.
  void tally_asked() {
    const auto& answers = of_memory_.answers;
    for (; tallied_ < answers.size() && !asked_.empty(); ++tallied_) {
      const Stimulus asked = asked_.front();
      asked_.erase(asked_.begin());
      tally_.answers.add(asked, answers[tallied_].kind);
      if (answers[tallied_].kind == Answer::Kind::ok && !asked.idempotency_key.empty())
        around_.commit(asked, Decision{.remember = Remembered{}});  // to ask it again
    }
    tallied_ = answers.size();
  }

  void compare_states() {
    const std::string expected = state_of(memory_);
    EXPECT_EQ(state_of(sqlite_), expected);
    EXPECT_EQ(sqlite_.all(), memory_.all());
  }

  std::array<std::pair<DrivenEngine*, Heard*>, 2> both() {
    return {{{&memory_, &of_memory_}, {&sqlite_, &of_sqlite_}}};
  }

  Tape& tape_;
  Tally& tally_;
  Definition definition_;
  DrivenEngine memory_;
  DrivenEngine sqlite_;
  Heard of_memory_;
  Heard of_sqlite_;
  Surroundings around_;
  StimulusOfTape stimuli_;
  std::vector<Stimulus> asked_;  // and not answered yet
  std::size_t tallied_ = 0;
  std::vector<GivenAttempt> given_;
  std::size_t attempts_kept_ = 0;
  std::size_t decisions_ = 0;
};

// What callers give that never happened, or was answered in a way that cannot be.
std::vector<std::string> faults_of(const Tally& tally) {
  std::vector<std::string> faults;
  for (const std::string& fault : tally.answers.faults(1)) {
    const bool is_a_callers = !fault.starts_with("start,") && !fault.starts_with("wake,") &&
                              !fault.starts_with("sent,") && !fault.starts_with("child,");
    if (is_a_callers) faults.push_back(fault);
  }
  for (const char* other : {"records", "attempts", "claims", "clock", "restarts", "pauses",
                            "unpauses", "unpauses of nothing", "versions"})
    if (!tally.others.contains(other)) faults.push_back(std::string(other) + ": never");
  return faults;
}

TEST(SameOnBoth, ATapeGivesTheSameAnswersAndRecords) {
  const std::uint64_t plays = number_from("PAWL_PLAYS", kPlays);
  const std::uint64_t first = number_from("PAWL_SEED", 1);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + plays && !HasFailure(); ++seed) {
    SCOPED_TRACE("PAWL_SEED=" + std::to_string(seed) + " PAWL_PLAYS=1");
    std::mt19937_64 random(seed);
    TapeBytes bytes(kTape);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    Tape tape(bytes);
    Play(tape, seed % 2 == 0 ? 1 : 960, tally).run();
  }
  std::printf("%s", tally.answers.text().c_str());
  for (const auto& [what, count] : tally.others) std::printf("%-22s %8d\n", what.c_str(), count);
  if (plays >= kPlays) {
    EXPECT_EQ(faults_of(tally), std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace pawl
