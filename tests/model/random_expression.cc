#include "random_expression.h"

#include <utility>

namespace pawl {
namespace {

using Kind = FieldType::Kind;

// Braces are doubled: alone they begin a placeholder.
std::string without_placeholders(const std::string& text) {
  std::string doubled;
  for (const char c : text) doubled += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  return doubled;
}

std::string some_instant(Draw& draw) {
  return draw.of({"2026-03-02T08:00:00Z", "2026-10-25T02:30:00", "1999-12-31T23:59:59.25+01:00"});
}

std::string some_number(Draw& draw) {
  return draw.of({"0", "1", "7", "2.50", "100", "0.001", "2e3", "123456789012345678"});
}

}  // namespace

std::string nasty_text(Draw& draw) {
  static const std::vector<std::string> kTexts = {
      "plain",
      "two words",
      "a: b",
      "a:",
      "# no comment",
      "a # b",
      "- item",
      "-",
      "? key",
      "it's",
      "say \"yes\"",
      "both ' and \"",
      " before",
      "after ",
      "two\nlines",
      "ends with a line end\n",
      "\n",
      "\nstarts with one",
      "a\n\n\nb\n\n",
      "  indented\n more\nless",
      "tab\there",
      "\ttab",
      "carriage\r\nreturn",
      "{braces}",
      "}{",
      "[brackets]",
      "{",
      "null",
      "true",
      "false",
      "~",
      "0",
      "-1.5e3",
      "1_000",
      "0x1f",
      "08:30",
      "2026-03-02",
      "yes",
      "on",
      "<<",
      "*alias",
      "&anchor",
      "!tag",
      "%directive",
      "@at",
      "`ticks`",
      "|",
      ">",
      "---",
      "...",
      "--- a\n... b",
      ", comma",
      "back\\slash \\n",
      "grüße, 世界",
      "\xf0\x9f\x90\xbe emoji",
      "\xc2\x85 next line",
      "a\xe2\x80\xa8line separator",
      "\xef\xbb\xbf mark",
      "\xc2\xa0no-break",
      "bell \x07",
      "delete \x7f",
      std::string("nul \0 byte", 10),
      "= equal",
      "\xc2\xb1 20%",
      std::string(200, 'x') + " " + std::string(90, 'y') + ": z",
  };
  if (draw.chance(80)) return draw.of(kTexts);
  return draw.of(kTexts) + draw.of({"", " ", "\n", ": ", "'"}) + draw.of(kTexts);
}

Json random_json(Draw& draw, int depth) {
  switch (draw.between(0, depth > 0 ? 5 : 3)) {
    case 0:
      return nullptr;
    case 1:
      return Json::boolean(draw.chance(50));
    case 2:
      return Json::number(draw.of({"0", "-1", "12", "1.50", "1e9", "-0", "1E-7", "0.10"}));
    case 3:
      return without_placeholders(nasty_text(draw));
    case 4: {
      Json list = Json::list({});
      for (int i = draw.between(0, 3); i > 0; --i)
        list.items.push_back(random_json(draw, depth - 1));
      return list;
    }
    default: {
      Json map = Json::map({});
      for (int i = draw.between(0, 3); i > 0; --i) {
        std::string key = nasty_text(draw);
        if (map.find(key) == nullptr)
          map.members.push_back({std::move(key), random_json(draw, depth - 1), {}});
      }
      return map;
    }
  }
}

Json fitting_json(Draw& draw, const FieldType& type) {
  if (!type.required && draw.chance(15)) return nullptr;
  switch (type.kind) {
    case Kind::string:
      return without_placeholders(nasty_text(draw));
    case Kind::integer:
      return Json::number(draw.of({"0", "-7", "42", "2.0", "1e3"}));
    case Kind::decimal:
      return Json::number(draw.of({"0", "-7", "0.10", "1e3", "99.99"}));
    case Kind::boolean:
      return Json::boolean(draw.chance(50));
    case Kind::time:
      return some_instant(draw);
    case Kind::duration:
      return draw.of({"30s", "1 hour", "PT1H30M", "0"});
    case Kind::list:
      return draw.chance(50) ? Json::list({}) : Json::list({random_json(draw, 1)});
    case Kind::map:
      return draw.chance(50) ? Json::map({}) : Json::map({{"k", random_json(draw, 1), {}}});
    case Kind::any: {
      Json any = random_json(draw, 2);
      return any.kind == Json::Kind::null ? Json(0) : any;
    }
    case Kind::rrule:
      return draw.of({"FREQ=DAILY;BYHOUR=6", "FREQ=WEEKLY;BYDAY=MO,FR;INTERVAL=2"});
    case Kind::cron:
      return draw.of({"0 6 * * MON-FRI", "*/5 * * * *"});
    case Kind::zone:
      return draw.of({"UTC", "Europe/Berlin", "America/New_York"});
    case Kind::word:
      return draw.of(type.words);
  }
  return nullptr;
}

void RandomExpression::add_paths(std::vector<std::string>& paths, std::string_view root,
                                 const Fields* fields, Kind kind) {
  const std::string prefix = std::string(root) + ".";
  if (fields == nullptr) {
    paths.push_back(prefix + "anything");
    return;
  }
  for (const Field& field : *fields)
    if (field.type.kind == kind) paths.push_back(prefix + field.name);
}

std::optional<std::string> RandomExpression::path(Kind kind) {
  std::vector<std::string> paths;
  add_paths(paths, "data", *seen_.data ? &**seen_.data : nullptr, kind);
  if (seen_.event) add_paths(paths, "event", seen_.event_fields, kind);
  if (seen_.result) add_paths(paths, "result", seen_.result_fields, kind);
  if (seen_.item) paths.emplace_back("item.part");
  if (paths.empty()) return std::nullopt;
  return draw_.of(paths);
}

std::string RandomExpression::condition() {
  return draw_.chance(5) ? draw_.of({"approves", "is_open"}) : boolean(2);
}

std::string RandomExpression::boolean(int depth) {
  const int kind = draw_.between(0, depth > 0 ? 9 : 5);
  if (kind == 0) return draw_.of({"true", "false", "record.running", "record.held"});
  if (kind == 1) return path(Kind::boolean).value_or("not false");
  if (kind <= 5) return comparison(depth);
  if (kind == 6) return "not (" + boolean(depth - 1) + ")";
  if (kind == 7) return "(" + boolean(depth - 1) + ") or " + boolean(depth - 1);
  return boolean(depth - 1) + " and (" + boolean(depth - 1) + ")";
}

std::string RandomExpression::comparison(int depth) {
  const std::string order = draw_.of({" < ", " <= ", " > ", " >= ", " == ", " != "});
  const std::string equal = draw_.of({" == ", " != "});
  switch (draw_.between(0, 8)) {
    case 0:
      return text() + equal + text();
    case 1:
      return time() + order + time();
    case 2:
      return duration() + order + draw_.of({"'5m'", "'1 hour'"});
    case 3:
      return "record.state" + equal + "'" + draw_.of(*seen_.states) + "'";
    case 4:
      if (seen_.order->empty()) return "record.failed_from == null";
      return "record.failed_from" + order + "'" + draw_.of(*seen_.order).name + "'";
    case 5:
      return any() + equal + "null";
    case 6:
      return text() + " in ['a', \"it's\", 'b\\\\c']";
    case 7:
      return "size(" + list() + ") > 0";
    default:
      return number(depth) + order + number(depth);
  }
}

std::string RandomExpression::number(int depth) {
  switch (draw_.between(0, depth > 0 ? 9 : 5)) {
    case 0:
      return some_number(draw_);
    case 1:
      return draw_.of({"record.attempt", "record.failures", "record.epoch", "record.version"});
    case 2:
      return "children." + draw_.of({"parcel", "run"}) + "." +
             draw_.of({"all", "open", "final", "hold", "sent"});
    case 3:
      return path(Kind::integer).value_or("3");
    case 4:
      return path(Kind::decimal).value_or("3.25");
    case 5:
      return "size(" + text() + ")";
    case 6:
      return "-(" + number(depth - 1) + ")";
    case 7:
      return draw_.of({"min", "max"}) + "(" + number(depth - 1) + ", " + number(depth - 1) + ")";
    default:
      return "(" + number(depth - 1) + draw_.of({" + ", " - ", " * ", " / ", " % "}) +
             number(depth - 1) + ")";
  }
}

std::string RandomExpression::text() {
  switch (draw_.between(0, 4)) {
    case 0:
      return draw_.of({"'text'", "\"double\"", "''", "'it\\'s'", "'a: b #c'", "'世界'", "'}'"});
    case 1:
      if (seen_.event) return "actor.name";
      if (seen_.error) return draw_.of({"error.code", "error.message"});
      return "record.machine";
    case 2:
      return "record.key";
    default:
      return path(Kind::string).value_or("record.id");
  }
}

std::string RandomExpression::time() {
  switch (draw_.between(0, 4)) {
    case 0:
      return draw_.of({"record.created_at", "record.entered_at", "record.planned_at"});
    case 1:
      return "(record.created_at + '1h')";
    case 2:
      return "record.failing_since";
    case 3:
      return path(Kind::time).value_or("record.created_at");
    default:
      return seen_.now ? "now" : "record.entered_at";
  }
}

std::string RandomExpression::duration() {
  switch (draw_.between(0, 2)) {
    case 0:
      return "(record.entered_at - record.created_at)";
    case 1:
      return "(record.entered_at - record.created_at + '5m')";
    default:
      return path(Kind::duration).value_or("(record.entered_at - record.created_at)");
  }
}

std::string RandomExpression::list() {
  return path(Kind::list).value_or(draw_.of({"[]", "[1, 2]", "['a', null]"}));
}

std::string RandomExpression::any() {
  switch (draw_.between(0, 5)) {
    case 0:
      return path(Kind::any).value_or("record.result");
    case 1:
      return path(Kind::map).value_or("record.parent");
    case 2:
      return path(Kind::word).value_or("record.parent.key");
    case 3:
      if (seen_.item) return "item";
      if (seen_.error) return "error.detail";
      return "record.result.x[0]";
    case 4:
      return "record.result['a b']";
    default:
      return time();
  }
}

std::string RandomExpression::of_type(const FieldType& type) {
  switch (type.kind) {
    case Kind::integer:
    case Kind::decimal:
      return number(1);
    case Kind::boolean:
      return boolean(1);
    case Kind::time:
      return time();
    case Kind::duration:
      return duration();
    case Kind::list:
      return list();
    case Kind::map:
      return path(Kind::map).value_or("record.result");
    case Kind::any:
      return any();
    case Kind::string:
    case Kind::rrule:
    case Kind::cron:
    case Kind::zone:
    case Kind::word:
      return path(type.kind).value_or("record.key");
  }
  return "null";
}

std::string RandomExpression::text_with_placeholders() {
  std::string text;
  for (int i = draw_.between(1, 2); i > 0; --i) {
    if (draw_.chance(50)) text += without_placeholders(nasty_text(draw_));
    const std::string blank = draw_.chance(10) ? " " : "";
    text += "{" + blank + (draw_.chance(50) ? this->text() : number(1)) + blank + "}";
  }
  return text;
}

Value RandomExpression::text_value() {
  if (draw_.chance(50)) return without_placeholders(nasty_text(draw_));
  return text_with_placeholders();
}

Json RandomExpression::json(int depth) {
  if (draw_.chance(40)) return text_with_placeholders();
  if (draw_.chance(20)) return "{" + any() + "}";
  if (depth == 0 || draw_.chance(50)) return random_json(draw_, depth);
  if (draw_.chance(50)) return Json::list({json(depth - 1), json(depth - 1)});
  return Json::map({{"a", json(depth - 1), {}}, {nasty_text(draw_) + "+", json(depth - 1), {}}});
}

Value RandomExpression::value() { return json(2); }

Value RandomExpression::value_for(const FieldType& type) {
  if (draw_.chance(50)) return fitting_json(draw_, type);
  return "{" + of_type(type) + "}";
}

std::string RandomExpression::duration_template() {
  const auto field = path(Kind::duration);
  if (field && draw_.chance(60)) return "{" + *field + "}";
  return draw_.of({"{record.attempt}m", "{min(record.attempt, 9)}s", "PT{record.epoch}H"});
}

}  // namespace pawl
