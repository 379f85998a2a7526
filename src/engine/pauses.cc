#include "engine/pauses.h"

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
  return {.target = {.kind = static_cast<PauseTarget::Kind>(number("kind")),
                     .name = text("name"),
                     .value = std::string(map.member("value").json())},
          .reason = text("reason"),
          .actor = text("actor"),
          .since = Instant{Duration{number("since")}}};
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
  for (const Setting& setting : settings)
    pauses.by_queue_[setting.name] = {read_pause(setting.value), setting.revision};
  return pauses;
}

Result<void> Pauses::pause(Pause pause) {
  Stored& stored = by_queue_[pause_queue(pause.target)];
  Setting setting{pause_queue(pause.target), value_of(pause), stored.revision};
  PAWL_TRY(Setting put, store_->put_setting(setting));
  if (put.value != setting.value || put.revision != setting.revision + 1) {
    setting.revision = put.revision;  // it was there and had been ended
    PAWL_TRY(put, store_->put_setting(setting));
  }
  stored = {std::move(pause), put.revision};
  return {};
}

Result<bool> Pauses::unpause(const PauseTarget& target) {
  const auto stored = by_queue_.find(pause_queue(target));
  if (stored == by_queue_.end()) return false;
  PAWL_CHECK(store_->put_setting({stored->first, "", stored->second.revision}));
  by_queue_.erase(stored);
  return true;
}

std::vector<Pause> Pauses::all() const {
  std::vector<Pause> all;
  for (const auto& [queue, stored] : by_queue_) all.push_back(stored.pause);
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
