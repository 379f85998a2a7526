#include "ledger.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "broken.h"
#include "decide/built_in.h"
#include "engine/token.h"
#include "model/built_in_names.h"

namespace pawl::sim {
namespace {

RecordName record_of(const Stimulus& stimulus) { return {stimulus.machine, stimulus.key}; }
std::string name_text(const RecordName& name) { return name.machine + "/" + name.key; }

int count_of(const std::string& mark, const std::string& data) {
  const std::string marked = mark + ";";
  int count = 0;
  for (std::size_t at = data.find(marked); at != std::string::npos;
       at = data.find(marked, at + 1)) {
    const bool is_whole = at > 0 && (data[at - 1] == '"' || data[at - 1] == ';');
    count += is_whole ? 1 : 0;
  }
  return count;
}

bool is_erased(const std::vector<Entry>& log) {
  return std::any_of(log.begin(), log.end(),
                     [](const Entry& entry) { return entry.kind == Entry::Kind::erased; });
}

const std::string* event_of(const Stimulus& stimulus) {
  if (const auto* fire = std::get_if<Stimulus::Fire>(&stimulus.what)) return &fire->event;
  return nullptr;
}

const TokenHash* token_of(const Stimulus& stimulus) {
  if (const auto* done = std::get_if<Stimulus::Done>(&stimulus.what)) return &done->token_hash;
  if (const auto* fail = std::get_if<Stimulus::Fail>(&stimulus.what)) return &fail->token_hash;
  return nullptr;
}

// A key is remembered for seven days; a clock that has gone back since makes them shorter.
bool may_be_forgotten(Instant applied_at, Instant now) {
  return now - applied_at >= std::chrono::days{7} - std::chrono::hours{12};
}

// Decisions that carry the idempotency key, which stands in the first entry of each.
int applications(const std::string& key, const std::vector<Entry>& log, const std::string& what) {
  int count = 0;
  std::optional<Instant> last;
  for (const Entry& entry : log) {
    if (entry.idempotency_key != key) continue;
    require(!last || may_be_forgotten(*last, entry.at), what + ": applied more than once");
    last = entry.at;
    ++count;
  }
  return count;
}

}  // namespace

// --- while it runs -----------------------------------------------------------------------------

RequestId Ledger::add(Stimulus stimulus, std::string mark) {
  requests_.push_back({std::move(stimulus), std::move(mark)});
  return requests_.size() - 1;
}

RequestId Ledger::add_other_body(Stimulus stimulus, RequestId first) {
  const RequestId id = add(std::move(stimulus));
  requests_[id].other_body_of = first;
  return id;
}

std::vector<RecordName> Ledger::names() const {
  std::vector<RecordName> names;
  for (const auto& [name, known] : known_)
    if (known.is_created) names.push_back(name);
  return names;
}

void Ledger::submitted(RequestId id, Instant now) {
  Request& request = requests_[id];
  if (++request.submitted == 1) request.asked_at = now;
}

void Ledger::answered(RequestId id, const Result<Answer>& answer, Instant now) {
  Request& request = requests_[id];
  latest_ = std::max(latest_, now);
  if (!answer) {
    if (answer.error().code != ErrorCode::outcome_unknown) ++request.undone;
    return;
  }
  if (!began_at_) began_at_ = now;
  if (request.other_body_of) {
    require(answer->kind == Answer::Kind::error ||
                may_be_forgotten(requests_[*request.other_body_of].asked_at, latest_),
            "a key was accepted with another body");
    return;
  }
  if (token_of(request.stimulus) != nullptr) settled(request, *answer, now);
  if (answer->kind != Answer::Kind::ok) return;
  const bool is_beat = std::holds_alternative<Stimulus::Beat>(request.stimulus.what);
  const RecordName name = record_of(request.stimulus);
  if (request.is_ok && !is_beat) {
    require(!request.stimulus.idempotency_key.empty(),
            "a request without a key was accepted twice, for " + name_text(name));
    if (request.answer.revision == answer->revision && request.answer.state == answer->state)
      return;
    require(may_be_forgotten(request.asked_at, latest_),
            "a repeated request got another answer, for " + name_text(name) + ": " +
                request.answer.state + " at revision " + std::to_string(request.answer.revision) +
                " on " + to_text(request.asked_at) + ", " + answer->state + " at " +
                std::to_string(answer->revision) + " on " + to_text(now) + ", request " +
                request.stimulus.idempotency_key);
  }
  request.is_ok = true;
  request.answer = *answer;
  if (is_beat) return;
  if (std::holds_alternative<Stimulus::Create>(request.stimulus.what)) {
    require(!known_[name].is_created, name_text(name) + " was created twice");
    known_[name].is_created = true;
  }
  acknowledge(name, *answer);
}

// Of an attempt that is over nothing is taken, and of one that lives one end.
void Ledger::settled(const Request& request, const Answer& answer, Instant now) {
  if (answer.kind != Answer::Kind::ok) return;
  const RecordName name = record_of(request.stimulus);
  Known& known = known_[name];
  require(known.fence != 0 && *token_of(request.stimulus) == known.token,
          name_text(name) + " was settled with a token that is not that of the last attempt");
  require(!known.is_settled, name_text(name) + ": one attempt was settled twice");
  require(now <= known.deadline_at, name_text(name) + " was settled after the deadline");
  known.is_settled = true;
}

void Ledger::given(const GivenAttempt& attempt) {
  const RecordName name{attempt.given.machine, attempt.given.key};
  require(tokens_.insert(attempt.token).second, "a token was given twice");
  Known& known = known_[name];
  require(attempt.given.fence > known.fence,
          name_text(name) + ": the fence of a new attempt is not above that of the last one");
  known.fence = attempt.given.fence;
  known.token = hash_of_token(attempt.token);
  known.deadline_at = *attempt.given.deadline_at;
  known.is_settled = false;
}

void Ledger::acknowledge(const RecordName& name, const Answer& answer) {
  const auto [known, is_new] = known_[name].states.emplace(answer.revision, answer.state);
  require(is_new || known->second == answer.state,
          name_text(name) + " was said to be in two states at one revision");
}

void Ledger::changed(const Record& record, std::string mark) {
  Known& known = known_[{record.machine, record.key}];
  known.states.emplace(record.revision, record.state);
  if (mark.empty()) {
    require(!known.is_created, record.machine + "/" + record.key + " was created twice");
    known.is_created = true;
  } else {
    known.rival_marks.push_back(std::move(mark));
  }
}

// --- what is there -----------------------------------------------------------------------------

void Ledger::check(const Snapshot& snapshot, Instant now, bool is_settled) const {
  for (const auto& [name, known] : known_) check_record(name, known, snapshot);
  for (const Request& request : requests_) check_request(request, snapshot, now, is_settled);
}

void Ledger::check_record(const RecordName& name, const Known& known,
                          const Snapshot& snapshot) const {
  const Record* record = snapshot.find(name);
  if (record == nullptr && is_built_in(name.machine)) return;  // it was over, and went
  if (record == nullptr) {
    require(known.states.empty() && known.fence == 0,
            name_text(name) + " was acknowledged and is not there");
    return;
  }
  const std::vector<Entry>& log = snapshot.logs.at(name);
  for (const auto& [revision, state] : known.states)
    require(revision <= static_cast<std::int64_t>(log.size()) &&
                log[static_cast<std::size_t>(revision - 1)].to == state,
            name_text(name) + ": revision " + std::to_string(revision) +
                " was acknowledged and is not in its log");
  require(record->fence >= known.fence, name_text(name) + ": its fence has gone back");
  if (known.is_settled)
    require(!record->running || record->fence > known.fence,
            name_text(name) + ": an attempt that was settled runs again");
  if (is_erased(log)) return;
  for (const std::string& mark : known.rival_marks)
    require(count_of(mark, record->data) == 1,
            name_text(name) + ": what another node did, " + mark + ", is there " +
                std::to_string(count_of(mark, record->data)) + " times");
}

void Ledger::check_request(const Request& request, const Snapshot& snapshot, Instant now,
                           bool is_settled) const {
  const Stimulus& stimulus = request.stimulus;
  if (stimulus.idempotency_key.empty() || request.other_body_of) return;
  const RecordName name = record_of(stimulus);
  const Record* record = snapshot.find(name);
  if (record == nullptr && is_built_in(name.machine)) return;  // it was over, and went
  const std::string what = name_text(name) + ", request " + stimulus.idempotency_key;
  const int applied =
      record == nullptr ? 0 : applications(stimulus.idempotency_key, snapshot.logs.at(name), what);
  if (request.is_ok) require(applied >= 1, what + ": acknowledged and not there");
  if (request.submitted == request.undone)
    require(applied == 0, what + ": said not to be done, and is");
  if (request.mark.empty() || record == nullptr || is_erased(snapshot.logs.at(name))) return;
  // Once the key is forgotten it may stand for another body.
  const int marks = count_of(request.mark, record->data);
  require(applied > 1 ? marks <= applied : marks == applied,
          what + ": its row took effect " + std::to_string(marks) + " times");
  check_messages(request, marks, snapshot, now, is_settled);
}

// A teller's word arrives on its list once, and its delivery is there with it; for a day at least
// once it is delivered. What could not be made to be accepted is dropped after a month.
void Ledger::check_messages(const Request& request, int applied, const Snapshot& snapshot,
                            Instant now, bool is_settled) const {
  const std::string* event = event_of(request.stimulus);
  if (event == nullptr || request.stimulus.machine != "teller" || !event->starts_with("tell"))
    return;
  int arrived = 0;
  int delivered = 0;
  for (const auto& [name, record] : snapshot.records) {
    if (name.machine == "list") arrived += count_of(request.mark, record.data);
    if (name.machine == "delivery")
      delivered +=
          to_deliver_of(record).payload.find('"' + request.mark + '"') != std::string::npos ? 1 : 0;
  }
  const std::string what = "the message " + request.mark;
  require(arrived <= applied, what + " took effect more often than it was sent");
  const bool may_be_dropped = *event == "tell_must" && now - *began_at_ >= std::chrono::days{29};
  if (is_settled && !may_be_dropped) require(arrived == applied, what + " was lost");
  const int deliveries = *event == "tell" ? applied : 0;
  const bool is_recent = request.is_ok && now - request.asked_at < std::chrono::hours{20};
  require(delivered <= deliveries && (!is_recent || delivered > 0 || deliveries == 0),
          what + ": " + std::to_string(delivered) + " deliveries");
}

}  // namespace pawl::sim
