#include "model/codec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "base/json_text.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

class Writer;
class RecordReader;

// What a description of fields takes: the value itself when it is read into.
template <class Archive, class T>
using Of = std::conditional_t<std::same_as<Archive, Writer>, const T, T>;

template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;

// --- descriptions: one for both directions -----------------------------------------------------

template <class A>
void fields(A& a, Of<A, RecordId>& id) {
  a.member("value", id.value);
}

template <class A>
void fields(A& a, Of<A, Actor>& actor) {
  a.member("name", actor.name);
  a.member("roles", actor.roles);
  a.member("via", actor.via);
}

template <class A>
void fields(A& a, Of<A, Failure>& failure) {
  a.member("code", failure.code);
  a.member("message", failure.message);
  a.json("detail", failure.detail);
  a.member("retry_after", failure.retry_after);
  a.member("transient", failure.transient);
  a.member("at", failure.at);
  a.member("fingerprint", failure.fingerprint);
}

template <class A>
void fields(A& a, Of<A, Hold>& hold) {
  a.member("code", hold.code);
  a.member("text", hold.text);
  a.member("since", hold.since);
  a.member("by", hold.by);
}

template <class A>
void fields(A& a, Of<A, Streak>& streak) {
  a.member("state", streak.state);
  a.member("code", streak.code);
  a.member("code_failures", streak.code_failures);
  a.member("laters", streak.laters);
  a.member("checkpoint", streak.checkpoint);
  a.member("gave_up", streak.gave_up);
}

template <class A>
void fields(A& a, Of<A, Timer>& timer) {
  a.member("kind", timer.kind);
  a.member("index", timer.index);
  a.member("at", timer.at);
}

template <class A>
void fields(A& a, Of<A, Plan>& plan) {
  a.member("anchor", plan.anchor);
  a.member("zone", plan.zone);
  a.member("serving", plan.serving);
  a.member("next", plan.next);
}

template <class A>
void fields(A& a, Of<A, Attempt>& attempt) {
  a.member("token_hash", attempt.token_hash);
  a.member("worker", attempt.worker);
  a.member("started_at", attempt.started_at);
  a.member("lease_until", attempt.lease_until);
  a.member("deadline_at", attempt.deadline_at);
  a.json("progress", attempt.progress);
  a.member("slots", attempt.slots);
}

template <class A>
void fields(A& a, Of<A, Settled>& settled) {
  a.member("fence", settled.fence);
  a.member("token_hash", settled.token_hash);
  a.member("verb", settled.verb);
  a.member("state", settled.state);
  a.member("seq", settled.seq);
}

template <class A>
void fields(A& a, Of<A, TaskSeq>& left) {
  a.member("state", left.state);
  a.member("seq", left.seq);
}

template <class A>
void fields(A& a, Of<A, Parent>& parent) {
  a.member("id", parent.id);
  a.member("machine", parent.machine);
  a.member("key", parent.key);
}

template <class A>
void fields(A& a, Of<A, ChildCounts::InState>& in_state) {
  a.member("state", in_state.state);
  a.member("count", in_state.count);
}

template <class A>
void fields(A& a, Of<A, ChildCounts>& counts) {
  a.member("machine", counts.machine);
  a.member("all", counts.all);
  a.member("open", counts.open);
  a.member("final", counts.final);
  a.member("hold", counts.hold);
  a.member("states", counts.states);
}

template <class A>
void fields(A& a, Of<A, Label>& label) {
  a.member("name", label.name);
  a.json("value", label.value);
}

template <class A>
void fields(A& a, Of<A, KnownRecord>& known) {
  a.member("machine", known.machine);
  a.member("key", known.key);
  a.member("id", known.id);
  a.member("parent", known.parent);
  a.member("initial", known.initial);
  a.member("initial_final", known.initial_final);
  a.member("unfit", known.unfit);
  a.json("data", known.data);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Create>& create) {
  a.member("id", create.id);
  a.json("data", create.data);
  a.member("parent", create.parent);
  a.member("event", create.event);
  a.json("payload", create.payload);
  a.member("ready_at", create.ready_at);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Fire>& fire) {
  a.member("event", fire.event);
  a.json("payload", fire.payload);
  a.member("create", fire.create);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Start>& start) {
  a.member("token_hash", start.token_hash);
  a.member("worker", start.worker);
  a.member("slots", start.slots);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Beat>& beat) {
  a.member("token_hash", beat.token_hash);
  a.json("progress", beat.progress);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Done>& done) {
  a.member("token_hash", done.token_hash);
  a.json("result", done.result);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Fail>& fail) {
  a.member("token_hash", fail.token_hash);
  a.member("error", fail.error);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Wake>& wake) {
  a.member("passed", wake.passed);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Sent>& sent) {
  a.member("event", sent.event);
  a.json("payload", sent.payload);
  a.member("from", sent.from);
  a.member("epoch_only", sent.epoch_only);
}

template <class A>
void fields(A& a, Of<A, Stimulus::ChildChanged>& changed) {
  a.member("child", changed.child);
  a.member("machine", changed.machine);
  a.member("was", changed.was);
  a.member("is", changed.is);
  a.member("was_final", changed.was_final);
  a.member("is_final", changed.is_final);
  a.member("was_held", changed.was_held);
  a.member("is_held", changed.is_held);
}

template <class A>
void fields(A& a, Of<A, Stimulus::Order>& order) {
  a.member("verb", order.verb);
  a.member("reason", order.reason);
  a.member("text", order.text);
  a.member("code", order.code);
  a.member("state", order.state);
  a.json("data", order.data);
}

template <class A>
void quiet_fields(A& a, Of<A, Record>& record) {
  a.member("revision", record.revision);
  a.member("changed_at", record.changed_at);
  a.member("ready_at", record.ready_at);
  a.member("wake_at", record.wake_at);
  a.member("task_at", record.task_at);
  a.member("remove_at", record.remove_at);
  a.member("timers", record.timers);
  a.member("plan", record.plan);
  a.member("streak", record.streak);
  a.member("spent", record.spent);
  a.member("task_seq", record.task_seq);
  a.member("left_tasks", record.left_tasks);
  a.member("children", record.children);
  a.member("attempt", record.attempt);
  a.json("progress", record.progress);
  a.member("fence", record.fence);
  a.member("running", record.running);
  a.member("settled", record.settled);
  a.member("writes", record.writes);
}

template <class A>
void core_fields(A& a, Of<A, Record>& record, std::uint32_t which) {
  if (which & kCoreIdentity) {
    a.always("id", record.id.value);
    a.always("machine", record.machine);
    a.always("key", record.key);
    a.always("created_at", record.created_at);
    a.always("parent", record.parent);
  }
  if (which & kCoreVersion) a.always("version", record.version);
  if (which & kCoreState) {
    a.always("state", record.state);
    a.always("entered_at", record.entered_at);
  }
  if (which & kCoreEpoch) a.always("epoch", record.epoch);
  if (which & kCoreFailures) {
    a.always("failures", record.failures);
    a.always("failing_since", record.failing_since);
    a.always("failed_from", record.failed_from);
  }
  if (which & kCoreError) a.always("error", record.error);
  if (which & kCoreHold) a.always("hold", record.hold);
  if (which & kCoreData) a.always_json("data", record.data);
  if (which & kCoreResult) a.always_json("result", record.result);
  if (which & kCoreLabels) a.always("labels", record.labels);
  if (which & kCorePriority) a.always("priority", record.priority);
}

template <class A>
void sparse_fields(A& a, Of<A, Record>& record) {
  a.unless(1, "version", record.version);
  a.member("parent", record.parent);
  a.unless(1, "epoch", record.epoch);
  a.member("failures", record.failures);
  a.member("failing_since", record.failing_since);
  a.member("failed_from", record.failed_from);
  a.member("error", record.error);
  a.member("hold", record.hold);
  a.json("result", record.result);
  a.member("labels", record.labels);
  a.member("task_at", record.task_at);
  a.member("remove_at", record.remove_at);
  a.member("timers", record.timers);
  a.member("plan", record.plan);
  a.member("streak", record.streak);
  a.member("spent", record.spent);
  a.member("task_seq", record.task_seq);
  a.member("left_tasks", record.left_tasks);
  a.member("children", record.children);
  a.member("attempt", record.attempt);
  a.json("progress", record.progress);
  a.member("running", record.running);
  a.member("settled", record.settled);
}

template <class A>
void fields(A& a, Of<A, Entry>& entry) {
  a.member("seq", entry.seq);
  a.member("at", entry.at);
  a.member("kind", entry.kind);
  a.member("event", entry.event);
  a.member("from", entry.from);
  a.member("to", entry.to);
  a.always("epoch", entry.epoch);
  a.member("attempt", entry.attempt);
  a.member("fence", entry.fence);
  a.member("error", entry.error);
  a.member("cause", entry.cause);
  a.member("actor", entry.actor);
  a.member("idempotency_key", entry.idempotency_key);
  a.json("input", entry.input);
  a.json("changes", entry.changes);
  a.member("next_at", entry.next_at);
  a.member("delays_left", entry.delays_left);
  a.member("row", entry.row);
}

template <class A>
void fields(A& a, Of<A, Answer>& answer) {
  a.member("kind", answer.kind);
  a.member("state", answer.state);
  a.member("revision", answer.revision);
  a.json("result", answer.result);
}

// --- writing -----------------------------------------------------------------------------------

constexpr std::string_view kHexDigits = "0123456789abcdef";

constexpr std::array<char, 200> kPairs = [] {  // 00 to 99
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Gathers text before it goes to a string: appending once is cheaper than bit by bit.
class Out {
 public:
  explicit Out(std::string& to) : to_(to) {}
  ~Out() { flush(); }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  [[gnu::always_inline]] void put(char c) { *room(1)++ = c; }
  void put(std::string_view text) {
    if (text.size() > chunk_.size()) {
      flush();
      to_ += text;
    } else {
      at_ = std::copy(text.begin(), text.end(), room(text.size()));
    }
  }
  // Inlined where the name is known: then it is copied by a few moves.
  [[gnu::always_inline]] void put_name(std::string_view name, bool is_first) {
    constexpr std::size_t kAround = 4;
    char* to = room(name.size() + kAround);
    if (!is_first) *to++ = ',';
    *to++ = '"';
    std::memcpy(to, name.data(), name.size());
    to += name.size();
    *to++ = '"';
    *to++ = ':';
    at_ = to;
  }
  // Instants have 16 digits: those are written eight by eight, which do not wait for each other.
  void number(std::int64_t number) {
    constexpr std::size_t kDigitsMax = 20;
    constexpr std::int64_t kEight = 100'000'000;
    char* to = room(kDigitsMax);
    if (number >= kEight * (kEight / 10) && number < kEight * kEight) {
      put_eight(to, static_cast<std::uint32_t>(number / kEight));
      put_eight(to + 8, static_cast<std::uint32_t>(number % kEight));
      at_ = to + 16;
    } else {
      at_ = std::to_chars(to, to + kDigitsMax, number).ptr;
    }
  }
  void text(std::string_view text) {
    if (text.size() + 2 > chunk_.size() || !is_plain_json(text)) {
      flush();
      append_json_string(to_, text);
      return;
    }
    char* to = room(text.size() + 2);
    *to++ = '"';
    to = std::copy(text.begin(), text.end(), to);
    *to++ = '"';
    at_ = to;
  }

 private:
  [[gnu::always_inline]] char*& room(std::size_t size) {
    if (size > static_cast<std::size_t>(chunk_.data() + chunk_.size() - at_)) flush();
    return at_;
  }
  [[gnu::noinline]] void flush() {
    to_.append(chunk_.data(), at_);
    at_ = chunk_.data();
  }

  static void put_eight(char* to, std::uint32_t number) {
    const std::uint32_t first = number / 10'000;
    const std::uint32_t last = number % 10'000;
    for (const std::uint32_t pair : {first / 100, first % 100, last / 100, last % 100}) {
      std::memcpy(to, kPairs.data() + 2 * pair, 2);
      to += 2;
    }
  }

  std::string& to_;
  std::array<char, 512> chunk_;
  char* at_ = chunk_.data();
};

// Writes a map.
class Writer {
 public:
  explicit Writer(Out& out) : out_(out) { out_.put('{'); }
  ~Writer() { out_.put('}'); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Left out when it is empty, zero or false; a word never.
  [[gnu::always_inline]] void member(std::string_view name, const auto& value) {
    if (!is_nothing(value)) always(name, value);
  }
  [[gnu::always_inline]] void always(std::string_view name, const auto& value) {
    write(named(name), value);
  }
  void unless(int usual, std::string_view name, int value) {
    if (value != usual) always(name, value);
  }

  // A text that is JSON itself.
  [[gnu::always_inline]] void json(std::string_view name, std::string_view value) {
    if (!value.empty()) named(name).put(value);
  }
  void always_json(std::string_view name, std::string_view value) {
    named(name).put(value.empty() ? "null" : value);
  }

  // The name is a word of ours: it needs no escapes. Its value comes next.
  [[gnu::always_inline]] Out& named(std::string_view name) {
    out_.put_name(name, first_);
    first_ = false;
    return out_;
  }

 private:
  template <class T>
  static bool is_nothing(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return false;
    } else if constexpr (requires { value.empty(); } && !std::same_as<T, TokenHash>) {
      return value.empty();
    } else if constexpr (requires { value.has_value(); }) {
      return !value.has_value();
    } else {
      static const T kNothing{};  // a temporary would be one that GCC takes for uninitialized
      return value == kNothing;
    }
  }

  static void write(Out& out, const std::string& text) { out.text(text); }
  static void write(Out& out, bool value) { out.put(value ? "true" : "false"); }
  static void write(Out& out, const TokenHash& hash) {
    out.put('"');
    for (const std::byte byte : hash) {
      out.put(kHexDigits[std::to_integer<unsigned>(byte) >> 4U]);
      out.put(kHexDigits[std::to_integer<unsigned>(byte) & 15U]);
    }
    out.put('"');
  }
  static void write(Out& out, Instant at) { out.number(at.time_since_epoch().count()); }
  static void write(Out& out, Duration duration) { out.number(duration.count()); }
  template <Whole T>
  static void write(Out& out, T number) {
    out.number(static_cast<std::int64_t>(number));
  }
  template <class T>
  requires std::is_enum_v<T>
  static void write(Out& out, T word) { out.number(static_cast<std::int64_t>(word)); }
  template <class T>
  static void write(Out& out, const std::optional<T>& value) {
    if (value) {
      write(out, *value);
    } else {
      out.put("null");
    }
  }
  template <class T>
  static void write(Out& out, const std::vector<T>& list) {
    out.put('[');
    for (const T& item : list) {
      if (&item != &list.front()) out.put(',');
      write(out, item);
    }
    out.put(']');
  }
  template <class T>
  requires std::is_class_v<T>
  static void write(Out& out, const T& value) {
    Writer writer(out);
    fields(writer, value);
  }

  Out& out_;
  bool first_ = true;
};

// --- reading -----------------------------------------------------------------------------------

// Reads a map whose members stand in the order of the description, as a Writer puts them, in one
// go; of another one it looks for each.
class RecordReader {
 public:
  template <class Describe>
  static void read_map(JsonView map, const Describe& describe) {
    RecordReader reader(map);
    describe(reader);
    if (!reader.more_) return;
    reader.in_order_ = false;
    describe(reader);
  }

  void member(std::string_view name, auto& value) {
    if (const JsonView view = find(name); !view.absent()) read(view, value);
  }
  void always(std::string_view name, auto& value) { member(name, value); }
  void unless(int /*usual*/, std::string_view name, int& value) { member(name, value); }
  void json(std::string_view name, std::string& value) {
    if (const JsonView view = find(name); !view.absent()) value = view.json();
  }
  void always_json(std::string_view name, std::string& value) {
    json(name, value);
    if (value == "null") value.clear();
  }

 private:
  explicit RecordReader(JsonView map) : map_(map), walk_(map) { go_on(); }

  JsonView find(std::string_view name) {
    if (!in_order_) return map_.member(name);
    if (!is_next(name)) return {};
    const JsonView value = walk_.value();
    go_on();
    return value;
  }
  // Most members are absent: their names differ in length or in a few bytes.
  bool is_next(std::string_view name) const {
    return key_.size() == name.size() + 2 && key_.substr(1, name.size()) == name;
  }
  void go_on() {
    more_ = walk_.next();
    key_ = more_ ? walk_.key().json() : std::string_view();
  }

  static std::int64_t number(JsonView view) {
    const std::string_view digits = view.json();
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
  static unsigned digit(char hex) {
    return static_cast<unsigned>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
  }

  void read(JsonView view, std::string& text) {
    const std::string_view json = view.json();
    if (json.starts_with('"') && json.find('\\') == std::string_view::npos) {
      text = json.substr(1, json.size() - 2);
    } else {
      Scratch scratch;
      text = view.text(scratch);
    }
  }
  void read(JsonView view, bool& value) { value = view.boolean(); }
  void read(JsonView view, TokenHash& hash) {
    const std::string_view hex = view.json();  // in quotes
    if (hex.size() != 2 * hash.size() + 2 || hex.front() != '"') return;
    for (std::size_t i = 0; i < hash.size(); ++i)
      hash[i] = static_cast<std::byte>(digit(hex[2 * i + 1]) << 4U | digit(hex[2 * i + 2]));
  }
  void read(JsonView view, Instant& at) { at = Instant(Duration(number(view))); }
  void read(JsonView view, Duration& duration) { duration = Duration(number(view)); }
  template <Whole T>
  void read(JsonView view, T& value) {
    value = static_cast<T>(number(view));
  }
  template <class T>
  requires std::is_enum_v<T>
  void read(JsonView view, T& word) { word = static_cast<T>(number(view)); }
  template <class T>
  void read(JsonView view, std::optional<T>& value) {
    if (view.kind() == JsonView::Kind::null) {
      value.reset();
    } else {
      read(view, value.emplace());
    }
  }
  template <class T>
  void read(JsonView view, std::vector<T>& list) {
    list.clear();
    for (JsonWalk walk(view); walk.next();) read(walk.value(), list.emplace_back());
  }
  template <class T>
  requires std::is_class_v<T>
  void read(JsonView view, T& value) {
    read_map(view, [&](RecordReader& reader) { fields(reader, value); });
  }

  JsonView map_;
  JsonWalk walk_;
  bool more_ = false;
  std::string_view key_;  // the next one, in quotes
  bool in_order_ = true;
};

// The names of the stimuli, in the order of the variant.
constexpr std::array<std::string_view, 10> kStimuli{"create", "fire", "start", "beat",  "done",
                                                    "fail",   "wake", "sent",  "child", "order"};

template <std::size_t I = 0>
void read_what(JsonView map, Stimulus& stimulus) {
  if constexpr (I < std::variant_size_v<decltype(stimulus.what)>) {
    const JsonView view = map.member(kStimuli[I]);
    if (view.absent()) {
      read_what<I + 1>(map, stimulus);
      return;
    }
    auto& what = stimulus.what.template emplace<I>();
    RecordReader::read_map(view, [&](RecordReader& reader) { fields(reader, what); });
  }
}

template <class A>
void common_fields(A& a, Of<A, Stimulus>& stimulus) {
  a.member("actor", stimulus.actor);
  a.member("idempotency_key", stimulus.idempotency_key);
  a.member("known", stimulus.known);
}

}  // namespace

void append_input(std::string& out, const Stimulus& stimulus, const Record& before) {
  Out text(out);
  Writer map(text);
  {
    const std::string_view name = kStimuli[stimulus.what.index()];
    std::visit(
        [&](const auto& what) {
          Writer writer(map.named(name));
          fields(writer, what);
        },
        stimulus.what);
  }
  {
    Writer writer(map.named("given"));
    common_fields(writer, stimulus);
  }
  Writer writer(map.named("quiet"));
  quiet_fields(writer, before);
}

Input read_input(std::string_view input) {
  Input read;
  const JsonView map(input);
  read_what(map, read.stimulus);
  RecordReader::read_map(map.member("given"),
                         [&](RecordReader& given) { common_fields(given, read.stimulus); });
  RecordReader::read_map(map.member("quiet"),
                         [&](RecordReader& quiet) { quiet_fields(quiet, read.quiet); });
  return read;
}

Record joined(const Record& core, const Record& quiet) {
  Record record = quiet;
  fold(record, core_text(core));
  return record;
}

void append_changes(std::string& out, const Record& record, std::uint32_t which) {
  Out text(out);
  Writer writer(text);
  core_fields(writer, record, which);
}

void fold(Record& core, std::string_view changes) {
  RecordReader::read_map(JsonView(changes),
                         [&](RecordReader& reader) { core_fields(reader, core, kCoreAll); });
}

std::string core_text(const Record& record) {
  std::string text;
  append_changes(text, record, kCoreAll);
  return text;
}

void append_sparse(std::string& out, const Record& record) {
  Out text(out);
  Writer writer(text);
  sparse_fields(writer, record);
}

void read_sparse(std::string_view text, Record& record) {
  RecordReader::read_map(JsonView(text),
                         [&](RecordReader& reader) { sparse_fields(reader, record); });
}

void append_entry(std::string& out, const Entry& entry) {
  Out text(out);
  Writer writer(text);
  fields(writer, entry);
}

Entry read_entry(std::string_view text) {
  Entry entry;
  RecordReader::read_map(JsonView(text), [&](RecordReader& reader) { fields(reader, entry); });
  return entry;
}

std::string answer_text(const Answer& answer) {
  std::string json;
  {
    Out text(json);
    Writer writer(text);
    fields(writer, answer);
  }
  return json;
}

Answer read_answer(std::string_view text) {
  Answer answer;
  RecordReader::read_map(JsonView(text), [&](RecordReader& reader) { fields(reader, answer); });
  return answer;
}

}  // namespace pawl
