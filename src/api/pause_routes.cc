// Pauses: what an operator has stopped from being started.
#include "api/call.h"
#include "api/documents.h"
#include "base/text.h"

namespace pawl {

void list_pauses(const SharedCall& call) {
  std::string out = R"({"items":)";
  append_list(out, call->engine.pauses(), [](const Pause& pause) { return to_json(pause); });
  call->ok(out + "}");
}

void set_pause(const SharedCall& call) {
  JsonBody body(call->request.body);
  const std::string what = body.required_text("what");
  Pause pause{.reason = body.required_text("reason"),
              .actor = call->request.caller.actor.name,
              .since = call->engine.now()};
  const bool dry_run = body.boolean("dry_run");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  auto target = parse_pause_target(what);
  if (!target) return call->fail(target.error());
  pause.target = *std::move(target);
  if (!dry_run)
    if (const auto paused = call->engine.pause(pause); !paused) return call->fail(paused.error());
  call->ok(to_json(pause));
}

void end_pause(const SharedCall& call) {
  JsonBody body(call->request.body);
  const std::string what = body.required_text("what");
  const bool dry_run = body.boolean("dry_run");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  const auto target = parse_pause_target(what);
  if (!target) return call->fail(target.error());
  bool was_paused = false;
  if (dry_run) {
    for (const Pause& pause : call->engine.pauses())
      was_paused = was_paused || pause.target == *target;
  } else {
    const auto ended = call->engine.unpause(*target);
    if (!ended) return call->fail(ended.error());
    was_paused = *ended;
  }
  if (!was_paused)
    return call->fail(404, "not_paused", in_ticks(to_text(*target)) + " is not paused");
  call->ok(R"({"ended":true})");
}

}  // namespace pawl
