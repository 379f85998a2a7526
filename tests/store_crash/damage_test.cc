// Bits flip and files are cut short while no process runs: what is lost or wrong is noticed.
//
// Records and entries carry checksums and the number of the last batch stands beside the tables:
// what they guard is never wrong in silence. What stands beside the records (counts, what is due,
// the inbox, settings) does not; it is counted here.
#include <gtest/gtest.h>

#include <iomanip>
#include <iostream>

#include "host.h"

namespace pawl {
namespace {

constexpr std::size_t kDamagesSteps = 30;
constexpr std::size_t kFlips = 500;
constexpr std::size_t kTruncations = 60;

struct CountedDamages {
  int tried = 0;
  int at_open = 0;
  int when_read = 0;
  int by_integrity_check = 0;  // only: something cannot be found, or beside the records is wrong
  int wrong_beside = 0;        // by nothing here: what is derived from records, messages, settings
  int harmless = 0;
  int undetected = 0;  // in records, entries and batches
};

bool is_guarded(const std::string& name) {
  for (const char* prefix : {"record ", "list ", "log ", "feed "})
    if (name.starts_with(prefix)) return true;
  return false;
}

bool is_error(const std::string& text) { return text.starts_with("error "); }

class Damage {
 public:
  Damage(const Script& script, bool closes) : host_(script.wal_pages) {
    host_.restart({});
    {
      auto store = host_.open();
      for (const Step& step : script.steps) {
        host_.set_clock(step.now);
        if (step.kind == Step::Kind::restart) {
          { const auto closed = *std::move(store); }
          store = host_.open();
        }
        EXPECT_TRUE(apply(**store, step));
      }
      if (!closes) disk_ = host_.vfs().disk();
    }
    if (closes) disk_ = host_.vfs().disk();
    expected_ = expect(script).after.back();
  }

  std::string bytes(const std::string& file) { return disk_.seen()[host_.path(file)]; }

  void open_with(const std::string& file, const std::string& damaged_bytes,
                 CountedDamages& counted) {
    Disk damaged = disk_;
    damaged.put(host_.path(file), damaged_bytes);
    host_.restart(damaged);
    host_.set_clock(kLater);
    ++counted.tried;
    const auto store = host_.open();
    if (!store) {
      ++counted.at_open;
      EXPECT_TRUE(store.error().code == ErrorCode::damaged || !file.ends_with("-wal"));
      check_untouched(damaged);
      return;
    }
    ++(counted.*judge(read_all(**store)));
  }

  // What was wrong beside the records, by its name.
  const std::map<std::string, int>& wrong() const { return wrong_; }

 private:
  // Whoever wants to save something finds it as it was.
  void check_untouched(const Disk& before) {
    EXPECT_EQ(host_.vfs().files_open(), 0U);
    auto found = host_.vfs().disk().seen();
    for (const auto& [path, bytes] : before.seen())
      EXPECT_TRUE(found[path] == bytes) << path << " was changed by a start that was refused";
  }

  int CountedDamages::*judge(const Contents& found) {
    bool has_error = false;
    bool misses_guarded = false;
    bool differs = found.size() != expected_.size();
    for (const auto& [name, text] : found) {
      const auto right = expected_.find(name);
      const bool is_right = right != expected_.end() && right->second == text;
      differs |= !is_right;
      has_error |= is_error(text);
      if (is_right || is_error(text) || !is_guarded(name)) continue;
      ADD_FAILURE() << name << " reads " << text << "\n  instead of "
                    << (right == expected_.end() ? "nothing" : right->second);
      return &CountedDamages::undetected;
    }
    if (has_error) return &CountedDamages::when_read;
    for (const auto& [name, text] : expected_)
      misses_guarded |= is_guarded(name) && !found.contains(name);
    const std::string integrity = host_.integrity();
    if (integrity != "ok")
      return differs ? &CountedDamages::by_integrity_check : &CountedDamages::harmless;
    if (misses_guarded) {
      ADD_FAILURE() << difference(expected_, found);
      return &CountedDamages::undetected;
    }
    if (!differs) return &CountedDamages::harmless;
    for (const auto& [name, text] : expected_)
      if (!found.contains(name) || found.at(name) != text) ++wrong_[name.substr(0, name.find(' '))];
    return &CountedDamages::wrong_beside;
  }

  Host host_;
  Disk disk_;
  Contents expected_;
  std::map<std::string, int> wrong_;
};

void print_damages(const std::string& what, const CountedDamages& counted) {
  std::cout << std::setw(36) << std::left << what << std::right << std::setw(6) << counted.tried
            << std::setw(9) << counted.at_open << std::setw(11) << counted.when_read
            << std::setw(22) << counted.by_integrity_check << std::setw(14) << counted.wrong_beside
            << std::setw(10) << counted.harmless << std::setw(12) << counted.undetected << "\n";
}

TEST(StoreDamage, LostBatchesAndWrongRowsAreNoticed) {
  std::cout << std::setw(42) << "tried" << std::setw(9) << "at open" << std::setw(11) << "when read"
            << std::setw(22) << "by integrity_check" << std::setw(14) << "wrong beside"
            << std::setw(10) << "harmless" << std::setw(12) << "undetected"
            << "\n";
  struct Place {
    std::string name;
    std::string file;
    bool closes;
  };
  std::mt19937_64 random(1);
  const Script script = generate(3, kDamagesSteps);
  for (const Place& place : {Place{"log of a killed process", "tables.db-wal", false},
                             Place{"tables of a killed process", "tables.db", false},
                             Place{"tables of a closed store", "tables.db", true}}) {
    Damage damage(script, place.closes);
    const std::string bytes = damage.bytes(place.file);
    ASSERT_GT(bytes.size(), 10'000U);
    CountedDamages flips;
    for (std::size_t i = 0; i < scaled(kFlips); ++i) {
      std::string changed = bytes;
      const std::size_t at = random() % bytes.size();
      const auto bit = static_cast<unsigned>(random() % 8);
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ (1U << bit));
      SCOPED_TRACE(place.name + ", bit " + std::to_string(bit) + " of byte " + std::to_string(at));
      damage.open_with(place.file, changed, flips);
    }
    print_damages(place.name + ", flipped", flips);
    CountedDamages truncations;
    for (std::size_t i = 0; i < scaled(kTruncations); ++i) {
      const std::size_t size = i == 0 ? 0 : random() % bytes.size();
      SCOPED_TRACE(place.name + ", cut to " + std::to_string(size) + " bytes");
      damage.open_with(place.file, bytes.substr(0, size), truncations);
    }
    print_damages(place.name + ", cut", truncations);
    for (const auto& [name, count] : damage.wrong())
      std::cout << "  wrong where there is no checksum: " << name << " " << count << "\n";
    EXPECT_GT(flips.at_open + flips.when_read, 0);
    EXPECT_GT(truncations.at_open + truncations.when_read, 0);
    EXPECT_EQ(flips.undetected + truncations.undetected, 0);
  }
}

}  // namespace
}  // namespace pawl
