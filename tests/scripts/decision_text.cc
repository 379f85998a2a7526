#include "decision_text.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "pawl/json.h"

namespace pawl {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kOrderVerbs[] = {"retry", "release", "hold", "move",
                                            "patch", "migrate", "erase"};

// JSON, or its beginning when it is long.
std::string json_text(const std::string& json) {
  constexpr std::size_t kMost = 400;
  if (json.empty()) return "-";
  if (json.size() <= kMost) return json;
  return json.substr(0, 20) + "... (" + std::to_string(json.size()) + " bytes)";
}

std::string quoted_list(const std::vector<std::string>& words) {
  return "[" + join(words, ", ", ", ") + "]";
}

// --- the stimulus ------------------------------------------------------------------------------

std::string with_payload(const std::string& words, const std::string& payload) {
  return payload.empty() || payload == "{}" ? words : words + " " + json_text(payload);
}

struct StimulusWords {
  const DayClock& clock;

  std::string operator()(const Stimulus::Create& create) const {
    std::string text = "create";
    if (!create.event.empty()) text += " and " + with_payload(create.event, create.payload);
    if (create.parent) text += " in " + create.parent->machine + "/" + create.parent->key;
    if (create.ready_at) text += " ready_at " + clock.text(create.ready_at);
    return text;
  }
  std::string operator()(const Stimulus::Fire& fire) const {
    return with_payload(fire.create ? "create or fire " + fire.event : "fire " + fire.event,
                        fire.payload);
  }
  std::string operator()(const Stimulus::Start& start) const {
    return "start " + text_of(start.token_hash);
  }
  std::string operator()(const Stimulus::Beat& beat) const {
    return with_payload("beat " + text_of(beat.token_hash), beat.progress);
  }
  std::string operator()(const Stimulus::Done& done) const {
    return with_payload("done " + text_of(done.token_hash), done.result);
  }
  std::string operator()(const Stimulus::Fail& fail) const {
    return "fail " + text_of(fail.token_hash) + " " + fail.error.code;
  }
  std::string operator()(const Stimulus::Wake&) const { return "wake"; }
  std::string operator()(const Stimulus::Sent& sent) const {
    return with_payload("sent " + sent.event, sent.payload);
  }
  std::string operator()(const Stimulus::ChildChanged& changed) const {
    return "child " + changed.machine + " " + (changed.was.empty() ? "-" : changed.was) + " -> " +
           changed.is + (changed.is_held ? " on hold" : "");
  }
  std::string operator()(const Stimulus::Order& order) const {
    std::string text = "order " + std::string(kOrderVerbs[static_cast<std::size_t>(order.verb)]);
    for (const std::string& part : {order.text, order.state, order.data})
      if (!part.empty()) text += " " + part;
    return text;
  }
};

// --- the answer --------------------------------------------------------------------------------

std::string answer_text(const Decided& decided) {
  const Answer& answer = decided.decision.answer;
  std::string text(to_text(answer.kind));
  if (!answer.reason.empty()) text += ": " + answer.reason;
  if (answer.cancel) text += "; cancel";
  if (answer.waits) text += "; waits";
  const bool is_told = answer.kind == Answer::Kind::ok && !decided.decision.changed;
  if (answer.kind == Answer::Kind::duplicate || is_told) {
    text += "; state " + answer.state + ", revision " + std::to_string(answer.revision);
    if (!answer.result.empty()) text += ", result " + answer.result;
  }
  if (!answer.permitted.empty() || answer.kind == Answer::Kind::refused)
    text += "; permitted " + quoted_list(answer.permitted);
  if (!answer.task.empty()) {
    text += "; task " + answer.task + ", attempt " + std::to_string(answer.attempt) + ", key " +
            answer.outside_key + ", with " + json_text(answer.payload);
    if (!answer.progress.empty()) text += ", progress " + answer.progress;
  }
  return text;
}

Lines guard_lines(const Answer& answer) {
  Lines lines;
  for (const FailedGuard& guard : answer.guards)
    lines.push_back("guard of " + guard.event + ": " + guard.guard +
                    (guard.values.empty() ? "" : " where " + join(guard.values, ", ", ", ")));
  return lines;
}

// --- the record --------------------------------------------------------------------------------

// Words about the fields that differ.
class Differences {
 public:
  void add(bool differs, std::string_view name, std::string value) {
    if (!differs) return;
    if (!text_.empty()) text_ += "; ";
    text_ += name;
    text_ += ' ';
    text_ += value;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string core_text_of(const Record& was, const Record& is, const DayClock& clock) {
  Differences differences;
  const auto add = [&](bool differs, std::string_view name, std::string value) {
    differences.add(differs, name, std::move(value));
  };
  add(was.id != is.id, "id", std::to_string(is.id.value));
  add(was.version != is.version, "version", std::to_string(is.version));
  add(was.state != is.state || was.entered_at != is.entered_at, "state",
      is.state + " since " + clock.text(is.entered_at));
  add(was.epoch != is.epoch, "epoch", std::to_string(is.epoch));
  add(was.failures != is.failures, "failures", std::to_string(is.failures));
  add(was.failing_since != is.failing_since, "failing_since", clock.text(is.failing_since));
  add(was.failed_from != is.failed_from, "failed_from", json_text(is.failed_from));
  add(was.error != is.error, "error", is.error ? text_of(*is.error, clock) : "-");
  add(was.hold != is.hold, "hold", is.hold ? text_of(*is.hold, clock) : "-");
  add(was.data != is.data, "data", json_text(is.data));
  add(was.result != is.result, "result", json_text(is.result));
  for (const Label& label : is.labels)
    add(was.labels != is.labels, "label", label.name + " " + label.value);
  add(was.priority != is.priority, "priority", std::to_string(is.priority));
  return differences.text();
}

std::string quiet_text_of(const Record& was, const Record& is, const DayClock& clock) {
  Differences differences;
  const auto add = [&](bool differs, std::string_view name, std::string value) {
    differences.add(differs, name, std::move(value));
  };
  add(was.attempt != is.attempt, "attempt", std::to_string(is.attempt));
  add(was.progress != is.progress, "progress", is.progress.empty() ? "-" : is.progress);
  add(was.fence != is.fence, "fence", clock.fence(is.fence));
  add(was.running != is.running, "running", is.running ? text_of(*is.running, clock) : "-");
  add(was.ready_at != is.ready_at, "ready_at", clock.text(is.ready_at));
  const bool is_kept = is.task_at != is.ready_at;
  add(is_kept && was.task_at != is.task_at, "task_at", clock.text(is.task_at));
  add(was.timers != is.timers, "timers", text_of(is.timers, clock));
  add(was.plan.next != is.plan.next || was.plan.serving != is.plan.serving, "plan",
      text_of(is.plan, clock));
  add(was.wake_at != is.wake_at, "wake_at", clock.text(is.wake_at));
  add(was.streak != is.streak, "streak", text_of(is.streak));
  add(was.spent != is.spent, "spent", is.spent ? "true" : "false");
  add(was.task_seq != is.task_seq, "task_seq", std::to_string(is.task_seq));
  for (const ChildCounts& counts : is.children) {
    const bool is_same =
        std::find(was.children.begin(), was.children.end(), counts) != was.children.end();
    add(!is_same, "children", text_of(counts));
  }
  return differences.text();
}

// --- entries and effects -----------------------------------------------------------------------

// The names of the core fields that an entry keeps.
std::string changed_names(const Entry& entry) {
  std::string names;
  const auto changes = [&](std::string_view name) {
    if (entry.changes.find("\"" + std::string(name) + "\":") == std::string::npos) return;
    names += ' ';
    names += name;
  };
  if (entry.kind == Entry::Kind::created) return "";
  for (const std::string_view name : {"version", "state", "epoch", "failures", "error", "hold",
                                      "data", "result", "labels", "priority"})
    changes(name);
  return names;
}

std::string entry_text(const Entry& entry, const DayClock& clock) {
  std::string text = "entry " + std::to_string(entry.seq) + " " + std::string(to_text(entry.kind));
  if (!entry.event.empty()) text += " " + entry.event;
  text += ": " + (entry.from.empty() ? "-" : entry.from) + " -> " + entry.to;
  if (!entry.cause.empty()) text += "; cause " + entry.cause;
  if (entry.error) text += "; error " + text_of(*entry.error, clock);
  if (entry.attempt != 0) text += "; attempt " + std::to_string(entry.attempt);
  if (entry.next_at) text += "; next_at " + clock.text(entry.next_at);
  if (entry.delays_left) text += "; delays_left " + std::to_string(*entry.delays_left);
  if (!entry.row.empty()) text += "; row " + entry.row;
  if (entry.epoch != 1) text += "; epoch " + std::to_string(entry.epoch);
  text += "; by " + text_of(entry.actor);
  if (!entry.idempotency_key.empty()) text += "; key " + entry.idempotency_key;
  if (const std::string names = changed_names(entry); !names.empty()) text += "; changes" + names;
  return text;
}

std::string whom_text(const Effect& effect) {
  if (effect.verb == Effect::Verb::create) return effect.target + "/" + effect.key;
  if (effect.verb != Effect::Verb::send) return effect.target;
  if (effect.to == Effect::To::children) return effect.target + " to children." + effect.machine;
  return effect.target + " to " + effect.machine + "/" + effect.key;
}

std::string effect_text(const Effect& effect) {
  constexpr std::string_view kVerbs[] = {"notify", "run", "send", "create"};
  std::string text = effect.found ? "found " : "";
  text += std::string(kVerbs[static_cast<std::size_t>(effect.verb)]) + " " + whom_text(effect);
  text += "; id " + effect.id + "; with " + json_text(effect.payload);
  if (effect.in) text += "; in " + to_text(*effect.in);
  if (effect.must) text += "; must";
  if (effect.epoch_only) text += "; in epoch " + std::to_string(*effect.epoch_only) + " only";
  if (!effect.then.empty()) text += "; then " + effect.then;
  if (!effect.otherwise.empty()) text += "; else " + effect.otherwise;
  if (!effect.outside_key.empty()) text += "; key " + effect.outside_key;
  return text;
}

std::string known_text(const KnownRecord& known) {
  const std::string name = known.machine + "/" + known.key;
  return known.id.value == 0 ? "no " + name : name + " is there";
}

void add_effects(const Decision& decision, std::int64_t seq, Lines& lines) {
  for (const Effect& effect : decision.effects)
    if (effect.seq == seq) lines.push_back("    effect " + effect_text(effect));
}

}  // namespace

std::vector<std::string> decision_text(const Decided& decided, const DayClock& clock) {
  const Decision& decision = decided.decision;
  const Stimulus& stimulus = decided.stimulus;
  Lines lines;
  if (std::holds_alternative<Stimulus::Wake>(stimulus.what) && !decision.changed) return lines;
  lines.push_back(clock.text(decided.now) + " " + stimulus.machine + "/" + stimulus.key + " " +
                  std::visit(StimulusWords{clock}, stimulus.what) +
                  (stimulus.dry_run ? " (dry run)" : "") + ": " + answer_text(decided));
  const auto add = [&](std::string text) { lines.push_back("  " + std::move(text)); };
  for (std::string& line : guard_lines(decision.answer)) add(std::move(line));
  if (!stimulus.known.empty()) {
    std::vector<std::string> known;
    for (const KnownRecord& one : stimulus.known) known.push_back(known_text(one));
    add("knows " + join(known, ", ", ", "));
  }
  for (const std::string& report : decision.reports) add("report " + report);
  if (!decision.changed) return lines;
  if (std::string text = core_text_of(decided.before, decision.record, clock); !text.empty())
    add("core " + text);
  if (std::string text = quiet_text_of(decided.before, decision.record, clock); !text.empty())
    add("quiet " + text);
  for (const Entry& entry : decision.entries) {
    add(entry_text(entry, clock));
    add_effects(decision, entry.seq, lines);
  }
  if (decision.to_parent) {
    const Stimulus::ChildChanged& told = *decision.to_parent;
    add("tells parent " + StimulusWords{clock}(told));
  }
  if (decision.remember) add("remembers the answer to " + stimulus.idempotency_key);
  return lines;
}

}  // namespace pawl
