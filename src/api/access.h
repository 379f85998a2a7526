// Access: who may call, and what for. Access tokens are kept as settings of the store, as hashes: a
// copy of the store lets nobody in.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/api.h"
#include "pawl/engine.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// The words of roles, `viewer app worker operator admin`; 0 when it is none of them.
unsigned role_of(std::string_view word);
std::vector<std::string> role_words(unsigned roles);

struct AccessToken {
  std::string name;  // unique; the actor of its calls
  unsigned roles = 0;
  std::vector<std::string> machine_roles = {};  // what `by` and `actor.roles` see
  std::optional<std::vector<std::string>> machines = {};
  std::optional<std::vector<std::string>> queues = {};
  bool act_as = false;  // may call in the name of others
  Instant created_at = {};
  std::optional<Instant> expires_at = {};
  std::string made_by = {};
  std::optional<Instant> revoked_at = {};  // it lets nobody in from then on
  std::string revoked_by = {};
};
std::string to_json(const AccessToken& token);

// Fails when it could not be: without a name or a role, with a role that is the engine's to give,
// with more names than a list may have.
Result<void> check_token(const AccessToken& token);

class Access {
 public:
  // Reads the tokens. The engine outlives it. `on_revoked`: for what goes on after a call.
  static Result<std::unique_ptr<Access>> open(Engine& engine,
                                              std::function<void()> on_revoked = {});

  // Whom a token lets in; none when it is unknown, revoked or expired. From any thread, and it
  // never waits for a commit. The caller may ask it again (Caller::in_force) for as long as it
  // lives.
  std::optional<Caller> find(std::string_view token, Instant now) const;

  // The text of a new token, which is not kept: who loses it needs another. Fails when the name is
  // taken. Both wait until it is durable.
  Result<std::string> create(AccessToken token);
  // It lets nobody in from here on. False: there is none of that name.
  Result<bool> revoke(const std::string& name, const std::string& by);
  std::vector<AccessToken> all() const;
  // Those that were revoked, the latest first; at most kRevokedMax.
  std::vector<AccessToken> revoked() const;

  static constexpr std::size_t kRevokedMax = 1'000;

 private:
  struct Kept {
    AccessToken token;
    Setting setting;
  };

  Access(Engine& engine, std::function<void()> on_revoked)
      : engine_(engine), on_revoked_(std::move(on_revoked)) {}

  bool is_in_force(const TokenHash& hash, Instant now) const;
  std::optional<std::pair<TokenHash, Kept>> find_name(const std::string& name) const;
  Result<void> forget_oldest();

  Engine& engine_;
  std::function<void()> on_revoked_;
  // Whoever changes tokens holds it over a commit; so the thread that commits must never want it.
  std::mutex changes_;
  mutable std::mutex mutex_;  // of the map, and never held while something is waited for
  std::map<TokenHash, Kept> tokens_;
  std::map<TokenHash, Kept> revoked_;  // to be read again, and for nothing else
};

// Who acts, when the body of the request says so by `actor`: then that is the actor of the caller,
// via the access token. A reply: this is refused.
std::optional<ApiReply> take_actor(ApiRequest& request);
// The same of what only looks: `actor` and any number of `role` in the query.
std::optional<ApiReply> take_actor_of_query(ApiRequest& request);

}  // namespace pawl
