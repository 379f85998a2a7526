#include "check/counter_example.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "check/judged.h"
#include "check/sample.h"
#include "model/expression/json_view.h"
#include "model/tree.h"

namespace pawl {
namespace {

// A circle of more steps is shown once.
constexpr std::size_t kShortCircle = 8;

// So many more rounds are tried, and not shown.
constexpr int kRoundsTried = 20;

constexpr const char* kKey = "r1";

Json json_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto tree = read_tree(text, diagnostics);
  return tree ? to_json(*tree) : Json();
}

class Telling {
 public:
  Telling(Stage& stage, const Distinctions& distinctions, StateId state, const std::string& data)
      : stage_(stage), distinctions_(distinctions), state_(state), data_(data) {}

  CounterExample tell(const std::vector<Mishap>& lead_in, const std::vector<Mishap>& circle) {
    const bool plays = begin() && go(lead_in) && go_round(circle);
    return {.how = how(), .scenario = scenario(), .plays = plays};
  }

 private:
  struct TimedStep {
    Instant at;
    Json step;
  };

  bool begin() {
    auto begun = stage_.begin(state_, data_);
    if (!begun) return false;
    situation_ = std::move(begun->situation);
    if (begun->moved) add({{"order", Json::map({{"move", stage_.machine().state(state_).name}})}});
    return true;
  }

  bool go_round(const std::vector<Mishap>& circle) {
    const std::string key = distinctions_.key_of(situation_, situation_.now);
    const auto comes_round = [&] {
      return go(circle) && distinctions_.key_of(situation_, situation_.now) == key;
    };
    tells_ = true;
    if (!comes_round()) return false;
    tells_ = false;
    if (circle.size() <= kShortCircle && !comes_round()) return false;
    std::vector<TimedStep> shown = steps_;
    const bool goes_on = comes_round_again_and_again(comes_round);
    steps_ = std::move(shown);
    return goes_on;
  }

  // What conditions read besides (`now`, `record.revision`) may come to matter later.
  static bool comes_round_again_and_again(const std::function<bool()>& comes_round) {
    for (int i = 0; i < kRoundsTried; ++i)
      if (!comes_round()) return false;
    return true;
  }

  bool go(const std::vector<Mishap>& mishaps) {
    return std::all_of(mishaps.begin(), mishaps.end(),
                       [&](const Mishap& mishap) { return go(mishap); });
  }

  bool go(const Mishap& mishap) {
    auto happened = stage_.play(situation_, mishap);
    if (!happened) return false;
    const Judged judged =
        pawl::judged(stage_.machine(), distinctions_, situation_, mishap, *happened);
    happened->after.waits_without_bound = judged.waits_without_bound;
    const Situation before = std::exchange(situation_, std::move(happened->after));
    if (tells_) tell(before, mishap, judged);
    add_step(before, mishap);
    return true;
  }

  // --- in words --------------------------------------------------------------------------------

  void tell(const Situation& before, const Mishap& mishap, const Judged& judged) {
    const std::string& was = before.record.state;
    const std::string& is = situation_.record.state;
    if (mishap.kind == Mishap::Kind::aside_fails) {
      pieces_.push_back(in_ticks(mishap.name) + ", run on the side, fails, then " + in_ticks(is));
    } else if (judged.failed) {
      pieces_.push_back(in_ticks(judged.failed_in) + " fails with " + judged.code +
                        (judged.failed_in == is ? "" : ", then " + in_ticks(is)));
    } else if (mishap.kind == Mishap::Kind::time_passes && was != is) {
      pieces_.push_back("time passes, " + in_ticks(was) + " goes to " + in_ticks(is));
    } else if (mishap.kind == Mishap::Kind::start && !situation_.record.running) {
      pieces_.push_back(in_ticks(was) + " gives up, then " + in_ticks(is));
    }
  }

  // The same again and again is said once.
  std::string how() const {
    std::string text;
    for (std::size_t i = 0, next = 0; i < pieces_.size(); i = next) {
      while (next < pieces_.size() && pieces_[next] == pieces_[i]) ++next;
      text += pieces_[i];
      if (next - i > 1) text += ", " + std::to_string(next - i) + " times";
      text += "; ";
    }
    return text + "and so on";
  }

  // --- as steps --------------------------------------------------------------------------------

  void add_step(const Situation& before, const Mishap& mishap) {
    switch (mishap.kind) {
      case Mishap::Kind::start:
        add({{"start", task_of(before.record)}});
        break;
      case Mishap::Kind::fail:
        add({{"fail", mishap.code}});
        break;
      case Mishap::Kind::time_passes:
      case Mishap::Kind::tick:
        add_waiting();
        break;
      case Mishap::Kind::event_fails:
        add({{"fire", mishap.name}, {"with", json_of(payload_of(mishap))}});
        break;
      case Mishap::Kind::aside_fails:
        add_aside(before, mishap.name);
        break;
    }
  }

  // What its workers did stands where it happened, between the other steps. The last of them may
  // have taken their time.
  void add_aside(const Situation& before, const std::string& task) {
    const auto job = std::find_if(before.jobs.begin(), before.jobs.end(),
                                  [&](const AsideJob& known) { return known.task == task; });
    const Duration late = situation_.now - job->fails_at();
    const std::size_t last_start = job->steps.size() - (job->steps.back().code.empty() ? 1 : 2);
    for (std::size_t i = 0; i < job->steps.size(); ++i)
      add_aside(task, job->steps[i].code, job->steps[i].at + (i < last_start ? Duration{0} : late));
    add_waiting();
  }

  void add_aside(const std::string& task, const std::string& code, Instant at) {
    const auto later = std::find_if(steps_.begin(), steps_.end(),
                                    [&](const TimedStep& step) { return step.at > at; });
    Json step = Json::map({{"record", "run " + task}});
    step.members.push_back(code.empty() ? JsonMember{"start", task} : JsonMember{"fail", code});
    steps_.insert(later, {.at = at, .step = std::move(step)});
  }

  // All that is due at an instant happens in one step.
  void add_waiting() {
    const auto next = LoneWorld::next_act(situation_);
    const bool is_over = !next || *next > situation_.now;
    if (is_over) add({});
  }

  void add(std::vector<JsonMember> members) {
    Json step = Json::map(std::move(members));
    std::vector<JsonMember> expect{{"state", situation_.record.state}};
    if (situation_.record.hold) expect.push_back({"hold", situation_.record.hold->code});
    step.members.push_back({"expect", Json::map(std::move(expect))});
    steps_.push_back({.at = situation_.now, .step = std::move(step)});
  }

  std::string task_of(const Record& record) const {
    const Machine& machine = stage_.machine();
    return machine.state(*machine.find_state(record.state)).task->name;
  }

  std::string payload_of(const Mishap& mishap) const {
    const Machine& machine = stage_.machine();
    return sample_payload(machine.declared(*machine.find_event(mishap.name)), mishap.code);
  }

  Json scenario() const {
    Json create = Json::map({{"key", kKey}});
    if (JsonView(data_).size() > 0) create.members.push_back({"data", json_of(data_)});
    Json steps = Json::list({});
    Instant now = kStageBegin;
    for (const TimedStep& timed : steps_) {
      Json step = Json::map({});
      if (timed.at > now) step.members.push_back({"at", "+" + to_text(timed.at - now)});
      now = std::max(now, timed.at);
      for (const JsonMember& member : timed.step.members) step.members.push_back(member);
      steps.items.push_back(std::move(step));
    }
    return Json::map(
        {{"at", to_text(kStageBegin)}, {"create", std::move(create)}, {"steps", std::move(steps)}});
  }

  Stage& stage_;
  const Distinctions& distinctions_;
  StateId state_;
  const std::string& data_;
  Situation situation_;
  std::vector<TimedStep> steps_;
  std::vector<std::string> pieces_;
  bool tells_ = false;
};

}  // namespace

CounterExample counter_example(Stage& stage, const Distinctions& distinctions, StateId state,
                               const std::string& data, const std::vector<Mishap>& lead_in,
                               const std::vector<Mishap>& circle) {
  return Telling(stage, distinctions, state, data).tell(lead_in, circle);
}

}  // namespace pawl
