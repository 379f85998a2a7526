// A process dies at every call that changes the disk, in every way there is: what was acknowledged
// is there afterwards, and of what was not all or nothing.
//
// PAWL_CRASH_SCRIPTS=20 build/dev/tests/store_crash/store_crash_test tries twenty times as much.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "host.h"

namespace pawl {
namespace {

constexpr std::size_t kScripts = 1;
constexpr std::size_t kCrashesSteps = 12;

struct CountedCrashes {
  std::size_t crash_points = 0;
  int opens = 0;
  int died_at_start = 0;  // again
  int in_flight_there = 0;
  int in_flight_not_there = 0;
  int none_in_flight = 0;
  std::map<Cut, int> images = {};
  std::map<Cut, int> there = {};  // what was in flight
};

class Crashes {
 public:
  Crashes(const Script& script, std::uint64_t seed, CountedCrashes& counted)
      : script_(script), host_(script.wal_pages), random_(seed), counted_(counted) {}

  // False: the process did not come to that call.
  bool die_at(std::int64_t call) {
    host_.restart({});
    host_.vfs().die_at(call);
    const Progress progress = host_.run(script_, expected_);
    EXPECT_EQ(progress.wrong_answer, "");
    if (!host_.vfs().is_dead()) {
      EXPECT_EQ(progress.acknowledged, script_.steps.size());
      return false;
    }
    EXPECT_EQ(host_.vfs().files_open(), 0U);
    ++counted_.crash_points;
    const Disk disk = host_.vfs().disk();
    for (const Cut cut : images()) {
      const Disk image = disk.after(cut, random_);
      SCOPED_TRACE(std::string(to_text(cut)) + ", died at call " + std::to_string(call));
      ++counted_.images[cut];
      check(image, progress, cut);
      if (testing::Test::HasFailure()) return false;
      if (random_() % 4 == 0) die_at_start(image, progress);
      if (testing::Test::HasFailure()) return false;
    }
    return true;
  }

 private:
  // Each crash point gets a few of them, those next to it others; the ones where most is in doubt
  // get all, some more than once.
  std::vector<Cut> images() const {
    std::vector<Cut> cuts;
    if (host_.vfs().died_in() == Call::sync) {
      cuts.assign(kCuts.begin(), kCuts.end());
      for (int i = 0; i < 4; ++i)
        cuts.insert(cuts.end(), {Cut::prefix, Cut::reordered, Cut::torn_512, Cut::torn_4096});
      return cuts;
    }
    for (const Cut cut : kCuts)
      if ((static_cast<std::size_t>(cut) + counted_.crash_points) % kCuts.size() < 3)
        cuts.push_back(cut);
    return cuts;
  }

  // Opens what is there.
  void check(const Disk& image, const Progress& progress, Cut cut) {
    host_.restart(image);
    {
      const auto store = open();
      if (!store) return;
      const auto count = state_of(*store, progress);
      if (!count) return;
      remember(*count, progress, cut);
      const auto violations = store->violations();
      ASSERT_TRUE(violations) << violations.error().message;
      EXPECT_TRUE(violations->empty()) << violations->front().what;
      if (cut == Cut::kill) host_.check_shown_stays(expected_.after[*count]);
      const auto went_on = go_on(*store, kLater);
      EXPECT_TRUE(went_on) << went_on.error().message;
      EXPECT_EQ(difference(expected_.gone_on[*count], read_all(*store)), "");
    }
    EXPECT_EQ(host_.vfs().files_open(), 0U);
  }

  // Dies once more while it is opened, then opens it for good. One call of it, another each time;
  // with every so many images each.
  void die_at_start(const Disk& image, const Progress& progress) {
    const bool at_each = ++starts_ % kStride == 0;
    std::int64_t again = at_each ? 1 : 1 + static_cast<std::int64_t>(random_() % kStride);
    for (;; ++again) {
      host_.restart(image);
      host_.set_clock(kLater);
      host_.vfs().die_at(again);
      { const auto store = host_.open(); }
      if (!host_.vfs().is_dead()) return;
      EXPECT_EQ(host_.vfs().files_open(), 0U);
      ++counted_.died_at_start;
      SCOPED_TRACE("then at call " + std::to_string(again) + " of the next start");
      host_.restart(host_.vfs().disk().after(kCuts[random_() % kCuts.size()], random_));
      const auto store = open();
      if (!store || !state_of(*store, progress) || !at_each) return;
    }
  }

  std::unique_ptr<SqliteStore> open() {
    host_.set_clock(kLater);
    ++counted_.opens;
    auto store = host_.open();
    EXPECT_TRUE(store) << store.error().message;
    return store ? *std::move(store) : nullptr;
  }

  // After how many steps the store is as it is.
  std::optional<std::size_t> state_of(SqliteStore& store, const Progress& progress) {
    const Contents found = read_all(store);
    const std::size_t count = progress.acknowledged;
    if (is_in_flight(progress) && found == expected_.after[count + 1]) return count + 1;
    EXPECT_EQ(difference(expected_.after[count], found), "");
    if (found != expected_.after[count]) return std::nullopt;
    return count;
  }

  // `environment` says that nothing was changed: then it is not there.
  bool is_in_flight(const Progress& progress) const {
    return progress.is_step && progress.error->code == ErrorCode::outcome_unknown &&
           expected_.after[progress.acknowledged] != expected_.after[progress.acknowledged + 1];
  }

  void remember(std::size_t count, const Progress& progress, Cut cut) {
    if (!is_in_flight(progress)) {
      ++counted_.none_in_flight;
    } else if (count == progress.acknowledged) {
      ++counted_.in_flight_not_there;
    } else {
      ++counted_.in_flight_there;
      ++counted_.there[cut];
    }
  }

  static constexpr std::int64_t kStride = 40;

  const Script& script_;
  Expected expected_ = expect(script_);
  Host host_;
  std::mt19937_64 random_;
  CountedCrashes& counted_;
  std::int64_t starts_ = 0;
};

TEST(StoreCrash, WhatWasAcknowledgedIsThereAndTheRestAllOrNothing) {
  CountedCrashes counted;
  for (std::uint64_t seed = 2; seed < 2 + scaled(kScripts); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Script script = generate(seed, kCrashesSteps);
    Crashes crashes(script, seed, counted);
    for (std::int64_t call = 1; crashes.die_at(call);) ++call;
    if (HasFailure()) return;
  }
  std::cout << "crash points " << counted.crash_points << ", died again at the start "
            << counted.died_at_start << ", opens checked " << counted.opens
            << "; the step in flight was there " << counted.in_flight_there << ", not there "
            << counted.in_flight_not_there << ", there was none " << counted.none_in_flight << "\n";
  for (const Cut cut : kCuts) {
    std::cout << "  " << to_text(cut) << ": " << counted.images[cut]
              << " images, in flight and there " << counted.there[cut] << "\n";
    EXPECT_GT(counted.images[cut], 0);
    // What was not synced cannot be there when nothing of it was kept.
    EXPECT_EQ(counted.there[cut] > 0, cut != Cut::nothing) << to_text(cut);
  }
  EXPECT_GT(counted.died_at_start, 0);
  EXPECT_GT(counted.in_flight_not_there, 0);
  EXPECT_GT(counted.none_in_flight, 0);
}

}  // namespace
}  // namespace pawl
