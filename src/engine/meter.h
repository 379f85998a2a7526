// Meter: counts what is committed and answered, on the thread that decides: no lock, and nothing
// is allocated for a stimulus but the first time that a name is met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/decide.h"
#include "pawl/figures.h"
#include "pawl/notice.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

// What a unit does not say of the record that it was decided on.
struct UnitBefore {
  Instant entered_at = {};
  std::optional<Instant> ready_at = {};
  bool was_held = false;
  std::uint64_t applied = 0;  // the settle or the idempotency key that it carries out; 0: none
  std::shared_ptr<const AskedLater> later = {};  // mostly none
};

// Never 0.
std::uint64_t applied_mark(RecordId record, const Stimulus& stimulus);

class Meter {
 public:
  using Noticed = std::function<void(const Notice&)>;
  static constexpr Duration kSlowCommit = std::chrono::seconds{1};

  explicit Meter(Noticed noticed);

  void due(Duration late) { figures_.due_lag.add(seconds_of(late)); }
  void committed(std::span<const Unit> units, std::span<const UnitOutcome> outcomes,
                 std::span<const UnitBefore> before, Instant now, Duration took);
  void answered(const Stimulus& stimulus, const Answer& answer);

  const Figures& figures() const { return figures_; }

 private:
  struct Applied {
    std::uint64_t mark = 0;
    Instant at = {};
  };

  static double seconds_of(Duration duration);
  void count(const RecordChange& change, const UnitBefore& before, Instant now);
  void count_entry(const Entry& entry, const Record& record, MachineFigures& of);
  void count_applied(std::uint64_t mark, Instant now);
  void notice(Notice::Kind kind, const Entry* entry, const Record& record, Instant now) const;
  void notice(const AskedLater& later, const Record& record, Instant now) const;
  MachineFigures& machine(std::string_view name);

  Noticed noticed_;
  Figures figures_;
  std::size_t states_and_codes_ = 0;
  std::vector<Applied> applied_;  // by the last bits of their marks
};

}  // namespace pawl
