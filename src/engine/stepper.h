// Stepper: where decisions and the store meet. A passive object: `step` does one batch.
//
// For one thread at a time. A library: it never exits, writes nothing and installs no handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/claims.h"
#include "engine/lease_grace.h"
#include "engine/machines.h"
#include "engine/meter.h"
#include "engine/pauses.h"
#include "engine/retention.h"
#include "engine/round.h"
#include "engine/token.h"
#include "engine/ward.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "pawl/why.h"
#include "store/store.h"

namespace pawl {

struct StepperOptions {
  Zones zones;
  Guards guards = {};
  std::optional<Instant> closed_at = {};  // when the store was last used; none: it is new
  std::filesystem::path ward = {};        // file of the poison ward; empty: there is none
  std::function<RandomBits()> random = random_bits;  // for attempt tokens
  std::set<std::string> ordered_channels = {};
  Noted noted = {};
  Meter::Noticed noticed = {};
  // What was committed, before anybody is answered.
  std::function<void(std::span<const Unit>)> committed = {};
  // Whether more is about to be asked: then a step does not find out when the next one is due.
  std::function<bool()> has_asked = {};
  std::size_t batch_max = 960;              // stimuli of one batch
  std::size_t batch_bytes_max = 4U << 20U;  // that callers give
};

class Stepper {
 public:
  using Answered = std::function<void(Result<Answer>)>;

  // The store outlives the engine, and is used by nobody else.
  static Result<std::unique_ptr<Stepper>> open(Store& store, StepperOptions options);

  // Decided in one of the next batches, in order. Answered within `step`, after the commit: with an
  // error only when nothing is known to have been done; after `outcome_unknown` not even that.
  void submit(Stimulus stimulus, Answered answered);
  void claim(ClaimRequest request, Claims::Answered answered);
  Result<std::vector<GivenAttempt>> look_at_claim(ClaimRequest request);
  Claims& claims() { return claims_; }

  struct Stepped {
    bool has_more = false;             // something can be done at once
    std::optional<Instant> next = {};  // else: not before then; none: not before it is asked
    std::optional<Instant> due = {};   // the same but for the daily sweep, which nobody waits for
    std::size_t units = 0;             // decisions that were committed
  };
  // One batch. `passed`: the clock is about to move on, so that a deadline at this very instant is
  // due. Fails when the store does; after `outcome_unknown` the engine has stopped, and every
  // further call fails so.
  Result<Stepped> step(bool passed = false);

  // Nothing that is paused is started; durable when it returns. Of unpause: false when it was not
  // paused.
  Result<void> pause(Pause pause);
  Result<bool> unpause(const PauseTarget& target, const Pauses::End& end);
  std::vector<Pause> pauses() { return claims_.pauses().all(); }
  std::vector<Pause> ended_pauses() { return claims_.pauses().ended(); }

  // The channel that is told when the built-in policy gives a record up; empty: none. Durable when
  // it returns.
  Result<void> set_alerts(const std::string& channel);
  const std::string& alerts() const { return alerts_.value; }

  // Why the record, as it was just read, is not moving.
  Result<Why> why(const Record& record);

  Figures figures() const;

  Ward& ward() { return ward_; }

  // Takes nothing more: what waits is answered with an error.
  void close();

  const std::optional<Error>& stopped() const { return stopped_; }
  Machines& machines() { return machines_; }

 private:
  struct Request {
    Stimulus stimulus;
    Answered answered;
    std::string wrong = {};  // with what was given: nothing is decided
  };
  // What a batch is about.
  struct Taken {
    std::vector<Request> requests = {};
    std::vector<Round::Decided> decided = {};  // one for each request
    std::vector<Beat> beats = {};
    std::vector<std::size_t> beating = {};  // which request each beat is of
    bool has_more = false;
    bool is_tied = false;  // a deadline at this very instant is left
  };

  // What there is at the beginning.
  struct Opened {
    Machines machines;
    Pauses pauses;
    DeliveryOrder order;
    Setting alerts;
    Ward ward;
    std::uint64_t last_id;
    Instant at;
  };

  Stepper(Store& store, Opened opened, StepperOptions options);

  void take_requests(Taken& taken);
  Result<void> decide(Round& round, Batch& batch, Taken& taken, bool passed);
  Result<void> hold_poisoned(Round& round);
  Result<void> end_interrupted(Round& round);
  Result<void> take_messages(Round& round, Batch& batch, Taken& taken);
  Result<void> take_due(Round& round, Batch& batch, Taken& taken, bool passed);
  Result<void> take_sends(Round& round, Batch& batch, Taken& taken);
  Result<void> decide_requests(Round& round, Taken& taken);
  Result<void> decide_beats(Round& round, Taken& taken);
  void answer(Taken& taken, std::span<const Unit> units, std::span<const UnitOutcome> outcomes,
              Instant now);
  static void fail_beats(Taken& taken, const Error& error);
  Error fail(Taken& taken, Error error);
  void stop(const Error& error);
  Result<Stepped> rest(const Taken& taken, Instant now);

  Store& store_;
  StepperOptions options_;
  Machines machines_;
  Ward ward_;
  std::uint64_t last_id_;
  LeaseGrace grace_;
  Claims claims_;
  Retention retention_;
  Setting alerts_;
  std::deque<Request> requests_;
  std::vector<Unit> units_;  // of the batch that is under way
  std::vector<UnitBefore> before_;
  Meter meter_;
  std::vector<RecordId> poisoned_;
  std::vector<RecordId> interrupted_;
  std::optional<Error> stopped_;
};

}  // namespace pawl
