// What workers do: claim, beat, settle.
#include <algorithm>
#include <mutex>

#include "api/call.h"
#include "api/documents.h"
#include "base/text.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

constexpr std::size_t kItemsMax = 1'000;

// Which attempt a worker speaks of.
struct Named {
  RecordName record;
  std::string token;
};

Named read_named(JsonBody& body) {
  return {{body.required_text("machine"), body.required_text("key")}, body.required_text("token")};
}

Stimulus about(const Call& call, const Named& named, decltype(Stimulus::what) what) {
  return {.what = std::move(what),
          .machine = named.record.machine,
          .key = named.record.key,
          .actor = call.request.caller.actor};
}

Stimulus read_done(const Call& call, JsonBody& body) {
  const Named named = read_named(body);
  return about(call, named,
               Stimulus::Done{hash_of_token(named.token), or_empty_map(body.json("result"))});
}

Stimulus read_fail(const Call& call, JsonBody& body) {
  const Named named = read_named(body);
  Failure error{.code = body.required_text("code"),
                .message = body.text("message"),
                .detail = body.json("detail"),
                .retry_after = body.duration("retry_after")};
  return about(call, named, Stimulus::Fail{hash_of_token(named.token), std::move(error)});
}

Stimulus read_beat(const Call& call, JsonBody& body) {
  const Named named = read_named(body);
  return about(call, named, Stimulus::Beat{hash_of_token(named.token), body.json("progress")});
}

Result<ClaimRequest> read_claim(const Call& call, JsonBody& body) {
  ClaimRequest request{.queues = body.texts("queues"), .worker = body.text("worker")};
  const auto max = body.number("max");
  request.wait = std::min(body.duration("wait").value_or(Duration{0}), kWaitMax);
  request.dry_run = body.boolean("dry_run");
  PAWL_CHECK(body.finish());
  if (request.queues.empty())
    return Error{ErrorCode::bad_input, "`queues` must name at least one queue"};
  if (max && (*max < 1 || *max > static_cast<std::int64_t>(kClaimMax)))
    return Error{ErrorCode::bad_input, "`max` must be a whole number from 1 to 1000"};
  if (max) request.max = static_cast<std::size_t>(*max);
  if (request.worker.empty()) request.worker = call.request.caller.actor.name;
  return request;
}

// False when the caller was told that it may not claim from one of them.
bool may_claim(const Call& call, const ClaimRequest& request) {
  for (const std::string& queue : request.queues) {
    if (queue.find(':') != std::string::npos) {
      call.fail("bad_request", "the queue " + in_ticks(queue) + " is reserved for the engine");
      return false;
    }
    if (call.request.caller.machines && !call.request.caller.queues) {
      call.fail("outside_scope",
                "a queue can hold attempts of any machine: an access token limited to machines can "
                "claim only if it is also limited to queues");
      return false;
    }
    if (!call.may_use_queue(queue)) {
      call.replied(outside_queue(queue));
      return false;
    }
  }
  return true;
}

// What came to somebody who may not have it any more: others get it at once, and no record pays.
void hand_back(const Call& call, const std::vector<GivenAttempt>& attempts) {
  std::vector<Stimulus> stimuli;
  for (const GivenAttempt& one : attempts)
    stimuli.push_back(about(
        call, {{one.given.machine, one.given.key}, one.token},
        Stimulus::Fail{
            hash_of_token(one.token),
            {.code = "returned", .message = "the worker has disconnected or lost its access"}}));
  call.engine.submit(stimuli, [](std::size_t, const Result<Answer>&) {});
}

void claim(const SharedCall& call, ClaimRequest request,
           std::function<void(const Result<std::string>& attempts)> given) {
  call->engine.claim(std::move(request), [call, given = std::move(given)](
                                             const Result<std::vector<GivenAttempt>>& attempts) {
    if (!attempts) return given(attempts.error());
    if (!attempts->empty() && !call->is_in_force()) {
      hand_back(*call, *attempts);
      return given(std::string("[]"));
    }
    for (const GivenAttempt& one : *attempts)
      if (!one.token.empty())
        call->given.add({one.given.machine, one.given.key}, hash_of_token(one.token));
    std::string out;
    append_list(out, *attempts, [](const GivenAttempt& one) { return to_json(one); });
    given(out);
  });
}

// A worker sees its attempts alone: who shows a token that was not given for the record learns
// neither whether there is one nor what became of it.
constexpr const char* kNotLive = "the token does not belong to the live attempt";
constexpr const char* kOver =
    "this attempt is over, stop working: it timed out or lost its lease, or the record moved on";

struct Asked {
  RecordName record;
  std::optional<TokenHash> beat;
};

Asked asked_by(const Stimulus& stimulus) {
  Asked asked{{stimulus.machine, stimulus.key}, std::nullopt};
  if (const auto* beat = std::get_if<Stimulus::Beat>(&stimulus.what)) asked.beat = beat->token_hash;
  return asked;
}

ApiReply reply_to_worker(const Call& call, const Asked& asked, const Result<Answer>& answer) {
  if (!answer) return error_reply(answer.error());
  const bool is_missing =
      answer->kind == Answer::Kind::error &&
      (answer->missing == Answer::Missing::machine || answer->missing == Answer::Missing::record);
  if (!is_missing && answer->kind != Answer::Kind::stale) return reply_of(*answer);
  const Caller& caller = call.request.caller;
  const bool may_fire =
      (caller.roles & kCallers) != 0 && call.may_see_machine(asked.record.machine);
  Answer stale{.kind = Answer::Kind::stale,
               .reason = asked.beat ? kOver : kNotLive,
               .cancel = asked.beat.has_value()};
  if (!is_missing && may_fire) stale.permitted = answer->permitted;
  if (!is_missing && asked.beat && call.given.has(asked.record, *asked.beat))
    stale.reason = answer->reason;
  return reply_of(stale);
}

// Answers of several, collected until the last has come.
struct Collected {
  std::mutex mutex;
  std::vector<Asked> asked;
  std::vector<ApiReply> replies;
  std::size_t open = 0;
};

std::string item_json(const ApiReply& reply) {
  return R"({"status":)" + std::to_string(reply.status) + "," + reply.body.substr(1);
}

// Of a claim within a settle. What was settled is answered all the same when it fails, and a worker
// has to see that from a queue in which nothing is ready.
std::string claimed_members(const Result<std::string>& attempts) {
  if (attempts) return R"(,"attempts":)" + *attempts;
  const std::string reply = error_reply(attempts.error()).body;
  return R"(,"attempts":[],"claim_error":)" + std::string(JsonView(reply).member("error").json());
}

// One attempt as the body, or several as `attempts`; a claim for the next as `claim`.
void settle(const SharedCall& call, Stimulus (*read)(const Call&, JsonBody&)) {
  JsonBody body = call->body();
  std::vector<Stimulus> stimuli;
  const bool is_one = !body.has("attempts");
  std::optional<ClaimRequest> next;
  if (const std::string text = body.map("claim"); !text.empty()) {
    JsonBody wanted(text, "claim");
    auto request = read_claim(*call, wanted);
    if (!request) return call->fail(request.error());
    if (!may_claim(*call, *request)) return;
    next = *std::move(request);
  }
  const std::vector<std::string> items = body.items("attempts");
  if (is_one) stimuli.push_back(read(*call, body));
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  if (items.size() > kItemsMax)
    return call->fail("too_many_items", "`attempts` can have at most 1000 items");
  for (std::size_t i = 0; i < items.size(); ++i) {
    JsonBody item(items[i], "attempts[" + std::to_string(i) + "]");
    stimuli.push_back(read(*call, item));
    if (const auto wrong = item.finish(); !wrong) return call->fail(wrong.error());
  }
  if (is_one && !next) {
    return call->engine.submit(
        stimuli, [call, asked = asked_by(stimuli[0])](std::size_t, const Result<Answer>& answer) {
          call->replied(reply_to_worker(*call, asked, answer));
        });
  }
  const auto collected = std::make_shared<Collected>();
  collected->replies.resize(stimuli.size());
  for (const Stimulus& stimulus : stimuli) collected->asked.push_back(asked_by(stimulus));
  collected->open = stimuli.size() + (next ? 1 : 0) + 1;
  const auto claimed = std::make_shared<std::string>();  // the members that the claim adds
  const auto close = [call, collected, claimed] {
    {
      const std::lock_guard lock(collected->mutex);
      if (--collected->open > 0) return;
    }
    std::string out = R"({"items":)";
    append_list(out, collected->replies, item_json);
    call->ok(out + *claimed + "}");
  };
  call->engine.submit(stimuli,
                      [call, collected, close](std::size_t i, const Result<Answer>& answer) {
                        collected->replies[i] = reply_to_worker(*call, collected->asked[i], answer);
                        close();
                      });
  if (next)
    claim(call, *std::move(next), [claimed, close](const Result<std::string>& attempts) {
      *claimed = claimed_members(attempts);
      close();
    });
  close();  // there may have been nothing to do
}

}  // namespace

void claim_attempts(const SharedCall& call) {
  JsonBody body = call->body();
  auto request = read_claim(*call, body);
  if (!request) return call->fail(request.error());
  if (!may_claim(*call, *request)) return;
  claim(call, *std::move(request), [call](const Result<std::string>& attempts) {
    if (!attempts) return call->fail(attempts.error());
    call->ok(R"({"attempts":)" + *attempts + "}");
  });
}

void beat_attempts(const SharedCall& call) { settle(call, read_beat); }
void settle_done(const SharedCall& call) { settle(call, read_done); }
void settle_fail(const SharedCall& call) { settle(call, read_fail); }

}  // namespace pawl
