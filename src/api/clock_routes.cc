// The clock: what time it is here, and for tests a clock that is moved by hand.
#include "api/call.h"
#include "decide/json_edit.h"

namespace pawl {
namespace {

std::string clock_json(Instant now, bool is_virtual) {
  std::string json;
  {
    JsonMap map(json);
    map.text("now", to_text(now));
    map.boolean("virtual", is_virtual);
  }
  return json;
}

}  // namespace

void show_clock(const SharedCall& call) {
  call->ok(clock_json(call->engine.now(), call->engine.has_virtual_clock()));
}

// Everything due until then is done, each at its own instant, before it is answered.
void advance_clock(const SharedCall& call) {
  JsonBody body = call->body();
  const auto by = body.duration("by");
  const auto to = body.instant("to");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  if (!call->engine.has_virtual_clock())
    return call->fail("no_virtual_clock", "this server uses the real clock");
  if (by.has_value() == to.has_value())
    return call->fail("bad_request", "give `by`, a duration, or `to`, an instant");
  const Instant now = call->engine.now();
  if (by && *by > kInstantMax - now)
    return call->fail("bad_request", "`by` goes beyond the year 9999");
  const Instant until = to ? *to : now + *by;
  if (until < now)
    return call->fail("bad_request", "the clock can only move forward; it is now " + to_text(now));
  call->engine.tell({.kind = Notice::Kind::clock_moved,
                     .at = now,
                     .subject = to_text(until),
                     .actor = call->acting()});
  call->engine.run_until(until, [call](const Result<Instant>& arrived) {
    if (!arrived) return call->fail(arrived.error());
    call->ok(clock_json(*arrived, true));
  });
}

}  // namespace pawl
