// Whether the process answers, and whether it is of use: for whoever watches it, without a token.
#include "api/call.h"

namespace pawl {

void show_health(const SharedCall& call) { call->ok(R"({"ok":true})"); }

void show_readiness(const SharedCall& call) {
  if (call->why_not_ready) {
    if (const auto why = call->why_not_ready()) return call->replied(not_ready_reply(*why));
  }
  if (!call->engine.can_commit())
    return call->replied(not_ready_reply("the last commit failed: check whether the disk is full"));
  call->ok(R"({"ready":true})");
}

}  // namespace pawl
