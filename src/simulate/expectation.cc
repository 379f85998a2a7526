#include "simulate/expectation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "base/text.h"
#include "decide/consequences.h"
#include "model/expression/json_view.h"
#include "model/names.h"
#include "model/tree.h"
#include "pawl/decide.h"

namespace pawl {
namespace {

// The words of `children.<machine>` that are no states.
constexpr std::array<std::string_view, 4> kCountedWords = {"all", "open", "final", "hold"};
constexpr std::array<std::string_view, 5> kEffectWords = {"notify", "run", "create", "found",
                                                          "send"};

// JSON text as a value; one that is too large for a tree is kept as text.
Json json_of(std::string_view text) {
  if (text.empty()) return {};
  Diagnostics ignored;
  const auto tree = read_tree(text, ignored);
  return tree ? to_json(*tree) : Json(std::string(text));
}

Json text_list(const std::vector<std::string>& texts) {
  Json list = Json::list({});
  for (const std::string& text : texts) list.items.emplace_back(text);
  return list;
}

Json text_or_null(const std::string* text) { return text == nullptr ? Json() : Json(*text); }

std::vector<std::string> event_names(const Machine& machine) {
  std::vector<std::string> names;
  for (EventId id = 0; id < machine.event_count(); ++id) names.push_back(machine.event_name(id));
  return names;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list.items) texts.push_back(item.text);
  return texts;
}

class Comparison {
 public:
  explicit Comparison(const Seen& seen) : seen_(seen) {}

  std::vector<Problem> take(const Json& expect) {
    bool missed = false;
    for (const JsonMember& member : expect.members) {
      const bool of_record = member.key != "answer" && member.key != "effects";
      if (seen_.record != nullptr || !of_record) {
        compare_key(member.key, member.value);
      } else if (!std::exchange(missed, true)) {
        problem(member.at.position, "there is no record " + seen_.name);
      }
    }
    return std::move(problems_);
  }

 private:
  struct Comparer {
    std::string_view key;
    void (Comparison::*compare)(std::string_view, const Json&);
  };

  void compare_key(std::string_view key, const Json& expected) {
    static constexpr std::array<Comparer, 19> kComparers = {{
        {"answer", &Comparison::compare_answer},     {"state", &Comparison::compare_state},
        {"next_at", &Comparison::compare_time},      {"ready_at", &Comparison::compare_time},
        {"wake_at", &Comparison::compare_time},      {"deadline_at", &Comparison::compare_time},
        {"attempt", &Comparison::compare_number},    {"failures", &Comparison::compare_number},
        {"epoch", &Comparison::compare_number},      {"running", &Comparison::compare_running},
        {"hold", &Comparison::compare_text},         {"text", &Comparison::compare_text},
        {"error", &Comparison::compare_text},        {"data", &Comparison::compare_data},
        {"result", &Comparison::compare_result},     {"permitted", &Comparison::compare_permitted},
        {"children", &Comparison::compare_children}, {"effects", &Comparison::compare_effects},
        {"log", &Comparison::compare_log},
    }};
    const auto known = std::find_if(kComparers.begin(), kComparers.end(),
                                    [&](const Comparer& one) { return one.key == key; });
    if (known == kComparers.end()) {
      wrong(expected, in_ticks(key) + " is not a key of `expect`");
    } else {
      (this->*known->compare)(key, expected);
    }
  }

  void compare_answer(std::string_view key, const Json& expected) {
    if (seen_.answer == nullptr) {
      wrong(expected, "this step has no verb, so there is no answer to expect");
      return;
    }
    const std::string got(to_text(seen_.answer->kind));
    const std::string& reason = seen_.answer->reason;
    if (expected.text != got)
      differs(key, expected, expected, reason.empty() ? got : got + " (" + reason + ")");
  }

  void compare_state(std::string_view key, const Json& expected) {
    if (!machine().find_state(expected.text)) {
      unknown(expected, "a state", machine().name(), names_of(machine().definition().states));
    } else if (expected.text != record().state) {
      differs(key, expected, expected, record().state);
    }
  }

  std::optional<Instant> time_of(std::string_view key) const {
    if (key == "next_at") return record().next_at();
    if (key == "ready_at") return record().ready_at;
    if (key == "wake_at") return record().wake_at;
    if (!record().running) return std::nullopt;
    return record().running->deadline_at;
  }

  void compare_time(std::string_view key, const Json& expected) {
    const std::optional<Instant> got = time_of(key);
    const auto compared = seen_.clock.compare(expected, got, seen_.world.now());
    if (!compared) {
      wrong(expected, compared.error().message);
    } else if (!compared->same) {
      differs(key, expected, compared->expected,
              got ? Json(to_text(*got, seen_.clock.zone())) : Json());
    }
  }

  void compare_number(std::string_view key, const Json& expected) {
    const int got = key == "attempt"    ? record().attempt
                    : key == "failures" ? record().failures
                                        : record().epoch;
    compare_count(key, expected, got);
  }

  // A number, or `[least, most]`.
  void compare_count(std::string_view key, const Json& expected, std::int64_t got) {
    const bool range = expected.kind == Json::Kind::list && expected.items.size() == 2;
    const auto least = count_of(range ? expected.items[0] : expected);
    const auto most = count_of(range ? expected.items[1] : expected);
    if (!least || !most) {
      wrong(expected, in_ticks(key) + " is a whole number, or [least, most]");
    } else if (got < *least || got > *most) {
      differs(key, expected, expected, Json::number(std::to_string(got)));
    }
  }

  static std::optional<std::int64_t> count_of(const Json& expected) {
    std::int64_t count = 0;
    const char* end = expected.text.data() + expected.text.size();
    const auto read = std::from_chars(expected.text.data(), end, count);
    const bool whole = read.ec == std::errc{} && read.ptr == end;
    return whole && expected.kind == Json::Kind::number ? std::optional(count) : std::nullopt;
  }

  void compare_running(std::string_view key, const Json& expected) {
    const Json got = Json::boolean(record().running.has_value());
    if (!(expected == got)) differs(key, expected, expected, got);
  }

  void compare_text(std::string_view key, const Json& expected) {
    const std::string* got = nullptr;
    if (key == "hold" && record().hold) got = &record().hold->code;
    if (key == "text" && record().hold) got = &record().hold->text;
    if (key == "error" && record().error) got = &record().error->code;
    if (!(expected == text_or_null(got))) differs(key, expected, expected, text_or_null(got));
  }

  void compare_data(std::string_view key, const Json& expected) {
    const JsonView data(record().data);
    for (const JsonMember& field : expected.members)
      compare_json(std::string(key) + "." + field.key, field.value, data.member(field.key).json());
  }

  void compare_result(std::string_view key, const Json& expected) {
    compare_json(key, expected, record().result);
  }

  // What is absent is null.
  void compare_json(std::string_view key, const Json& expected, std::string_view got) {
    if (!same_json(to_text(expected), got.empty() ? "null" : got))
      differs(key, expected, expected, json_of(got));
  }

  void compare_permitted(std::string_view key, const Json& expected) {
    std::vector<std::string> wanted = texts_of(expected);
    for (const Json& event : expected.items)
      if (!machine().find_event(event.text)) {
        unknown(event, "an event", machine().name(), event_names(machine()));
        return;
      }
    std::sort(wanted.begin(), wanted.end());
    const auto got = permitted_events(machine(), record(), seen_.actor, seen_.world.now());
    if (wanted != got) differs(key, expected, text_list(wanted), text_list(got));
  }

  void compare_children(std::string_view key, const Json& expected) {
    for (const JsonMember& machine : expected.members)
      for (const JsonMember& counted : machine.value.members)
        if (is_counted(machine, counted))
          compare_count(std::string(key) + "." + machine.key + "." + counted.key, counted.value,
                        children_in(machine.key, counted.key));
  }

  bool is_counted(const JsonMember& machine, const JsonMember& counted) {
    const Machine* known = seen_.world.machine(machine.key);
    const auto* word = std::find(kCountedWords.begin(), kCountedWords.end(), counted.key);
    if (word != kCountedWords.end() || machine.key == kRunMachine) return true;
    if (known == nullptr) {
      wrong(counted.value, "none of the files has the machine " + in_ticks(machine.key));
    } else if (!known->find_state(counted.key)) {
      std::vector<std::string> names = names_of(known->definition().states);
      names.insert(names.end(), kCountedWords.begin(), kCountedWords.end());
      problem(counted.at.position, in_ticks(counted.key) + " is not a state of " +
                                       in_ticks(machine.key) + did_you_mean(counted.key, names));
    } else {
      return true;
    }
    return false;
  }

  std::int64_t children_in(std::string_view machine, std::string_view word) const {
    for (const ChildCounts& counts : record().children) {
      if (counts.machine != machine) continue;
      if (word == "all") return counts.all;
      if (word == "open") return counts.open;
      if (word == "final") return counts.final;
      if (word == "hold") return counts.hold;
      for (const ChildCounts::InState& in : counts.states)
        if (in.state == word) return in.count;
    }
    return 0;
  }

  void compare_effects(std::string_view key, const Json& expected) {
    for (const Json& line : expected.items) {
      const std::string_view word = std::string_view(line.text).substr(0, line.text.find(' '));
      if (std::find(kEffectWords.begin(), kEffectWords.end(), word) != kEffectWords.end()) continue;
      wrong(line,
            in_quotes(line.text) +
                " is not an effect: write `notify CHANNEL`, `run TASK`, `create MACHINE/KEY`, "
                "`found …` or `send EVENT MACHINE/KEY`");
      return;
    }
    compare_lines(key, expected, seen_.effects);
  }

  void compare_log(std::string_view key, const Json& expected) {
    compare_lines(key, expected, seen_.log);
  }

  void compare_lines(std::string_view key, const Json& expected,
                     const std::vector<std::string>& got) {
    if (texts_of(expected) != got) differs(key, expected, expected, text_list(got));
  }

  void differs(std::string_view key, const Json& place, Json expected, Json got) {
    problems_.push_back({.position = place.at.position,
                         .key = std::string(key),
                         .expected = std::move(expected),
                         .got = std::move(got)});
  }

  void wrong(const Json& place, std::string message) {
    problem(place.at.position, std::move(message));
  }

  void problem(Position position, std::string message) {
    problems_.push_back({.position = position, .message = std::move(message)});
  }

  void unknown(const Json& name, std::string_view what, const std::string& machine,
               const std::vector<std::string>& known) {
    wrong(name, in_ticks(name.text) + " is not " + std::string(what) + " of " + in_ticks(machine) +
                    did_you_mean(name.text, known));
  }

  const Record& record() const { return *seen_.record; }
  const Machine& machine() const { return seen_.world.machine_of(record().id); }

  const Seen& seen_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> compare(const Json& expect, const Seen& seen) {
  return Comparison(seen).take(expect);
}

}  // namespace pawl
