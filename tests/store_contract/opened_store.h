// A store under test: each suite runs on every kind of store there is.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "store/store.h"

namespace pawl {

struct StoreKind {
  std::string name;
  std::unique_ptr<Store> (*open)(std::function<Instant()> clock);
};
std::vector<StoreKind> store_kinds();
inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
inline std::string name_of(const testing::TestParamInfo<StoreKind>& kind) {
  return kind.param.name;
}

inline constexpr Instant kEight =
    std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + std::chrono::hours{8};

class StoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  // A record with a log of one entry, not stored yet.
  Unit created(const std::string& key, const std::string& state = "a");
  // What follows on it when it is stored: one more entry.
  Unit changed(const std::string& key, const std::string& state);

  UnitOutcome commit(const Unit& unit);
  std::vector<UnitOutcome> commit(const std::vector<Unit>& units);

  Record stored(const std::string& key);
  Record stored(RecordId id);
  std::vector<std::string> keys_claimed(const std::vector<Claim>& claims);
  std::vector<Claimed> claimed(const Claim& claim);
  std::vector<std::string> keys_listed(Query query);
  std::vector<Entry> log_of(const std::string& key);

  Instant now = kEight;
  std::unique_ptr<Store> store = GetParam().open([this] { return now; });

 private:
  std::uint64_t last_id_ = 0;
};

}  // namespace pawl
