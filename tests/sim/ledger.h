// Ledger: what the engine has answered, and what therefore has to be true in the store, after any
// crash and at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/claims.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "snapshot.h"

namespace pawl::sim {

using RequestId = std::size_t;

class Ledger {
 public:
  // A request that a client will make, once or more often. `mark`: what its row writes into
  // `data.seen`.
  RequestId add(Stimulus stimulus, std::string mark = {});
  // One that has the key of `first`, which was applied: it is not, as long as that is remembered.
  RequestId add_other_body(Stimulus stimulus, RequestId first);
  const Stimulus& stimulus(RequestId id) const { return requests_[id].stimulus; }

  void submitted(RequestId id, Instant now);
  // By the engine; whether or not the answer arrives anywhere. Breaks when it cannot be true.
  void answered(RequestId id, const Result<Answer>& answer, Instant now);
  // An attempt was given to a worker, whether or not that worker hears of it.
  void given(const GivenAttempt& attempt);
  // Another node has changed a record.
  void changed(const Record& record, std::string mark);

  bool is_applied(RequestId id) const { return requests_[id].is_ok; }
  std::vector<RecordName> names() const;  // that somebody asked for

  // Everything answered is there, once. `is_settled`: and nothing is on its way any more.
  void check(const Snapshot& snapshot, Instant now, bool is_settled) const;

 private:
  struct Request {
    Stimulus stimulus;
    std::string mark;
    int submitted = 0;
    Instant asked_at = {};  // first: it may have been applied then, even if nobody was told
    int undone = 0;         // answered that nothing was done
    bool is_ok = false;
    std::optional<RequestId> other_body_of = {};
    Answer answer = {};  // the first `ok`
  };
  // What is known of one record.
  struct Known {
    std::map<std::int64_t, std::string> states;  // acknowledged, by revision
    std::int64_t fence = 0;                      // of the attempt given last
    TokenHash token = {};                        // of it
    Instant deadline_at = {};
    bool is_settled = false;  // that attempt
    bool is_created = false;  // somebody was told so
    std::vector<std::string> rival_marks = {};
  };

  void settled(const Request& request, const Answer& answer, Instant now);
  void acknowledge(const RecordName& name, const Answer& answer);
  void check_record(const RecordName& name, const Known& known, const Snapshot& snapshot) const;
  void check_request(const Request& request, const Snapshot& snapshot, Instant now,
                     bool is_settled) const;
  void check_messages(const Request& request, int applied, const Snapshot& snapshot, Instant now,
                      bool is_settled) const;

  std::vector<Request> requests_;
  std::map<RecordName, Known> known_;
  std::set<std::string> tokens_;
  std::optional<Instant> began_at_;  // at the first answer
  Instant latest_ = {};              // that was ever reached
};

}  // namespace pawl::sim
