#include "simulate/played_json.h"

#include <utility>
#include <vector>

namespace pawl {
namespace {

Json number(std::int64_t value) { return Json::number(std::to_string(value)); }

Json texts(const std::vector<std::string>& all) {
  Json list = Json::list({});
  for (const std::string& text : all) list.items.emplace_back(text);
  return list;
}

class Writer {
 public:
  explicit Writer(const Zone& zone) : zone_(zone) {}

  Json moment(const Moment& moment) const {
    Json map = Json::map({});
    put(map, "at", instant(moment.at));
    put(map, "step", number(static_cast<std::int64_t>(moment.step)));
    put(map, "machine", moment.machine);
    put(map, "key", moment.key);
    put(map, "stimulus", moment.stimulus);
    put(map, "answer", std::string(to_text(moment.answer)));
    if (!moment.reason.empty()) put(map, "reason", moment.reason);
    put(map, "entries", entries(moment.entries));
    put_standing(map, moment.after);
    put(map, "effects", texts(moment.effects));
    if (!moment.notes.empty()) put(map, "notes", texts(moment.notes));
    return map;
  }

  Json problem(const Problem& problem) const {
    Json map = Json::map({});
    put(map, "step", number(static_cast<std::int64_t>(problem.step)));
    put(map, "line", number(problem.position.line));
    put(map, "column", number(problem.position.column));
    put(map, "at", instant(problem.at));
    if (!problem.message.empty()) {
      put(map, "error", problem.message);
      return map;
    }
    put(map, "key", problem.key);
    put(map, "expected", problem.expected);
    put(map, "got", problem.got);
    return map;
  }

  static void put(Json& map, std::string key, Json value) {
    map.members.push_back({std::move(key), std::move(value), {}});
  }

 private:
  Json instant(Instant at) const { return to_text(at, zone_); }
  Json instant(const std::optional<Instant>& at) const { return at ? instant(*at) : Json(); }

  Json entries(const std::vector<Entry>& all) const {
    Json list = Json::list({});
    for (const Entry& entry : all) list.items.push_back(this->entry(entry));
    return list;
  }

  Json entry(const Entry& entry) const {
    Json map = Json::map({});
    put(map, "seq", number(entry.seq));
    put(map, "kind", std::string(to_text(entry.kind)));
    if (!entry.event.empty()) put(map, "event", entry.event);
    put(map, "from", entry.from.empty() ? Json() : Json(entry.from));
    put(map, "to", entry.to);
    if (entry.error) put(map, "error", entry.error->code);
    return map;
  }

  void put_standing(Json& map, const Standing& after) const {
    put(map, "state", after.state.empty() ? Json() : Json(after.state));
    put(map, "attempt", after.attempt);
    put(map, "failures", after.failures);
    put(map, "running", after.running.has_value());
    put(map, "hold", after.hold ? Json(after.hold->code) : Json());
    put(map, "next_at", instant(after.next_at));
  }

  const Zone& zone_;
};

}  // namespace

Json to_json(const Played& played) {
  const Writer writer(played.zone);
  Json timeline = Json::list({});
  for (const Moment& moment : played.moments) timeline.items.push_back(writer.moment(moment));
  Json problems = Json::list({});
  for (const Problem& problem : played.problems) problems.items.push_back(writer.problem(problem));
  Json map = Json::map({});
  Writer::put(map, "machine", played.machine);
  Writer::put(map, "scenario", played.title);
  Writer::put(map, "tz", std::string(played.zone.name()));
  Writer::put(map, "steps", number(static_cast<std::int64_t>(played.steps)));
  Writer::put(map, "passed", played.passed());
  Writer::put(map, "timeline", std::move(timeline));
  Writer::put(map, "differences", std::move(problems));
  return map;
}

}  // namespace pawl
