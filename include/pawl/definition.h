// Definition: a machine as it is written, in the long form of the machine file.
//
// Plain values: a C++ program fills them in with designated initialisers, the reader fills them in
// from a file, and Machine::make (machine.h) checks both alike. Empty vectors and empty optionals
// are keys that were not given. docs/reference/machine.md explains every key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/expression.h"
#include "pawl/json.h"
#include "pawl/time.h"
#include "pawl/where.h"

namespace pawl {

// Limits of a machine.
inline constexpr std::size_t kStatesMax = 5'000;
inline constexpr std::size_t kTimersMax = 32;  // `after` and `every` of one state
inline constexpr std::size_t kLabelsMax = 8;
inline constexpr std::size_t kPoliciesMax = 1'000;
inline constexpr std::size_t kFieldsMax = 1'000;  // of data, an event or a result; words of a field
inline constexpr std::size_t kListedRowsMax = 1'000;  // in one place
inline constexpr std::size_t kRowsMax = 250'000;      // of machine and policies, in each state

// A name that stands for a state, event, task or policy, declared elsewhere.
struct Ref {
  static constexpr std::uint32_t kUnresolved = 0xffff'ffff;

  std::string name;
  Where at;
  std::uint32_t id = kUnresolved;  // index of what it names, set by Machine::make

  Ref() = default;
  Ref(const char* given) : name(given) {}             // NOLINT: implicit by design
  Ref(std::string given) : name(std::move(given)) {}  // NOLINT
  Ref(std::string given, Where where) : name(std::move(given)), at(where) {}

  explicit operator bool() const { return !name.empty(); }

  // Whether it names something that exists; false before Machine::make.
  bool is_known() const { return id != kUnresolved; }

  friend bool operator==(const Ref& a, const Ref& b) { return a.name == b.name; }
};

// What a field may hold. Every field may be null unless it is required (`string!`).
struct FieldType {
  enum class Kind {
    string,
    integer,
    decimal,
    boolean,
    time,
    duration,
    list,
    map,
    any,
    rrule,
    cron,
    zone,
    word
  };

  Kind kind = Kind::any;
  bool required = false;
  std::vector<std::string> words = {};  // of `word`: one of these

  friend bool operator==(const FieldType&, const FieldType&) = default;
};

struct Field {
  std::string name;
  FieldType type = {};
  std::optional<Json> fallback = {};  // `default`
  std::string doc = {};
  Where at = {};

  friend bool operator==(const Field&, const Field&) = default;
};

using Fields = std::vector<Field>;

// `name <- value`: of `set`, `labels`, headers.
struct Assignment {
  std::string name;
  Value value;
  Where at = {};

  friend bool operator==(const Assignment&, const Assignment&) = default;
};

// Why a record is parked for a person.
struct HoldText {
  std::string code;
  Value text;

  friend bool operator==(const HoldText&, const HoldText&) = default;
};

// Where `send` sends to.
struct Recipient {
  enum class Kind { self, parent, children, record };

  Kind kind = Kind::self;
  std::string machine = {};  // of `children` and `record`
  Value key = {};            // of `record`

  friend bool operator==(const Recipient&, const Recipient&) = default;
};

// What a row or a state asks of the world: one verb.
struct EffectRow {
  enum class Verb { notify, run, send, create };

  Verb verb = Verb::notify;
  Ref target = {};                           // channel, task, event or machine
  std::optional<Expression> condition = {};  // `if`
  std::optional<Expression> each = {};
  std::optional<Value> with = {};
  std::optional<Value> key = {};
  std::optional<DurationValue> in = {};
  std::optional<Ref> then = {};       // of `run`
  std::optional<Ref> otherwise = {};  // of `run`: `else`
  std::optional<Recipient> to = {};   // of `send`
  bool must = false;                  // of `send`
  Where at = {};

  friend bool operator==(const EffectRow&, const EffectRow&) = default;
};

// Delays between the attempts at a task.
struct Delays {
  enum class Kind {
    list,     // one after another: n delays are n + 1 attempts
    formula,  // first, first * factor, … up to max
    fixed,    // the same for ever
  };
  enum class Jitter { none, full, equal, percent };

  Kind kind = Kind::list;
  std::vector<DurationValue> list = {};
  DurationValue first = {};  // of a formula; the delay of `fixed`
  int factor_milli = 2'000;
  std::optional<DurationValue> max = {};
  Jitter jitter = Jitter::none;
  int jitter_percent = 0;
  std::optional<int> attempts = {};  // the first included; none: no bound
  Where at = {};

  friend bool operator==(const Delays&, const Delays&) = default;
};

// What may happen in one case: condition, outcome, data, effects. One grammar for all places; each
// place allows some of the keys.
struct Row {
  enum class Held { no, yes, any };
  enum class From { open, all, listed };
  enum class Action { none, retry, later, done, give_up };

  std::optional<Expression> condition = {};  // `if`
  std::optional<Ref> to = {};
  std::optional<Ref> event = {};  // or `only`
  std::optional<Value> fail = {};
  std::optional<HoldText> hold = {};
  std::vector<Assignment> set = {};
  std::vector<EffectRow> effects = {};
  bool new_epoch = false;
  Held held = Held::no;  // of event rows

  From from = From::open;             // of the machine's own `on`
  std::vector<Ref> from_states = {};  // `from` as a list
  std::vector<Ref> except = {};

  Action action = Action::none;  // of error rows
  std::optional<Delays> delays = {};
  std::optional<Ref> checkpoint = {};
  bool transient = false;

  std::optional<DurationValue> elapsed = {};  // of give-up rows
  std::string alert = {};
  Where at = {};

  friend bool operator==(const Row&, const Row&) = default;
};

using Rows = std::vector<Row>;

struct EventRows {
  Ref event;
  Rows rows;

  friend bool operator==(const EventRows&, const EventRows&) = default;
};

struct TimerRows {
  DurationValue delay;
  Rows rows;

  friend bool operator==(const TimerRows&, const TimerRows&) = default;
};

// The answers to one error code; `default` answers what nothing else does, `http_5*` a prefix.
struct ErrorRows {
  std::string code;
  Rows rows;
  Where at = {};

  friend bool operator==(const ErrorRows&, const ErrorRows&) = default;
};

// How failure is answered. What is not given is looked up in the next place (language: state, task,
// machine, built-in).
struct Policy {
  enum class Count { state, epoch, lifetime };
  enum class Align { planned, retry, only_planned, whichever_first };

  std::optional<DurationValue> timeout = {};
  std::optional<DurationValue> lease = {};
  std::optional<Delays> retry = {};
  std::vector<ErrorRows> errors = {};
  Rows give_up = {};
  std::optional<Ref> failure = {};  // an empty name: in place
  std::optional<Count> count = {};
  std::optional<Align> align = {};
  std::optional<Ref> policy = {};  // a named policy, asked after the keys above

  friend bool operator==(const Policy&, const Policy&) = default;
};

struct NamedPolicy {
  std::string name;
  Policy policy;
  Where at = {};

  friend bool operator==(const NamedPolicy&, const NamedPolicy&) = default;
};

struct State {
  std::string name;
  std::string doc = {};
  std::optional<int> id = {};
  std::optional<Ref> task = {};
  std::optional<Ref> started = {};
  Rows done = {};
  std::vector<EventRows> on = {};
  std::vector<TimerRows> after = {};
  std::vector<TimerRows> every = {};
  Rows planned = {};
  Rows when = {};
  std::vector<EffectRow> effects = {};
  std::optional<Ref> checkpoint = {};
  Rows resume = {};
  bool final = false;
  Policy policy = {};
  Where at = {};

  friend bool operator==(const State&, const State&) = default;
};

struct EventDefinition {
  std::string name;
  std::vector<std::string> by = {};  // roles; empty: any caller allowed on the machine
  std::optional<Fields> with = {};
  std::string doc = {};
  Where at = {};

  friend bool operator==(const EventDefinition&, const EventDefinition&) = default;
};

// A bound on running attempts.
struct Concurrency {
  int max = 1;
  std::optional<Value> per = {};

  friend bool operator==(const Concurrency&, const Concurrency&) = default;
};

// A bound on starts.
struct Rate {
  int max = 1;
  DurationValue every = {};
  std::optional<Value> per = {};

  friend bool operator==(const Rate&, const Rate&) = default;
};

struct HttpCall {
  enum class Method { get, post, put, del };

  Method method = Method::post;
  Value url = {};
  std::vector<Assignment> headers = {};
  std::optional<Value> body = {};

  friend bool operator==(const HttpCall&, const HttpCall&) = default;
};

struct Task {
  enum class Kind { queue, http, channel, function };

  std::string name;
  Kind kind = Kind::queue;
  std::string target = {};  // queue, channel or function
  std::optional<HttpCall> http = {};
  std::optional<Value> with = {};
  std::optional<Fields> result = {};
  std::optional<Value> key = {};
  std::optional<Concurrency> concurrency = {};
  std::optional<Rate> rate = {};
  int priority = 5;
  std::string doc = {};
  Policy policy = {};
  Where at = {};

  friend bool operator==(const Task&, const Task&) = default;
};

// When work is planned. The parts may be templates over `data`.
struct Schedule {
  enum class Kind { rrule, cron, every };
  enum class Missed { none, last, all };
  enum class Gap { shift, skip };
  enum class Fold { first, last, both };

  Kind kind = Kind::rrule;
  Value rule = {};  // of `rrule` and `cron`
  DurationValue every = {};
  std::optional<Value> tz = {};
  std::optional<Value> anchor = {};
  Missed missed = Missed::last;
  std::optional<Gap> gap = {};
  std::optional<Fold> fold = {};
  Rows ended = {};
  Where at = {};

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

struct Keep {
  std::optional<DurationValue> final = {};
  std::optional<int> entries = {};

  friend bool operator==(const Keep&, const Keep&) = default;
};

// How records of an older version move over.
struct Migration {
  struct Renamed {
    std::string from;
    Ref to;

    friend bool operator==(const Renamed&, const Renamed&) = default;
  };

  int version = 0;
  std::vector<Renamed> states = {};
  std::vector<Assignment> set = {};
  Where at = {};

  friend bool operator==(const Migration&, const Migration&) = default;
};

// One step of a scenario: a stimulus at an instant, and what must be true after it.
struct Step {
  enum class Verb { none, create, fire, start, beat, done, fail, order };

  std::string at = {};      // as written; empty: at once
  std::string record = {};  // `machine/key` or `run task`; empty: the scenario's own
  Verb verb = Verb::none;
  Json subject = {};  // what stands after the verb
  Json with = {};     // of `fire`
  Json actor = {};
  std::string as = {};  // the name of the token, of `start`
  std::string token = {};
  Json expect = {};
  Where where = {};

  friend bool operator==(const Step&, const Step&) = default;
};

struct Scenario {
  std::string title;
  std::string at = {};
  std::string tz = {};
  Json create = {};
  std::vector<Step> steps = {};
  Where where = {};

  friend bool operator==(const Scenario&, const Scenario&) = default;
};

struct Definition {
  std::string machine;
  std::optional<int> version = {};
  std::string doc = {};
  Ref initial = {};
  std::optional<Fields> data = {};  // when given it is complete
  std::vector<EventDefinition> events = {};
  std::vector<Ref> order = {};
  std::optional<Schedule> schedule = {};
  Policy policy = {};
  std::vector<NamedPolicy> policies = {};
  std::vector<EventRows> on = {};
  std::vector<State> states = {};
  std::vector<Task> tasks = {};
  std::vector<Assignment> labels = {};
  std::optional<Keep> keep = {};
  bool pin = false;
  std::vector<Migration> migrate = {};
  std::vector<Scenario> scenarios = {};
  Where at = {};

  friend bool operator==(const Definition&, const Definition&) = default;
};

}  // namespace pawl
