#include "ledger.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "kill_machines.h"
#include "store/verify.h"

namespace pawl::kill {
namespace {

using Kind = Findings::Kind;

Words split(const std::string& text, char at) {
  Words words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, at);) words.push_back(word);
  return words;
}

// Of an object whose texts hold nothing that would have to be escaped.
std::string text_in(const std::string& json, const std::string& name) {
  const std::string before = '"' + name + R"(":")";
  const std::size_t at = json.find(before);
  if (at == std::string::npos) return {};
  const std::size_t from = at + before.size();
  return json.substr(from, json.find('"', from) - from);
}

std::int64_t number_in(const std::string& json, const std::string& name) {
  const std::string before = '"' + name + R"(":)";
  const std::size_t at = json.find(before);
  return at == std::string::npos ? -1 : std::stoll(json.substr(at + before.size()));
}

}  // namespace

Ledger::Ledger(std::vector<std::filesystem::path> diaries) {
  for (std::filesystem::path& diary : diaries) diaries_.push_back({std::move(diary)});
}

void Ledger::read() {
  for (Read& read : diaries_) {
    std::ifstream in(read.diary, std::ios::binary);
    in.seekg(read.up_to);
    std::stringstream rest;
    rest << in.rdbuf();
    const std::string text = rest.str();
    const std::size_t whole = text.rfind('\n') + 1;  // the last line may be under way
    for (const std::string& line : split(text.substr(0, whole), '\n')) take(split(line, '\t'));
    read.up_to += static_cast<std::streamoff>(whole);
  }
}

void Ledger::take(const Words& words) {
  const bool is_told = words.at(0) == "told";
  const std::string& what = words.at(1);
  if (what == "create") {
    creates_[words.at(2)] = is_told;
    if (is_told) ++acknowledged_;
  } else if (what == "fire") {
    auto& revision = fires_[{words.at(2), words.at(3)}];
    if (is_told) {
      revision = std::stoll(words.at(4));
      ++acknowledged_;
    }
  } else {
    const AttemptName name{words.at(2), words.at(3), std::stoll(words.at(4))};
    if (what == "start") {
      starts_.push_back(name);
    } else if (!is_told) {
      settles_[name].verb = words.at(5);
    } else {
      Settle& settle = settles_[name];
      settle.kind = words.at(5);
      settle.was_unknown = words.at(6) == "unknown";
      if (settle.kind != "stale") ++acknowledged_;
    }
  }
}

// --- against a store ---------------------------------------------------------------------------

class Comparison {
 public:
  Comparison(const Ledger& ledger, Store& store, bool is_settled, Findings& findings)
      : ledger_(ledger), store_(store), is_settled_(is_settled), findings_(findings) {}

  void run(const std::filesystem::path& journal) {
    if (const auto verified = verify(store_); !verified) {
      note(Kind::other, verified.error().message);
    } else {
      for (const Violation& violation : verified->violations)
        note(Kind::other, violation.invariant + ": " + violation.what);
    }
    for (const char* machine : {"part", "order", "delivery"}) for_each_record(machine);
    look_for_what_was_acknowledged();
    look_at_limits();
    look_at_journal(journal);
    if (is_settled_) look_at_rate();
  }

 private:
  using Settle = Ledger::Settle;
  using AttemptName = Ledger::AttemptName;

  template <class... Text>
  void note(Kind kind, const Text&... texts) {
    std::string what;
    ((what += texts), ...);
    findings_.add(kind, what);
  }

  template <class Item, class GetPage, class Take>
  void for_each(GetPage get, Take take) {
    for (Cursor from;;) {
      const Result<Page<Item>> page = get(from);
      if (!page) return note(Kind::other, page.error().message);
      for (const Item& item : page->items) take(item);
      if (page->next.empty()) return;
      from = page->next;
    }
  }

  void for_each_record(const std::string& machine) {
    for_each<Record>(
        [&](const Cursor& from) {
          return store_.list({.machine = machine, .max = kPageMax}, from);
        },
        [&](const Record& record) { look_at(record); });
  }

  void look_at(const Record& record) {
    const std::string name = record.machine + "/" + record.key;
    int created = 0;
    std::set<std::int64_t> fences;  // of attempts that are over
    for_each<Entry>([&](const Cursor& from) { return store_.log(record.id, from, kPageMax); },
                    [&](const Entry& entry) {
                      created += entry.kind == Entry::Kind::created ? 1 : 0;
                      if (!entry.idempotency_key.empty()) look_at_fire(record, entry);
                      const bool is_settle = entry.kind == Entry::Kind::done ||
                                             entry.kind == Entry::Kind::failed ||
                                             entry.kind == Entry::Kind::gave_up;
                      if (!is_settle && entry.kind != Entry::Kind::timed_out) return;
                      if (!fences.insert(entry.fence).second)
                        note(Kind::twice, name + ": an attempt ended twice, fence " +
                                              std::to_string(entry.fence));
                      if (is_settle && record.machine != "delivery") look_at_settle(record, entry);
                    });
    if (created != 1)
      note(Kind::twice, name + " was created " + std::to_string(created) + " times");
    if (record.running)
      for (const std::string& slot : record.running->slots) ++running_[slot];
    if (record.machine == "delivery") {
      look_at_delivery(record);
    } else if (record.machine == "part") {
      look_at_part(record);
    } else {
      look_at_order(record);
    }
  }

  void look_at_fire(const Record& record, const Entry& entry) {
    const std::string what = "order/" + record.key + ": request " + entry.idempotency_key;
    if (record.machine != "order") return;  // a message that another record sent
    const std::pair name{record.key, entry.idempotency_key};
    const auto asked = ledger_.fires_.find(name);
    if (asked == ledger_.fires_.end()) {
      if (entry.event != "told") note(Kind::other, what + " was asked by nobody");
      return;
    }
    if (!applied_.insert(name).second) note(Kind::twice, what + " was carried out twice");
    // The answer is of the last entry: `when` may have followed.
    if (asked->second && *asked->second != entry.seq && *asked->second != entry.seq + 1)
      note(Kind::other, what + " is entry " + std::to_string(entry.seq) + ", but was told to be " +
                            std::to_string(*asked->second));
  }

  void look_at_settle(const Record& record, const Entry& entry) {
    const AttemptName name{record.machine, record.key, entry.fence};
    const std::string what =
        name.machine + "/" + name.key + ": the settle with fence " + std::to_string(name.fence);
    const auto asked = ledger_.settles_.find(name);
    const bool is_done = entry.kind == Entry::Kind::done;
    if (asked == ledger_.settles_.end() || asked->second.verb != (is_done ? "done" : "fail"))
      return note(Kind::other, what + " was asked by nobody");
    if (asked->second.kind == "stale" && !asked->second.was_unknown)
      note(Kind::other, what + " is there, but was told to be stale");
    settled_.insert(name);
    if (is_done) done_by_[{name.machine, name.key}] = std::to_string(name.fence);
  }

  void look_at_part(const Record& part) {
    if (text_in(part.data, "made") != done_by_[{"part", part.key}])
      note(Kind::lost, "part/" + part.key + " was not made by the one whose settle it has");
    if (part.state == "made") made_.insert(part.key);
    const std::string order = part.parent ? part.parent->key : "";
    ++parts_[order];
    if (is_settled_ && part.state != "made")
      note(Kind::other, "part/" + part.key + " is left in " + part.state);
  }

  void look_at_order(const Record& order) {
    orders_.insert(order.key);
    const std::string name = "order/" + order.key;
    if (!ledger_.creates_.contains(order.key)) note(Kind::other, name + " was asked by nobody");
    const Words seen = split(text_in(order.data, "seen"), ';');
    std::set<std::string> once;
    for (const std::string& id : seen) {
      if (!once.insert(id).second) note(Kind::twice, name, ": event ", id, " counted twice");
      if (!applied_.contains({order.key, id}))
        note(Kind::other, name, ": event ", id, " has left no entry");
    }
    if (number_in(order.data, "count") != static_cast<std::int64_t>(seen.size()))
      note(Kind::twice, name + ": the count is not that of its events");

    const Words told = split(text_in(order.data, "told"), ';');
    const std::set<std::string> told_once(told.begin(), told.end());
    if (told_once.size() != told.size()) note(Kind::twice, name + ": a part has told it twice");
    for (const std::string& part : told_once)
      if (!made_.contains(part)) note(Kind::other, name, " was told of ", part, ", not made");
    if (text_in(order.data, "shipped_by") != done_by_[{"order", order.key}])
      note(Kind::lost, name + " was not shipped by the one whose settle it has");
    if (order.state == "shipped") shipped_.insert(order.key);
    if (!is_settled_) return;
    if (order.state != "shipped") note(Kind::other, name + " is left in " + order.state);
    if (told_once.size() != parts_[order.key])
      note(Kind::lost, name + " was not told of all its parts");
  }

  // One that was under way at a kill is tried again once its time is over, which is not waited for.
  void look_at_delivery(const Record& delivery) {
    const std::string order = text_in(delivery.data, "order");
    ++deliveries_[order];
    if (delivery.running) under_way_.insert(order);
    if (is_settled_ && delivery.state != "sent" && !delivery.running)
      note(Kind::other, "delivery/" + delivery.key + " is left in " + delivery.state);
  }

  void look_for_what_was_acknowledged() {
    for (const auto& [key, is_acknowledged] : ledger_.creates_)
      if (is_acknowledged && !orders_.contains(key)) note(Kind::lost, "order/", key, " is lost");
    for (const auto& [name, revision] : ledger_.fires_) {
      if (!revision || applied_.contains(name)) continue;
      note(Kind::lost, "order/", name.first, ": request ", name.second, " is lost");
    }
    for (const auto& [name, settle] : ledger_.settles_) {
      const bool leaves_entry = settle.verb != "busy";
      if ((settle.kind == "ok" || settle.kind == "duplicate") && leaves_entry &&
          !settled_.contains(name))
        note(Kind::lost, name.machine, "/", name.key, ": the settle with fence ",
             std::to_string(name.fence), " is lost");
    }
  }

  void look_at_limits() {
    for (const auto& [slot, running] : running_) {
      const int max = slot.find("order/ship") != std::string::npos ? kShipMax : kMakePerMaker;
      if (running > max)
        note(Kind::exceeded,
             std::to_string(running) + " of " + std::to_string(max) + " run under " + slot);
    }
  }

  // A delivery may be made again, under the same id.
  void look_at_journal(const std::filesystem::path& journal) {
    std::ifstream in(journal);
    std::map<std::string, std::set<std::string>> ids;  // by order
    for (std::string line; std::getline(in, line);)    // there may be notes and torn lines as well
      if (line.starts_with('{') && line.ends_with('}'))
        ids[text_in(line, "order")].insert(text_in(line, "id"));
    for (const auto& [order, of_order] : ids) {
      if (of_order.size() > 1) note(Kind::twice, "order/" + order + " has two deliveries");
      if (!shipped_.contains(order)) note(Kind::other, "order/" + order + " is in the journal");
    }
    for (const std::string& order : shipped_) {
      if (deliveries_[order] != 1) note(Kind::lost, "order/" + order + " has no delivery");
      if (is_settled_ && !ids.contains(order) && !under_way_.contains(order))
        note(Kind::lost, "order/" + order + " is not in the journal");
    }
  }

  // A fence is the instant of its start in microseconds, unless it had to be above another one.
  void look_at_rate() {
    std::vector<std::int64_t> starts;
    for (const AttemptName& start : ledger_.starts_)
      if (start.machine == "part") starts.push_back(start.fence);
    std::sort(starts.begin(), starts.end());
    constexpr std::size_t kMost = 2 * kMakeRate - 1;
    const std::int64_t window = std::chrono::microseconds(kMakeWindow).count();
    for (std::size_t i = 0; i + kMost < starts.size(); ++i)
      if (starts[i + kMost] - starts[i] < window)
        return note(Kind::exceeded, "more parts were begun in a window than may");
  }

  const Ledger& ledger_;
  Store& store_;
  bool is_settled_;
  Findings& findings_;

  std::set<std::pair<std::string, std::string>> applied_;  // requests, by key and id
  std::set<AttemptName> settled_;
  std::map<std::pair<std::string, std::string>, std::string> done_by_;
  std::set<std::string> orders_;
  std::set<std::string> shipped_;
  std::map<std::string, int> deliveries_;     // by order
  std::set<std::string> under_way_;           // the same, of those that run
  std::set<std::string> made_;                // parts
  std::map<std::string, std::size_t> parts_;  // by order
  std::map<std::string, int> running_;        // by slot
};

void Ledger::compare(Store& store, const std::filesystem::path& journal, bool is_settled,
                     Findings& findings) const {
  Comparison(*this, store, is_settled, findings).run(journal);
}

}  // namespace pawl::kill
