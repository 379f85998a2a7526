// Pipes: what their partitions are at, and the orders that a person may give to one. They are of no
// machine, so that they take a token for all of them.
#include <algorithm>

#include "api/call.h"
#include "api/documents.h"
#include "api/pipe_documents.h"
#include "base/text.h"
#include "pipe/pipe_board.h"

namespace pawl {
namespace {

std::vector<PipeView> views_of(const Call& call) {
  return call.pipes != nullptr ? call.pipes->views() : std::vector<PipeView>();
}

// The pipe that the path names. None when the caller was told that there is none.
std::optional<PipeView> pipe_of(const Call& call) {
  const std::string& name = call.parameters[0];
  for (PipeView& view : views_of(call))
    if (view.name == name) return std::move(view);
  call.fail("no_such_pipe", "no pipe called " + in_quotes(name) + " runs here");
  return std::nullopt;
}

// The same of its partition.
std::optional<PartitionView> partition_of(const Call& call) {
  const auto pipe = pipe_of(call);
  if (!pipe) return std::nullopt;
  for (const PartitionView& view : pipe->partitions)
    if (view.id.topic == call.parameters[1] &&
        std::to_string(view.id.partition) == call.parameters[2])
      return view;
  call.fail("no_such_partition", "the pipe " + in_quotes(pipe->name) +
                                     " is not reading partition " + in_quotes(call.parameters[2]) +
                                     " of topic " + in_quotes(call.parameters[1]));
  return std::nullopt;
}

void steer(const Call& call, PipeOrder::Kind kind) {
  if (!call.is_for_everything()) return;
  JsonBody body = call.body();
  PipeOrder order{.kind = kind,
                  .pipe = call.parameters[0],
                  .actor = {.name = call.acting(), .roles = call.request.caller.actor.roles},
                  .reason = body.required_text("reason")};
  if (kind == PipeOrder::Kind::skip) {
    body.require("offset");
    order.offset = body.number("offset").value_or(-1);
  }
  if (const auto wrong = body.finish(); !wrong) return call.fail(wrong.error());
  const auto partition = partition_of(call);
  if (!partition) return;
  order.partition = partition->id;
  if (const auto given = call.pipes->give(order); !given) return call.fail(given.error());
  if (const auto after = partition_of(call)) call.ok(to_json(*after));
}

}  // namespace

void list_pipes(const SharedCall& call) {
  if (!call->is_for_everything()) return;
  std::string out = R"({"items":)";
  append_list(out, views_of(*call), [](const PipeView& pipe) { return to_json(pipe); });
  call->ok(out + "}");
}

void show_pipe(const SharedCall& call) {
  if (!call->is_for_everything()) return;
  if (const auto pipe = pipe_of(*call)) call->ok(to_json(*pipe));
}

void show_partition(const SharedCall& call) {
  if (!call->is_for_everything()) return;
  if (const auto partition = partition_of(*call)) call->ok(to_json(*partition));
}

void pause_partition(const SharedCall& call) { steer(*call, PipeOrder::Kind::pause); }
void resume_partition(const SharedCall& call) { steer(*call, PipeOrder::Kind::resume); }
void skip_message(const SharedCall& call) { steer(*call, PipeOrder::Kind::skip); }

}  // namespace pawl
