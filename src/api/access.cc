#include "api/access.h"

#include <algorithm>
#include <array>

#include "api/documents.h"
#include "api/json_body.h"
#include "base/json_text.h"
#include "base/text.h"
#include "decide/json_edit.h"
#include "engine/token.h"

namespace pawl {
namespace {

constexpr std::string_view kPrefix = "access:";

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
  return token.name.empty() ? std::nullopt : std::optional(token);
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
  }
  return out;
}

Result<std::unique_ptr<Access>> Access::open(Engine& engine) {
  std::unique_ptr<Access> access(new Access(engine));
  PAWL_TRY(const auto settings, engine.settings(std::string(kPrefix)));
  for (const Setting& setting : settings) {
    const auto hash = read_hex(std::string_view(setting.name).substr(kPrefix.size()));
    if (setting.value.empty() || !hash) continue;
    if (auto token = read_token(setting.value)) access->tokens_[*hash] = {*token, setting};
  }
  return access;
}

std::optional<Caller> Access::find(std::string_view token, Instant now) const {
  const TokenHash hash = hash_of_token(token);
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(hash);
  if (token.empty() || found == tokens_.end()) return std::nullopt;
  const AccessToken& kept = found->second.token;
  if (kept.expires_at && *kept.expires_at <= now) return std::nullopt;
  Caller caller{.roles = kept.roles, .machines = kept.machines, .queues = kept.queues};
  caller.actor = {kept.name, kept.machine_roles};
  if ((kept.roles & (kOperator | kAdmin)) != 0) caller.actor.roles.emplace_back("operator");
  return caller;
}

bool Access::may_act_as(std::string_view token) const {
  const TokenHash hash = hash_of_token(token);
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(hash);
  return found != tokens_.end() && found->second.token.act_as;
}

Result<std::string> Access::create(AccessToken token) {
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, kept] : tokens_)
    if (kept.token.name == token.name)
      return Error{ErrorCode::bad_input, "there is an access token " + in_ticks(token.name) +
                                             " already: revoke it, or choose another name"};
  std::string text = "pawl_" + token_text(random_bits());
  const TokenHash hash = hash_of_token(text);
  Setting setting{.name = std::string(kPrefix) + hex_of(hash), .value = to_json(token)};
  PAWL_TRY(setting, engine_.put_setting(setting));
  tokens_[hash] = {std::move(token), std::move(setting)};
  return text;
}

Result<bool> Access::revoke(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const auto& one) { return one.second.token.name == name; });
  if (found == tokens_.end()) return false;
  Setting gone = found->second.setting;
  gone.value.clear();
  PAWL_CHECK(engine_.put_setting(gone));
  tokens_.erase(found);
  return true;
}

std::vector<AccessToken> Access::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<AccessToken> all;
  for (const auto& [hash, kept] : tokens_) all.push_back(kept.token);
  std::sort(all.begin(), all.end(),
            [](const AccessToken& a, const AccessToken& b) { return a.name < b.name; });
  return all;
}

}  // namespace pawl
