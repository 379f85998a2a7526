#include "decide/built_in.h"

#include "base/json_text.h"
#include "decide/json_edit.h"
#include "model/built_in_names.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

// Once they are through.
constexpr Duration kKept = std::chrono::days{1};

std::string text_of(const Record& record, std::string_view name) {
  Scratch scratch;
  const JsonView value = JsonView(record.data).member(name);
  return value.kind() == JsonView::Kind::text ? std::string(value.text(scratch)) : std::string();
}

std::int64_t number_of(const Record& record, std::string_view name) {
  const JsonView value = JsonView(record.data).member(name);
  return value.kind() == JsonView::Kind::number ? std::stoll(std::string(value.json())) : 0;
}

// Nothing but the failure itself is the side job's to decide: where the machine's states are named
// it gives up instead, and only what can be told the world is kept.
Rows of_side_job(Rows rows, const SideJob& job, bool gives_up) {
  for (Row& row : rows) {
    if (row.to || (row.hold && !gives_up)) {
      row.to.reset();
      if (!gives_up) {
        row.hold.reset();
        row.action = Row::Action::give_up;
      }
    }
    row.set.clear();
    row.checkpoint.reset();
    std::erase_if(row.effects, [](const EffectRow& effect) {
      return effect.verb != EffectRow::Verb::notify && effect.verb != EffectRow::Verb::create;
    });
    if (gives_up && !job.otherwise.empty()) {
      row.to = Ref("failed");
      row.hold.reset();
      row.effects.push_back({.verb = EffectRow::Verb::send,
                             .target = Ref(job.otherwise),
                             .with = Value("{error}"),
                             .to = Recipient{.kind = Recipient::Kind::parent}});
    }
  }
  return rows;
}

Policy of_side_job(const ResolvedPolicy& resolved, const SideJob& job) {
  Policy policy{.timeout = resolved.timeout, .lease = resolved.lease, .retry = resolved.retry};
  for (const ErrorRows* errors : resolved.errors) {
    const bool is_known =
        std::any_of(policy.errors.begin(), policy.errors.end(),
                    [&](const ErrorRows& known) { return known.code == errors->code; });
    if (is_known) continue;  // the nearer table answers first
    policy.errors.push_back({errors->code, of_side_job(errors->rows, job, false)});
  }
  const bool is_ours = resolved.give_up.data() == Machine::built_in_policy().give_up.data();
  if (!is_ours || !job.otherwise.empty())
    policy.give_up = of_side_job(Rows(resolved.give_up.begin(), resolved.give_up.end()), job, true);
  return policy;
}

Definition run_definition(const SideJob& job, const Machine& asker, TaskId id) {
  Task task = asker.task(id);
  task.with.reset();
  task.key.reset();
  task.policy = of_side_job(asker.policy_of_run(id), job);
  Row done{.to = Ref("finished")};
  if (!job.then.empty())
    done.effects = {{.verb = EffectRow::Verb::send,
                     .target = Ref(job.then),
                     .with = Value("{result}"),
                     .to = Recipient{.kind = Recipient::Kind::parent}}};
  return {
      .machine = "run",
      .initial = Ref("running"),
      .states = {State{.name = "running", .task = Ref(task.name), .done = {done}},
                 State{.name = "finished", .final = true}, State{.name = "failed", .final = true}},
      .tasks = {std::move(task)},
      .keep = Keep{.final = DurationValue(kKept)}};
}

// One state in which something is delivered until it is.
Definition sending_definition(std::string_view machine) {
  return {
      .machine = std::string(machine),
      .initial = Ref("sending"),
      .states = {State{.name = "sending", .task = Ref("deliver"), .done = {Row{.to = Ref("sent")}}},
                 State{.name = "sent", .final = true}},
      .tasks = {Task{.name = "deliver", .kind = Task::Kind::function, .target = "deliver"}},
      .keep = Keep{.final = DurationValue(kKept)}};
}

// A message of a record is tried again by the built-in policy. A call from outside is made once:
// who wants another try gives the order, and until then it is a dead letter. While its receiver is
// on hold it waits.
Definition send_definition() {
  Definition send = sending_definition(kSendMachine);
  using std::chrono::minutes;
  using std::chrono::seconds;
  const Delays delays{.list = {DurationValue(seconds{1}), DurationValue(seconds{10}),
                               DurationValue(minutes{1}), DurationValue(minutes{5})}};
  send.tasks[0].policy.errors = {
      {std::string(kReceiverOnHold), {Row{.action = Row::Action::later, .delays = delays}}},
      {"default",
       {Row{.condition = Expression("data.call != null"), .action = Row::Action::give_up}}}};
  return send;
}

}  // namespace

SideJob side_job_of(const Record& run) {
  return {.machine = text_of(run, "machine"),
          .version = static_cast<int>(number_of(run, "version")),
          .task = text_of(run, "task"),
          .then = text_of(run, "then"),
          .otherwise = text_of(run, "else")};
}

DelayedMessage delayed_message_of(const Record& send) {
  DelayedMessage message{.machine = text_of(send, "machine"), .key = text_of(send, "key")};
  message.sent.event = text_of(send, "event");
  message.sent.payload = JsonView(send.data).member("with").json();
  message.sent.from = RecordId{static_cast<std::uint64_t>(number_of(send, "from"))};
  if (const auto epoch = number_of(send, "epoch"); epoch != 0)
    message.sent.epoch_only = static_cast<int>(epoch);
  message.must = JsonView(send.data).member("must").boolean();
  message.call = JsonView(send.data).member("call").json();
  return message;
}

ToDeliver to_deliver_of(const Record& delivery) {
  return {.channel = text_of(delivery, "channel"),
          .payload = std::string(JsonView(delivery.data).member("with").json()),
          .from = RecordId{static_cast<std::uint64_t>(number_of(delivery, "from"))}};
}

Stimulus carrier_of(const Effect& effect, const Record& asker, RecordId id, Instant now) {
  const bool runs = effect.verb == Effect::Verb::run;
  const bool notifies = effect.verb == Effect::Verb::notify;
  std::string data;
  {
    JsonMap map(data);
    if (runs) {
      map.text("machine", asker.machine);
      map.number("version", asker.version);
      map.text("task", effect.target);
      if (!effect.then.empty()) map.text("then", effect.then);
      if (!effect.otherwise.empty()) map.text("else", effect.otherwise);
      if (!effect.outside_key.empty()) map.text("outside_key", effect.outside_key);
      map.json("data", asker.data);
    } else if (notifies) {
      map.text("channel", effect.target);
      map.number("from", static_cast<std::int64_t>(asker.id.value));
    } else {
      map.text("machine", effect.machine);
      map.text("key", effect.key);
      map.text("event", effect.target);
      map.number("from", static_cast<std::int64_t>(asker.id.value));
      if (effect.epoch_only) map.number("epoch", *effect.epoch_only);
      map.boolean("must", effect.must);
    }
    map.json("with", effect.payload);
  }
  Stimulus::Create create{.id = id, .data = std::move(data)};
  if (runs) create.parent = Parent{asker.id, asker.machine, asker.key};
  if (effect.in) create.ready_at = now + *effect.in;
  return {.what = std::move(create),
          .machine = runs       ? "run"
                     : notifies ? "delivery"
                                : "send",
          .key = effect.id,
          .actor = {"engine", {"engine"}}};
}

BuiltIns::BuiltIns(Zones zones) : zones_(std::move(zones)) {
  Diagnostics diagnostics;
  send_ = Machine::make_built_in(send_definition(), zones_, diagnostics);
  delivery_ = Machine::make_built_in(sending_definition("delivery"), zones_, diagnostics);
  PAWL_ASSERT(send_ != nullptr && delivery_ != nullptr, "the built-in machines are right");
}

std::shared_ptr<const Machine> BuiltIns::run(const SideJob& job, const Machine& asker) {
  std::shared_ptr<const Machine>& made = runs_[job];
  if (made) return made;
  const auto task = asker.find_task(job.task);
  PAWL_ASSERT(task.has_value(), "a side job names a task of the machine that asked for it");
  Diagnostics diagnostics;
  made = Machine::make_built_in(run_definition(job, asker, *task), zones_, diagnostics);
  PAWL_ASSERT(made != nullptr, "the machine of a side job follows from its task");
  return made;
}

}  // namespace pawl
