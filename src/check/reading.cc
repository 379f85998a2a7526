// Texts are looked at as they are written: every `data.x` in them is a field that is read. A text
// that only looks like one makes two situations differ that need not, which costs time and nothing
// else.
#include "check/reading.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "check/policies.h"
#include "model/expression/program.h"

namespace pawl {
namespace {

constexpr int kNumberMax = 100;  // counters are compared with small numbers

bool is_name_character(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; }

class Texts {
 public:
  explicit Texts(const Definition& definition) : definition_(definition) {}

  Reading read() {
    for_each_policy(definition_, [&](const Policy& policy) { of_policy(policy); });
    for_each_delays(definition_, [&](const Delays& delays) { of_delays(delays); });
    for_each_rows(definition_, [&](const RowsAt&, const Rows& rows) {
      for (const Row& row : rows) of_row(row);
    });
    for (const State& state : definition_.states) of_state(state);
    for (const Task& task : definition_.tasks)
      if (task.key) value(*task.key);
    if (definition_.schedule) of_schedule(*definition_.schedule);
    follow_sets();
    return std::move(reading_);
  }

 private:
  void of_policy(const Policy& policy) {
    if (policy.timeout) duration(*policy.timeout);
    if (policy.lease) duration(*policy.lease);
  }

  void of_delays(const Delays& delays) {
    for (const DurationValue& delay : delays.list) duration(delay);
    duration(delays.first);
    if (delays.max) duration(*delays.max);
  }

  void of_state(const State& state) {
    for (const TimerRows& timer : state.after) duration(timer.delay);
    for (const TimerRows& timer : state.every) duration(timer.delay);
    for (const EffectRow& effect : state.effects) of_effect(effect);
  }

  void of_schedule(const Schedule& schedule) {
    value(schedule.rule);
    duration(schedule.every);
    if (schedule.tz) value(*schedule.tz);
    if (schedule.anchor) value(*schedule.anchor);
  }

  void of_row(const Row& row) {
    condition(row.condition);
    if (row.fail) value(*row.fail);
    if (row.elapsed) duration(*row.elapsed);
    for (const EffectRow& effect : row.effects) of_effect(effect);
    for (const Assignment& set : row.set) json(set.value.json, sets_[set.name]);
  }

  void of_effect(const EffectRow& effect) {
    condition(effect.condition);
    if (effect.each) text(effect.each->text, reading_);
    if (effect.in) duration(*effect.in);
    if (effect.key) value(*effect.key);
    const bool to_itself = effect.to && effect.to->kind == Recipient::Kind::self;
    if (to_itself && effect.with) value(*effect.with);
  }

  // A guard in C++ may look at anything.
  void condition(const std::optional<Expression>& given) {
    if (!given) return;
    text(given->text, reading_);
    if (given->program == nullptr || given->program->guard().empty()) return;
    reading_.all_data = true;
    for (const char* name : {"record.attempt", "record.epoch", "record.failed_from",
                             "record.result", "error", "children"})
      reading_.names.insert(name);
  }

  void duration(const DurationValue& given) { value(given.value); }
  void value(const Value& given) { json(given.json, reading_); }

  static void json(const Json& json, Reading& into) {
    if (json.kind == Json::Kind::text && json.text.find('{') != std::string::npos)
      text(json.text, into);
    for (const Json& item : json.items) Texts::json(item, into);
    for (const JsonMember& member : json.members) Texts::json(member.value, into);
  }

  static void text(std::string_view text, Reading& into) {
    const bool reads_error = text.find("error.") != std::string_view::npos;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_name_character(text[end])) ++end;
      const bool is_quoted = at > 0 && text[at - 1] == '\'' && text.substr(end, 1) == "'";
      if (reads_error && is_quoted && end > at) into.quoted.emplace(text.substr(at, end - at));
      if (end > at) word(text.substr(at, end - at), into);
      at = std::max(end, at + 1);
    }
  }

  // `data.x.y` is the field x; `record.attempt` itself; `error.code` the name error.
  static void word(std::string_view word, Reading& into) {
    const std::size_t dot = word.find('.');
    const std::string_view root = word.substr(0, dot);
    const std::string_view rest = dot == std::string_view::npos ? "" : word.substr(dot + 1);
    const std::string_view member = rest.substr(0, rest.find('.'));
    if (is_digit(word.front())) {
      number(word, into);
    } else if (root == "data") {
      into.all_data = into.all_data || member.empty();
      if (!member.empty()) into.fields.emplace(member);
    } else if (root == "record") {
      into.names.insert("record." + std::string(member));
    } else {
      into.names.emplace(root);
      if (root == "error" && !member.empty()) into.names.insert("error." + std::string(member));
    }
  }

  static void number(std::string_view digits, Reading& into) {
    int number = 0;
    for (const char c : digits)
      if (is_digit(c) && number < kNumberMax) number = number * 10 + (c - '0');
    into.number_max = std::max(into.number_max, std::min(number, kNumberMax));
  }

  // A field that is read matters, and so does what it is computed from.
  void follow_sets() {
    const auto matters = [&](const auto& set) {
      return reading_.all_data || reading_.fields.contains(set.first);
    };
    for (auto set = sets_.begin(); set != sets_.end();) {
      if (!matters(*set)) {
        ++set;
        continue;
      }
      merge(set->second);
      sets_.erase(set);
      set = sets_.begin();
    }
  }

  void merge(const Reading& other) {
    reading_.fields.insert(other.fields.begin(), other.fields.end());
    reading_.names.insert(other.names.begin(), other.names.end());
    reading_.quoted.insert(other.quoted.begin(), other.quoted.end());
    reading_.all_data = reading_.all_data || other.all_data;
  }

  const Definition& definition_;
  Reading reading_;
  std::map<std::string, Reading, std::less<>> sets_;  // by the field that is set
};

}  // namespace

Reading reading_of(const Definition& definition) { return Texts(definition).read(); }

}  // namespace pawl
