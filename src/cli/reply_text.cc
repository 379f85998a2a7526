#include "cli/reply_text.h"

#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "model/expression/json_view.h"

namespace pawl::cli {
namespace {

using JsonKind = JsonView::Kind;

JsonView at_path(std::string_view json, std::string_view path) {
  JsonView value(json);
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    value = value.member(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return value;
}

std::string said_value(JsonView value) {
  Scratch scratch;
  if (value.absent() || value.kind() == JsonKind::null) return {};
  if (value.kind() == JsonKind::text) return std::string(value.text(scratch));
  return std::string(value.json());
}

std::string joined(JsonView list) {
  std::vector<std::string> words;
  for (JsonWalk walk(list); walk.next();) words.push_back(said_value(walk.value()));
  return join(words, ", ", " and ");
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

std::string shortened(std::string text, std::size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xc0U) == 0x80U) --max;
  return text.substr(0, max) + "…";
}

}  // namespace

std::string said(std::string_view json, std::string_view path) {
  return said_value(at_path(json, path));
}

std::vector<std::string> items_of(std::string_view json, std::string_view list) {
  std::vector<std::string> items;
  for (JsonWalk walk(at_path(json, list)); walk.next();) items.emplace_back(walk.value().json());
  return items;
}

std::string problem_text(std::string_view reply) {
  if (const std::string message = said(reply, "error.message"); !message.empty())
    return "error: " + printable(message);
  std::string text = printable(said(reply, "answer"));
  if (const std::string reason = said(reply, "reason"); !reason.empty())
    text += ": " + printable(reason);
  for (const std::string& guard : items_of(reply, "guards")) {
    text += "\n  " + printable(said(guard, "event") + " needs: " + said(guard, "guard"));
    if (const std::string values = joined(at_path(guard, "values")); !values.empty())
      text += "; " + printable(values);
  }
  if (const std::string permitted = joined(at_path(reply, "permitted")); !permitted.empty())
    text += "\n  permitted now: " + printable(permitted);
  return text;
}

std::string short_time(const std::string& instant) {
  if (instant.size() < 19) return instant;
  return instant.substr(0, 10) + " " + instant.substr(11, 8);
}

void print_table(std::vector<std::vector<std::string>> rows, std::ostream& out) {
  std::vector<std::size_t> widths;
  for (auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(row[i]);
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line += std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string plight_of(std::string_view record) {
  if (const std::string code = said(record, "hold.code"); !code.empty())
    return "on hold (" + code + "): " + shortened(said(record, "hold.text"), 60);
  const std::string attempt = said(record, "attempt");
  std::string text;
  if (!at_path(record, "running").absent())
    text = "attempt " + attempt + " by " + said(record, "running.worker");
  const bool is_failing = !at_path(record, "failures").absent();
  if (const std::string code = said(record, "error.code"); is_failing && text.empty())
    text = "failed: " + code + " " + shortened(said(record, "error.message"), 50);
  return text;
}

std::string entry_line(std::string_view entry) {
  std::string line = short_time(said(entry, "at")) + "  ";
  if (const std::string machine = said(entry, "machine"); !machine.empty())
    line += machine + "/" + said(entry, "key") + "  ";
  line += said(entry, "kind");
  if (const std::string event = said(entry, "event"); !event.empty()) line += " " + event;
  if (const std::string code = said(entry, "error.code"); !code.empty()) {
    line += " " + code;
    if (const std::string message = said(entry, "error.message"); !message.empty())
      line += " (" + shortened(message, 60) + ")";
  }
  const std::string from = said(entry, "from");
  const std::string to = said(entry, "to");
  line += ": " + (from == to ? to : (from.empty() ? "-" : from) + " -> " + to);
  if (const std::string next = said(entry, "next_at"); !next.empty())
    line += ", next " + short_time(next);
  const std::string via = said(entry, "actor.via");
  if (const std::string actor = said(entry, "actor.name"); !actor.empty() && actor != "engine")
    line += "  [" + actor + (via.empty() ? "" : " via " + via) + "]";
  return line;
}

void print_record(std::string_view record, std::ostream& out) {
  std::vector<std::vector<std::string>> rows;
  Scratch scratch;
  for (JsonWalk walk{JsonView(record)}; walk.next();) {
    const std::string name(walk.key().text(scratch));
    if (walk.value().kind() != JsonKind::map || name == "data" || name == "labels") {
      rows.push_back({name, said_value(walk.value())});
      continue;
    }
    for (JsonWalk inner(walk.value()); inner.next();)
      rows.push_back(
          {name + "." + std::string(inner.key().text(scratch)), said_value(inner.value())});
  }
  print_table(rows, out);
}

}  // namespace pawl::cli
