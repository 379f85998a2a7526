#include "engine/pauses.h"

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "decide/json_edit.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

constexpr std::string_view kPrefix = "pause:";

std::string value_of(const Pause& pause) {
  std::string value;
  {
    JsonMap map(value);
    map.number("kind", static_cast<std::int64_t>(pause.target.kind));
    map.text("name", pause.target.name);
    if (!pause.target.value.empty()) map.json("value", pause.target.value);
    map.text("reason", pause.reason);
    map.text("actor", pause.actor);
    map.number("since", pause.since.time_since_epoch().count());
    if (pause.ended_at) {
      map.number("ended_at", pause.ended_at->time_since_epoch().count());
      map.text("ended_by", pause.ended_by);
    }
  }
  return value;
}

Pause read_pause(std::string_view value) {
  const JsonView map(value);
  Scratch scratch;
  const auto text = [&](std::string_view name) {
    const JsonView member = map.member(name);
    return member.absent() ? std::string() : std::string(member.text(scratch));
  };
  const auto number = [&](std::string_view name) {
    return std::stoll(std::string(map.member(name).json()));
  };
  Pause pause{.target = {.kind = static_cast<PauseTarget::Kind>(number("kind")),
                         .name = text("name"),
                         .value = std::string(map.member("value").json())},
              .reason = text("reason"),
              .actor = text("actor"),
              .since = Instant{Duration{number("since")}}};
  if (!map.member("ended_at").absent()) {
    pause.ended_at = Instant{Duration{number("ended_at")}};
    pause.ended_by = text("ended_by");
  }
  return pause;
}

}  // namespace

std::string pause_queue(const PauseTarget& target) {
  const std::string prefix(kPrefix);
  switch (target.kind) {
    case PauseTarget::Kind::everything:
      break;
    case PauseTarget::Kind::machine:
      return prefix + "machine:" + target.name;
    case PauseTarget::Kind::queue:
      return prefix + "queue:" + target.name;
    case PauseTarget::Kind::label:
      return prefix + "label:" + target.name + "=" + target.value;
  }
  return prefix + "everything";
}

bool is_pause_queue(const std::string& queue) { return queue.starts_with(kPrefix); }

std::string to_text(const PauseTarget& target) {
  using Kind = PauseTarget::Kind;
  switch (target.kind) {
    case Kind::everything:
      break;
    case Kind::machine:
      return "machine:" + target.name;
    case Kind::queue:
      return "queue:" + target.name;
    case Kind::label:
      return "label:" + target.name + "=" + target.value;
  }
  return "everything";
}

std::string to_text(const Pause& pause) {
  const PauseTarget& target = pause.target;
  std::string text = "everything";
  if (target.kind == PauseTarget::Kind::machine) text = "machine " + target.name;
  if (target.kind == PauseTarget::Kind::queue) text = "queue " + target.name;
  if (target.kind == PauseTarget::Kind::label) text = "label " + target.name + " " + target.value;
  return text + " since " + to_text(pause.since) + " by " + pause.actor + ": " + pause.reason;
}

Result<Pauses> Pauses::open(Store& store) {
  Pauses pauses(store);
  PAWL_TRY(const std::vector<Setting> settings, store.settings(std::string(kPrefix)));
  for (const Setting& setting : settings) {
    Pause pause = read_pause(setting.value);
    auto& kept = pause.ended_at ? pauses.ended_ : pauses.by_queue_;
    kept[setting.name] = {std::move(pause), setting.revision};
  }
  return pauses;
}

Result<void> Pauses::pause(Pause pause) {
  const std::string name = pause_queue(pause.target);
  const auto there = by_queue_.find(name);
  const auto ended = ended_.find(name);
  Setting setting{name, value_of(pause)};
  if (there != by_queue_.end()) setting.revision = there->second.revision;
  if (ended != ended_.end()) setting.revision = ended->second.revision;
  PAWL_TRY(Setting put, store_->put_setting(setting));
  if (put.value != setting.value || put.revision != setting.revision + 1) {
    setting.revision = put.revision;  // it was there and has been forgotten
    PAWL_TRY(put, store_->put_setting(setting));
  }
  by_queue_[name] = {std::move(pause), put.revision};
  ended_.erase(name);
  return {};
}

Result<bool> Pauses::unpause(const PauseTarget& target, const End& end) {
  const auto stored = by_queue_.find(pause_queue(target));
  if (stored == by_queue_.end()) return false;
  Pause pause = stored->second.pause;
  pause.ended_at = end.at;
  pause.ended_by = end.by;
  PAWL_TRY(const Setting put,
           store_->put_setting({stored->first, value_of(pause), stored->second.revision}));
  ended_[stored->first] = {std::move(pause), put.revision};
  by_queue_.erase(stored);
  PAWL_CHECK(forget_oldest());
  return true;
}

Result<void> Pauses::forget_oldest() {
  if (ended_.size() <= kEndedMax) return {};
  const auto oldest =
      std::min_element(ended_.begin(), ended_.end(), [](const auto& a, const auto& b) {
        return a.second.pause.ended_at < b.second.pause.ended_at;
      });
  PAWL_CHECK(store_->put_setting({oldest->first, "", oldest->second.revision}));
  ended_.erase(oldest);
  return {};
}

std::vector<Pause> Pauses::all() const {
  std::vector<Pause> all;
  for (const auto& [queue, stored] : by_queue_) all.push_back(stored.pause);
  return all;
}

std::vector<Pause> Pauses::ended() const {
  std::vector<Pause> all;
  for (const auto& [queue, stored] : ended_) all.push_back(stored.pause);
  std::stable_sort(all.begin(), all.end(),
                   [](const Pause& a, const Pause& b) { return a.ended_at > b.ended_at; });
  return all;
}

const Pause* Pauses::find(const PauseTarget& target) const {
  const auto stored = by_queue_.find(pause_queue(target));
  return stored == by_queue_.end() ? nullptr : &stored->second.pause;
}

const Pause* Pauses::of_queue(const std::string& queue) const {
  if (by_queue_.empty()) return nullptr;
  if (const Pause* everything = find({})) return everything;
  return find({.kind = PauseTarget::Kind::queue, .name = queue});
}

const Pause* Pauses::of_record(const Record& record) const {
  if (by_queue_.empty()) return nullptr;
  if (const Pause* machine = find({.kind = PauseTarget::Kind::machine, .name = record.machine}))
    return machine;
  for (const Label& label : record.labels)
    if (const Pause* labelled =
            find({.kind = PauseTarget::Kind::label, .name = label.name, .value = label.value}))
      return labelled;
  return nullptr;
}

}  // namespace pawl
