// Records: created, moved, looked at.
#include <algorithm>
#include <charconv>

#include "api/call.h"
#include "api/documents.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/text.h"

namespace pawl {
namespace {

constexpr Duration kWaitMax = std::chrono::seconds{60};

std::string or_empty_map(std::string json) { return json.empty() ? "{}" : std::move(json); }

void no_such_record(const Call& call, const RecordName& name) {
  call.fail(404, "no_such_record", "there is no record " + name.machine + "/" + name.key);
}

// What every call that changes something may carry.
Stimulus asked(const Call& call, JsonBody& body, bool may_be_later) {
  Stimulus stimulus;
  stimulus.machine = call.name().machine;
  stimulus.key = call.name().key;
  stimulus.actor = call.request.caller.actor;
  stimulus.idempotency_key = body.text("idempotency_key");
  stimulus.dry_run = body.boolean("dry_run");
  if (!may_be_later) return stimulus;
  stimulus.at = body.instant("at");
  if (const auto in = body.duration("in")) stimulus.at = call.engine.now() + *in;
  return stimulus;
}

std::optional<Parent> parent_of(JsonBody& body, std::optional<Error>& error) {
  if (!body.has("parent")) {
    body.map("parent");
    return std::nullopt;
  }
  const std::string text = body.map("parent");
  JsonBody parent(text, "parent");
  Parent read{.machine = parent.required_text("machine"), .key = parent.required_text("key")};
  if (const auto wrong = parent.finish(); !wrong && !error) error = wrong.error();
  return read;
}

void submit(const SharedCall& call, const Stimulus& stimulus) {
  call->engine.submit({&stimulus, 1},
                      [call](std::size_t, const Result<Answer>& answer) { call->answer(answer); });
}

Result<std::optional<bool>> read_flag(const Call& call, std::string_view name) {
  const std::string text = call.query(name);
  if (text.empty()) return std::optional<bool>();
  if (text == "true" || text == "false") return std::optional(text == "true");
  return Error{ErrorCode::bad_input, in_ticks(name) + " is true or false"};
}

Result<std::optional<Instant>> read_instant(const Call& call, std::string_view name) {
  const std::string text = call.query(name);
  if (text.empty()) return std::optional<Instant>();
  PAWL_TRY(const Instant at, parse_instant(text));
  return std::optional(at);
}

// A misspelt filter must not list everything.
Result<void> check_query(const Call& call, std::initializer_list<const char*> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [name, value] : call.request.query)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Error{ErrorCode::bad_input,
                   in_ticks(name) + " is not a parameter here" + did_you_mean(name, names)};
  return {};
}

Result<Query> read_query(const Call& call) {
  PAWL_CHECK(check_query(
      call, {"machine", "state", "key_prefix", "label", "parent", "held", "dead", "error",
             "fingerprint", "created_from", "created_before", "built_in", "max", "from"}));
  Query query{.machine = call.query("machine"),
              .state = call.query("state"),
              .key_prefix = call.query("key_prefix"),
              .error_code = call.query("error")};
  PAWL_TRY(query.held, read_flag(call, "held"));
  PAWL_TRY(const auto dead, read_flag(call, "dead"));
  if (dead && *dead) query.held = true;
  PAWL_TRY(const auto built_in, read_flag(call, "built_in"));
  query.hides_built_in = !built_in.value_or(false);
  PAWL_TRY(query.created_from, read_instant(call, "created_from"));
  PAWL_TRY(query.created_before, read_instant(call, "created_before"));
  PAWL_TRY(query.max, read_max(call));
  if (!query.key_prefix.empty() && query.machine.empty())
    return Error{ErrorCode::bad_input, "`key_prefix` needs `machine`: keys are a machine's own"};
  if (const std::string label = call.query("label"); !label.empty()) {
    PAWL_TRY(const PauseTarget target, parse_pause_target("label:" + label));
    query.label = Label{target.name, target.value};
  }
  if (const std::string parent = call.query("parent"); !parent.empty()) {
    const std::size_t slash = parent.find('/');
    if (slash == std::string::npos)
      return Error{ErrorCode::bad_input, "`parent` is written MACHINE/KEY"};
    PAWL_TRY(const auto record,
             call.engine.show({parent.substr(0, slash), parent.substr(slash + 1)}));
    query.parent = record ? record->id : RecordId{};
  }
  if (const std::string fingerprint = call.query("fingerprint"); !fingerprint.empty()) {
    std::uint64_t number = 0;
    const char* end = fingerprint.data() + fingerprint.size();
    const auto read = std::from_chars(fingerprint.data(), end, number, 16);
    if (read.ec != std::errc{} || read.ptr != end)
      return Error{ErrorCode::bad_input, "`fingerprint` is 16 hex digits"};
    query.fingerprint = number;
  }
  return query;
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

Result<Stimulus::Order> read_order(JsonBody& body) {
  using Verb = Stimulus::Order::Verb;
  static constexpr std::pair<std::string_view, Verb> kVerbs[] = {
      {"retry", Verb::retry}, {"release", Verb::release}, {"hold", Verb::hold},
      {"move", Verb::move},   {"patch", Verb::patch},     {"migrate", Verb::migrate},
      {"erase", Verb::erase}};
  const std::string verb = body.required_text("order");
  Stimulus::Order order{.reason = body.required_text("reason"),
                        .text = body.text("text"),
                        .state = body.text("state"),
                        .data = body.map("data")};
  PAWL_CHECK(body.finish());
  std::vector<std::string> known;
  for (const auto& [word, value] : kVerbs) {
    known.emplace_back(word);
    if (word != verb) continue;
    order.verb = value;
    if (value == Verb::hold && order.text.empty())
      return Error{ErrorCode::bad_input, "`hold` needs a `text` for people"};
    if (value == Verb::move && order.state.empty())
      return Error{ErrorCode::bad_input, "`move` needs a `state`"};
    if (value == Verb::patch && order.data.empty())
      return Error{ErrorCode::bad_input, "`patch` needs `data`, a merge patch"};
    return order;
  }
  return Error{ErrorCode::bad_input, "there is no order " + in_ticks(verb) +
                                         did_you_mean(verb, known) +
                                         "; `restart` and `discard` are events"};
}

}  // namespace

Result<std::size_t> read_max(const Call& call) {
  const std::string text = call.query("max");
  if (text.empty()) return std::size_t{100};
  const auto max = parse_whole(text);
  if (!max || *max < 1 || *max > static_cast<std::int64_t>(kPageMax))
    return Error{ErrorCode::bad_input, "`max` is a whole number from 1 to 1000"};
  return static_cast<std::size_t>(*max);
}

// --- what changes something --------------------------------------------------------------------

void create_record(const SharedCall& call) {
  JsonBody body(call->request.body);
  Stimulus stimulus = asked(*call, body, true);
  std::optional<Error> error;
  Stimulus::Create create{.data = or_empty_map(body.map("data")),
                          .parent = parent_of(body, error),
                          .event = body.text("event"),
                          .payload = or_empty_map(body.map("payload"))};
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  if (error) return call->fail(*error);
  stimulus.what = std::move(create);
  submit(call, stimulus);
}

void fire_event(const SharedCall& call) {
  JsonBody body(call->request.body);
  Stimulus stimulus = asked(*call, body, true);
  Stimulus::Fire fire{.event = body.required_text("event"),
                      .payload = or_empty_map(body.map("payload"))};
  const bool creates = body.has("create");
  const std::string text = body.map("create");
  if (const auto wrong = body.finish(); !wrong) return call->fail(wrong.error());
  if (creates) {
    JsonBody create(text, "create");
    std::optional<Error> error;
    fire.create = Stimulus::Create{.data = or_empty_map(create.map("data")),
                                   .parent = parent_of(create, error)};
    if (const auto wrong = create.finish(); !wrong) return call->fail(wrong.error());
    if (error) return call->fail(*error);
  }
  stimulus.what = std::move(fire);
  submit(call, stimulus);
}

void give_order(const SharedCall& call) {
  JsonBody body(call->request.body);
  Stimulus stimulus = asked(*call, body, false);
  auto order = read_order(body);
  if (!order) return call->fail(order.error());
  stimulus.what = *std::move(order);
  submit(call, stimulus);
}

// --- what only looks ---------------------------------------------------------------------------

void list_records(const SharedCall& call) {
  const auto query = read_query(*call);
  if (!query) return call->fail(query.error());
  if (call->request.caller.machines && !call->may_see_machine(query->machine))
    return call->fail(403, "outside_scope",
                      "this access token is for some machines only: name one as `machine`");
  auto page = call->engine.list(*query, call->query("from"));
  if (!page) return call->fail(page.error());
  if (call->query("dead") == "true")
    std::erase_if(page->items, [](const Record& record) { return !is_dead(record); });
  call->ok(page_of(page->items, page->next, [](const Record& record) { return to_json(record); }));
}

void show_record(const SharedCall& call) {
  if (const auto wrong = check_query(*call, {"wait", "until", "revision"}); !wrong)
    return call->fail(wrong.error());
  const std::string wait = call->query("wait");
  const std::string until = call->query("until");
  const auto reply = [call](const Result<std::optional<Record>>& record) {
    if (!record) return call->fail(record.error());
    if (!*record) return no_such_record(*call, call->name());
    call->ok(to_json(**record));
  };
  if (wait.empty()) return reply(call->engine.show(call->name()));
  const auto at_most = parse_duration(wait);
  if (!at_most) return call->fail(at_most.error());
  std::optional<std::int64_t> revision;
  if (until == "revision") {
    revision = parse_whole(call->query("revision"));
    if (!revision)
      return call->fail(400, "bad_request", "`until=revision` needs `revision`, a whole number");
  } else if (!until.empty() && until != "final") {
    return call->fail(400, "bad_request", "`until` is final or revision");
  }
  call->engine.wait(call->name(), revision, std::min(*at_most, kWaitMax), reply);
}

void show_log(const SharedCall& call) {
  if (const auto wrong = check_query(*call, {"max", "from"}); !wrong)
    return call->fail(wrong.error());
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

void show_feed(const SharedCall& call) {
  if (const auto wrong = check_query(*call, {"machine", "max", "from"}); !wrong)
    return call->fail(wrong.error());
  const auto max = read_max(*call);
  if (!max) return call->fail(max.error());
  auto page = call->engine.feed(call->query("from"), *max);
  if (!page) return call->fail(page.error());
  const std::string machine = call->query("machine");
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
