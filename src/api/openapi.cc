// Routes, their roles and parameters come from the one table (api.cc), statuses and ids of errors
// from the other. What is here is the form of bodies and replies, as shapes: members with their
// kinds. A test holds the shapes of bodies against what the readers of bodies ask for, and those of
// replies are held against what a running server says (tests/openapi).
//
// Kinds: `text`, `name` (a text that is not empty), `json` (any value), `map`, `flag`, `number`,
// `count` (0 and up), `decimal`, `instant`, `duration`, `fingerprint`, words with `|` between them;
// the name of another shape; `[kind]` a list, `{kind}` a map of such values under names of the
// user's own.
#include "api/openapi.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/api.h"
#include "api/call.h"
#include "base/text.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr int kPageMax = 1'000;

struct Member {
  std::string_view name;  // with `!` behind it when it is always there
  std::string_view kind;
  std::string_view what = {};
};

struct Shape {
  std::string_view name;
  bool is_body;  // read strictly, and null is as good as absent
  std::vector<Member> members;
};

// One of these, of which the members of a body or reply tell which.
struct Choice {
  std::string_view name;
  std::vector<std::string_view> shapes;
};

using Members = std::vector<Member>;

Members with(Members members, const Members& more) {
  members.insert(members.end(), more.begin(), more.end());
  return members;
}

// --- bodies ------------------------------------------------------------------------------------

const Members& every_change() {
  static const Members members = {
      {"idempotency_key", "text", "calls with the same key are carried out once"},
      {"dry_run", "flag", "decide and answer, but change nothing"}};
  return members;
}

const Members& new_record() {
  static const Members members = {{"data", "map", "missing fields get their defaults"},
                                  {"parent", "RecordName", "the parent of the new record"}};
  return members;
}

const Members& later() {
  static const Members members = {{"at", "instant", "make the call at this instant"},
                                  {"in", "duration", "make the call after this time"}};
  return members;
}

Members create_members() {
  return with(with(with(every_change(), later()), new_record()),
              {{"event", "text", "an event to fire in the same commit"},
               {"payload", "map", "the payload of the event"}});
}

Members fire_members() {
  return with(with(every_change(), later()),
              {{"event!", "name"},
               {"payload", "map", "the payload of the event"},
               {"create", "NewRecord", "create the record first if it does not exist"}});
}

Members order_members(std::string_view words, const Members& more) {
  return with(with(every_change(), {{"order!", words}, {"reason!", "name", "why"}}), more);
}

const Members kHold = {{"text!", "name", "a text that tells people what to do"}};
const Members kMove = {{"state!", "name", "the target state"}};
const Members kPatch = {{"data!", "map", "a merge patch (RFC 7396)"}};
constexpr std::string_view kPlainOrders = "retry|release|migrate|erase";

// A call of a batch: what the path says is in the body.
Members batched(std::string_view word, const Members& members) {
  return with({{"call!", word}, {"machine!", "name"}, {"key!", "name"}}, members);
}

// An attempt that a worker speaks of.
Members attempt_members(const Members& more) {
  return with({{"machine!", "name"}, {"key!", "name"}, {"token!", "name"}}, more);
}

const Members kNext = {{"claim", "Claim", "claim the next attempts in the same call"}};
const Members kBeat = {{"progress", "json", "passed to the next attempt"}};
const Members kDone = {{"result", "json"}};
const Members kFail = {{"code!", "name"},
                       {"message", "text"},
                       {"detail", "json"},
                       {"retry_after", "duration", "do not retry before this time has passed"}};

std::vector<Shape> bodies() {
  return {
      {"RecordName", true, {{"machine!", "name"}, {"key!", "name"}}},
      {"NewRecord", true, new_record()},
      {"Apply",
       true,
       {{"files!", "[MachineFile]", "1 to 1,000, applied in one step"},
        {"dry_run", "flag", "report what would change, but apply nothing"},
        {"channels_elsewhere", "flag", "a channel that this process lacks is only a warning"}}},
      {"MachineFile",
       true,
       {{"path!", "name", "used only in messages"}, {"text!", "text", "YAML or JSON"}}},
      {"Create", true, create_members()},
      {"Fire", true, fire_members()},
      {"PlainOrder", true, order_members(kPlainOrders, {})},
      {"HoldOrder", true, order_members("hold", kHold)},
      {"MoveOrder", true, order_members("move", kMove)},
      {"PatchOrder", true, order_members("patch", kPatch)},
      {"Batch", true, {{"calls!", "[BatchCall]", "at most 1,000, carried out in order"}}},
      {"BatchCreate", true, batched("create", create_members())},
      {"BatchFire", true, batched("fire", fire_members())},
      {"BatchPlainOrder", true, batched("order", order_members(kPlainOrders, {}))},
      {"BatchHoldOrder", true, batched("order", order_members("hold", kHold))},
      {"BatchMoveOrder", true, batched("order", order_members("move", kMove))},
      {"BatchPatchOrder", true, batched("order", order_members("patch", kPatch))},
      {"Claim",
       true,
       {{"queues!", "[text]", "at least one"},
        {"max", "number", "attempts to claim; default 1, at most 1,000"},
        {"wait", "duration", "how long to wait if nothing is ready; at most a minute"},
        {"worker", "text", "the name of the worker; default: the name of the access token"},
        {"dry_run", "flag", "show what a claim would get, without tokens; start nothing"}}},
      {"BeatAttempt", true, attempt_members(kBeat)},
      {"DoneAttempt", true, attempt_members(kDone)},
      {"FailAttempt", true, attempt_members(kFail)},
      {"BeatOne", true, with(attempt_members(kBeat), kNext)},
      {"DoneOne", true, with(attempt_members(kDone), kNext)},
      {"FailOne", true, with(attempt_members(kFail), kNext)},
      {"BeatSeveral", true, with({{"attempts!", "[BeatAttempt]", "at most 1,000"}}, kNext)},
      {"DoneSeveral", true, with({{"attempts!", "[DoneAttempt]", "at most 1,000"}}, kNext)},
      {"FailSeveral", true, with({{"attempts!", "[FailAttempt]", "at most 1,000"}}, kNext)},
      {"SetPause",
       true,
       {{"what!", "name", "machine:NAME, queue:NAME, label:NAME=VALUE or everything"},
        {"reason!", "name"},
        {"dry_run", "flag"}}},
      {"EndPause", true, {{"what!", "name"}, {"dry_run", "flag"}}},
      {"SteerPipe", true, {{"reason!", "name", "why; Pawl logs it"}}},
      {"SkipMessage",
       true,
       {{"offset!", "number", "the offset of a message that is waiting to be loaded"},
        {"reason!", "name", "why; Pawl writes it to the errors topic"}}},
      {"NewToken",
       true,
       {{"name!", "name", "unique; the actor of calls with this token"},
        {"roles!", "[viewer|app|worker|operator|admin]"},
        {"machine_roles", "[name]", "the roles that `by` and `actor.roles` in machines check"},
        {"machines", "[name]", "the token covers only these"},
        {"queues", "[name]", "the token covers only these"},
        {"act_as", "flag", "the token may act as other actors"},
        {"expires_at", "instant"},
        {"expires_in", "duration"},
        {"dry_run", "flag"}}},
      {"Advance",
       true,
       {{"by", "duration", "how far to move; give this or `to`"},
        {"to", "instant", "the instant to move to"}}},
      {"RevokeToken", true, {{"name!", "name"}, {"dry_run", "flag"}}},
      {"ActsAs", true, {{"name!", "name"}, {"roles", "[name]"}}},
  };
}

// --- replies -----------------------------------------------------------------------------------

const Members& answer_members() {
  static const Members members = {
      {"answer!", "ok|refused|stale|duplicate|none"},
      {"reason", "text", "a sentence that explains the answer"},
      {"machine", "text", "for a call for later: the machine of the record that makes it, `send`"},
      {"key", "text", "for a call for later: the key of the record that makes it"},
      {"state", "text", "the state of the record after the call"},
      {"revision", "count"},
      {"result", "json", "for a record that already exists: the result of its task"},
      {"permitted", "[text]",
       "for a refusal or a stale attempt token: the events the caller can fire now"},
      {"guards", "[FailedGuard]", "for a refusal: the conditions that failed"},
      {"cancel", "flag", "for a stale beat: stop working"},
      {"lease_until", "instant", "for a beat: when the lease now ends"}};
  return members;
}

const Members& version_members() {
  static const Members members = {{"machine!", "text"},
                                  {"version!", "count"},
                                  {"applied_at", "instant"},
                                  {"applied_by", "text", "who applied it"}};
  return members;
}

const Members& entry_members() {
  static const Members members = {
      {"seq!", "count"},
      {"at!", "instant"},
      {"kind!",
       "created|event|started|done|failed|timed_out|gave_up|rewound|resumed|timer|schedule|when|"
       "operator|migrated|compacted|erased"},
      {"event", "text"},
      {"from", "text"},
      {"to!", "text"},
      {"epoch!", "count"},
      {"attempt", "count"},
      {"fence", "count"},
      {"error", "Failure"},
      {"cause", "text"},
      {"actor!", "Actor"},
      {"idempotency_key", "text"},
      {"next_at", "instant"},
      {"delays_left", "count"},
      {"row", "text"}};
  return members;
}

// A page of items, and where the next begins.
Shape page(std::string_view name, std::string_view item) {
  return {name, false, {{"items!", item}, {"next", "text", "the `from` of the next page"}}};
}

std::vector<Shape> replies() {
  return {
      {"Answer", false, answer_members()},
      {"FailedGuard", false, {{"event!", "text"}, {"guard!", "text"}, {"values", "[text]"}}},
      {"ItemAnswer", false, with({{"status!", "count"}}, answer_members())},
      {"ItemError", false, {{"status!", "count"}, {"error!", "Problem"}}},
      {"Problem",
       false,
       {{"id!", "text", "stable"},
        {"message!", "text"},
        {"hint", "text", "what to do"},
        {"line", "count", "the line of the body where the JSON is invalid"},
        {"column", "count", "in bytes, from 1"}}},
      {"Answers", false, {{"items!", "[Item]", "one per call, in the same order"}}},
      {"SettledSeveral",
       false,
       {{"items!", "[Item]", "one per attempt"},
        {"attempts", "[Attempt]", "the claimed attempts"},
        {"claim_error", "Problem",
         "why the claim failed; the attempts in `items` are settled all the same"}}},
      {"Claimed", false, {{"attempts!", "[Attempt]"}}},
      {"Attempt",
       false,
       {{"machine!", "text"},
        {"key!", "text"},
        {"task!", "text"},
        {"queue!", "text"},
        {"attempt!", "count"},
        {"token!", "text", "the attempt token, needed to beat and settle; a secret"},
        {"fence!", "count", "rises with every attempt"},
        {"idempotency_key!", "text", "the same for every attempt at this task"},
        {"lease_until", "instant", "the attempt is lost then, unless a beat extends the lease"},
        {"deadline_at", "instant", "the attempt times out then"},
        {"data!", "json", "the input of the task"},
        {"progress", "json", "the progress that the previous attempt reported"}}},
      {"Machines", false, {{"items!", "[MachineVersion]"}}},
      {"MachineVersion", false, version_members()},
      {"MachineText", false,
       with(version_members(), {{"text!", "text", "the file as it was applied"}})},
      {"Applied", false, {{"ok!", "flag"}, {"files!", "[AppliedFile]"}}},
      {"AppliedFile",
       false,
       {{"file!", "text"},
        {"machine", "text"},
        {"version", "count"},
        {"version_before", "count"},
        {"new!", "flag"},
        {"touched!", "[Touched]"},
        {"findings!", "[Finding]"}}},
      {"Touched",
       false,
       {{"version", "count"},
        {"state!", "text"},
        {"records!", "count"},
        {"fate!", "follows|moves|stays|pinned|stranded"},
        {"to", "text"}}},
      {"Finding",
       false,
       {{"severity!", "error|warning"},
        {"id!", "text"},
        {"line!", "count"},
        {"column!", "count"},
        {"message!", "text"}}},
      page("Records", "[Record]"),
      {"Record",
       false,
       {{"machine!", "text"},       {"key!", "text"},          {"id!", "count"},
        {"version!", "count"},      {"state!", "text"},        {"entered_at!", "instant"},
        {"created_at!", "instant"}, {"revision!", "count"},    {"epoch!", "count"},
        {"next_at", "instant"},     {"ready_at", "instant"},   {"wake_at", "instant"},
        {"attempt", "count"},       {"failures", "count"},     {"failing_since", "instant"},
        {"failed_from", "text"},    {"error", "Failure"},      {"hold", "Hold"},
        {"running", "Running"},     {"data!", "json"},         {"result", "json"},
        {"labels", "map"},          {"priority!", "number"},   {"parent", "ParentName"},
        {"children", "{Children}"}, {"planned_at", "instant"}, {"remove_at", "instant"}}},
      {"ParentName", false, {{"machine!", "text"}, {"key!", "text"}}},
      {"Failure",
       false,
       {{"code!", "text"},
        {"message", "text"},
        {"detail", "json"},
        {"retry_after", "duration"},
        {"transient", "flag"},
        {"at", "instant"},
        {"fingerprint", "fingerprint"}}},
      {"Hold",
       false,
       {{"code!", "text"},
        {"text", "text"},
        {"by!", "policy|machine|operator|engine"},
        {"since!", "instant"}}},
      {"Running",
       false,
       {{"worker", "text"},
        {"started_at!", "instant"},
        {"lease_until", "instant"},
        {"deadline_at!", "instant"},
        {"progress", "json"}}},
      {"Children",
       false,
       {{"all!", "count"},
        {"open!", "count"},
        {"final!", "count"},
        {"hold!", "count"},
        {"states!", "{count}"}}},
      page("Log", "[Entry]"),
      {"Entry", false, entry_members()},
      page("Feed", "[FeedEntry]"),
      {"FeedEntry", false, with({{"machine!", "text"}, {"key!", "text"}}, entry_members())},
      {"Actor",
       false,
       {{"name!", "text"},
        {"roles", "[text]"},
        {"via", "text", "the access token that called on behalf of this actor"}}},
      {"Why",
       false,
       {{"why!",
         "ready_since|running_until|backing_off_until|planned_at|timer_at|waiting_for_events|"
         "waiting_for_children|on_hold|slot|paused|final"},
        {"at", "instant"},
        {"names", "[text]"},
        {"hold", "Hold"},
        {"sentence!", "text"}}},
      {"Permitted", false, {{"permitted!", "[text]"}}},
      {"Counts", false, {{"items!", "[StateCount]"}}},
      {"StateCount",
       false,
       {{"machine!", "text"}, {"state!", "text"}, {"records!", "count"}, {"held!", "count"}}},
      {"Errors", false, {{"items!", "[ErrorCount]"}}},
      {"ErrorCount",
       false,
       {{"machine!", "text"},
        {"state!", "text"},
        {"code!", "text"},
        {"fingerprint!", "fingerprint"},
        {"count!", "count"},
        {"first_at!", "instant"},
        {"last_at!", "instant"},
        {"message!", "text"}}},
      {"Pauses",
       false,
       {{"items!", "[Pause]"},
        {"ended", "[Pause]",
         "the last pause of each target that is no longer paused, newest first"}}},
      {"Pause",
       false,
       {{"what!", "text"},
        {"reason!", "text"},
        {"actor!", "text"},
        {"since!", "instant"},
        {"ended_at", "instant"},
        {"ended_by", "text"}}},
      {"Ended", false, {{"ended!", "flag"}}},
      {"Pipes", false, {{"items!", "[Pipe]", "sorted by name"}}},
      {"Pipe",
       false,
       {{"name!", "text"},
        {"partitions!", "[PipePartition]"},
        {"window!", "count", "how many bulk requests may run at once"},
        {"bulks!", "count", "how many bulk requests are running"},
        {"nodes!", "[PipeNode]"},
        {"kafka", "text", "why Kafka cannot be reached"},
        {"rebalances!", "count"},
        {"commits!", "count"},
        {"commit_failures!", "count"},
        {"late_answers!", "count", "items answered after their partition was given away"}}},
      {"PipeNode",
       false,
       {{"url!", "text"},
        {"down!", "flag"},
        {"error", "text", "the last error"},
        {"bulks!", "count"},
        {"failures!", "count"}}},
      {"PipePartition",
       false,
       {{"topic!", "text"},
        {"partition!", "number", "-1: the topic does not exist"},
        {"epoch!", "count", "how many times this process has started reading it"},
        {"state!", "text", "the state of the oldest unfinished batch"},
        {"of", "text", "when `retrying`: the state that failed"},
        {"since!", "instant", "when that state began"},
        {"code", "count", "the number of the last failure, while it matters"},
        {"error", "text", "the name of the failure"},
        {"reason", "text", "the message of the failure"},
        {"attempt!", "count"},
        {"failures!", "count", "in a row"},
        {"next_at", "instant", "when `retrying`: the time of the next attempt"},
        {"hold", "text", "what an operator has to do"},
        {"paused!", "flag"},
        {"pause", "PipePause"},
        {"draining!", "flag", "the partition is being given away"},
        {"stalled!", "flag", "no progress for a minute, for no known reason"},
        {"alarm!", "flag", "needs a person to continue"},
        {"offset!", "PipeOffset"},
        {"in_flight!", "PipeInFlight"},
        {"rate!", "PipeRate"},
        {"counts!", "PipeCounts"},
        {"unaccounted!", "number", "must be 0"}}},
      {"PipePause", false, {{"by!", "text"}, {"reason!", "text"}, {"since!", "instant"}}},
      {"PipeOffset",
       false,
       {{"committed", "count", "the offset committed in Kafka"},
        {"watermark", "count", "everything before it is finished"},
        {"next", "count", "the next offset to read"},
        {"high", "count", "the end of the partition"},
        {"lag", "count", "messages from the watermark to the end"}}},
      {"PipeInFlight", false, {{"batches!", "count"}, {"items!", "count"}, {"bytes!", "count"}}},
      {"PipeRate",
       false,
       {{"in!", "decimal", "messages per second in the last ten seconds"}, {"out!", "decimal"}}},
      {"PipeCounts",
       false,
       {{"consumed!", "count"},
        {"indexed!", "count"},
        {"duplicate!", "count"},
        {"errors!", "count"},
        {"skipped!", "count"},
        {"retried_items!", "count"},
        {"resets!", "count"},
        {"gaps!", "count", "messages lost from Kafka before they could be read"}}},
      {"Tokens",
       false,
       {{"items!", "[Token]"}, {"revoked", "[Token]", "revoked tokens, newest first"}}},
      {"Token",
       false,
       {{"name!", "text"},
        {"roles!", "[text]"},
        {"machine_roles", "[text]"},
        {"machines", "[text]"},
        {"queues", "[text]"},
        {"act_as", "flag"},
        {"created_at!", "instant"},
        {"expires_at", "instant"},
        {"made_by", "text"},
        {"revoked_at", "instant"},
        {"revoked_by", "text"},
        {"token", "text", "only in the reply that creates it; a secret"}}},
      {"Revoked", false, {{"revoked!", "flag"}}},
      {"Clock",
       false,
       {{"now!", "instant"},
        {"virtual!", "flag", "the clock moves only through POST /v1/clock/advance"}}},
      {"Healthy", false, {{"ok!", "flag"}}},
      {"Ready", false, {{"ready!", "flag"}}},
  };
}

std::vector<Choice> choices() {
  return {{"Order", {"PlainOrder", "HoldOrder", "MoveOrder", "PatchOrder"}},
          {"BatchCall",
           {"BatchCreate", "BatchFire", "BatchPlainOrder", "BatchHoldOrder", "BatchMoveOrder",
            "BatchPatchOrder"}},
          {"Beat", {"BeatOne", "BeatSeveral"}},
          {"Done", {"DoneOne", "DoneSeveral"}},
          {"Fail", {"FailOne", "FailSeveral"}},
          {"Settled", {"Answer", "SettledSeveral"}},
          {"Item", {"ItemAnswer", "ItemError"}}};
}

// --- schemas -----------------------------------------------------------------------------------

Json object(std::vector<std::pair<std::string, Json>> members) {
  Json json = Json::map({});
  for (auto& [key, value] : members) json.members.push_back({std::move(key), std::move(value), {}});
  return json;
}

void add(Json& map, std::string key, Json value) {
  map.members.push_back({std::move(key), std::move(value), {}});
}

Json ref(std::string_view kind, std::string_view name) {
  return object({{"$ref", "#/components/" + std::string(kind) + "/" + std::string(name)}});
}

Json list_of(Json item) { return object({{"type", "array"}, {"items", std::move(item)}}); }

Json words_of(std::string_view kind) {
  Json words = Json::list({});
  for (std::string_view rest = kind; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.items.emplace_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return object({{"type", "string"}, {"enum", std::move(words)}});
}

Json duration_schema() {
  return object({{"type", "string"},
                 {"description", "30s, 2h, 7d, or an ISO 8601 duration"},
                 {"pattern", "^([0-9]|[Pp])"},
                 {"examples", Json::list({"30s"})}});
}

Json schema_of(std::string_view kind);

// None when the kind is no simple one.
std::optional<Json> simple_schema(std::string_view kind) {
  if (kind == "text") return object({{"type", "string"}});
  if (kind == "name") return object({{"type", "string"}, {"minLength", 1}});
  if (kind == "json") return Json::boolean(true);
  if (kind == "map") return object({{"type", "object"}});
  if (kind == "flag") return object({{"type", "boolean"}});
  if (kind == "number") return object({{"type", "integer"}});
  if (kind == "decimal") return object({{"type", "number"}});
  if (kind == "count") return object({{"type", "integer"}, {"minimum", 0}});
  if (kind == "instant") return object({{"type", "string"}, {"format", "date-time"}});
  if (kind == "duration") return duration_schema();
  if (kind == "fingerprint") return object({{"type", "string"}, {"pattern", "^[0-9a-f]{16}$"}});
  return std::nullopt;
}

Json schema_of(std::string_view kind) {
  if (auto simple = simple_schema(kind)) return *std::move(simple);
  const std::string_view inner = kind.substr(1, kind.size() - 2);
  if (kind.starts_with('[')) return list_of(schema_of(inner));
  if (kind.starts_with('{'))
    return object({{"type", "object"}, {"additionalProperties", schema_of(inner)}});
  const bool is_shape = kind[0] >= 'A' && kind[0] <= 'Z';
  return is_shape ? ref("schemas", kind) : words_of(kind);
}

Json or_null(Json schema) {
  if (schema.kind == Json::Kind::boolean) return schema;
  return object({{"anyOf", Json::list({std::move(schema), object({{"type", "null"}})})}});
}

Json schema_of(const Shape& shape) {
  Json properties = Json::map({});
  Json required = Json::list({});
  for (const Member& member : shape.members) {
    const bool is_required = member.name.ends_with('!');
    const std::string name(member.name.substr(0, member.name.size() - (is_required ? 1 : 0)));
    Json schema = schema_of(member.kind);
    if (is_required) {
      required.items.emplace_back(name);
    } else if (shape.is_body) {
      schema = or_null(std::move(schema));
    }
    if (!member.what.empty() && schema.kind == Json::Kind::map)
      add(schema, "description", std::string(member.what));
    add(properties, name, std::move(schema));
  }
  Json schema = object({{"type", "object"}, {"properties", std::move(properties)}});
  if (!required.items.empty()) add(schema, "required", std::move(required));
  if (shape.is_body) add(schema, "additionalProperties", false);
  return schema;
}

// Whether a route takes it as its whole body: then it may say who acts.
bool is_whole_body(std::string_view shape) {
  const auto all = choices();
  const auto routes = Api::routes();
  return std::any_of(routes.begin(), routes.end(), [&](const Route& route) {
    return route.body == shape || std::any_of(all.begin(), all.end(), [&](const Choice& choice) {
             return choice.name == route.body &&
                    std::find(choice.shapes.begin(), choice.shapes.end(), shape) !=
                        choice.shapes.end();
           });
  });
}

Json schemas() {
  Json all = Json::map({});
  for (const auto& shapes : {bodies(), replies()})
    for (Shape shape : shapes) {
      if (is_whole_body(shape.name))
        shape.members.push_back(
            {"actor", "ActsAs", "the actor to act as; needs a token with act_as"});
      add(all, std::string(shape.name), schema_of(shape));
    }
  for (const Choice& choice : choices()) {
    Json one_of = Json::list({});
    for (const std::string_view shape : choice.shapes)
      one_of.items.push_back(ref("schemas", shape));
    add(all, std::string(choice.name), object({{"oneOf", std::move(one_of)}}));
  }
  add(all, "OpenApi", object({{"type", "object"}}));
  return all;
}

// --- parameters --------------------------------------------------------------------------------

struct Parameter {
  std::string_view name;
  std::string_view kind;
  std::string_view what;
};

constexpr Parameter kParameters[] = {
    {"machine", "name", "the name of the machine"},
    {"key", "name", "the key of the record"},
    {"version", "count", "the version of the machine"},
    {"pipe", "name", "the name of the pipe"},
    {"topic", "name", "the Kafka topic"},
    {"partition", "number", "the partition of the topic"},
    {"state", "name", "the name of a state"},
    {"key_prefix", "name", "keys with this prefix; needs `machine`"},
    {"label", "name", "NAME=VALUE"},
    {"parent", "name", "MACHINE/KEY: the children of this record"},
    {"held", "flag", "true: on hold; false: not on hold"},
    {"dead", "flag", "true: dead letters; false: all other records"},
    {"error", "name", "the code of the last error"},
    {"fingerprint", "fingerprint", "the fingerprint of the last error"},
    {"created_from", "instant", "created at or after this instant"},
    {"created_before", "instant", "created before this instant"},
    {"built_in", "flag", "true: include side jobs, deliveries and messages"},
    {"max", "max", "the most items on a page"},
    {"from", "text", "the `next` of the previous page"},
    {"wait", "duration", "how long to wait; at most a minute"},
    {"until", "final|state|revision", "what to wait for; default `final`"},
    {"revision", "number", "with `until=revision`: wait until the revision is above this"},
    {"actor", "name", "the actor to ask about; needs a token with act_as"},
    {"role", "[name]", "a role of the actor; can be repeated"},
};

Json parameter(const std::string& name, bool is_in_path) {
  const auto* known = std::find_if(std::begin(kParameters), std::end(kParameters),
                                   [&](const Parameter& one) { return one.name == name; });
  PAWL_ASSERT(known != std::end(kParameters), "every parameter of a route has a kind");
  Json schema =
      known->kind == "max"
          ? object({{"type", "integer"}, {"minimum", 1}, {"maximum", kPageMax}, {"default", 100}})
          : schema_of(known->kind);
  return object({{"name", name},
                 {"in", is_in_path ? "path" : "query"},
                 {"required", is_in_path},
                 {"description", std::string(known->what)},
                 {"schema", std::move(schema)}});
}

Json parameters_of(const Route& route) {
  Json list = Json::list({});
  for (std::size_t at = 0; (at = route.path.find('{', at)) != std::string_view::npos; ++at)
    list.items.push_back(
        parameter(std::string(route.path.substr(at + 1, route.path.find('}', at) - at - 1)), true));
  for (const std::string& name : query_names(route)) list.items.push_back(parameter(name, false));
  return list;
}

// --- operations --------------------------------------------------------------------------------

Json content(std::string type, Json schema) {
  return object({{std::move(type), object({{"schema", std::move(schema)}})}});
}

Json json_content(std::string_view shape) {
  return content("application/json", ref("schemas", shape));
}

Json response(std::string what, Json of) {
  return object({{"description", std::move(what)}, {"content", std::move(of)}});
}

// One for every status that errors have.
Json error_responses() {
  Json all = Json::map({});
  const auto ids = error_ids();
  for (auto id = ids.begin(); id != ids.end();) {
    const int status = id->status;
    Json words = Json::list({});
    std::string what;
    for (; id != ids.end() && id->status == status; ++id) {
      words.items.emplace_back(std::string(id->id));
      what += (what.empty() ? "" : "\n") + in_ticks(id->id) + ": " + std::string(id->meaning);
    }
    const Json problem = object(
        {{"allOf",
          Json::list({ref("schemas", "Problem"),
                      object({{"properties", object({{"id", object({{"enum", words}})}})}})})}});
    Json schema = object({{"type", "object"},
                          {"properties", object({{"error", problem}})},
                          {"required", Json::list({"error"})}});
    add(all, "error_" + std::to_string(status),
        response(what, content("application/json", std::move(schema))));
  }
  return all;
}

Json responses_of(const Route& route) {
  Json all = Json::map({});
  if (route.reply == "Events") {
    add(all, "200",
        response("One event per page of entries; its id is the position after it",
                 content("text/event-stream", object({{"type", "string"}}))));
  } else if (route.reply == "Metrics") {
    add(all, "200",
        response("The Prometheus text format",
                 content("text/plain", object({{"type", "string"}}))));
  } else {
    add(all, "200", response(std::string(route.summary), json_content(route.reply)));
  }
  int last = 0;
  for (const ErrorId& id : error_ids()) {
    const bool is_of_bodies = id.status == 413 || id.status == 415;
    const bool is_of_tokens = id.status == 401 || id.status == 403 || id.status == 429;
    if (id.status == std::exchange(last, id.status) || id.status == 405 ||
        (is_of_bodies && route.body.empty()) || (is_of_tokens && is_open(route)))
      continue;
    add(all, std::to_string(id.status), ref("responses", "error_" + std::to_string(id.status)));
  }
  if (route.reply == "Answer" || route.reply == "Settled")
    add(all, "409", response("Refused, or the attempt token is stale", json_content("Answer")));
  if (route.reply == "Applied")
    add(all, "422", response("A file has an error: nothing was applied", json_content("Applied")));
  return all;
}

// `post_records_machine_key_fire`.
std::string operation_id(const Route& route) {
  constexpr std::string_view kVersion = "/v1";
  std::string id = to_lower(route.method);
  for (const char c : route.path.substr(route.path.starts_with(kVersion) ? kVersion.size() : 0))
    if (is_letter(c)) {
      id += c;
    } else if (c == '/' || c == '.') {
      id += '_';
    }
  return id;
}

// No body is as good as an empty map.
bool needs_body(const Route& route) {
  for (const Shape& shape : bodies())
    if (shape.name == route.body)
      return std::any_of(shape.members.begin(), shape.members.end(),
                         [](const Member& member) { return member.name.ends_with('!'); });
  return true;  // a choice: each of them has something that tells it from the others
}

Json operation(const Route& route) {
  Json operation =
      object({{"operationId", operation_id(route)},
              {"summary", std::string(route.summary)},
              {"description", is_open(route) ? "Needs no access token"
                                             : "For tokens with the role " +
                                                   join(role_words(route.roles), ", ", " or ")}});
  if (is_open(route)) add(operation, "security", Json::list({}));
  if (Json parameters = parameters_of(route); !parameters.items.empty())
    add(operation, "parameters", std::move(parameters));
  if (!route.body.empty())
    add(operation, "requestBody",
        object({{"required", needs_body(route)}, {"content", json_content(route.body)}}));
  add(operation, "responses", responses_of(route));
  return operation;
}

Json paths() {
  Json all = Json::map({});
  for (const Route& route : Api::routes()) {
    auto path = std::find_if(all.members.begin(), all.members.end(),
                             [&](const JsonMember& one) { return one.key == route.path; });
    if (path == all.members.end())
      path = all.members.insert(path, {std::string(route.path), Json::map({}), {}});
    add(path->value, to_lower(route.method), operation(route));
  }
  return all;
}

}  // namespace

Json openapi_document() {
  return object(
      {{"openapi", "3.1.0"},
       {"info", object({{"title", "Pawl"},
                        {"version", "1"},
                        {"summary",
                         "A durable state-machine engine: records, their events and their tasks"},
                        {"license", object({{"name", "Apache-2.0"}})}})},
       {"security", Json::list({object({{"token", Json::list({})}})})},
       {"paths", paths()},
       {"components",
        object({{"securitySchemes",
                 object({{"token", object({{"type", "http"}, {"scheme", "bearer"}})}})},
                {"responses", error_responses()},
                {"schemas", schemas()}})}});
}

void show_openapi(const SharedCall& call) {
  static const std::string text = to_text(openapi_document());
  call->ok(text);
}

}  // namespace pawl
