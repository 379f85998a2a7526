#include "model/expression/operand.h"

#include "base/json_text.h"
#include "calendar/zone.h"

namespace pawl {
namespace {

using OperandKind = Operand::Kind;

const Operand kNone;

std::string duration_text(Duration duration) {
  return duration.count() < 0 ? "-" + to_text(-duration) : to_text(duration);
}

// A text, number, time or duration as characters.
std::string_view written(const Operand& operand, std::string& room) {
  if (operand.kind == OperandKind::text || !operand.text.empty()) return operand.text;
  room = operand.kind == OperandKind::number ? operand.number.to_text()
         : operand.kind == OperandKind::time ? to_text(operand.time)
                                             : duration_text(operand.duration);
  return room;
}

bool is_temporal(OperandKind kind) {
  return kind == OperandKind::time || kind == OperandKind::duration;
}

// What the text `a` says opposite `b`, when that is a time or duration.
Operand like(const Operand& a, const Operand& b, const Zone* zone) {
  if (a.kind != OperandKind::text) return a;
  if (b.kind == OperandKind::time) return as_time(a, zone);
  if (b.kind == OperandKind::duration) return as_duration(a);
  return a;
}

// In a sum a text may be either: `'2026-01-01T00:00:00Z' + 7d`, `1h + 7d`.
Operand as_temporal(const Operand& operand, const Zone* zone) {
  if (operand.kind != OperandKind::text) return operand;
  const Operand time = as_time(operand, zone);
  return time.kind == OperandKind::none ? as_duration(operand) : time;
}

Operand checked(Instant instant) {
  return instant >= kInstantMin && instant <= kInstantMax ? Operand::of(instant) : kNone;
}

Operand checked(Duration duration) {
  return duration >= -kDurationMax && duration <= kDurationMax ? Operand::of(duration) : kNone;
}

// Neither sum overflows: instants and durations stay within 10,000 years.
Operand sum(const Operand& a, const Operand& b) {
  if (a.kind == OperandKind::time && b.kind == OperandKind::duration)
    return checked(a.time + b.duration);
  if (a.kind == OperandKind::duration && b.kind == OperandKind::time)
    return checked(b.time + a.duration);
  if (a.kind == OperandKind::duration && b.kind == OperandKind::duration)
    return checked(a.duration + b.duration);
  return kNone;
}

Operand difference(const Operand& a, const Operand& b) {
  if (a.kind == OperandKind::time && b.kind == OperandKind::time) return checked(a.time - b.time);
  if (b.kind != OperandKind::duration) return kNone;
  return sum(a, Operand::of(-b.duration));
}

Operand compute_numbers(Arithmetic op, const Decimal& a, const Decimal& b) {
  const auto result = op == Arithmetic::add        ? a + b
                      : op == Arithmetic::subtract ? a - b
                      : op == Arithmetic::multiply ? a * b
                      : op == Arithmetic::divide   ? a / b
                                                   : a % b;
  return result ? Operand::of(*result) : kNone;
}

}  // namespace

Operand Operand::of(JsonView json, Scratch& scratch) {
  switch (json.kind()) {
    case JsonView::Kind::absent:
      return of(OperandKind::absent);
    case JsonView::Kind::null:
      return of(OperandKind::null);
    case JsonView::Kind::boolean:
      return of(json.boolean());
    case JsonView::Kind::number: {
      const auto number = Decimal::read(json.json());
      if (!number) return of(OperandKind::none);
      return {.kind = OperandKind::number, .number = *number, .text = json.json()};
    }
    case JsonView::Kind::text:
      return of(json.text(scratch));
    case JsonView::Kind::list:
      return {.kind = OperandKind::list, .text = json.json()};
    case JsonView::Kind::map:
      return {.kind = OperandKind::map, .text = json.json()};
  }
  return {};
}

void append_json(std::string& out, const Operand& operand) {
  std::string room;
  switch (operand.kind) {
    case OperandKind::text:
    case OperandKind::time:
    case OperandKind::duration:
      append_json_string(out, written(operand, room));
      return;
    default:
      append_plain(out, operand);
  }
}

void append_plain(std::string& out, const Operand& operand) {
  std::string room;
  switch (operand.kind) {
    case OperandKind::none:
    case OperandKind::absent:
    case OperandKind::null:
      out += "null";
      return;
    case OperandKind::boolean:
      out += operand.boolean ? "true" : "false";
      return;
    case OperandKind::number:
    case OperandKind::text:
    case OperandKind::time:
    case OperandKind::duration:
      out += written(operand, room);
      return;
    case OperandKind::list:
    case OperandKind::map:
      out += operand.text;
      return;
  }
}

Operand as_time(const Operand& operand, const Zone* zone) {
  if (operand.kind != OperandKind::text) return operand;
  const auto time = parse_instant(operand.text, zone ? *zone : Zone::utc());
  return time ? Operand{.kind = OperandKind::time, .text = operand.text, .time = *time} : kNone;
}

Operand as_duration(const Operand& operand) {
  if (operand.kind != OperandKind::text) return operand;
  const auto duration = parse_duration(operand.text);
  if (!duration) return kNone;
  return {.kind = OperandKind::duration, .text = operand.text, .duration = *duration};
}

bool same_value(const Operand& a, const Operand& b, const Zone* zone) {
  if (a.is_nothing() || b.is_nothing()) return a.is_nothing() && b.is_nothing();
  if (a.kind != b.kind) {
    const Operand left = like(a, b, zone);
    const Operand right = like(b, a, zone);
    return left.kind == right.kind && is_temporal(left.kind) && same_value(left, right, zone);
  }
  switch (a.kind) {
    case OperandKind::boolean:
      return a.boolean == b.boolean;
    case OperandKind::number:
      return a.number == b.number;
    case OperandKind::text:
      return a.text == b.text;
    case OperandKind::time:
      return a.time == b.time;
    case OperandKind::duration:
      return a.duration == b.duration;
    case OperandKind::list:
    case OperandKind::map:
      return same_json(a.text, b.text);
    default:
      return false;
  }
}

std::optional<std::strong_ordering> order(const Operand& a, const Operand& b, const Zone* zone) {
  const Operand left = like(a, b, zone);
  const Operand right = like(b, a, zone);
  if (left.kind != right.kind) return std::nullopt;
  switch (left.kind) {
    case OperandKind::number:
      return left.number <=> right.number;
    case OperandKind::text:
      return left.text <=> right.text;
    case OperandKind::time:
      return left.time.time_since_epoch().count() <=> right.time.time_since_epoch().count();
    case OperandKind::duration:
      return left.duration.count() <=> right.duration.count();
    default:
      return std::nullopt;
  }
}

Operand compute(Arithmetic op, const Operand& a, const Operand& b, const Zone* zone) {
  if (a.kind == OperandKind::number && b.kind == OperandKind::number)
    return compute_numbers(op, a.number, b.number);
  if (op != Arithmetic::add && op != Arithmetic::subtract) return kNone;
  const Operand left = as_temporal(a, zone);
  const Operand right = as_temporal(b, zone);
  return op == Arithmetic::add ? sum(left, right) : difference(left, right);
}

}  // namespace pawl
