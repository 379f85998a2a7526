// Records: created, moved, looked at.
#include <algorithm>
#include <atomic>
#include <charconv>

#include "api/call.h"
#include "api/documents.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/text.h"
#include "model/built_in_names.h"

namespace pawl {
namespace {

constexpr std::size_t kBatchMax = 1'000;

void no_such_record(const Call& call, const RecordName& name) {
  call.fail("no_such_record", "there is no record " + name.machine + "/" + name.key);
}

// What every call that changes something may carry.
Stimulus asked(const Call& call, const RecordName& name, JsonBody& body) {
  return {.machine = name.machine,
          .key = name.key,
          .actor = call.request.caller.actor,
          .idempotency_key = body.text("idempotency_key"),
          .dry_run = body.boolean("dry_run")};
}

// `at` or `in`, of what may be asked for later.
Result<std::optional<Instant>> read_at(const Call& call, JsonBody& body) {
  const auto at = body.instant("at");
  const auto in = body.duration("in");
  if (!in) return at;
  if (at) return Error{ErrorCode::bad_input, "give `at` or `in`, not both"};
  const Instant then = call.engine.now() + *in;
  if (then > kInstantMax) return Error{ErrorCode::bad_input, "`in` goes beyond the year 9999"};
  return std::optional(then);
}

// Data and parent of a new record.
Result<Stimulus::Create> read_create(JsonBody& body) {
  Stimulus::Create create{.data = or_empty_map(body.map("data"))};
  const std::string text = body.map("parent");
  if (text.empty()) return create;
  JsonBody parent(text, "parent");
  create.parent =
      Parent{.machine = parent.required_text("machine"), .key = parent.required_text("key")};
  PAWL_CHECK(parent.finish());
  return create;
}

Result<std::optional<bool>> read_flag(const Call& call, std::string_view name) {
  const std::string text = call.query(name);
  if (text.empty()) return std::optional<bool>();
  if (text == "true" || text == "false") return std::optional(text == "true");
  return Error{ErrorCode::bad_input, in_ticks(name) + " must be true or false"};
}

Result<std::optional<Instant>> read_instant(const Call& call, std::string_view name) {
  const std::string text = call.query(name);
  if (text.empty()) return std::optional<Instant>();
  const auto at = parse_instant(text);
  if (!at) return Error{ErrorCode::bad_input, in_ticks(name) + ": " + at.error().message};
  return std::optional(*at);
}

Result<std::size_t> read_max(const Call& call) {
  const std::string text = call.query("max");
  if (text.empty()) return std::size_t{100};
  const auto max = parse_whole(text);
  if (!max || *max < 1 || *max > static_cast<std::int64_t>(kPageMax))
    return Error{ErrorCode::bad_input, "`max` must be a whole number from 1 to 1000"};
  return static_cast<std::size_t>(*max);
}

Result<std::uint64_t> read_fingerprint(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, 16);
  if (text.size() != 16 || read.ec != std::errc{} || read.ptr != end)
    return Error{ErrorCode::bad_input, "`fingerprint` must be 16 hex digits"};
  return number;
}

// All but the parent, which has to be looked up.
Result<Query> read_query(const Call& call) {
  Query query{.machine = call.query("machine"),
              .state = call.query("state"),
              .key_prefix = call.query("key_prefix"),
              .error_code = call.query("error")};
  PAWL_TRY(query.held, read_flag(call, "held"));
  PAWL_TRY(const auto dead, read_flag(call, "dead"));
  if (dead.value_or(false)) {
    if (!query.held.value_or(true))
      return Error{ErrorCode::bad_input,
                   "dead letters are on hold: `dead` and `held` contradict each other"};
    query.held = true;
  }
  PAWL_TRY(const auto built_in, read_flag(call, "built_in"));
  query.hides_built_in = !built_in.value_or(false);
  PAWL_TRY(query.created_from, read_instant(call, "created_from"));
  PAWL_TRY(query.created_before, read_instant(call, "created_before"));
  PAWL_TRY(query.max, read_max(call));
  if (!query.key_prefix.empty() && query.machine.empty())
    return Error{ErrorCode::bad_input,
                 "`key_prefix` needs `machine`: each machine has its own keys"};
  if (const std::string label = call.query("label"); !label.empty()) {
    const auto target = parse_pause_target("label:" + label);
    if (!target) return Error{ErrorCode::bad_input, "write `label` as NAME=VALUE"};
    query.label = Label{target->name, target->value};
  }
  if (const std::string fingerprint = call.query("fingerprint"); !fingerprint.empty()) {
    PAWL_TRY(query.fingerprint, read_fingerprint(fingerprint));
  }
  return query;
}

// False when that was answered: there is no such record, or the caller may not see it.
bool find_parent(const Call& call, Query& query) {
  const std::string text = call.query("parent");
  if (text.empty()) return true;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) {
    call.fail("bad_request", "write `parent` as MACHINE/KEY");
    return false;
  }
  const RecordName name{text.substr(0, slash), text.substr(slash + 1)};
  if (!call.may_see_machine(name.machine)) {
    call.replied(outside_machine(name.machine));
    return false;
  }
  const auto record = call.engine.show(name);
  if (!record) {
    call.fail(record.error());
  } else if (!*record) {
    no_such_record(call, name);
  } else {
    query.parent = (*record)->id;
  }
  return query.parent.has_value();
}

bool is_dead(const Record& record) {
  return record.hold &&
         (record.hold->by == Hold::By::policy || record.hold->by == Hold::By::engine);
}

std::string page_of(const auto& items, const Cursor& next, auto write) {
  std::string out = R"({"items":)";
  append_list(out, items, write);
  if (!next.empty()) out += R"(,"next":)" + json_string(next);
  return out + "}";
}

using Order = Stimulus::Order;

struct OrderWord {
  std::string_view word;
  Order::Verb verb;
};
constexpr OrderWord kOrders[] = {{"retry", Order::Verb::retry}, {"release", Order::Verb::release},
                                 {"hold", Order::Verb::hold},   {"move", Order::Verb::move},
                                 {"patch", Order::Verb::patch}, {"migrate", Order::Verb::migrate},
                                 {"erase", Order::Verb::erase}};

Result<Order::Verb> parse_order(const std::string& word) {
  std::vector<std::string> known;
  for (const OrderWord& one : kOrders) {
    if (one.word == word) return one.verb;
    known.emplace_back(one.word);
  }
  const std::string none = "there is no order " + in_ticks(word);
  if (word == "restart" || word == "discard")
    return Error{ErrorCode::bad_input, none + ": it is an event; fire it"};
  return Error{ErrorCode::bad_input, none + did_you_mean(word, known)};
}

// Each order has fields of its own; those of another do not belong to it.
Result<Order> read_order(JsonBody& body) {
  const std::string word = body.required_text("order");
  Order order{.reason = body.required_text("reason")};
  if (word.empty()) {
    PAWL_CHECK(body.finish());
  } else {
    PAWL_TRY(order.verb, parse_order(word));
  }
  if (order.verb == Order::Verb::hold) order.text = body.required_text("text");
  if (order.verb == Order::Verb::move) order.state = body.required_text("state");
  if (order.verb == Order::Verb::patch) {
    order.data = body.map("data");
    body.require("data");
  }
  PAWL_CHECK(body.finish());
  return order;
}

// False when there is no such machine: the caller has been told so.
bool find_machine(const Call& call, const std::string& machine) {
  if (machine.empty() || is_built_in(machine) || call.engine.machine(machine) != nullptr)
    return true;
  std::vector<std::string> names;
  if (const auto versions = call.engine.machines())
    for (const MachineVersion& version : *versions)
      if (call.may_see_machine(version.name)) names.push_back(version.name);
  call.fail("no_such_machine",
            "there is no machine " + in_ticks(machine) + did_you_mean(machine, names));
  return false;
}

// Whether the caller may see the machine, and there is one; it has been answered when not. None is
// all that it may see.
bool may_look_at(const Call& call, const std::string& machine) {
  if (machine.empty() || call.may_see_machine(machine)) return find_machine(call, machine);
  call.replied(outside_machine(machine));
  return false;
}

}  // namespace

// --- what changes something --------------------------------------------------------------------

namespace {

// A change that is asked for, or the reply that says what is wrong with it.
struct Change {
  Stimulus stimulus = {};
  std::optional<ApiReply> refused = {};

  Change(Stimulus asked) : stimulus(std::move(asked)) {}       // NOLINT: implicit
  Change(ApiReply reply) : refused(std::move(reply)) {}        // NOLINT
  Change(const Error& error) : refused(error_reply(error)) {}  // NOLINT
};
using ReadChange = Change (*)(const Call&, const RecordName&, JsonBody&);

bool may_have_parent(const Call& call, const Stimulus::Create& create) {
  return !create.parent || call.may_see_machine(create.parent->machine);
}

Change read_create_call(const Call& call, const RecordName& name, JsonBody& body) {
  Stimulus stimulus = asked(call, name, body);
  const auto at = read_at(call, body);
  auto create = read_create(body);
  std::string event = body.text("event");
  const bool has_payload = body.has("payload");
  std::string payload = or_empty_map(body.map("payload"));
  PAWL_CHECK(body.finish());
  if (!at) return at.error();
  if (!create) return create.error();
  if (has_payload && event.empty()) return error_reply("bad_request", "`payload` needs `event`");
  if (!may_have_parent(call, *create)) return outside_machine(create->parent->machine);
  create->event = std::move(event);
  create->payload = std::move(payload);
  stimulus.at = *at;
  stimulus.what = *std::move(create);
  return stimulus;
}

Change read_fire_call(const Call& call, const RecordName& name, JsonBody& body) {
  Stimulus stimulus = asked(call, name, body);
  const auto at = read_at(call, body);
  Stimulus::Fire fire{.event = body.required_text("event"),
                      .payload = or_empty_map(body.map("payload"))};
  const std::string text = body.map("create");
  PAWL_CHECK(body.finish());
  if (!at) return at.error();
  if (!text.empty()) {
    JsonBody inner(JsonView(text), "create");
    auto create = read_create(inner);
    PAWL_CHECK(inner.finish());
    if (!create) return create.error();
    if (!may_have_parent(call, *create)) return outside_machine(create->parent->machine);
    fire.create = *std::move(create);
  }
  stimulus.at = *at;
  stimulus.what = std::move(fire);
  return stimulus;
}

Change read_order_call(const Call& call, const RecordName& name, JsonBody& body) {
  Stimulus stimulus = asked(call, name, body);
  auto order = read_order(body);
  if (!order) return order.error();
  stimulus.what = *std::move(order);
  return stimulus;
}

void carry_out(const SharedCall& call, ReadChange read) {
  JsonBody body = call->body();
  const Change change = read(*call, call->name(), body);
  if (change.refused) return call->replied(*change.refused);
  call->engine.submit({&change.stimulus, 1},
                      [call](std::size_t, const Result<Answer>& answer) { call->answer(answer); });
}

struct BatchWord {
  std::string_view word;
  std::string_view path;  // of the route whose roles and body it has
  ReadChange read;
};
constexpr BatchWord kBatchWords[] = {
    {"create", "/v1/records/{machine}/{key}", read_create_call},
    {"fire", "/v1/records/{machine}/{key}/fire", read_fire_call},
    {"order", "/v1/records/{machine}/{key}/orders", read_order_call}};

bool may_call(const Caller& caller, std::string_view path) {
  const auto routes = Api::routes();
  return std::any_of(routes.begin(), routes.end(), [&](const Route& route) {
    return route.path == path && route.method == "POST" && (route.roles & caller.roles) != 0;
  });
}

// As the single call would have read it; what the path says is in the body.
Change read_batch_item(const Call& call, JsonView value) {
  JsonBody item(value);
  const std::string word = item.required_text("call");
  const RecordName name{item.required_text("machine"), item.required_text("key")};
  const auto* known = std::find_if(std::begin(kBatchWords), std::end(kBatchWords),
                                   [&](const BatchWord& one) { return one.word == word; });
  if (known == std::end(kBatchWords)) {
    if (word.empty()) {
      PAWL_CHECK(item.finish());
    }
    return error_reply("bad_request", "`call` must be create, fire or order");
  }
  if (!may_call(call.request.caller, known->path))
    return error_reply("role_missing", "this access token may not " + word);
  if (!call.may_see_machine(name.machine)) return outside_machine(name.machine);
  return known->read(call, name, item);
}

// Replies of several calls, until the last has come.
struct Batch {
  explicit Batch(std::size_t size) : replies(size), open(size) {}

  std::vector<ApiReply> replies;
  std::atomic<std::size_t> open;
};

void close(const Call& call, Batch& batch, std::size_t closed) {
  if (batch.open.fetch_sub(closed) > closed) return;
  std::string out = R"({"items":)";
  append_list(out, batch.replies, with_status);
  call.ok(out + "}");
}

}  // namespace

void create_record(const SharedCall& call) { carry_out(call, read_create_call); }
void fire_event(const SharedCall& call) { carry_out(call, read_fire_call); }
void give_order(const SharedCall& call) { carry_out(call, read_order_call); }

// All of them are submitted together, so that they share commits.
void carry_out_batch(const SharedCall& call) {
  JsonBody body = call->body();
  const std::vector<JsonView> items = body.values("calls");
  body.require("calls");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  if (items.empty()) return call->ok(R"({"items":[]})");
  if (items.size() > kBatchMax)
    return call->fail("too_many_items", "`calls` can have at most 1000 items");
  const auto batch = std::make_shared<Batch>(items.size());
  std::vector<Stimulus> stimuli;
  std::vector<std::size_t> places;  // of each stimulus among the items
  for (std::size_t i = 0; i < items.size(); ++i) {
    Change change = read_batch_item(*call, items[i]);
    if (change.refused) {
      batch->replies[i] = *std::move(change.refused);
      continue;
    }
    stimuli.push_back(std::move(change.stimulus));
    places.push_back(i);
  }
  if (stimuli.empty()) return close(*call, *batch, items.size());
  const std::size_t refused = items.size() - stimuli.size();
  if (refused > 0) close(*call, *batch, refused);
  call->engine.submit(
      stimuli,
      [call, batch, places = std::make_shared<std::vector<std::size_t>>(std::move(places))](
          std::size_t i, const Result<Answer>& answer) {
        batch->replies[(*places)[i]] = answer ? reply_of(*answer) : error_reply(answer.error());
        close(*call, *batch, 1);
      });
}

// --- what only looks ---------------------------------------------------------------------------

void list_records(const SharedCall& call) {
  auto query = read_query(*call);
  if (!query) return call->fail(query.error());
  if (query->machine.empty() && call->request.caller.machines)
    return call->fail("outside_scope",
                      "this access token covers only some machines: name one as `machine`");
  if (!may_look_at(*call, query->machine) || !find_parent(*call, *query)) return;
  auto page = call->engine.list(*query, call->query("from"));
  if (!page) return call->fail(page.error());
  if (const std::string dead = call->query("dead"); !dead.empty())
    std::erase_if(page->items,
                  [&](const Record& record) { return is_dead(record) != (dead == "true"); });
  call->ok(page_of(page->items, page->next, [](const Record& record) { return to_json(record); }));
}

namespace {

struct StateWait {
  std::string state;
  Instant until;
  std::int64_t seen;  // a revision in which it was in another
  std::function<void(const Result<std::optional<Record>>&)> reply;
};

// Until it is there; a record that no longer moves, or not in time, is shown as it is.
void wait_for_state(const SharedCall& call, StateWait wait) {
  const Duration left = std::max(wait.until - call->engine.now(), Duration{0});
  const std::int64_t seen = wait.seen;
  call->engine.wait(call->name(), seen, left,
                    [call, wait = std::move(wait)](const Result<std::optional<Record>>& record) {
                      const bool moved = record && *record && (*record)->revision > wait.seen;
                      if (!moved || (*record)->state == wait.state) return wait.reply(record);
                      StateWait next = wait;
                      next.seen = (*record)->revision;
                      wait_for_state(call, std::move(next));
                    });
}

}  // namespace

void show_record(const SharedCall& call) {
  const auto reply = [call](const Result<std::optional<Record>>& record) {
    if (!record) return call->fail(record.error());
    if (!*record) return no_such_record(*call, call->name());
    if (!call->is_in_force())
      return call->fail("no_access", "the access token was revoked or expired during the wait");
    call->ok(to_json(**record));
  };
  const std::string until = call->query("until");
  const std::string revision = call->query("revision");
  const std::string state = call->query("state");
  if (!revision.empty() && until != "revision")
    return call->fail("bad_request", "`revision` needs `until=revision`");
  if (!state.empty() && until != "state")
    return call->fail("bad_request", "`state` needs `until=state`");
  const std::string wait = call->query("wait");
  if (wait.empty() && !until.empty()) return call->fail("bad_request", "`until` needs `wait`");
  if (wait.empty()) return reply(call->engine.show(call->name()));
  const auto at_most = parse_duration(wait);
  if (!at_most) return call->fail("bad_request", "`wait`: " + at_most.error().message);
  if (!until.empty() && until != "final" && until != "state" && until != "revision")
    return call->fail("bad_request", "`until` must be final, state or revision");
  const auto above = parse_whole(revision);
  if (until == "revision" && !above)
    return call->fail("bad_request", "`until=revision` needs `revision`, a whole number");
  if (until == "state" && state.empty())
    return call->fail("bad_request", "`until=state` needs `state`");
  const Duration time = std::min(*at_most, kWaitMax);
  if (until == "state") return wait_for_state(call, {state, call->engine.now() + time, -1, reply});
  call->engine.wait(call->name(), above, time, reply);
}

void show_log(const SharedCall& call) {
  const auto max = read_max(*call);
  if (!max) return call->fail(max.error());
  const auto record = call->engine.show(call->name());
  if (!record) return call->fail(record.error());
  if (!*record) return no_such_record(*call, call->name());
  const auto page = call->engine.log((*record)->id, call->query("from"), *max);
  if (!page) return call->fail(page.error());
  call->ok(page_of(page->items, page->next, [](const Entry& entry) { return to_json(entry); }));
}

void show_why(const SharedCall& call) {
  const auto why = call->engine.why(call->name());
  if (!why) return call->fail(why.error());
  if (!*why) return no_such_record(*call, call->name());
  call->ok(to_json(**why));
}

void show_permitted(const SharedCall& call) {
  const auto record = call->engine.show(call->name());
  if (!record) return call->fail(record.error());
  if (!*record) return no_such_record(*call, call->name());
  const auto events = call->engine.permitted(call->name(), call->request.caller.actor);
  if (!events) return call->fail(events.error());
  std::string out = R"({"permitted":)";
  append_list(out, *events, [](const std::string& event) { return json_string(event); });
  call->ok(out + "}");
}

void listen_to_feed(const SharedCall& call) {
  const std::string machine = call->query("machine");
  if (!may_look_at(*call, machine)) return;
  LiveEntries entries{call->request.caller.machines, call->query("from")};
  if (!machine.empty()) entries.machines = {machine};
  const auto readable = call->engine.feed(entries.from, 1);
  if (!readable) return call->fail(readable.error());
  if (readable->items.empty()) entries.from = readable->next;  // a place, where `end` was given
  call->replied({.entries = std::move(entries)});
}

void show_feed(const SharedCall& call) {
  const auto max = read_max(*call);
  if (!max) return call->fail(max.error());
  const std::string machine = call->query("machine");
  if (!may_look_at(*call, machine)) return;
  auto page = call->engine.feed(call->query("from"), *max);
  if (!page) return call->fail(page.error());
  std::erase_if(page->items, [&](const LoggedEntry& entry) {
    return (!machine.empty() && entry.name.machine != machine) ||
           !call->may_see_machine(entry.name.machine);
  });
  call->ok(page_of(page->items, page->next,
                   [](const LoggedEntry& entry) { return to_json(entry.entry, &entry.name); }));
}

void show_counts(const SharedCall& call) {
  auto counts = call->engine.counts();
  if (!counts) return call->fail(counts.error());
  std::erase_if(counts->states,
                [&](const StateCount& count) { return !call->may_see_machine(count.machine); });
  call->ok(page_of(counts->states, {}, [](const StateCount& count) { return to_json(count); }));
}

void show_errors(const SharedCall& call) {
  auto counts = call->engine.counts();
  if (!counts) return call->fail(counts.error());
  std::erase_if(counts->errors,
                [&](const ErrorCount& count) { return !call->may_see_machine(count.machine); });
  call->ok(page_of(counts->errors, {}, [](const ErrorCount& count) { return to_json(count); }));
}

}  // namespace pawl
