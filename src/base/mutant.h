// Mutants: rules that are broken on purpose, one at a time, to see that the simulation notices.
//
// Only in a build with PAWL_MUTANTS, and only for tests/sim. Everywhere else `mutant` is false at
// compile time, and nothing of it is left.
#pragma once

#include <array>
#include <string_view>

namespace pawl {

enum class Mutant {
  none,
  no_fence,                      // a settle is not held against the token of the live attempt
  no_compare,                    // a unit is carried out on whatever the record has become
  token_reused,                  // all attempts get the same token
  answer_before_commit,          // callers hear of what is not durable yet
  message_after_commit,          // messages are sent in a transaction of their own
  delivery_id_with_attempt,      // what has a key is delivered anew by each attempt
  lost_wake_up,                  // the engine does not ask to be called again
  retry_off_by_one,              // one delay more than there is
  lost_race_unnoticed,           // a unit that was not carried out is answered as if it were
  lost_unit_goes_on,             // what stands on a unit that was lost is carried out
  slot_leaked,                   // an attempt that is over keeps its place under a limit
  lease_lost_without_new_fence,  // the next attempt has the fence of the one that was lost
  request_forgotten,             // an idempotency key is not stored
  inbox_not_opened,              // what waited for the end of a hold goes on waiting
  child_not_counted,             // a parent is not told that its child has moved
  commit_not_synced,             // a commit is not made durable
  canary,                        // always noticed
};

inline constexpr std::array<std::string_view, 18> kMutants{"none",
                                                           "no_fence",
                                                           "no_compare",
                                                           "token_reused",
                                                           "answer_before_commit",
                                                           "message_after_commit",
                                                           "delivery_id_with_attempt",
                                                           "lost_wake_up",
                                                           "retry_off_by_one",
                                                           "lost_race_unnoticed",
                                                           "lost_unit_goes_on",
                                                           "slot_leaked",
                                                           "lease_lost_without_new_fence",
                                                           "request_forgotten",
                                                           "inbox_not_opened",
                                                           "child_not_counted",
                                                           "commit_not_synced",
                                                           "canary"};
static_assert(kMutants.size() == static_cast<std::size_t>(Mutant::canary) + 1);

#ifdef PAWL_MUTANTS
inline Mutant mutant_in_force = Mutant::none;  // set once, before anything else
inline bool mutant(Mutant which) { return mutant_in_force == which; }
#else
constexpr bool mutant(Mutant) { return false; }
#endif

}  // namespace pawl
