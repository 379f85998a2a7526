#include "answer_table.h"

#include <cstdio>

namespace pawl {
namespace {

using Kind = Answer::Kind;

// The stimuli in the order of the variant, orders one by one.
constexpr std::array<std::string_view, 16> kNames{
    "create",     "fire",        "start",         "beat",        "done",          "fail",
    "wake",       "sent",        "child",         "order retry", "order release", "order hold",
    "order move", "order patch", "order migrate", "order erase"};

constexpr std::size_t kStartPlace = 2;
constexpr std::size_t kBeat = 3;
constexpr std::size_t kDone = 4;
constexpr std::size_t kFail = 5;
constexpr std::size_t kWake = 6;
constexpr std::size_t kSent = 7;
constexpr std::size_t kChild = 8;
constexpr std::size_t kOrders = 9;

std::size_t row_of(const Stimulus& stimulus) {
  if (const auto* order = std::get_if<Stimulus::Order>(&stimulus.what))
    return kOrders + static_cast<std::size_t>(order->verb);
  return stimulus.what.index();
}

}  // namespace

void AnswerTable::add(const Stimulus& stimulus, Answer::Kind kind) {
  ++hits_[row_of(stimulus)][static_cast<std::size_t>(kind)];
}

std::string_view AnswerTable::why_not(std::size_t row, Answer::Kind kind) {
  const bool settles = row == kDone || row == kFail;
  switch (kind) {
    case Kind::ok:
    case Kind::error:  // there may be no record, or the key was used for something else
      return row == kChild && kind == Kind::error ? "a child has a parent, and no key" : "";
    case Kind::refused:
      if (row == kStartPlace || row == kWake) return "who may not start or wake gets nothing: none";
      if (row == kBeat || settles) return "a token is live or stale";
      if (row == kChild) return "a child is always counted";
      return "";
    case Kind::stale:
      return row == kBeat || settles ? "" : "it has no token";
    case Kind::duplicate:
      if (settles || row == 0) return "";
      return "only a settle and a create know that they were made before";
    case Kind::none:
      if (row == kStartPlace || row == kWake) return "";
      return row == kSent ? "" : "only a start, a wake and a message may find nothing to do";
  }
  return "";
}

std::string AnswerTable::text() const {
  std::string text(15, ' ');
  std::array<char, 24> cell{};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const std::string name(to_text(static_cast<Kind>(kind)));
    std::snprintf(cell.data(), cell.size(), "%11s", name.c_str());
    text += cell.data();
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    text += '\n';
    text += kNames[row];
    text.append(15 - kNames[row].size(), ' ');
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const bool possible = why_not(row, static_cast<Kind>(kind)).empty();
      const std::string hits = possible ? std::to_string(hits_[row][kind]) : "-";
      std::snprintf(cell.data(), cell.size(), "%11s", hits.c_str());
      text += cell.data();
    }
  }
  return text + "\n";
}

std::vector<std::string> AnswerTable::faults(std::int64_t least) const {
  std::vector<std::string> faults;
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const std::string_view reason = why_not(row, static_cast<Kind>(kind));
      const std::int64_t hits = hits_[row][kind];
      const std::string cell = std::string(kNames[row]) + ", " +
                               std::string(to_text(static_cast<Kind>(kind))) + ": " +
                               std::to_string(hits) + " times";
      if (reason.empty() && hits < least) faults.push_back(cell);
      if (!reason.empty() && hits > 0) faults.push_back(cell + ", but " + std::string(reason));
    }
  return faults;
}

}  // namespace pawl
