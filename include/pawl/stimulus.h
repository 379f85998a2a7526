// Stimulus: anything that makes Pawl decide; Answer: what the caller is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/record.h"
#include "pawl/time.h"

namespace pawl {

class Machine;

// The answer given to an idempotency key, and a hash of what was asked.
struct Remembered {
  std::uint64_t content = 0;
  std::string answer;  // JSON

  friend bool operator==(const Remembered&, const Remembered&) = default;
};

// Whether the record that an effect would make exists; if not, what a new one would be.
struct KnownRecord {
  std::string machine;
  std::string key;
  RecordId id = {};  // 0: there is none
  std::optional<RecordId> parent = {};
  std::string initial = {};    // where a new record begins
  bool initial_final = false;  // and whether it is final there
  std::string unfit = {};      // why no new record can have this data
  std::string data = {};       // of one that is asked for: what the effect gives it

  friend bool operator==(const KnownRecord&, const KnownRecord&) = default;
};

namespace stimulus {

struct Create {
  RecordId id = {};  // for the new record
  std::string data = "{}";
  std::optional<Parent> parent = {};
  std::string event = {};  // fired in the same commit, or empty
  std::string payload = "{}";
  std::optional<Instant> ready_at = {};  // of the engine's own: its task not before then

  friend bool operator==(const Create&, const Create&) = default;
};
struct Fire {
  std::string event;
  std::string payload = "{}";
  std::optional<Create> create = {};  // create or fire: what to create when there is no record
};
struct Start {
  TokenHash token_hash = {};
  std::string worker = {};
  std::vector<std::string> slots = {};  // that the attempt takes
};
struct Beat {
  TokenHash token_hash = {};
  std::string progress = {};
};
struct Done {
  TokenHash token_hash = {};
  std::string result = "{}";
};
struct Fail {
  TokenHash token_hash = {};
  Failure error;
};
// The engine's own: something is due.
struct Wake {
  bool passed = false;  // the clock has passed `now`: a deadline at `now` itself is due
};
// From the inbox: an event another record sent.
struct Sent {
  std::string event;
  std::string payload = "{}";
  RecordId from = {};
  std::optional<int> epoch_only = {};
};
// From the inbox: a child moved.
struct ChildChanged {
  RecordId child = {};
  std::string machine;
  std::string was = {};  // empty: it is new
  std::string is = {};
  bool was_final = false;
  bool is_final = false;
  bool was_held = false;
  bool is_held = false;
};
struct Order {
  enum class Verb { retry, release, hold, move, patch, migrate, erase };

  Verb verb = Verb::retry;
  std::string reason = {};
  std::string text = {};   // of `hold`
  std::string code = {};   // of `hold` by the engine itself: `poison`, `loop`
  std::string state = {};  // of `move`
  std::string data = {};   // of `patch`: a merge patch (RFC 7396)
};

}  // namespace stimulus

struct Stimulus {
  using Create = stimulus::Create;
  using Fire = stimulus::Fire;
  using Start = stimulus::Start;
  using Beat = stimulus::Beat;
  using Done = stimulus::Done;
  using Fail = stimulus::Fail;
  using Wake = stimulus::Wake;
  using Sent = stimulus::Sent;
  using ChildChanged = stimulus::ChildChanged;
  using Order = stimulus::Order;

  std::variant<Create, Fire, Start, Beat, Done, Fail, Wake, Sent, ChildChanged, Order> what;
  std::string machine = {};
  std::string key = {};
  Actor actor = {};
  std::string idempotency_key = {};
  std::optional<Remembered> remembered = {};  // what is stored under that key
  std::vector<KnownRecord> known = {};        // what an earlier answer needed
  const Machine* newest = nullptr;            // a later version, which the record may follow
  std::optional<Instant> at = {};             // of create and fire: not before then
  std::string alerts = {};                    // the channel of alerts, or empty: there is none
  bool dry_run = false;                       // decided and answered, not committed
};

// Why an event was not accepted.
struct FailedGuard {
  std::string event;
  std::string guard;                // as written
  std::vector<std::string> values;  // `data.amount = 0`, of what it reads

  friend bool operator==(const FailedGuard&, const FailedGuard&) = default;
};

struct Answer {
  enum class Kind { ok, refused, stale, duplicate, none, error };
  enum class Missing { nothing, machine, record, role };

  Kind kind = Kind::ok;
  std::string reason = {};  // a sentence, for all but `ok`
  // Of an error: what it was for does not exist. Of a refusal: the actor has none of the roles.
  Missing missing = Missing::nothing;
  std::string state = {};
  std::int64_t revision = 0;
  std::string result = {};  // of a record that is there already
  std::vector<std::string> permitted = {};
  std::vector<FailedGuard> guards = {};
  bool cancel = false;                 // of a stale beat: stop working
  bool waits = false;                  // of a message: it stays in the inbox until the hold is over
  std::vector<KnownRecord> need = {};  // asked for: look these up, and ask again with them

  // Of a call for later: the `send` record that makes it, and has its outcome. Of a start: what the
  // worker gets.
  std::string machine = {};
  std::string key = {};
  std::string task = {};
  int attempt = 0;
  std::int64_t fence = 0;
  std::string outside_key = {};
  std::string payload = {};
  std::string progress = {};
  std::optional<Instant> lease_until = {};
  std::optional<Instant> deadline_at = {};

  friend bool operator==(const Answer&, const Answer&) = default;
};

std::string_view to_text(Answer::Kind kind);

}  // namespace pawl
