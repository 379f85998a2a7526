// Access tokens: listed, made, revoked. All of it is for whoever may do everything: a token for
// some machines must not lead to one for all of them.
#include "api/access.h"
#include "api/call.h"
#include "api/documents.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/text.h"

namespace pawl {
namespace {

// False when the caller was told that it may not.
bool may_give_access(const Call& call) {
  if (!call.request.caller.machines && !call.request.caller.queues) return true;
  call.fail("outside_scope", "this call needs an access token for all machines and queues");
  return false;
}

Result<unsigned> read_roles(JsonBody& body) {
  unsigned roles = 0;
  for (const std::string& word : body.texts("roles")) {
    const unsigned role = role_of(word);
    if (role == 0)
      return Error{ErrorCode::bad_input,
                   "there is no role " + in_ticks(word) + did_you_mean(word, role_words(~0U)) +
                       "; the roles of a machine go into `machine_roles` (--machine-role)"};
    roles |= role;
  }
  return roles;
}

Result<std::optional<Instant>> read_expiry(JsonBody& body, Instant now) {
  auto at = body.instant("expires_at");
  if (const auto in = body.duration("expires_in")) {
    if (at) return Error{ErrorCode::bad_input, "give `expires_at` or `expires_in`, not both"};
    at = now + *in;
    if (*at > kInstantMax)
      return Error{ErrorCode::bad_input, "`expires_in` goes beyond the year 9999"};
  }
  if (at && *at <= now) return Error{ErrorCode::bad_input, "the token would have expired already"};
  return at;
}

Result<AccessToken> read_token(const Call& call, JsonBody& body) {
  const Instant now = call.engine.now();
  AccessToken token{.name = body.required_text("name")};
  const auto roles = read_roles(body);
  token.machine_roles = body.texts("machine_roles");
  if (body.has("machines")) token.machines = body.texts("machines");
  if (body.has("queues")) token.queues = body.texts("queues");
  body.leave("machines");
  body.leave("queues");
  token.act_as = body.boolean("act_as");
  const auto expires_at = read_expiry(body, now);
  PAWL_CHECK(body.finish());
  if (!roles) return roles.error();
  if (!expires_at) return expires_at.error();
  token.roles = *roles;
  token.expires_at = *expires_at;
  token.created_at = now;
  token.made_by = call.acting();
  PAWL_CHECK(check_token(token));
  return token;
}

}  // namespace

void list_tokens(const SharedCall& call) {
  if (!may_give_access(*call)) return;
  std::string out = R"({"items":)";
  const auto write = [](const AccessToken& token) { return to_json(token); };
  append_list(out, call->access.all(), write);
  if (const auto revoked = call->access.revoked(); !revoked.empty())
    append_list(out += R"(,"revoked":)", revoked, write);
  call->ok(out + "}");
}

void create_token(const SharedCall& call) {
  if (!may_give_access(*call)) return;
  JsonBody body = call->body();
  const bool dry_run = body.boolean("dry_run");
  const auto token = read_token(*call, body);
  if (!token) return call->fail(token.error());
  std::string out = to_json(*token);
  if (dry_run) return call->ok(std::move(out));
  const auto text = call->access.create(*token);
  if (!text) return call->fail(text.error());
  out.pop_back();
  call->ok(out + R"(,"token":)" + json_string(*text) + "}");
}

void revoke_token(const SharedCall& call) {
  if (!may_give_access(*call)) return;
  JsonBody body = call->body();
  const std::string name = body.required_text("name");
  const bool dry_run = body.boolean("dry_run");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  bool was_there = false;
  if (dry_run) {
    for (const AccessToken& token : call->access.all()) was_there = was_there || token.name == name;
  } else {
    const auto revoked = call->access.revoke(name, call->acting());
    if (!revoked) return call->fail(revoked.error());
    was_there = *revoked;
  }
  if (!was_there) return call->fail("no_such_token", "there is no access token " + in_ticks(name));
  call->ok(R"({"revoked":true})");
}

}  // namespace pawl
