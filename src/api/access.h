// Access: who may call, and what for. Access tokens are kept as settings of the store, as hashes: a
// copy of the store lets nobody in.
#pragma once

#include <map>
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
  std::string name;  // unique among those in force; the actor of its calls
  unsigned roles = 0;
  std::vector<std::string> machine_roles = {};  // what `by` and `actor.roles` see
  std::optional<std::vector<std::string>> machines = {};
  std::optional<std::vector<std::string>> queues = {};
  bool act_as = false;  // may call in the name of others
  Instant created_at = {};
  std::optional<Instant> expires_at = {};
  std::string made_by = {};
};
std::string to_json(const AccessToken& token);

class Access {
 public:
  // Reads the tokens. The engine outlives it.
  static Result<std::unique_ptr<Access>> open(Engine& engine);

  // Whom a token lets in; none when it is unknown, revoked or expired. From any thread.
  std::optional<Caller> find(std::string_view token, Instant now) const;
  bool may_act_as(std::string_view token) const;

  // The text of a new token, which is not kept: who loses it needs another. Fails when the name is
  // taken.
  Result<std::string> create(AccessToken token);
  // False: there is none of that name.
  Result<bool> revoke(const std::string& name);
  std::vector<AccessToken> all() const;

 private:
  struct Kept {
    AccessToken token;
    Setting setting;
  };

  explicit Access(Engine& engine) : engine_(engine) {}

  Engine& engine_;
  mutable std::mutex mutex_;
  std::map<TokenHash, Kept> tokens_;
};

}  // namespace pawl
