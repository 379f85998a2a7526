// For tests: one record of one machine, moved by decide.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "pawl/decide.h"
#include "pawl/machine_file.h"

namespace pawl {

inline const Zones& test_zones() {
  static const Zones loaded = *Zones::open();
  return loaded;
}

inline std::shared_ptr<const Machine> machine_of(std::string_view text) {
  const ReadMachine read = read_machine(text, test_zones());
  for (const Diagnostic& finding : read.findings)
    if (finding.severity == Diagnostic::Severity::error) ADD_FAILURE() << finding.message;
  return read.machine;
}

inline TokenHash token(int number) {
  TokenHash hash{};
  hash[0] = static_cast<std::byte>(number);
  return hash;
}

class OneRecord {
 public:
  explicit OneRecord(std::string_view machine, std::string data = "{}")
      : machine_(machine_of(machine)) {
    give(Stimulus::Create{.id = {1}, .data = std::move(data)});
  }

  // Decides, and what changed becomes the record. Records that effects name do not exist yet.
  const Decision& give(decltype(Stimulus::what) what, Duration later = {}) {
    Stimulus stimulus{.what = std::move(what),
                      .machine = machine_->name(),
                      .key = "k1",
                      .actor = {"eve", {"operator"}}};
    now_ += later;
    last_ = decide(*machine_, record_, stimulus, now_);
    for (KnownRecord known : last_.answer.need) {
      known.initial = "begun";
      stimulus.known.push_back(known);
    }
    if (!stimulus.known.empty()) last_ = decide(*machine_, record_, stimulus, now_);
    if (last_.changed) record_ = last_.record;
    return last_;
  }

  const Machine& machine() const { return *machine_; }
  const Record& record() const { return record_; }
  const Decision& last() const { return last_; }
  Instant now() const { return now_; }

 private:
  std::shared_ptr<const Machine> machine_;
  Record record_;
  Decision last_;
  Instant now_ = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + std::chrono::hours{8};
};

}  // namespace pawl
