#include "api/access.h"

#include <algorithm>
#include <array>

#include "api/documents.h"
#include "api/json_body.h"
#include "base/json_text.h"
#include "base/text.h"
#include "decide/json_edit.h"
#include "engine/token.h"
#include "model/expression/json_view.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr std::string_view kPrefix = "access:";
constexpr std::string_view kOperatorRole = "operator";
constexpr std::string_view kEngineRole = "engine";
constexpr std::size_t kNameMax = 256;
constexpr std::size_t kNamesMax = 1'000;
constexpr std::size_t kTokensMax = 1'000;

constexpr std::pair<std::string_view, Role> kRoles[] = {{"viewer", kViewer},
                                                        {"app", kApp},
                                                        {"worker", kWorker},
                                                        {"operator", kOperator},
                                                        {"admin", kAdmin}};

std::string hex_of(const TokenHash& hash) {
  std::string hex;
  for (const std::byte byte : hash) {
    const auto value = std::to_integer<unsigned>(byte);
    hex += "0123456789abcdef"[value >> 4U];
    hex += "0123456789abcdef"[value & 15U];
  }
  return hex;
}

std::optional<TokenHash> read_hex(std::string_view hex) {
  TokenHash hash{};
  if (hex.size() != hash.size() * 2) return std::nullopt;
  const auto digit = [](char c) { return is_digit(c) ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < hash.size(); ++i)
    hash[i] = static_cast<std::byte>(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
  return hash;
}

void put_texts(JsonMap& map, std::string_view name, const std::vector<std::string>& texts) {
  append_list(map.member(name), texts, [](const std::string& text) { return json_string(text); });
}

std::optional<AccessToken> read_token(const std::string& json) {
  JsonBody body(json);
  AccessToken token{.name = body.required_text("name")};
  for (const std::string& role : body.texts("roles")) token.roles |= role_of(role);
  token.machine_roles = body.texts("machine_roles");
  if (body.has("machines")) token.machines = body.texts("machines");
  if (body.has("queues")) token.queues = body.texts("queues");
  token.act_as = body.boolean("act_as");
  token.created_at = body.instant("created_at").value_or(Instant{});
  token.expires_at = body.instant("expires_at");
  token.made_by = body.text("made_by");
  token.revoked_at = body.instant("revoked_at");
  token.revoked_by = body.text("revoked_by");
  return token.name.empty() ? std::nullopt : std::optional(token);
}

bool is_expired(const AccessToken& token, Instant now) {
  return token.expires_at && *token.expires_at <= now;
}

bool is_reserved(std::string_view role) { return role == kOperatorRole || role == kEngineRole; }

// What happens by itself is the engine's, and nobody else may be taken for it.
Result<void> check_actor_name(const std::string& name) {
  if (name.empty() || name.size() > kNameMax)
    return Error{ErrorCode::bad_input, "a name must have 1 to 256 bytes"};
  if (name == kEngineRole) return Error{ErrorCode::bad_input, "the name `engine` is reserved"};
  return {};
}

Result<void> check_names(std::string_view what, const std::vector<std::string>& names) {
  if (names.size() > kNamesMax)
    return Error{ErrorCode::bad_input, in_ticks(what) + " can have at most 1000 items"};
  for (const std::string& name : names)
    if (name.empty() || name.size() > kNameMax)
      return Error{ErrorCode::bad_input, in_ticks(what) + ": a name must have 1 to 256 bytes"};
  return {};
}

ApiReply may_not_act_as(const std::string& message) {
  return error_reply("may_not_act_as", message);
}

}  // namespace

unsigned role_of(std::string_view word) {
  for (const auto& [name, role] : kRoles)
    if (name == word) return role;
  return 0;
}

std::vector<std::string> role_words(unsigned roles) {
  std::vector<std::string> words;
  for (const auto& [name, role] : kRoles)
    if ((roles & role) != 0) words.emplace_back(name);
  return words;
}

std::string to_json(const AccessToken& token) {
  std::string out;
  {
    JsonMap map(out);
    map.text("name", token.name);
    put_texts(map, "roles", role_words(token.roles));
    if (!token.machine_roles.empty()) put_texts(map, "machine_roles", token.machine_roles);
    if (token.machines) put_texts(map, "machines", *token.machines);
    if (token.queues) put_texts(map, "queues", *token.queues);
    if (token.act_as) map.boolean("act_as", true);
    map.text("created_at", to_text(token.created_at));
    if (token.expires_at) map.text("expires_at", to_text(*token.expires_at));
    if (!token.made_by.empty()) map.text("made_by", token.made_by);
    if (token.revoked_at) {
      map.text("revoked_at", to_text(*token.revoked_at));
      map.text("revoked_by", token.revoked_by);
    }
  }
  return out;
}

Result<std::unique_ptr<Access>> Access::open(Engine& engine, std::function<void()> on_revoked) {
  std::unique_ptr<Access> access(new Access(engine, std::move(on_revoked)));
  PAWL_TRY(const auto settings, engine.settings(std::string(kPrefix)));
  for (const Setting& setting : settings) {
    const auto hash = read_hex(std::string_view(setting.name).substr(kPrefix.size()));
    if (setting.value.empty() || !hash) continue;
    const auto token = read_token(setting.value);
    if (!token) continue;
    (token->revoked_at ? access->revoked_ : access->tokens_)[*hash] = {*token, setting};
  }
  return access;
}

Result<void> check_token(const AccessToken& token) {
  PAWL_CHECK(check_actor_name(token.name));
  if (token.roles == 0)
    return Error{ErrorCode::bad_input,
                 "an access token needs a role: viewer, app, worker, operator or admin"};
  PAWL_CHECK(check_names("machine_roles", token.machine_roles));
  for (const std::string& role : token.machine_roles)
    if (is_reserved(role))
      return Error{
          ErrorCode::bad_input,
          in_ticks(role) +
              " cannot be a machine role: `operator` comes with the roles operator and admin, and "
              "`engine` is reserved"};
  if (token.machines) PAWL_CHECK(check_names("machines", *token.machines));
  if (token.queues) PAWL_CHECK(check_names("queues", *token.queues));
  return {};
}

// What is looked for is the hash: how long that takes says nothing of the token, so that nothing
// needs to be compared in constant time.
std::optional<Caller> Access::find(std::string_view token, Instant now) const {
  const TokenHash hash = hash_of_token(token);
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(hash);
  if (token.empty() || found == tokens_.end()) return std::nullopt;
  const AccessToken& kept = found->second.token;
  if (is_expired(kept, now)) return std::nullopt;
  Caller caller{.roles = kept.roles, .machines = kept.machines, .queues = kept.queues};
  caller.actor = {.name = kept.name, .roles = kept.machine_roles};
  if ((kept.roles & (kOperator | kAdmin)) != 0) caller.actor.roles.emplace_back(kOperatorRole);
  caller.act_as = kept.act_as;
  caller.in_force = [this, hash] { return is_in_force(hash, engine_.now()); };
  return caller;
}

bool Access::is_in_force(const TokenHash& hash, Instant now) const {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(hash);
  return found != tokens_.end() && !is_expired(found->second.token, now);
}

std::optional<std::pair<TokenHash, Access::Kept>> Access::find_name(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  for (const auto& one : tokens_)
    if (one.second.token.name == name) return one;
  return std::nullopt;
}

Result<std::string> Access::create(AccessToken token) {
  PAWL_CHECK(check_token(token));
  const std::lock_guard changes(changes_);
  if (find_name(token.name))
    return Error{ErrorCode::bad_input, "the access token " + in_ticks(token.name) +
                                           " already exists: revoke it, or choose another name"};
  if (all().size() >= kTokensMax)
    return Error{ErrorCode::bad_input, "there are 1000 access tokens already: revoke some"};
  std::string text = "pawl_" + token_text(random_bits());
  const TokenHash hash = hash_of_token(text);
  const Setting setting{.name = std::string(kPrefix) + hex_of(hash), .value = to_json(token)};
  PAWL_TRY(Setting put, engine_.put_setting(setting));
  PAWL_ASSERT(put.value == setting.value, "128 random bits are not drawn twice");
  const Notice notice{.kind = Notice::Kind::token_made,
                      .at = token.created_at,
                      .subject = token.name,
                      .actor = token.made_by};
  {
    const std::lock_guard lock(mutex_);
    tokens_[hash] = {std::move(token), std::move(put)};
  }
  engine_.tell(notice);
  return text;
}

Result<bool> Access::revoke(const std::string& name, const std::string& by) {
  const std::lock_guard changes(changes_);
  const auto found = find_name(name);
  if (!found) return false;
  Kept gone = found->second;
  gone.token.revoked_at = engine_.now();
  gone.token.revoked_by = by;
  gone.setting.value = to_json(gone.token);
  PAWL_TRY(Setting put, engine_.put_setting(gone.setting));
  if (put.value != gone.setting.value) {   // somebody has written it since: what is revoked is what
    gone.setting.revision = put.revision;  // is there
    PAWL_TRY(put, engine_.put_setting(gone.setting));
  }
  if (put.value != gone.setting.value)
    return Error{ErrorCode::environment,
                 "the access token " + in_ticks(name) +
                     " was changed by somebody else and is still valid: revoke it again"};
  gone.setting = std::move(put);
  const Notice notice{.kind = Notice::Kind::token_revoked,
                      .at = *gone.token.revoked_at,
                      .subject = name,
                      .actor = by};
  {
    const std::lock_guard lock(mutex_);
    tokens_.erase(found->first);
    revoked_[found->first] = std::move(gone);
  }
  if (on_revoked_) on_revoked_();
  engine_.tell(notice);
  PAWL_CHECK(forget_oldest());
  return true;
}

// With `changes_` held.
Result<void> Access::forget_oldest() {
  std::pair<TokenHash, Setting> oldest;
  {
    const std::lock_guard lock(mutex_);
    if (revoked_.size() <= kRevokedMax) return {};
    const auto found =
        std::min_element(revoked_.begin(), revoked_.end(), [](const auto& a, const auto& b) {
          return a.second.token.revoked_at < b.second.token.revoked_at;
        });
    oldest = {found->first, found->second.setting};
  }
  oldest.second.value.clear();
  PAWL_CHECK(engine_.put_setting(oldest.second));
  const std::lock_guard lock(mutex_);
  revoked_.erase(oldest.first);
  return {};
}

std::vector<AccessToken> Access::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<AccessToken> all;
  for (const auto& [hash, kept] : tokens_) all.push_back(kept.token);
  std::sort(all.begin(), all.end(),
            [](const AccessToken& a, const AccessToken& b) { return a.name < b.name; });
  return all;
}

std::vector<AccessToken> Access::revoked() const {
  const std::lock_guard lock(mutex_);
  std::vector<AccessToken> all;
  for (const auto& [hash, kept] : revoked_) all.push_back(kept.token);
  std::sort(all.begin(), all.end(), [](const AccessToken& a, const AccessToken& b) {
    return std::pair(b.revoked_at, a.name) < std::pair(a.revoked_at, b.name);
  });
  return all;
}

// --- in the name of others ---------------------------------------------------------------------

namespace {

// The caller acts as this one from now on; else the reply that says why not.
std::optional<ApiReply> act_as(Caller& caller, Actor actor, std::string_view roles_name) {
  if (const auto wrong = check_actor_name(actor.name); !wrong) return error_reply(wrong.error());
  if (const auto wrong = check_names(roles_name, actor.roles); !wrong)
    return error_reply(wrong.error());
  const bool is_operator = (caller.roles & (kOperator | kAdmin)) != 0;
  for (const std::string& role : actor.roles)
    if (role == kEngineRole || (role == kOperatorRole && !is_operator))
      return may_not_act_as("this access token cannot grant the role " + in_ticks(role));
  actor.via = caller.actor.name;
  caller.actor = std::move(actor);
  return std::nullopt;
}

std::optional<ApiReply> refused_to_act(const Caller& caller) {
  if (caller.act_as) return std::nullopt;
  return may_not_act_as(
      "this access token may not act as somebody else: leave `actor` out, or use a token created "
      "with act_as");
}

}  // namespace

std::optional<ApiReply> take_actor_of_query(ApiRequest& request) {
  Actor actor;
  bool is_asked = false;
  for (const auto& [name, value] : request.query) {
    if (name == "actor") actor.name = value;
    if (name == "role") actor.roles.push_back(value);
    is_asked = is_asked || name == "actor" || name == "role";
  }
  if (!is_asked) return std::nullopt;
  if (auto refused = refused_to_act(request.caller)) return refused;
  if (actor.name.empty()) return error_reply("bad_request", "`role` needs `actor`");
  return act_as(request.caller, std::move(actor), "role");
}

std::optional<ApiReply> take_actor(ApiRequest& request) {
  // Most bodies have none, and are read once, by their route. One that writes the word with escapes
  // gets no actor by that: to its route it is a member that does not belong there.
  if (request.body.find(R"("actor")") == std::string::npos || !check_json(request.body))
    return std::nullopt;
  const JsonView given = JsonView(request.body).member("actor");
  if (given.absent() || given.kind() == JsonView::Kind::null) return std::nullopt;
  Caller& caller = request.caller;
  if (auto refused = refused_to_act(caller)) return refused;
  if (given.kind() != JsonView::Kind::map)
    return error_reply("bad_request", "`actor` must be a map: {\"name\", \"roles\"}");
  const std::string json(given.json());
  JsonBody body(json, "actor");
  Actor actor{.name = body.required_text("name"), .roles = body.texts("roles")};
  if (const auto wrong = body.finish(); !wrong) return error_reply(wrong.error());
  return act_as(caller, std::move(actor), "actor.roles");
}

}  // namespace pawl
