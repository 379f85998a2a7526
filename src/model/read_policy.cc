// Policies: how failure is answered.
#include <charconv>

#include "base/text.h"
#include "model/policy_english.h"
#include "model/reader.h"

namespace pawl {
namespace {

// `2`, `1.5`: exact to thousandths. Finer ones are rounded down, and `finer` says so.
std::optional<int> read_factor(const std::string& text, bool& finer) {
  const std::size_t point = text.find('.');
  const std::string whole = text.substr(0, point);
  std::string thousandths = point == std::string::npos ? "" : text.substr(point + 1);
  finer = thousandths.find_last_not_of('0') + 1 > 3;
  thousandths.resize(3, '0');
  int value = 0;
  const std::string digits = whole + thousandths;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool read = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
  const bool above = finer && value == 1'000'000;
  return read && value >= 1'000 && value <= 1'000'000 && !above ? std::optional(value)
                                                                : std::nullopt;
}

void read_factor(Reader& reader, const Node& node, Delays& delays) {
  bool finer = false;
  const auto factor =
      node.kind == Node::Kind::number ? read_factor(node.text, finer) : std::optional<int>{};
  if (!factor) {
    reader.error("bad_factor", node.at, "`factor` must be a number from 1 to 1000");
  } else if (finer) {
    reader.error("factor_too_fine", node.at, "`factor` has at most three decimals; round it");
  } else {
    delays.factor_milli = *factor;
  }
}

void read_jitter(Reader& reader, const Node& node, Delays& delays) {
  constexpr std::string_view kWords[] = {"none", "full", "equal"};
  constexpr std::string_view kPlusMinus = "±";
  if (node.kind == Node::Kind::text) {
    for (std::size_t i = 0; i < std::size(kWords); ++i) {
      if (node.text != kWords[i]) continue;
      delays.jitter = static_cast<Delays::Jitter>(i);
      return;
    }
    if (node.text.starts_with(kPlusMinus) && node.text.ends_with('%')) {
      const char* begin = node.text.data() + kPlusMinus.size();
      const char* end = node.text.data() + node.text.size() - 1;
      int percent = 0;
      const bool read = begin < end && std::from_chars(begin, end, percent).ptr == end;
      if (read && percent >= 1 && percent <= 100) {
        delays.jitter = Delays::Jitter::percent;
        delays.jitter_percent = percent;
        return;
      }
    }
  }
  reader.error("bad_jitter", node.at, "`jitter` must be none, full, equal or ±1% to ±100%");
}

void read_failure(Reader& reader, const Node& node, Policy& policy) {
  if (node.kind == Node::Kind::null && !node.empty) {
    policy.failure = Ref("", node.where());
  } else {
    policy.failure = reader.ref(node, "a state");
  }
}

// Enough of them to see which are meant.
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t kFew = 5;
  for (std::string& name : names) name = printable(name);
  if (names.size() <= kFew) return join(names, ", ", " and ");
  names.resize(kFew);
  return join(names, ", ", ", ") + ", …";
}

bool check_code(Reader& reader, const Member& member) {
  std::string_view code = member.key;
  if (code.ends_with('*')) code.remove_suffix(1);
  return (code.empty() && !member.key.empty()) ||
         reader.check_name(code, member.key_at, "an error code");
}

}  // namespace

const Keys<Policy>& policy_keys() {
  static const Keys<Policy> keys{
      "policy",
      "a policy",
      {{{"timeout", Shape::duration, "how long one attempt may take (5m)"},
        [](Reader& r, const Node& n, Policy& p) { p.timeout = r.duration(n); }},
       {{"lease", Shape::duration, "how long a worker may be silent (no limit)"},
        [](Reader& r, const Node& n, Policy& p) { p.lease = r.duration(n); }},
       {{"retry", Shape::delays, "delays between attempts"},
        [](Reader& r, const Node& n, Policy& p) { p.retry = r.delays(n); }},
       {{"errors", Shape::errors, "error code -> action or rows"},
        [](Reader& r, const Node& n, Policy& p) { p.errors = r.errors(n); }},
       {{"give_up", Shape::give_up_rows, "what happens when no retry is left"},
        [](Reader& r, const Node& n, Policy& p) { p.give_up = r.rows(n, RowPlace::give_up); }},
       {{"failure", Shape::name_or_null, "the state in which a failed record visibly waits"},
        read_failure},
       {{"count", Shape::word, "the span over which failures are counted (state)", kCountWords},
        [](Reader& r, const Node& n, Policy& p) {
          r.word(n, "a way to count", kCountWords, p.count.emplace());
        }},
       {{"align", Shape::word, "how retries fit in with the plan (planned)", kAlignWords},
        [](Reader& r, const Node& n, Policy& p) {
          r.word(n, "a way to align", kAlignWords, p.align.emplace());
        }},
       {{"policy", Shape::name, "a shared policy of `policies`"},
        [](Reader& r, const Node& n, Policy& p) { p.policy = r.ref(n, "a policy"); }}}};
  return keys;
}

const Keys<Delays>& delays_keys() {
  static const Keys<Delays> keys{
      "delays",
      "a map of delays",
      {{{"first", Shape::duration, "the first delay", {}, true},
        [](Reader& r, const Node& n, Delays& d) { r.duration(n, d.first); }},
       {{"factor", Shape::factor, "each delay is this many times the one before (2)"}, read_factor},
       {{"max", Shape::duration, "no delay is longer"},
        [](Reader& r, const Node& n, Delays& d) { d.max = r.duration(n); }},
       {{"jitter", Shape::jitter, "none, full, equal or ±20%"}, read_jitter},
       {{"attempts", Shape::positive, "how many attempts in all, the first included"},
        [](Reader& r, const Node& n, Delays& d) { d.attempts = r.integer(n, 1, kIntegerMax); }}}};
  return keys;
}

Delays Reader::delays(const Node& node) {
  Delays delays;
  delays.at = node.where();
  if (node.kind == Node::Kind::boolean && node.text == "false") return delays;
  if (node.kind == Node::Kind::list) {
    for (const Node& item : node.items) delays.list.push_back(duration(item));
    return delays;
  }
  if (node.kind == Node::Kind::map && !is_bare_template(node)) {
    delays.kind = Delays::Kind::formula;
    keys(node, delays_keys(), delays);
    return delays;
  }
  if (node.kind == Node::Kind::boolean) {
    error("wrong_kind", node.at,
          "expected delays: [10s, 1m], {first: 10s, max: 1h}, one duration, or false for none");
    return delays;
  }
  if (node.kind == Node::Kind::number && node.text != "0") {
    error("bad_duration", node.at,
          "delays need a unit: " + node.text + "s, or for " + node.text +
              " attempts {first: 10s, attempts: " + node.text + "}");
    return delays;
  }
  delays.kind = Delays::Kind::fixed;
  duration(node, delays.first);
  return delays;
}

std::vector<ErrorRows> Reader::errors(const Node& node) {
  std::vector<ErrorRows> errors;
  members(node, "`errors`", [&](const Member& member) {
    check_code(*this, member);
    errors.push_back({member.key, rows(member.value, RowPlace::error), {member.key_at}});
  });
  return errors;
}

std::vector<NamedPolicy> Reader::policies(const Node& node) {
  std::vector<NamedPolicy> policies;
  if (node.members.size() > kPoliciesMax) {
    error("too_many_policies", node.members[kPoliciesMax].key_at,
          "a machine has at most " + std::to_string(kPoliciesMax) + " policies; there are " +
              std::to_string(node.members.size()));
    return policies;
  }
  members(node, "`policies`", [&](const Member& member) {
    NamedPolicy& named = policies.emplace_back();
    named.name = member.key;
    named.at = {member.key_at};
    check_name(member.key, member.key_at, "a policy");
    if (member.value.kind == Node::Kind::text) {
      english_policy(member.value, named);
    } else {
      keys(member.value, policy_keys(), named.policy);
    }
  });
  return policies;
}

void Reader::english_policy(const Node& node, NamedPolicy& named) {
  auto english = parse_policy_english(node.text, node.where(), diagnostics_);
  if (!english) return;
  named.policy = std::move(english->policy);
  for (Row& row : named.policy.give_up) {
    row.at = node.where();
    if (row.hold) row.hold->text.json.at = {node.at};
  }
  if (english->schedule) {
    english->schedule->at = node.where();
    english_schedules_.push_back(*std::move(english->schedule));
  }
}

void Reader::settle_english(Definition& definition) {
  for (Schedule& schedule : english_schedules_) {
    if (definition.schedule)
      error("schedule_twice", schedule.at.position,
            "a machine has one schedule, and this policy states another; keep one of them");
    definition.schedule = std::move(schedule);
  }
  std::vector<std::string> planned;
  for (const State& state : definition.states)
    if (!state.planned.empty()) planned.push_back(state.name);
  for (NamedPolicy& named : definition.policies)
    for (Row& row : named.policy.give_up)
      if (row.to && row.to->name == kPlannedState) settle_planned(planned, named, *row.to);
}

// `wait for the next planned time`: in the one state that has `planned`.
void Reader::settle_planned(const std::vector<std::string>& planned, const NamedPolicy& named,
                            Ref& to) {
  if (planned.size() == 1) {
    to.name = planned.front();
    return;
  }
  to.name.clear();
  if (diagnostics_.is_full()) return;
  error("english_planned", named.at.position,
        planned.empty() ? "no state has `planned`, so there is no planned time to wait for; add one"
                        : "several states have `planned` (" + some_of(planned) +
                              "): write `give_up: {to: …}` instead");
}

}  // namespace pawl
