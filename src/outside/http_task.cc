#include "outside/http_task.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/text.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

constexpr std::size_t kShownMax = 500;  // of a body, in the message of a failure

// Without a half character at its end.
std::string beginning_of(const std::string& body) {
  std::size_t size = std::min(body.size(), kShownMax);
  while (size > 0 && size < body.size() && (static_cast<unsigned char>(body[size]) & 0xC0U) == 0x80)
    --size;
  return printable(body.substr(0, size));
}

OutgoingCall call_of(const TaskRun& run) {
  const JsonView given(run.given().payload);
  Scratch scratch;
  OutgoingCall call{.method = std::string(given.member("method").text(scratch)),
                    .url = std::string(given.member("url").text(scratch)),
                    .body = std::string(given.member("body").json())};
  call.headers.emplace_back("Accept", "application/json");
  call.headers.emplace_back("Idempotency-Key", run.given().outside_key);
  for (JsonWalk header(given.member("headers")); header.next();)
    call.headers.emplace_back(header.key().text(scratch), header.value().text(scratch));
  call.may_go_on = [&run] { return !run.is_cancelled(); };
  return call;
}

}  // namespace

std::optional<Failure> failure_of(const Result<OutgoingReply>& reply) {
  if (!reply) return Failure{.code = "network", .message = reply.error().message};
  if (reply->status >= 200 && reply->status < 300) return std::nullopt;
  return Failure{.code = "http_" + std::to_string(reply->status),
                 .message = beginning_of(reply->body),
                 .retry_after = reply->retry_after};
}

TaskFunction http_task(const Door& door) {
  return [&door](TaskRun& run) -> TaskResult {
    const auto reply = door.call(call_of(run));
    if (run.is_cancelled()) return {.failure = Failure{.code = "returned"}};
    if (auto failure = failure_of(reply)) return {.failure = std::move(failure)};
    if (reply->body.empty()) return {};
    if (reply->is_cut)
      return {.failure =
                  Failure{.code = "bad_result", .message = "the response is larger than 256 KiB"}};
    if (const auto checked = check_json(reply->body); !checked)
      return {.failure =
                  Failure{.code = "bad_result",
                          .message = "the response is not JSON: " + checked.error().message}};
    return {.result = reply->body};
  };
}

}  // namespace pawl
