#include "model/compile_values.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/nearest.h"
#include "base/text.h"
#include "model/expression/program.h"
#include "model/expression/value_program.h"
#include "model/field_type.h"
#include "model/names.h"
#include "model/sites.h"

namespace pawl {
namespace {

class ValuePass {
 public:
  ValuePass(Definition& definition, const Machine& machine, const Zones& zones,
            Diagnostics& diagnostics)
      : definition_(definition), machine_(machine), zones_(zones), diagnostics_(diagnostics) {}

  void run() {
    compile_rows();
    compile_values();
    check_fields();
  }

 private:
  // Rows of a side job come from the machine that asked for it, and may name its states.
  Scope base_scope() const {
    return {.definition = machine_.is_side_job() ? nullptr : &definition_};
  }

  Scope scope_at(const RowsAt& at) const {
    Scope scope = base_scope();
    scope.state = at.state;
    switch (at.site) {
      case Site::on:
      case Site::machine_on:
        scope.sees_event = true;
        scope.event = fields_of_event(at.name);
        break;
      case Site::done:
        scope.sees_result = true;
        scope.result = fields_of_result(*at.state);
        break;
      case Site::error:
      case Site::give_up:
      case Site::resume:
        scope.sees_error = true;
        break;
      case Site::when:
        scope.sees_now = false;
        break;
      case Site::after:
      case Site::every:
      case Site::planned:
      case Site::ended:
        break;
    }
    return scope;
  }

  const Fields* fields_of_event(std::string_view name) const {
    const auto id = machine_.find_event(name);
    const EventDefinition* declared = id ? machine_.declared(*id) : nullptr;
    return declared != nullptr && declared->with ? &*declared->with : nullptr;
  }

  const Fields* fields_of_result(const State& s) const {
    if (!s.task || !s.task->is_known()) return nullptr;
    const Task& t = machine_.task(s.task->id);
    return t.result ? &*t.result : nullptr;
  }

  void compile_rows() {
    for_each_rows(definition_, [&](const RowsAt& at, Rows& rows) {
      for (Row& row : rows) compile(row, scope_at(at));
    });
    for (State& s : definition_.states)
      for (EffectRow& effect : s.effects) compile(effect, base_scope());
  }

  void compile(Row& row, const Scope& scope) {
    if (row.condition) condition(*row.condition, scope);
    if (row.fail) value(*row.fail, scope);
    if (row.hold) value(row.hold->text, scope);
    if (row.delays) compile(*row.delays, scope);
    if (row.elapsed) duration(*row.elapsed, scope);
    assignments(row.set, scope);
    for (EffectRow& effect : row.effects) compile(effect, scope);
  }

  void compile(EffectRow& effect, Scope scope) {
    if (effect.each) each(*effect.each, scope);
    scope.sees_item = effect.each.has_value();
    if (effect.condition) condition(*effect.condition, scope);
    if (effect.with) value(*effect.with, scope);
    if (effect.key) value(*effect.key, scope);
    if (effect.in) duration(*effect.in, scope);
    if (effect.to) value(effect.to->key, scope);
  }

  void compile(Delays& delays, const Scope& scope) {
    for (DurationValue& delay : delays.list) duration(delay, scope);
    duration(delays.first, scope);
    if (delays.max) duration(*delays.max, scope);
  }

  void compile(Policy& p) {
    const Scope scope = base_scope();
    if (p.timeout) duration(*p.timeout, scope);
    if (p.lease) duration(*p.lease, scope);
    if (p.retry) compile(*p.retry, scope);
  }

  void compile_values() {
    Definition& d = definition_;
    const Scope scope = base_scope();
    compile(d.policy);
    for (NamedPolicy& named : d.policies) compile(named.policy);
    for (State& s : d.states) {
      compile(s.policy);
      for (TimerRows& timer : s.after) duration(timer.delay, scope);
      for (TimerRows& timer : s.every) duration(timer.delay, scope);
    }
    for (Task& t : d.tasks) compile(t);
    for (Assignment& label : d.labels) value(label.value, scope);
    Scope older = scope;
    older.knows_data = false;
    for (Migration& migration : d.migrate) assignments(migration.set, older);
    if (d.keep && d.keep->final) duration(*d.keep->final, scope);
    if (!d.schedule) return;
    schedule_part(d.schedule->rule, scope);
    duration(d.schedule->every, scope);
    if (d.schedule->tz) schedule_part(*d.schedule->tz, scope);
    if (d.schedule->anchor) schedule_part(*d.schedule->anchor, scope);
  }

  void compile(Task& t) {
    const Scope scope = base_scope();
    compile(t.policy);
    if (t.with) value(*t.with, scope);
    if (t.key) value(*t.key, scope);
    if (t.concurrency && t.concurrency->per) value(*t.concurrency->per, scope);
    if (t.rate) duration(t.rate->every, scope);
    if (t.rate && t.rate->per) value(*t.rate->per, scope);
    if (!t.http) return;
    value(t.http->url, scope);
    for (Assignment& header : t.http->headers) value(header.value, scope);
    if (t.http->body) value(*t.http->body, scope);
  }

  bool expression(Expression& expression, const Scope& scope) {
    if (diagnostics_.is_full()) return false;
    auto compiled = Program::compile(expression.text, scope);
    if (compiled) {
      expression.program = *std::move(compiled);
      return true;
    }
    const Position inside = compiled.error().position.value_or(Position{});
    diagnostics_.error("bad_expression", expression.at.inside(expression.text, inside.column),
                       compiled.error().message);
    return false;
  }

  void condition(Expression& given, const Scope& scope) {
    if (!expression(given, scope) || !given.program->guard().empty()) return;
    const Type type = given.program->type();
    if (type != Type::boolean && type != Type::any)
      diagnostics_.error_at("bad_expression", given.at,
                            "a condition is true or false, not " + std::string(to_text(type)));
  }

  void each(Expression& given, const Scope& scope) {
    if (!expression(given, scope)) return;
    const Type type = given.program->type();
    const bool guard = !given.program->guard().empty();
    if (guard || (type != Type::list && type != Type::any))
      diagnostics_.error_at("bad_expression", given.at, "`each` needs a list: each: data.items");
  }

  Type value(Value& given, const Scope& scope) {
    if (diagnostics_.is_full()) return Type::any;
    given.program = ValueProgram::compile(given.json, scope, diagnostics_);
    return given.program == nullptr ? Type::any : given.program->type();
  }

  void duration(DurationValue& given, const Scope& scope) {
    if (given.is_fixed()) return;
    const Type type = value(given.value, scope);
    if (type != Type::duration && type != Type::text && type != Type::any)
      diagnostics_.error_at("type_mismatch", given.at,
                            "this is " + std::string(to_text(type)) + ", not a duration like 5m");
  }

  void schedule_part(Value& given, const Scope& scope) {
    const Type type = value(given, scope);
    const bool fits = type == Type::text || type == Type::time || type == Type::any ||
                      given.json.kind == Json::Kind::null;
    if (!fits)
      diagnostics_.error_at("type_mismatch", given.json.at,
                            "this is " + std::string(to_text(type)) + ", not a text");
  }

  void assignments(std::vector<Assignment>& set, const Scope& scope) {
    for (Assignment& assignment : set) {
      const Type type = value(assignment.value, scope);
      if (definition_.data && assignment.value.program != nullptr)
        check_assignment(assignment, type);
    }
  }

  void check_assignment(const Assignment& assignment, Type type) {
    if (diagnostics_.is_full()) return;
    const Field* field = find_field(*definition_.data, assignment.name);
    if (field == nullptr) {
      diagnostics_.error_at("undeclared_field", assignment.at,
                            in_ticks(assignment.name) + " is not a field of `data`" +
                                did_you_mean(assignment.name, names_of(*definition_.data)));
      return;
    }
    if (assignment.value.program->constant()) {
      // `{{` stands for a brace; what is written fits or not all the same.
      if (const auto why = misfit(field->type, assignment.value.json, zones_))
        diagnostics_.error_at("type_mismatch", assignment.value.json.at,
                              in_ticks(assignment.name) + " cannot take this: " + *why);
    } else if (!may_fit(field->type, type)) {
      diagnostics_.error_at("type_mismatch", assignment.value.json.at,
                            in_ticks(assignment.name) + " is " + to_text(field->type) +
                                " and cannot take " + std::string(to_text(type)));
    }
  }

  void check_fields() {
    if (definition_.data) check_fields(*definition_.data);
    for (const EventDefinition& declared : definition_.events)
      if (declared.with) check_fields(*declared.with);
    for (const Task& t : definition_.tasks)
      if (t.result) check_fields(*t.result);
  }

  void check_fields(const Fields& fields) {
    for (const Field& field : fields) {
      if (!field.fallback || diagnostics_.is_full()) continue;
      if (const auto why = misfit(field.type, *field.fallback, zones_))
        diagnostics_.error_at("type_mismatch", field.fallback->at,
                              "the default of " + in_ticks(field.name) + " does not fit: " + *why);
    }
  }

  Definition& definition_;
  const Machine& machine_;
  const Zones& zones_;
  Diagnostics& diagnostics_;
};

}  // namespace

void compile_values(Definition& definition, const Machine& machine, const Zones& zones,
                    Diagnostics& diagnostics) {
  ValuePass(definition, machine, zones, diagnostics).run();
}

}  // namespace pawl
