// Distinctions: what a machine can tell two situations apart by.
//
// Instants, sequence numbers and fences are no part of it, counters only as far as a budget
// reaches, and of the data only what rows look at. So a record that fails again and again comes
// back to a situation that it was in.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/situation.h"
#include "pawl/machine.h"

namespace pawl {

class Distinctions {
 public:
  explicit Distinctions(const Machine& machine);

  // Equal for situations that the machine does not tell apart. `now` says which limits of
  // `elapsed` have passed.
  std::string key_of(const Situation& situation, Instant now) const;

  // What is pending in the situation.
  std::vector<Clock> clocks_of(const Situation& situation) const;

  // The `elapsed` limits that a failure or a start in the state is held against, by index.
  std::vector<int> limits_of(StateId state) const;

  // … and the next one of a record that fails.
  std::vector<int> limits_of(const Record& record) const;

  // When that limit passes; none while nothing has failed or can fail.
  std::optional<Instant> passes_at(int limit, const Situation& situation) const;
  int limit_count() const { return static_cast<int>(limits_.size()); }
  const DurationValue& limit(int index) const { return *limits_[static_cast<std::size_t>(index)]; }

  // What conditions look at and a walk does not vary: `now`, `children`, sorted. What holds
  // elsewhere is not known.
  const std::vector<std::string>& unvaried() const { return unvaried_; }

  // None when rows do not look at the error themselves; else the words they compare it with.
  const std::optional<std::set<std::string>>& codes_read() const { return codes_read_; }

 private:
  void look_at_budgets();
  void look_at_limits();
  void look_at_texts(const Definition& definition);
  void append_counters(std::string& key, const Record& record) const;
  void append_pending(std::string& key, const Situation& situation) const;
  void append_data(std::string& key, const Record& record) const;

  const Machine& machine_;
  int counter_max_ = 1;
  bool reads_attempt_ = false;
  bool reads_epoch_ = false;
  bool reads_result_ = false;
  bool reads_failed_from_ = false;
  bool reads_children_ = false;
  bool reads_all_data_ = false;
  bool has_own_delays_ = false;  // some error code: the run of failures with it counts
  std::set<std::string, std::less<>> fields_;
  std::vector<const DurationValue*> limits_;
  std::vector<std::string> unvaried_;
  std::optional<std::set<std::string>> codes_read_;
};

}  // namespace pawl
