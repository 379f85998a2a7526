// What rows and states ask of the world.
#include <algorithm>

#include "base/json_text.h"
#include "base/mutant.h"
#include "decide/json_edit.h"
#include "decide/turn.h"
#include "model/expression/program.h"
#include "model/expression/value_program.h"

namespace pawl {
namespace {

// Where a side job begins.
constexpr std::string_view kRunning = "running";

Effect::Verb verb_of(EffectRow::Verb verb) {
  switch (verb) {
    case EffectRow::Verb::notify:
      return Effect::Verb::notify;
    case EffectRow::Verb::run:
      return Effect::Verb::run;
    case EffectRow::Verb::send:
      return Effect::Verb::send;
    case EffectRow::Verb::create:
      break;
  }
  return Effect::Verb::create;
}

}  // namespace

void Turn::ask(const std::vector<EffectRow>& effects) {
  for (const EffectRow& effect : effects) ask(effect);
}

void Turn::ask(const EffectRow& effect) {
  if (!effect.each) {
    if (!effect.condition || holds(*effect.condition, sight())) ask_once(effect);
    return;
  }
  const Scratch::Mark mark(scratch_);
  const Operand list = effect.each->program->evaluate(sight(), scratch_);
  if (list.is_nothing()) return;
  if (list.kind != Operand::Kind::list) {
    bad_value("`each`: " + effect.each->text + " is not a list");
    return;
  }
  const std::string items(list.text);  // rendering may change what the list points at
  const std::size_t count = JsonView(items).size();
  if (count > kItemsMax) {
    too_many_items_ = bad_value_.empty();
    bad_value("`each`: " + effect.each->text + " has " + std::to_string(count) +
              " items; the limit is " + std::to_string(kItemsMax));
    return;
  }
  for (JsonWalk walk{JsonView(items)}; walk.next();) {
    item_ = walk.value().json();
    if (!effect.condition || holds(*effect.condition, sight())) ask_once(effect);
  }
  item_.reset();
}

void Turn::ask_once(const EffectRow& row) {
  Effect effect;
  effect.verb = verb_of(row.verb);
  effect.target = row.target.name;
  effect.seq = entry().seq;
  effect.id = std::to_string(record_.id.value);
  effect.id += '/';
  if (row.key) {
    effect.id += row.target.name;
    effect.id += '/';
    std::string key;
    if (!row.key->program->render_key(sight(), scratch_, key) || key.empty())
      bad_value("`key` of " + row.target.name + ": " +
                (scratch_.why.empty() ? "it is empty" : scratch_.why));
    effect.id += key;
    if (mutant(Mutant::delivery_id_with_attempt)) append_number(effect.id, record_.attempt);
    if (row.verb == EffectRow::Verb::create) effect.key = std::move(key);
  } else {
    append_number(effect.id, effect.seq);
    effect.id += '/';
    append_number(effect.id, position_);
  }
  ++position_;
  if (row.in) effect.in = read_duration(*row.in, "in");
  if (row.with) {
    if (!row.with->program->render(sight(), scratch_, effect.payload)) effect.payload = "null";
  } else {
    effect.payload = default_payload(row);
  }
  if (row.verb == EffectRow::Verb::run)
    if (const Task& task = machine_->task(row.target.id); task.kind == Task::Kind::http)
      effect.payload = call_of(task, std::move(effect.payload));
  if (address(row, effect)) out_.effects.push_back(std::move(effect));
}

std::string Turn::default_payload(const EffectRow& row) {
  std::string payload;
  if (row.verb == EffectRow::Verb::run) {
    const Task& task = machine_->task(row.target.id);
    if (task.with && task.with->program->render(sight(), scratch_, payload)) return payload;
    return std::string(data_in_sight());
  }
  if (row.verb != EffectRow::Verb::notify) return "{}";
  {  // a map ends with its scope
    JsonMap map(payload);
    map.text("machine", record_.machine);
    map.text("key", record_.key);
    map.text("state", record_.state);
    map.json("data", record_.data);
    const std::optional<Failure>& error = failure_ ? failure_ : record_.error;
    if (error) {
      JsonMap members(map.member("error"));
      members.text("code", error->code);
      members.text("message", error->message);
    }
  }
  return payload;
}

// Whom it concerns, and whether it was made before. False: there is nobody.
bool Turn::address(const EffectRow& row, Effect& effect) {
  if (row.verb == EffectRow::Verb::notify) {
    effect.found = row.key && is_made("delivery", effect.id);
  } else if (row.verb == EffectRow::Verb::run) {
    if (row.then) effect.then = row.then->name;
    if (row.otherwise) effect.otherwise = row.otherwise->name;
    const Task& task = machine_->task(row.target.id);
    if (task.key && !task.key->program->render_key(sight(), scratch_, effect.outside_key))
      bad_value("`key` of task " + task.name + ": " + scratch_.why);
    effect.found = row.key && is_made("run", effect.id);
    if (!effect.found) count_child("run", std::string(kRunning), false);
  } else if (row.verb == EffectRow::Verb::create) {
    effect.machine = row.target.name;
    effect.found = is_made(effect.machine, effect.key, effect.payload);
    if (!effect.found) begin_child(effect);
    report_other_parent(effect);
  } else {
    effect.must = row.must;
    const Recipient& to = *row.to;
    switch (to.kind) {
      case Recipient::Kind::self:
        effect.machine = record_.machine;
        effect.key = record_.key;
        if (effect.in) effect.epoch_only = record_.epoch;
        break;
      case Recipient::Kind::parent:
        if (!record_.parent) {
          out_.reports.push_back("send " + row.target.name + ": the record has no parent");
          return false;
        }
        effect.machine = record_.parent->machine;
        effect.key = record_.parent->key;
        break;
      case Recipient::Kind::children:
        effect.to = Effect::To::children;
        effect.machine = to.machine;
        break;
      case Recipient::Kind::record:
        effect.machine = to.machine;
        if (!to.key.program->render_key(sight(), scratch_, effect.key))
          bad_value("`to` of " + row.target.name + ": " + scratch_.why);
        break;
    }
  }
  return true;
}

void Turn::alert(const std::string& channel) {
  if (channel.empty()) return;
  const EffectRow row{.verb = EffectRow::Verb::notify, .target = Ref(channel)};
  ask_once(row);
}

// Whether that record exists, or this decision has asked for it already. Asked for when nobody has
// said so yet.
bool Turn::is_made(const std::string& machine, const std::string& key, std::string_view data) {
  if (const KnownRecord* known = known_record(machine, key)) {
    if (known->id.value != 0) return true;
  } else {
    auto& need = out_.answer.need;
    const auto is_it = [&](const KnownRecord& asked) {
      return asked.machine == machine && asked.key == key;
    };
    if (std::none_of(need.begin(), need.end(), is_it))
      need.push_back({.machine = machine, .key = key, .data = std::string(data)});
  }
  const std::string name = machine + "/" + key;
  if (std::find(made_here_.begin(), made_here_.end(), name) != made_here_.end()) return true;
  made_here_.push_back(name);
  return false;
}

const KnownRecord* Turn::known_record(std::string_view machine, std::string_view key) const {
  for (const KnownRecord& known : stimulus_.known)
    if (known.machine == machine && known.key == key) return &known;
  return nullptr;
}

// Counted at once, so that no condition sees the record without it.
void Turn::begin_child(const Effect& effect) {
  const KnownRecord* known = known_record(effect.machine, effect.key);
  if (known == nullptr) {  // it is asked for, and this is decided again
    count_child(effect.machine, {}, false);
    return;
  }
  if (!known->unfit.empty())
    bad_value("`create` of " + effect.machine + "/" + effect.key + ": " + known->unfit);
  count_child(effect.machine, known->initial, known->initial_final);
}

// What was found may be a child of another record, and is then not counted here.
void Turn::report_other_parent(const Effect& effect) {
  const KnownRecord* known = known_record(effect.machine, effect.key);
  if (known != nullptr && known->id.value != 0 && known->parent != record_.id)
    out_.reports.push_back(effect.machine + "/" + effect.key +
                           " already exists and is not a child of this record");
}

ChildCounts& Turn::children_of(const std::string& machine) {
  const auto found =
      std::find_if(record_.children.begin(), record_.children.end(),
                   [&](const ChildCounts& counts) { return counts.machine == machine; });
  if (found != record_.children.end()) return *found;
  return record_.children.emplace_back(ChildCounts{.machine = machine});
}

void Turn::count_child(const std::string& machine, const std::string& state, bool is_final) {
  ChildCounts& counts = children_of(machine);
  ++counts.all;
  ++(is_final ? counts.final : counts.open);
  count_in(counts, state, +1);
}

}  // namespace pawl
