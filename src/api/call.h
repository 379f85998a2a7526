// Call: one request on its way through its route.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/api.h"
#include "api/json_body.h"
#include "pawl/engine.h"

namespace pawl {

struct Call {
  Engine& engine;
  Access& access;
  GivenTokens& given;
  const Api::WhyNotReady& why_not_ready;
  PipeBoard* pipes;  // none: there are no pipes
  ApiRequest request;
  std::vector<std::string> parameters;  // of the path, in its order
  Api::Replied replied;

  RecordName name() const { return {parameters[0], parameters[1]}; }
  std::string query(std::string_view key) const;
  JsonBody body() const;  // of the request; who acts has been read
  // Who is named where there is room for one name: `ann via shop`.
  std::string acting() const;

  bool may_see_machine(const std::string& machine) const;
  bool may_use_queue(const std::string& queue) const;
  // Whether the access token has not been revoked and has not expired since it was shown.
  bool is_in_force() const { return !request.caller.in_force || request.caller.in_force(); }

  // What is of no machine and no queue is for tokens without a scope. False when the caller was
  // told so.
  bool is_for_everything() const;

  void ok(std::string json) const { replied({200, std::move(json)}); }
  void answer(const Result<Answer>& answer) const;
  void fail(const Error& error) const { replied(error_reply(error)); }
  void fail(std::string_view id, const std::string& message) const {
    replied(error_reply(id, message));
  }
};
using SharedCall = std::shared_ptr<const Call>;

// Status and body of an answer.
ApiReply reply_of(const Answer& answer);
// The body with its status as the first member: one of several replies in one.
std::string with_status(const ApiReply& reply);
ApiReply outside_machine(const std::string& machine);
ApiReply outside_queue(const std::string& queue);

inline constexpr unsigned kCallers = kApp | kOperator | kAdmin;  // who may fire
inline constexpr Duration kWaitMax = std::chrono::seconds{60};   // the longest `wait`

// One of each row of the table of routes.
using Handle = void (*)(const SharedCall&);

void show_health(const SharedCall& call);
void show_readiness(const SharedCall& call);
void show_openapi(const SharedCall& call);

void apply_machines(const SharedCall& call);
void list_machines(const SharedCall& call);
void show_machine(const SharedCall& call);
void show_version(const SharedCall& call);

void list_records(const SharedCall& call);
void create_record(const SharedCall& call);
void show_record(const SharedCall& call);
void show_log(const SharedCall& call);
void show_why(const SharedCall& call);
void show_permitted(const SharedCall& call);
void fire_event(const SharedCall& call);
void give_order(const SharedCall& call);
void carry_out_batch(const SharedCall& call);
void show_feed(const SharedCall& call);
void listen_to_feed(const SharedCall& call);
void show_counts(const SharedCall& call);
void show_errors(const SharedCall& call);

void claim_attempts(const SharedCall& call);
void beat_attempts(const SharedCall& call);
void settle_done(const SharedCall& call);
void settle_fail(const SharedCall& call);

void list_pauses(const SharedCall& call);
void set_pause(const SharedCall& call);
void end_pause(const SharedCall& call);

void list_pipes(const SharedCall& call);
void show_pipe(const SharedCall& call);
void show_partition(const SharedCall& call);
void pause_partition(const SharedCall& call);
void resume_partition(const SharedCall& call);
void skip_message(const SharedCall& call);

void show_metrics(const SharedCall& call);
void show_clock(const SharedCall& call);
void advance_clock(const SharedCall& call);

void list_tokens(const SharedCall& call);
void create_token(const SharedCall& call);
void revoke_token(const SharedCall& call);

}  // namespace pawl
