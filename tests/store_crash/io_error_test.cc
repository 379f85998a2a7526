// Calls to the disk fail, once or for good: every answer the store gives is true all the same.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>
#include <utility>

#include "host.h"

namespace pawl {
namespace {

constexpr std::size_t kErrorsSteps = 9;
constexpr std::uint64_t kSeed = 1;

struct CountedErrors {
  int runs = 0;
  int not_opened = 0;
  int refused = 0;   // a step, with `environment`
  int repeated = 0;  // it then went well
  int unknown = 0;
  int unknown_there = 0;
  int unnoticed = 0;  // every step was answered
};

class Faults {
 public:
  Faults(const Script& script, CountedErrors& counted)
      : script_(script), host_(script.wal_pages), counted_(counted) {}

  // False: there were fewer calls than that.
  bool run(const Fault& fault) {
    host_.restart({});
    host_.vfs().set(fault);
    acknowledged_ = 0;
    is_unknown_ = false;
    run_steps();
    EXPECT_EQ(host_.vfs().files_open(), 0U);
    if (host_.vfs().faults_fired() == 0) return false;
    ++counted_.runs;
    if (acknowledged_ == script_.steps.size()) ++counted_.unnoticed;
    const Disk disk = host_.vfs().disk();
    for (const Cut cut : {Cut::kill, Cut::nothing}) {
      SCOPED_TRACE(to_text(cut));
      check(disk.after(cut, random_));
    }
    return !testing::Test::HasFailure();
  }

 private:
  void run_steps() {
    auto store = open();
    for (std::size_t i = 0; store && i < script_.steps.size(); ++i) {
      const Step& step = script_.steps[i];
      host_.set_clock(step.now);
      if (step.kind == Step::Kind::restart) {
        store.reset();
        store = open();
        if (!store) return;
      }
      if (!answered(*store, step, i)) return;
    }
  }

  std::unique_ptr<SqliteStore> open() {
    auto store = host_.open();
    fired_at_open_ = host_.vfs().faults_fired();
    if (store) return *std::move(store);
    ++counted_.not_opened;
    EXPECT_EQ(store.error().code, ErrorCode::environment) << store.error().message;
    return nullptr;
  }

  bool answered(SqliteStore& store, const Step& step, std::size_t index) {
    for (int tries = 0; tries < 2; ++tries) {
      const bool has_stopped = sync_has_failed();
      const auto answer = apply(store, step);
      if (answer) {
        EXPECT_EQ(*answer, expected_.answers[index]);
        EXPECT_FALSE(has_stopped) << "a success after a failed sync";
        ++acknowledged_;
        if (tries > 0) ++counted_.repeated;
        return true;
      }
      if (answer.error().code == ErrorCode::outcome_unknown) {
        ++counted_.unknown;
        is_unknown_ = true;
        check_stopped(store, step);
        return false;
      }
      ++counted_.refused;
      EXPECT_EQ(answer.error().code, ErrorCode::environment) << answer.error().message;
    }
    return false;
  }

  bool sync_has_failed() {
    return host_.vfs().fault() && host_.vfs().fault()->call == Call::sync &&
           host_.vfs().faults_fired() > fired_at_open_;
  }

  // Every further call says the same.
  static void check_stopped(SqliteStore& store, const Step& step) {
    const auto is_stopped = [](const auto& result) {
      return !result && result.error().code == ErrorCode::outcome_unknown;
    };
    EXPECT_TRUE(is_stopped(apply(store, step)));
    EXPECT_TRUE(is_stopped(store.begin()));
    EXPECT_TRUE(is_stopped(store.extend({})));
    EXPECT_TRUE(is_stopped(store.next_due({})));
    EXPECT_TRUE(is_stopped(store.list({}, {})));
    EXPECT_TRUE(is_stopped(store.log({1}, {}, 1)));
    EXPECT_TRUE(is_stopped(store.feed({}, 1)));
    EXPECT_TRUE(is_stopped(store.counts()));
    EXPECT_TRUE(is_stopped(store.last_id()));
    EXPECT_TRUE(is_stopped(store.put_machine({})));
    EXPECT_TRUE(is_stopped(store.machine("", 1)));
    EXPECT_TRUE(is_stopped(store.machines()));
    EXPECT_TRUE(is_stopped(store.put_setting({})));
    EXPECT_TRUE(is_stopped(store.settings("")));
    EXPECT_TRUE(is_stopped(store.forget_requests({}, 1)));
  }

  // The disk works again.
  void check(const Disk& image) {
    host_.restart(image);
    host_.set_clock(kLater);
    auto store = host_.open();
    ASSERT_TRUE(store) << store.error().message;
    const Contents found = read_all(**store);
    std::size_t count = acknowledged_;
    if (is_unknown_ && found == expected_.after[count + 1]) {
      if (expected_.after[count] != found) ++counted_.unknown_there;
      ++count;
    }
    EXPECT_EQ(difference(expected_.after[count], found), "");
    EXPECT_EQ(host_.integrity(), "ok");
    host_.check_shown_stays(expected_.after[count]);
    const auto went_on = go_on(**store, kLater);
    EXPECT_TRUE(went_on) << went_on.error().message;
    EXPECT_EQ(difference(expected_.gone_on[count], read_all(**store)), "");
    host_.check_shown_stays(expected_.gone_on[count]);
  }

  const Script& script_;
  Expected expected_ = expect(script_);
  Host host_;
  CountedErrors& counted_;
  std::mt19937_64 random_{1};
  std::size_t acknowledged_ = 0;
  bool is_unknown_ = false;
  std::int64_t fired_at_open_ = 0;
};

// Writes and reads are many: not each of them, unless more than the least is to be tried.
std::int64_t stride_of(Call call) {
  const auto fifth = static_cast<std::int64_t>(std::max<std::size_t>(1, 5 / scaled(1)));
  if (call == Call::read) return fifth;
  return call == Call::write && scaled(1) == 1 ? fifth : 1;
}

// For n = 1, 2, … until a run has no fault.
void sweep(const Script& script, Fault fault, CountedErrors& all) {
  std::string name(to_text(fault.call));
  name += fault.why == Fault::Why::no_space ? ", no space" : ", I/O error";
  name += fault.for_good ? ", for good" : ", once";
  CountedErrors counted;
  Faults faults(script, counted);
  for (fault.at = 1;; fault.at += stride_of(fault.call)) {
    SCOPED_TRACE(name + ", call " + std::to_string(fault.at));
    if (!faults.run(fault)) break;
  }
  std::cout << name << ": runs " << counted.runs << ", not opened " << counted.not_opened
            << ", steps refused " << counted.refused << " and repeated " << counted.repeated
            << ", unknown " << counted.unknown << " (there " << counted.unknown_there
            << "), unnoticed " << counted.unnoticed << "\n";
  EXPECT_GT(counted.runs, 0);
  for (const auto count :
       {&CountedErrors::not_opened, &CountedErrors::refused, &CountedErrors::repeated,
        &CountedErrors::unknown, &CountedErrors::unknown_there, &CountedErrors::unnoticed})
    all.*count += counted.*count;
}

TEST(StoreIoErrors, EveryAnswerIsTrue) {
  CountedErrors all;
  for (std::uint64_t seed = kSeed; seed <= kSeed + scaled(1) / 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Script script = generate(seed, kErrorsSteps);
    for (const Call call : {Call::open, Call::write, Call::sync, Call::truncate, Call::remove,
                            Call::read, Call::make, Call::sync_names})
      for (const bool for_good : {false, true}) {
        sweep(script, {.call = call, .for_good = for_good, .why = Fault::Why::io_error}, all);
        if (call == Call::write)  // elsewhere SQLite says the same for lack of space
          sweep(script, {.call = call, .for_good = for_good, .why = Fault::Why::no_space}, all);
        if (HasFailure()) return;
      }
  }
  EXPECT_GT(all.not_opened, 0);
  EXPECT_GT(all.refused, 0);
  EXPECT_GT(all.repeated, 0);
  EXPECT_GT(all.unknown_there, 0);
  EXPECT_GT(all.unknown, all.unknown_there);
  EXPECT_GT(all.unnoticed, 0);
}

// Opens it with so little space left, and if that fails with all there is.
void start_with(std::size_t space, Host& host, const Disk& disk, const Contents& expected,
                int& refused) {
  SCOPED_TRACE(std::to_string(space) + " bytes left");
  host.restart(disk);
  host.set_clock(kLater);
  host.vfs().limit_space(disk.bytes_used() + space);
  auto store = host.open();
  if (!store) {
    ++refused;
    EXPECT_EQ(store.error().code, ErrorCode::environment);
    EXPECT_NE(store.error().message.find("free some space, then try again"), std::string::npos)
        << store.error().message;
    auto found = host.vfs().disk().seen();
    for (const auto& [path, bytes] : disk.seen())
      EXPECT_TRUE(found[path] == bytes) << path << " was touched";
    host.vfs().limit_space(std::numeric_limits<std::size_t>::max());
    store = host.open();
  }
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(difference(expected, read_all(**store)), "");
}

TEST(StoreIoErrors, AStartWithoutSpaceIsRefusedAndTouchesNothing) {
  const Script script = generate(kSeed + 1, kErrorsSteps);
  const Expected expected = expect(script);
  Host host(script.wal_pages);
  host.restart({});
  Disk killed;
  {
    const auto store = host.open();
    for (const Step& step : script.steps) {
      host.set_clock(step.now);
      ASSERT_TRUE(apply(**store, step));
    }
    killed = host.vfs().disk();
  }
  Disk closed = host.vfs().disk();

  int refused = 0;
  for (std::size_t space = 0; space < 250'000; space += 5'000)
    start_with(space, host, {}, expected.after.front(), refused);
  EXPECT_GT(refused, 10) << "a new store needs space";
  const int new_ones = std::exchange(refused, 0);
  start_with(0, host, killed, expected.after.back(), refused);
  start_with(0, host, closed, expected.after.back(), refused);
  EXPECT_EQ(refused, 0) << "one that is there does not, but it can be read";
  closed.remove(host.path("acknowledged"));
  start_with(0, host, closed, expected.after.back(), refused);
  EXPECT_EQ(refused, 1);
  std::cout << "starts refused for lack of space: " << new_ones + refused << "\n";
}

std::size_t growth_with_first_step(const Script& script) {
  Host host(script.wal_pages);
  host.restart({});
  const auto store = host.open();
  const std::size_t before = host.vfs().disk().bytes_used();
  EXPECT_TRUE(apply(**store, script.steps[0]));
  return host.vfs().disk().bytes_used() - before;
}

// Reads work, writes say so, and it goes on without a restart when there is space again.
TEST(StoreIoErrors, WithoutSpaceItReadsAndGoesOnLater) {
  const Script script = generate(kSeed + 1, kErrorsSteps);
  const Expected expected = expect(script);
  std::vector<std::size_t> spaces;
  for (std::size_t space = 0; space < 120'000; space += 9'000) spaces.push_back(space);
  // Enough for the first step, but for a byte.
  spaces.push_back(growth_with_first_step(script) - 1);
  int refused = 0;
  for (const std::size_t full_from : {0U, 3U})
    for (const std::size_t space : spaces) {
      SCOPED_TRACE("full before step " + std::to_string(full_from) + " but for " +
                   std::to_string(space) + " bytes");
      Host host(script.wal_pages);
      host.restart({});
      auto store = host.open();
      ASSERT_TRUE(store);
      for (std::size_t i = 0; i < script.steps.size(); ++i) {
        const Step& step = script.steps[i];
        if (i == full_from) host.vfs().limit_space(host.vfs().disk().bytes_used() + space);
        host.set_clock(step.now);
        auto answer = apply(**store, step);
        if (!answer) {
          ++refused;
          ASSERT_EQ(answer.error().code, ErrorCode::environment) << answer.error().message;
          host.set_clock(step.now);
          const auto counts = (*store)->counts();
          ASSERT_TRUE(counts) << counts.error().message;
          const auto listed = (*store)->list({}, {});
          ASSERT_TRUE(listed) << listed.error().message;
          EXPECT_FALSE(apply(**store, step));
          host.vfs().limit_space(std::numeric_limits<std::size_t>::max());
          answer = apply(**store, step);
        }
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(*answer, expected.answers[i]);
      }
      host.set_clock(kLater);
      EXPECT_EQ(difference(expected.after.back(), read_all(**store)), "");
    }
  std::cout << "steps refused for lack of space: " << refused << "\n";
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace pawl
