// A worker claims the task, and shows that it is alive.
#include <algorithm>

#include "base/json_text.h"
#include "base/mutant.h"
#include "decide/json_edit.h"
#include "decide/turn.h"
#include "model/edges.h"
#include "model/expression/json_view.h"
#include "model/expression/value_program.h"

namespace pawl {
namespace {

std::string_view method_name(HttpCall::Method method) {
  switch (method) {
    case HttpCall::Method::get:
      return "GET";
    case HttpCall::Method::post:
      return "POST";
    case HttpCall::Method::put:
      return "PUT";
    case HttpCall::Method::del:
      break;
  }
  return "DELETE";
}

}  // namespace

void Turn::on(const Stimulus::Start& start) {
  out_.answer.kind = Answer::Kind::none;
  if (!record_.ready_at || *record_.ready_at > now_) {
    out_.answer.reason = record_.ready_at ? "it is not ready yet" : "there is nothing to start";
    return;
  }
  if (gives_up_at_start()) return;
  const Task& task = machine_->task(here().task->id);
  const auto timeout = read_duration(policy().timeout, "timeout");
  const auto lease = policy().lease ? read_duration(*policy().lease, "lease") : std::nullopt;
  Attempt attempt{.token_hash = start.token_hash, .worker = start.worker, .started_at = now_};
  attempt.slots = start.slots;
  attempt.deadline_at = after(now_, timeout.value_or(Duration{0}));
  if (lease) attempt.lease_until = std::min(after(now_, *lease), attempt.deadline_at);
  out_.answer.kind = Answer::Kind::ok;
  ++record_.attempt;
  const bool keeps_fence = mutant(Mutant::lease_lost_without_new_fence) && record_.error &&
                           record_.error->code == "lease_lost";
  if (!keeps_fence) record_.fence = std::max(record_.fence + 1, now_.time_since_epoch().count());
  record_.task_at.reset();
  hand_over(task, attempt);
  record_.running = std::move(attempt);
  if (here().started) {
    open({Entry::Kind::started});
    hop(here().started->id, By::started);
    close();
  }
}

// An `elapsed` row that is due gives up instead: of the failures that belong to this state.
bool Turn::gives_up_at_start() {
  if (!record_.failing_since || !record_.error) return false;
  if (policy().count == Policy::Count::state && record_.streak.state != here().name &&
      !is_on_the_way_back())
    return false;
  failure_ = record_.error;
  if (!give_up_row(true)) {
    failure_.reset();
    return false;
  }
  const StateId checkpoint =
      machine_->find_state(record_.streak.checkpoint).value_or(checkpoint_of(*machine_, state_));
  open({Entry::Kind::gave_up});
  entry().error = *failure_;
  entry().attempt = record_.attempt;
  entry().row = "give_up";
  give_up(true, checkpoint);
  close();
  out_.answer.reason = "it gave up instead of starting: it has been failing for too long";
  commits_ = true;
  return true;
}

// What the worker gets.
void Turn::hand_over(const Task& task, const Attempt& attempt) {
  Answer& given = out_.answer;
  given.machine = record_.machine;
  given.key = record_.key;
  given.task = task.name;
  given.attempt = record_.attempt;
  given.fence = record_.fence;
  given.lease_until = attempt.lease_until;
  given.deadline_at = attempt.deadline_at;
  given.progress = record_.progress;
  given.outside_key = std::to_string(record_.id.value) + "/" + std::to_string(record_.task_seq);
  if (machine_->is_side_job()) {
    const JsonView data(record_.data);
    given.payload = data.member("with").json();
    if (const JsonView key = data.member("outside_key"); !key.absent())
      given.outside_key = key.text(scratch_);
    return;
  }
  if (task.key) {
    given.outside_key.clear();
    if (!task.key->program->render_key(sight(), scratch_, given.outside_key))
      bad_value("`key` of task " + task.name + ": " + scratch_.why);
  }
  if (!task.with || !task.with->program->render(sight(), scratch_, given.payload))
    given.payload = task.with ? "null" : record_.data;
  if (task.kind == Task::Kind::http) given.payload = call_of(task, std::move(given.payload));
}

// What the engine calls: {"method", "url", "headers", "body"}. Without a body of its own a call
// that brings something brings what a worker would get.
std::string Turn::call_of(const Task& task, std::string payload) {
  const HttpCall& http = *task.http;
  std::string call;
  std::string text;
  const auto rendered = [&](bool is_rendered, const std::string& what) {
    if (!is_rendered) bad_value(what + " of task " + task.name + ": " + scratch_.why);
  };
  {
    JsonMap map(call);
    map.text("method", method_name(http.method));
    rendered(http.url.program->render_url(sight(), scratch_, text), "the URL");
    map.text("url", text);
    if (!http.headers.empty()) {
      std::string& headers = map.member("headers");
      for (const Assignment& header : http.headers) {
        text.clear();
        rendered(header.value.program->render_text(sight(), scratch_, text), "a header");
        headers += headers.ends_with(':') ? '{' : ',';
        append_json_string(headers, header.name);
        headers += ':';
        append_json_string(headers, text);
      }
      headers += '}';
    }
    const bool brings =
        http.method == HttpCall::Method::post || http.method == HttpCall::Method::put;
    if (http.body) {
      payload.clear();
      if (!http.body->program->render(sight(), scratch_, payload)) payload = "null";
    }
    if (http.body || brings) map.json("body", payload);
  }
  return call;
}

void Turn::on(const Stimulus::Beat& beat) {
  if (!is_live(beat.token_hash) || is_attempt_over()) {
    answer_stale("this attempt is over, stop working: " + why_over(beat.token_hash));
    out_.answer.cancel = true;
    return;
  }
  Attempt& running = *record_.running;
  if (policy().lease)
    if (const auto lease = read_duration(*policy().lease, "lease"))
      running.lease_until = std::min(after(now_, *lease), running.deadline_at);
  if (!beat.progress.empty()) running.progress = beat.progress;
  out_.answer.lease_until = running.lease_until;
  out_.answer.deadline_at = running.deadline_at;
}

}  // namespace pawl
