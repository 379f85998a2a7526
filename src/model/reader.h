// Reader: from the tree of a file to the values of a definition, by tables of keys. Reports
// everything that is wrong and goes on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/file_words.h"
#include "model/keys.h"
#include "model/tree.h"
#include "pawl/definition.h"
#include "pawl/diagnostic.h"

namespace pawl {

// No bound on a whole number.
inline constexpr int kIntegerMax = 2'147'483'647;

class Reader;

template <class T>
struct KeyOf {
  Key key;
  void (*read)(Reader&, const Node&, T&);
};

// The keys of a map that is read into a T.
template <class T>
struct Keys {
  std::string_view name;     // as in KeyPlace
  std::string_view subject;  // as in KeyPlace
  std::vector<KeyOf<T>> keys;
  std::vector<std::string_view> one_of = {};  // keys of which there is at most one …
  bool one_needed = false;                    // … and at least one
  Policy& (*policy)(T&) = nullptr;            // policy keys may stand here too

  const KeyOf<T>* find(std::string_view key) const {
    for (const KeyOf<T>& known : keys)
      if (known.key.name == key) return &known;
    return nullptr;
  }
};

// The places rows stand in; each allows some of their keys.
enum class RowPlace { on, machine_on, done, plain, error, give_up };

const Keys<Row>& row_keys(RowPlace place);
const Keys<EffectRow>& effect_keys();
const Keys<HoldText>& hold_keys();
const Keys<Recipient>& recipient_keys();
const Keys<Policy>& policy_keys();
const Keys<Delays>& delays_keys();
const Keys<Field>& field_keys();
const Keys<EventDefinition>& event_keys();
const Keys<State>& state_keys();
const Keys<Task>& task_keys();
const Keys<HttpCall>& http_keys();
const Keys<Concurrency>& concurrency_keys();
const Keys<Rate>& rate_keys();
const Keys<Schedule>& schedule_keys();
const Keys<Keep>& keep_keys();
const Keys<Migration>& migration_keys();
const Keys<Scenario>& scenario_keys();
const Keys<Step>& step_keys();
const Keys<Json>& create_keys();
const Keys<Json>& fail_keys();
const Keys<Json>& order_keys();
const Keys<Json>& actor_keys();
const Keys<Json>& expect_keys();
const Keys<Definition>& machine_keys();

class Reader {
 public:
  explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void error(std::string_view id, Position at, std::string message) {
    diagnostics_.error(id, at, std::move(message));
  }
  Diagnostics& diagnostics() { return diagnostics_; }

  // A map of known keys.
  template <class T>
  void keys(const Node& node, const Keys<T>& known, T& into) {
    if (!is_map(node, known.subject)) return;
    for (const Member& member : node.members) {
      if (diagnostics_.is_full()) return;
      read_member(member, known, into);
    }
    check_needed(node, known);
  }

  // A map whose keys are names or other words of the user; `each` reads one member.
  template <class Each>
  void members(const Node& node, std::string_view subject, Each each) {
    if (!is_map(node, subject)) return;
    for (const Member& member : node.members) {
      if (diagnostics_.is_full()) return;
      each(member);
    }
  }

  // Scalars. Each reports what is wrong and then leaves `into` as it was.
  void name(const Node& node, std::string_view what, std::string& into);
  bool check_name(std::string_view text, Position at, std::string_view what);
  Ref ref(const Node& node, std::string_view what);
  void names(const Node& node, std::string_view what, std::vector<std::string>& into);
  std::vector<Ref> refs(const Node& node, std::string_view what);
  void text(const Node& node, std::string_view what, std::string& into);
  void boolean(const Node& node, bool& into);
  bool is_true(const Node& node);
  std::optional<int> integer(const Node& node, int least, int most);
  void duration(const Node& node, DurationValue& into);
  DurationValue duration(const Node& node);
  Expression expression(const Node& node);
  Value value(const Node& node);
  Value text_value(const Node& node, std::string_view what);
  void set(const Node& node, std::vector<Assignment>& into);
  void values(const Node& node, std::string_view subject, std::vector<Assignment>& into);

  template <class Enum>
  void word(const Node& node, std::string_view what, std::span<const std::string_view> words,
            Enum& into) {
    if (const auto index = word_index(node, what, words)) into = static_cast<Enum>(*index);
  }

  // Parts of a definition.
  Rows rows(const Node& node, RowPlace place);
  std::vector<EffectRow> effects(const Node& node);
  std::vector<EventRows> on(const Node& node, RowPlace place);
  std::vector<TimerRows> timers(const Node& node);
  Delays delays(const Node& node);
  std::vector<ErrorRows> errors(const Node& node);
  Fields fields(const Node& node);
  HoldText hold(const Node& node);
  Recipient recipient(const Node& node);
  std::vector<NamedPolicy> policies(const Node& node);
  std::vector<Scenario> scenarios(const Node& node);
  void check_json_keys(const Node& node, const Keys<Json>& known);

  // What policies in English say about the machine around them, once all of it is read.
  void settle_english(Definition& definition);

  bool is_map(const Node& node, std::string_view subject);
  bool is_list(const Node& node, std::string_view subject);
  void wrong_kind(const Node& node, std::string_view expected);

 private:
  template <class T>
  void read_member(const Member& member, const Keys<T>& known, T& into) {
    if (const KeyOf<T>* key = known.find(member.key)) {
      if (key->read != nullptr) key->read(*this, member.value, into);
      return;
    }
    if (known.policy != nullptr && policy_keys().find(member.key) != nullptr) {
      read_member(member, policy_keys(), known.policy(into));
      return;
    }
    std::vector<std::string> all;
    for (const KeyOf<T>& key : known.keys) all.emplace_back(key.key.name);
    if (known.policy != nullptr)
      for (const KeyOf<Policy>& key : policy_keys().keys) all.emplace_back(key.key.name);
    unknown_key(member, known.subject, all);
  }

  template <class T>
  void check_needed(const Node& node, const Keys<T>& known) {
    for (const KeyOf<T>& key : known.keys)
      if (key.key.required && node.find(key.key.name) == nullptr)
        error("missing_key", node.at,
              std::string(known.subject) + " needs the key `" + std::string(key.key.name) + "`");
    check_one_of(node, known.subject, known.one_of, known.one_needed);
  }

  void unknown_key(const Member& member, std::string_view subject,
                   std::span<const std::string> known);
  void check_one_of(const Node& node, std::string_view subject,
                    std::span<const std::string_view> one_of, bool needed);
  std::optional<std::size_t> word_index(const Node& node, std::string_view what,
                                        std::span<const std::string_view> words);
  static bool is_bare_template(const Node& node);
  bool refuse_bare_template(const Node& node);
  bool refuse_bare_templates(const Node& node);  // also inside it
  Row row(const Node& node, RowPlace place);
  bool short_row(const Node& node, RowPlace place, Row& row);
  Field field(const Member& member);
  void english_policy(const Node& node, NamedPolicy& named);
  void settle_planned(const std::vector<std::string>& planned, const NamedPolicy& named, Ref& to);

  Diagnostics& diagnostics_;
  RowPlace row_place_ = RowPlace::plain;
  std::vector<Schedule> english_schedules_;
};

}  // namespace pawl
