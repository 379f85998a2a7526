#include "model/expression/operand.h"

#include "base/json_text.h"
#include "calendar/zone.h"

namespace pawl {
namespace {

using Kind = Operand::Kind;

const Operand kNone;

std::string duration_text(Duration duration) {
  return duration.count() < 0 ? "-" + to_text(-duration) : to_text(duration);
}

// A text, number, time or duration as characters.
std::string_view written(const Operand& operand, std::string& room) {
  if (operand.kind == Kind::text || !operand.text.empty()) return operand.text;
  room = operand.kind == Kind::number ? operand.number.to_text()
         : operand.kind == Kind::time ? to_text(operand.time)
                                      : duration_text(operand.duration);
  return room;
}

bool is_temporal(Kind kind) { return kind == Kind::time || kind == Kind::duration; }

// What the text `a` says opposite `b`, when that is a time or duration.
Operand like(const Operand& a, const Operand& b, const Zone* zone) {
  if (a.kind != Kind::text) return a;
  if (b.kind == Kind::time) return as_time(a, zone);
  if (b.kind == Kind::duration) return as_duration(a);
  return a;
}

// In a sum a text may be either: `'2026-01-01T00:00:00Z' + 7d`, `1h + 7d`.
Operand as_temporal(const Operand& operand, const Zone* zone) {
  if (operand.kind != Kind::text) return operand;
  const Operand time = as_time(operand, zone);
  return time.kind == Kind::none ? as_duration(operand) : time;
}

Operand checked(Instant instant) {
  return instant >= kInstantMin && instant <= kInstantMax ? Operand::of(instant) : kNone;
}

Operand checked(Duration duration) {
  return duration >= -kDurationMax && duration <= kDurationMax ? Operand::of(duration) : kNone;
}

// Neither sum overflows: instants and durations stay within 10,000 years.
Operand sum(const Operand& a, const Operand& b) {
  if (a.kind == Kind::time && b.kind == Kind::duration) return checked(a.time + b.duration);
  if (a.kind == Kind::duration && b.kind == Kind::time) return checked(b.time + a.duration);
  if (a.kind == Kind::duration && b.kind == Kind::duration) return checked(a.duration + b.duration);
  return kNone;
}

Operand difference(const Operand& a, const Operand& b) {
  if (a.kind == Kind::time && b.kind == Kind::time) return checked(a.time - b.time);
  if (b.kind != Kind::duration) return kNone;
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
      return of(Kind::absent);
    case JsonView::Kind::null:
      return of(Kind::null);
    case JsonView::Kind::boolean:
      return of(json.boolean());
    case JsonView::Kind::number: {
      const auto number = Decimal::read(json.json());
      if (!number) return of(Kind::none);
      return {.kind = Kind::number, .number = *number, .text = json.json()};
    }
    case JsonView::Kind::text:
      return of(json.text(scratch));
    case JsonView::Kind::list:
      return {.kind = Kind::list, .text = json.json()};
    case JsonView::Kind::map:
      return {.kind = Kind::map, .text = json.json()};
  }
  return {};
}

void append_json(std::string& out, const Operand& operand) {
  std::string room;
  switch (operand.kind) {
    case Kind::text:
    case Kind::time:
    case Kind::duration:
      append_json_string(out, written(operand, room));
      return;
    default:
      append_plain(out, operand);
  }
}

void append_plain(std::string& out, const Operand& operand) {
  std::string room;
  switch (operand.kind) {
    case Kind::none:
    case Kind::absent:
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
      out += operand.boolean ? "true" : "false";
      return;
    case Kind::number:
    case Kind::text:
    case Kind::time:
    case Kind::duration:
      out += written(operand, room);
      return;
    case Kind::list:
    case Kind::map:
      out += operand.text;
      return;
  }
}

Operand as_time(const Operand& operand, const Zone* zone) {
  if (operand.kind != Kind::text) return operand;
  const auto time = parse_instant(operand.text, zone ? *zone : Zone::utc());
  return time ? Operand{.kind = Kind::time, .text = operand.text, .time = *time} : kNone;
}

Operand as_duration(const Operand& operand) {
  if (operand.kind != Kind::text) return operand;
  const auto duration = parse_duration(operand.text);
  if (!duration) return kNone;
  return {.kind = Kind::duration, .text = operand.text, .duration = *duration};
}

bool same_value(const Operand& a, const Operand& b, const Zone* zone) {
  if (a.is_nothing() || b.is_nothing()) return a.is_nothing() && b.is_nothing();
  if (a.kind != b.kind) {
    const Operand left = like(a, b, zone);
    const Operand right = like(b, a, zone);
    return left.kind == right.kind && is_temporal(left.kind) && same_value(left, right, zone);
  }
  switch (a.kind) {
    case Kind::boolean:
      return a.boolean == b.boolean;
    case Kind::number:
      return a.number == b.number;
    case Kind::text:
      return a.text == b.text;
    case Kind::time:
      return a.time == b.time;
    case Kind::duration:
      return a.duration == b.duration;
    case Kind::list:
    case Kind::map:
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
    case Kind::number:
      return left.number <=> right.number;
    case Kind::text:
      return left.text <=> right.text;
    case Kind::time:
      return left.time.time_since_epoch().count() <=> right.time.time_since_epoch().count();
    case Kind::duration:
      return left.duration.count() <=> right.duration.count();
    default:
      return std::nullopt;
  }
}

Operand compute(Arithmetic op, const Operand& a, const Operand& b, const Zone* zone) {
  if (a.kind == Kind::number && b.kind == Kind::number)
    return compute_numbers(op, a.number, b.number);
  if (op != Arithmetic::add && op != Arithmetic::subtract) return kNone;
  const Operand left = as_temporal(a, zone);
  const Operand right = as_temporal(b, zone);
  return op == Arithmetic::add ? sum(left, right) : difference(left, right);
}

}  // namespace pawl
