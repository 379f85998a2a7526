#include "api/documents.h"

#include <array>
#include <charconv>
#include <optional>

#include "base/json_text.h"
#include "base/text.h"
#include "decide/json_edit.h"

namespace pawl {
namespace {

// Writes what is there and leaves out what is not.
class Sparse : public JsonMap {
 public:
  using JsonMap::JsonMap;

  void some(std::string_view name, const std::string& value) {
    if (!value.empty()) text(name, value);
  }
  void some_json(std::string_view name, std::string_view value) {
    if (!value.empty()) json(name, value);
  }
  void some(std::string_view name, std::int64_t value) {
    if (value != 0) number(name, value);
  }
  void some(std::string_view name, const std::optional<Instant>& at) {
    if (at) text(name, to_text(*at));
  }
  void some(std::string_view name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    std::string& out = member(name);
    append_list(out, texts, [](const std::string& one) { return json_string(one); });
  }
  void at(std::string_view name, Instant instant) { text(name, to_text(instant)); }
};

template <class Write>
std::string map_json(Write write) {
  std::string out;
  {
    Sparse map(out);
    write(map);
  }
  return out;
}

std::string failure_json(const Failure& error) {
  return map_json([&](Sparse& map) {
    map.text("code", error.code);
    map.some("message", error.message);
    map.some_json("detail", error.detail);
    if (error.retry_after) map.text("retry_after", to_text(*error.retry_after));
    if (error.transient) map.boolean("transient", true);
    if (error.at != Instant{}) map.at("at", error.at);
    if (error.fingerprint != 0) map.text("fingerprint", fingerprint_text(error.fingerprint));
  });
}

std::string_view word_of(Hold::By by) {
  switch (by) {
    case Hold::By::policy:
      return "policy";
    case Hold::By::machine:
      return "machine";
    case Hold::By::operator_:
      return "operator";
    case Hold::By::engine:
      break;
  }
  return "engine";
}

std::string hold_json(const Hold& hold) {
  return map_json([&](Sparse& map) {
    map.text("code", hold.code);
    map.some("text", hold.text);
    map.text("by", word_of(hold.by));
    map.at("since", hold.since);
  });
}

std::string running_json(const Attempt& attempt) {
  return map_json([&](Sparse& map) {
    map.some("worker", attempt.worker);
    map.at("started_at", attempt.started_at);
    map.some("lease_until", attempt.lease_until);
    map.at("deadline_at", attempt.deadline_at);
    map.some_json("progress", attempt.progress);
  });
}

std::string children_json(const std::vector<ChildCounts>& children) {
  return map_json([&](Sparse& map) {
    for (const ChildCounts& counts : children)
      map.json(counts.machine, map_json([&](Sparse& of) {
                 of.number("all", counts.all);
                 of.number("open", counts.open);
                 of.number("final", counts.final);
                 of.number("hold", counts.hold);
                 of.json("states", map_json([&](Sparse& states) {
                           for (const auto& in : counts.states) states.number(in.state, in.count);
                         }));
               }));
  });
}

std::string actor_json(const Actor& actor) {
  return map_json([&](Sparse& map) {
    map.text("name", actor.name);
    map.some("roles", actor.roles);
    map.some("via", actor.via);
  });
}

}  // namespace

std::string fingerprint_text(std::uint64_t fingerprint) {
  std::array<char, 16> digits{};
  for (std::size_t i = digits.size(); i-- > 0; fingerprint >>= 4U)
    digits[i] = "0123456789abcdef"[fingerprint & 15U];
  return {digits.data(), digits.size()};
}

std::string to_json(const Record& record) {
  return map_json([&](Sparse& map) {
    map.text("machine", record.machine);
    map.text("key", record.key);
    map.number("id", static_cast<std::int64_t>(record.id.value));
    map.number("version", record.version);
    map.text("state", record.state);
    map.at("entered_at", record.entered_at);
    map.at("created_at", record.created_at);
    map.number("revision", record.revision);
    map.number("epoch", record.epoch);
    map.some("next_at", record.next_at());
    map.some("ready_at", record.ready_at);
    map.some("wake_at", record.wake_at);
    map.some("attempt", record.attempt);
    map.some("failures", record.failures);
    map.some("failing_since", record.failing_since);
    map.some("failed_from", record.failed_from);
    if (record.error) map.json("error", failure_json(*record.error));
    if (record.hold) map.json("hold", hold_json(*record.hold));
    if (record.running) map.json("running", running_json(*record.running));
    map.json("data", record.data);
    map.some_json("result", record.result);
    if (!record.labels.empty())
      map.json("labels", map_json([&](Sparse& labels) {
                 for (const Label& label : record.labels) labels.json(label.name, label.value);
               }));
    map.number("priority", record.priority);
    if (record.parent)
      map.json("parent", map_json([&](Sparse& parent) {
                 parent.text("machine", record.parent->machine);
                 parent.text("key", record.parent->key);
               }));
    if (!record.children.empty()) map.json("children", children_json(record.children));
    map.some("planned_at", record.plan.next);
    map.some("remove_at", record.remove_at);
  });
}

std::string to_json(const Entry& entry, const RecordName* name) {
  return map_json([&](Sparse& map) {
    if (name != nullptr) {
      map.text("machine", name->machine);
      map.text("key", name->key);
    }
    map.number("seq", entry.seq);
    map.at("at", entry.at);
    map.text("kind", to_text(entry.kind));
    map.some("event", entry.event);
    map.some("from", entry.from);
    map.text("to", entry.to);
    map.number("epoch", entry.epoch);
    map.some("attempt", entry.attempt);
    map.some("fence", entry.fence);
    if (entry.error) map.json("error", failure_json(*entry.error));
    map.some("cause", entry.cause);
    map.json("actor", actor_json(entry.actor));
    map.some("idempotency_key", entry.idempotency_key);
    map.some("next_at", entry.next_at);
    if (entry.delays_left) map.number("delays_left", *entry.delays_left);
    map.some("row", entry.row);
  });
}

std::string to_json(const Answer& answer) {
  return map_json([&](Sparse& map) {
    map.text("answer", to_text(answer.kind));
    map.some("reason", answer.reason);
    map.some("machine", answer.machine);
    map.some("key", answer.key);
    map.some("state", answer.state);
    map.some("revision", answer.revision);
    map.some_json("result", answer.result);
    map.some("permitted", answer.permitted);
    if (!answer.guards.empty()) {
      std::string& out = map.member("guards");
      append_list(out, answer.guards, [](const FailedGuard& guard) {
        return map_json([&](Sparse& of) {
          of.text("event", guard.event);
          of.text("guard", guard.guard);
          of.some("values", guard.values);
        });
      });
    }
    if (answer.cancel) map.boolean("cancel", true);
    map.some("lease_until", answer.lease_until);
  });
}

std::string to_json(const Why& why) {
  return map_json([&](Sparse& map) {
    map.text("why", to_text(why.kind));
    map.some("at", why.at);
    map.some("names", why.names);
    if (why.hold) map.json("hold", hold_json(*why.hold));
    map.text("sentence", why.sentence);
  });
}

std::string to_json(const GivenAttempt& attempt) {
  const Answer& given = attempt.given;
  return map_json([&](Sparse& map) {
    map.text("machine", given.machine);
    map.text("key", given.key);
    map.text("task", given.task);
    map.text("queue", attempt.queue);
    map.number("attempt", given.attempt);
    map.text("token", attempt.token);
    map.number("fence", given.fence);
    map.text("idempotency_key", given.outside_key);
    map.some("lease_until", given.lease_until);
    map.some("deadline_at", given.deadline_at);
    map.json("data", given.payload.empty() ? "{}" : given.payload);
    map.some_json("progress", given.progress);
  });
}

Result<PauseTarget> parse_pause_target(std::string_view text) {
  using Kind = PauseTarget::Kind;
  if (text == "everything") return PauseTarget{};
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view name = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (!name.empty() && kind == "machine") return PauseTarget{Kind::machine, std::string(name)};
  if (!name.empty() && kind == "queue") return PauseTarget{Kind::queue, std::string(name)};
  if (const std::size_t equals = name.find('=');
      kind == "label" && equals != std::string_view::npos && equals > 0) {
    std::string value(name.substr(equals + 1));
    if (!check_json(value)) value = json_string(value);  // a word stands for itself
    return PauseTarget{Kind::label, std::string(name.substr(0, equals)), value};
  }
  return Error{ErrorCode::bad_input, in_quotes(text) +
                                         " cannot be paused; write machine:NAME, queue:NAME, "
                                         "label:NAME=VALUE or everything"};
}

std::string to_json(const Pause& pause) {
  return map_json([&](Sparse& map) {
    map.text("what", to_text(pause.target));
    map.text("reason", pause.reason);
    map.text("actor", pause.actor);
    map.at("since", pause.since);
    map.some("ended_at", pause.ended_at);
    map.some("ended_by", pause.ended_by);
  });
}

std::string to_json(const Applied& applied) {
  const auto finding_json = [](const Diagnostic& finding) {
    return map_json([&](Sparse& map) {
      const bool is_error = finding.severity == Diagnostic::Severity::error;
      map.text("severity", is_error ? "error" : "warning");
      map.text("id", finding.id);
      map.number("line", finding.position.line);
      map.number("column", finding.position.column);
      map.text("message", finding.message);
    });
  };
  const auto touched_json = [](const Touched& touched) {
    return map_json([&](Sparse& map) {
      map.some("version", touched.version);
      map.text("state", touched.state);
      map.number("records", touched.records);
      map.text("fate", to_text(touched.fate));
      map.some("to", touched.to);
    });
  };
  return map_json([&](Sparse& map) {
    map.boolean("ok", applied.is_good());
    append_list(map.member("files"), applied.machines, [&](const AppliedMachine& one) {
      return map_json([&](Sparse& of) {
        of.text("file", one.path);
        of.some("machine", one.machine);
        of.some("version", one.version);
        of.some("version_before", one.version_before);
        of.boolean("new", one.is_new);
        append_list(of.member("touched"), one.touched, touched_json);
        append_list(of.member("findings"), one.findings, finding_json);
      });
    });
  });
}

std::string to_json(const StateCount& count) {
  return map_json([&](Sparse& map) {
    map.text("machine", count.machine);
    map.text("state", count.state);
    map.number("records", count.records);
    map.number("held", count.held);
  });
}

std::string to_json(const ErrorCount& count) {
  return map_json([&](Sparse& map) {
    map.text("machine", count.machine);
    map.text("state", count.state);
    map.text("code", count.code);
    map.text("fingerprint", fingerprint_text(count.fingerprint));
    map.number("count", count.count);
    map.at("first_at", count.first_at);
    map.at("last_at", count.last_at);
    map.text("message", count.message);
  });
}

}  // namespace pawl
