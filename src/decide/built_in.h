// Built-in machines: what an effect asks for is carried out by records of their own.
//
// `run` (running; final finished, failed): a task on the side, under its own policy only.
// `send` (sending; final sent): a message that is delayed, or tried until it is accepted.
// `delivery` (sending; final sent): what a channel is to be given.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "pawl/effect.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/stimulus.h"
#include "pawl/zones.h"

namespace pawl {

// What a `run` record runs: kept in its data.
struct SideJob {
  std::string machine;  // whose task it is
  int version = 1;
  std::string task;
  std::string then = {};
  std::string otherwise = {};

  friend auto operator<=>(const SideJob&, const SideJob&) = default;
};
SideJob side_job_of(const Record& run);

// With this code the call of a `send` record is tried again for as long as it takes.
inline constexpr std::string_view kReceiverOnHold = "receiver_on_hold";

// What a `send` record sends: kept in its data.
struct DelayedMessage {
  std::string machine;
  std::string key;
  Stimulus::Sent sent;
  bool must = false;  // a refusal fails the attempt; else it is noted
  // Of a caller who asked for later: a stimulus as text, instead of `sent`. What is not accepted
  // fails at once and for good, since nobody but this record tells the caller.
  std::string call = {};
};
DelayedMessage delayed_message_of(const Record& send);

// What a `delivery` record delivers: kept in its data.
struct ToDeliver {
  std::string channel;
  std::string payload;  // JSON
  RecordId from = {};
};
ToDeliver to_deliver_of(const Record& delivery);

// The stimulus that creates the record which carries out a `notify`, a `run`, or a `send` with `in`
// or `must` to one record. Its `machine` is the built-in one, its `key` the id of the effect.
Stimulus carrier_of(const Effect& effect, const Record& asker, RecordId id, Instant now);

// Makes the machines, each once.
class BuiltIns {
 public:
  explicit BuiltIns(Zones zones);

  // `asker` is the machine and version that the job names.
  std::shared_ptr<const Machine> run(const SideJob& job, const Machine& asker);
  std::shared_ptr<const Machine> send() const { return send_; }
  std::shared_ptr<const Machine> delivery() const { return delivery_; }

 private:
  Zones zones_;
  std::shared_ptr<const Machine> send_;
  std::shared_ptr<const Machine> delivery_;
  std::map<SideJob, std::shared_ptr<const Machine>> runs_;
};

}  // namespace pawl
