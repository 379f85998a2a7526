#include "hits.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <set>
#include <utility>

namespace pawl::sim {
namespace {

constexpr std::array<std::string_view, kOutcomes> kOutcomeNames{
    "ok", "refused", "stale", "duplicate", "none", "error", "failed", "unknown"};
constexpr std::size_t kFailed = 6;   // nothing was done
constexpr std::size_t kUnknown = 7;  // nobody knows

constexpr std::array<std::string_view, 7> kRequests{"create", "fire", "fire or create", "beat",
                                                    "done",   "fail", "order"};

struct Name {
  std::string_view operator()(const Stimulus::Create&) const { return "create"; }
  std::string_view operator()(const Stimulus::Fire& fire) const {
    return fire.create ? "fire or create" : "fire";
  }
  std::string_view operator()(const Stimulus::Beat&) const { return "beat"; }
  std::string_view operator()(const Stimulus::Done&) const { return "done"; }
  std::string_view operator()(const Stimulus::Fail&) const { return "fail"; }
  std::string_view operator()(const Stimulus::Order&) const { return "order"; }
  std::string_view operator()(const auto&) const { return "the engine's own"; }
};

// What the rules leave no way to: a token belongs to an attempt, `none` to a start; a repeated
// `fire` gets the answer given then; a settle is never refused.
bool is_possible(std::string_view request, std::string_view outcome) {
  static const std::set<std::pair<std::string_view, std::string_view>> kNever{
      {"create", "stale"},        {"create", "none"},
      {"fire", "stale"},          {"fire", "duplicate"},
      {"fire", "none"},           {"fire or create", "stale"},
      {"fire or create", "none"}, {"fire or create", "duplicate"},
      {"beat", "refused"},        {"beat", "duplicate"},
      {"beat", "none"},           {"done", "refused"},
      {"done", "none"},           {"fail", "refused"},
      {"fail", "none"},           {"order", "stale"},
      {"order", "duplicate"},     {"order", "none"}};
  return !kNever.contains({request, outcome});
}

// Versions and the pruning of logs are not simulated.
bool is_written(Entry::Kind kind) {
  return kind != Entry::Kind::migrated && kind != Entry::Kind::compacted &&
         kind != Entry::Kind::resumed;
}

}  // namespace

std::string_view name_of(const Stimulus& stimulus) { return std::visit(Name{}, stimulus.what); }

void Hits::answered(const Stimulus& stimulus, const Result<Answer>& answer) {
  const std::size_t outcome = answer ? static_cast<std::size_t>(answer->kind)
                              : answer.error().code == ErrorCode::outcome_unknown ? kUnknown
                                                                                  : kFailed;
  ++answers_[std::string(name_of(stimulus))][outcome];
}

void Hits::add(const Hits& other) {
  const auto add_all = [](auto& to, const auto& from) {
    std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
  };
  add_all(faults_, other.faults_);
  add_all(cuts_, other.cuts_);
  add_all(entries_, other.entries_);
  for (const auto& [name, outcomes] : other.answers_) add_all(answers_[name], outcomes);
  for (const auto& [name, count] : other.claims_) claims_[name] += count;
}

void Hits::print(std::ostream& out) const {
  const auto line = [&](std::string_view name, std::int64_t count) {
    out << "  " << std::left << std::setw(34) << name << std::right << std::setw(9) << count
        << "\n";
  };
  out << "faults\n";
  for (std::size_t i = 0; i < kFaults; ++i) line(name_of(static_cast<Fault>(i)), faults_[i]);
  for (const Cut cut : kCuts) line(pawl::to_text(cut), cuts_[static_cast<std::size_t>(cut)]);
  out << "requests\n  " << std::setw(16) << "";
  for (const std::string_view name : kOutcomeNames) out << std::setw(10) << name;
  out << "\n";
  for (const auto& [name, outcomes] : answers_) {
    out << "  " << std::left << std::setw(16) << name << std::right;
    for (const std::int64_t count : outcomes) out << std::setw(10) << count;
    out << "\n";
  }
  out << "claims\n";
  for (const auto& [name, count] : claims_) line(name, count);
  out << "entries\n";
  for (std::size_t i = 0; i < kEntryKinds; ++i)
    line(pawl::to_text(static_cast<Entry::Kind>(i)), entries_[i]);
}

std::vector<std::string> Hits::missing() const {
  std::vector<std::string> never;
  for (std::size_t i = 0; i < kFaults; ++i)
    if (faults_[i] == 0) never.emplace_back(name_of(static_cast<Fault>(i)));
  for (const Cut cut : kCuts)
    if (cuts_[static_cast<std::size_t>(cut)] == 0) never.emplace_back(pawl::to_text(cut));
  for (const std::string_view request : kRequests) {
    const auto counted = answers_.find(std::string(request));
    for (std::size_t i = 0; i < kOutcomes; ++i)
      if (is_possible(request, kOutcomeNames[i]) &&
          (counted == answers_.end() || counted->second[i] == 0))
        never.push_back(std::string(request) + " answered " + std::string(kOutcomeNames[i]));
  }
  for (const char* outcome : {"given", "empty", "unknown"})
    if (!claims_.contains(outcome)) never.push_back(std::string("claim answered ") + outcome);
  for (std::size_t i = 0; i < kEntryKinds; ++i)
    if (is_written(static_cast<Entry::Kind>(i)) && entries_[i] == 0)
      never.push_back("entry " + std::string(pawl::to_text(static_cast<Entry::Kind>(i))));
  return never;
}

}  // namespace pawl::sim
