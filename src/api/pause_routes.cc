// Pauses: what an operator has stopped from being started.
#include "api/call.h"
#include "api/documents.h"
#include "base/text.h"

namespace pawl {
namespace {

// Who may not see all machines may not stop them either. False when the caller was told so.
bool may_steer(const Call& call, const PauseTarget& target) {
  using Kind = PauseTarget::Kind;
  const Caller& caller = call.request.caller;
  if (!caller.machines && !caller.queues) return true;
  if (target.kind == Kind::machine && caller.machines) {
    if (call.may_see_machine(target.name)) return true;
    call.replied(outside_machine(target.name));
  } else if (target.kind == Kind::queue && caller.queues) {
    if (call.may_use_queue(target.name)) return true;
    call.replied(outside_queue(target.name));
  } else {
    call.fail("outside_scope", "this call needs an access token for all machines and queues");
  }
  return false;
}

// What stops everybody, or records by what they hold, concerns all who look.
bool may_see(const Call& call, const PauseTarget& target) {
  using Kind = PauseTarget::Kind;
  if (target.kind == Kind::machine) return call.may_see_machine(target.name);
  return target.kind != Kind::queue || call.may_use_queue(target.name);
}

}  // namespace

void list_pauses(const SharedCall& call) {
  const auto seen = [&](std::vector<Pause> pauses) {
    std::erase_if(pauses, [&](const Pause& pause) { return !may_see(*call, pause.target); });
    return pauses;
  };
  const auto write = [](const Pause& pause) { return to_json(pause); };
  std::string out = R"({"items":)";
  append_list(out, seen(call->engine.pauses()), write);
  if (const auto ended = seen(call->engine.ended_pauses()); !ended.empty())
    append_list(out += R"(,"ended":)", ended, write);
  call->ok(out + "}");
}

void set_pause(const SharedCall& call) {
  JsonBody body = call->body();
  const std::string what = body.required_text("what");
  Pause pause{
      .reason = body.required_text("reason"), .actor = call->acting(), .since = call->engine.now()};
  const bool dry_run = body.boolean("dry_run");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  auto target = parse_pause_target(what);
  if (!target) return call->fail(target.error());
  if (!may_steer(*call, *target)) return;
  pause.target = *std::move(target);
  if (!dry_run)
    if (const auto paused = call->engine.pause(pause); !paused) return call->fail(paused.error());
  call->ok(to_json(pause));
}

void end_pause(const SharedCall& call) {
  JsonBody body = call->body();
  const std::string what = body.required_text("what");
  const bool dry_run = body.boolean("dry_run");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  const auto target = parse_pause_target(what);
  if (!target) return call->fail(target.error());
  if (!may_steer(*call, *target)) return;
  bool was_paused = false;
  if (dry_run) {
    for (const Pause& pause : call->engine.pauses())
      was_paused = was_paused || pause.target == *target;
  } else {
    const auto ended = call->engine.unpause(*target, call->acting());
    if (!ended) return call->fail(ended.error());
    was_paused = *ended;
  }
  if (!was_paused) return call->fail("not_paused", in_ticks(to_text(*target)) + " is not paused");
  call->ok(R"({"ended":true})");
}

}  // namespace pawl
