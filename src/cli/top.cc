// pawl top: a live view of all records: how many are where, how fast they move, which are retrying
// and which on hold.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/live_view.h"
#include "cli/reply_text.h"
#include "cli/verb.h"
#include "decide/json_edit.h"
#include "pawl/time.h"

namespace pawl::cli {
namespace {

// What one view costs a server is bounded: so many pages of what happened since the one before, so
// many codes of errors whose records are looked at, a page each.
constexpr int kFeedPagesMax = 20;
constexpr std::size_t kCodesMax = 20;
constexpr std::size_t kErrorsShown = 10;

struct TopOptions : ClientOptions {
  std::string machine;
  std::string every = "2s";
  bool once = false;
};

// Records of one state.
struct StateRow {
  std::int64_t records = 0;
  std::int64_t held = 0;
  std::int64_t retrying = 0;
};

// What happened in a time.
struct Tally {
  std::int64_t entries = 0;
  std::int64_t created = 0;
  std::int64_t done = 0;
  std::int64_t failed = 0;
  double seconds = 0;
  bool is_all = true;  // else there was more
};

struct View {
  std::map<std::pair<std::string, std::string>, StateRow> states;  // by machine and state
  StateRow sum;
  bool has_all_retrying = true;     // else there are more
  std::vector<std::string> errors;  // the latest first
  std::vector<std::string> pauses;
  Tally tally;
};

std::int64_t number(const std::string& json, const char* name) {
  return parse_whole(said(json, name)).value_or(0);
}

// --- asking ------------------------------------------------------------------------------------

class Watch {
 public:
  Watch(Client& client, const TopOptions& options) : client_(client), options_(options) {}

  // From now on what happens is counted.
  ApiReply begin() {
    ApiReply reply = client_.call(get("/v1/feed", {{"from", "end"}}));
    begun_at_ = Clock::now();
    place_ = said(reply.body, "next");
    return reply;
  }

  // The reply that was the last: when it is an error, the view is not complete.
  ApiReply look(View& view) {
    for (const auto part : {&Watch::count_states, &Watch::find_errors, &Watch::count_retrying,
                            &Watch::find_pauses, &Watch::count_entries}) {
      ApiReply reply = (this->*part)(view);
      if (!is_ok(reply)) return reply;
    }
    for (const auto& [name, row] : view.states) {
      view.sum.records += row.records;
      view.sum.held += row.held;
      view.sum.retrying += row.retrying;
    }
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool is_asked_for(const std::string& item) const {
    return options_.machine.empty() || said(item, "machine") == options_.machine;
  }

  ApiReply count_states(View& view) {
    ApiReply reply = client_.call(get("/v1/counts"));
    for (const std::string& item : items_of(reply.body))
      if (is_asked_for(item))
        view.states[{said(item, "machine"), said(item, "state")}] = {number(item, "records"),
                                                                     number(item, "held")};
    return reply;
  }

  ApiReply find_errors(View& view) {
    ApiReply reply = client_.call(get("/v1/errors"));
    for (std::string& item : items_of(reply.body))
      if (is_asked_for(item)) view.errors.push_back(std::move(item));
    std::stable_sort(view.errors.begin(), view.errors.end(), [](const auto& a, const auto& b) {
      return said(a, "last_at") > said(b, "last_at");
    });
    return reply;
  }

  ApiReply count_retrying(View& view) {
    std::vector<std::string> codes;
    for (const std::string& error : view.errors)
      if (std::string code = said(error, "code");
          std::find(codes.begin(), codes.end(), code) == codes.end())
        codes.push_back(std::move(code));
    view.has_all_retrying = codes.size() <= kCodesMax;
    codes.resize(std::min(codes.size(), kCodesMax));
    for (const std::string& code : codes) {
      QueryPairs query{{"error", code}, {"held", "false"}, {"built_in", "true"}, {"max", "1000"}};
      if (!options_.machine.empty()) query.emplace_back("machine", options_.machine);
      ApiReply reply = client_.call(get("/v1/records", std::move(query)));
      if (!is_ok(reply)) return reply;
      for (const std::string& record : items_of(reply.body))
        if (number(record, "failures") > 0)
          ++view.states[{said(record, "machine"), said(record, "state")}].retrying;
      view.has_all_retrying = view.has_all_retrying && said(reply.body, "next").empty();
    }
    return {};
  }

  ApiReply find_pauses(View& view) {
    ApiReply reply = client_.call(get("/v1/pauses"));
    view.pauses = items_of(reply.body);
    return reply;
  }

  ApiReply count_entries(View& view) {
    Tally& tally = view.tally;
    ApiReply reply;
    for (int page = 0;; ++page) {
      tally.is_all = page < kFeedPagesMax;
      QueryPairs query{{"from", tally.is_all ? place_ : "end"}, {"max", "1000"}};
      if (!options_.machine.empty()) query.emplace_back("machine", options_.machine);
      reply = client_.call(get("/v1/feed", std::move(query)));
      if (!is_ok(reply)) return reply;
      for (const std::string& entry : items_of(reply.body)) add(entry, tally);
      const std::string next = said(reply.body, "next");
      const bool is_over = next == place_ || !tally.is_all;
      place_ = next;
      if (is_over) break;
    }
    const auto now = Clock::now();
    tally.seconds = std::chrono::duration<double>(now - begun_at_).count();
    begun_at_ = now;
    return reply;
  }

  static void add(const std::string& entry, Tally& tally) {
    const std::string kind = said(entry, "kind");
    ++tally.entries;
    if (kind == "created") ++tally.created;
    if (kind == "done") ++tally.done;
    if (kind == "failed" || kind == "timed_out" || kind == "gave_up") ++tally.failed;
  }

  Client& client_;
  const TopOptions& options_;
  std::string place_;
  Clock::time_point begun_at_;
};

// --- showing -----------------------------------------------------------------------------------

std::string rate_text(std::int64_t count, double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", seconds > 0 ? static_cast<double>(count) / seconds : 0);
  return text;
}

std::string list_json(const std::vector<std::string>& items) {
  return "[" + join(items, ",", ",") + "]";
}

std::string json_of(const View& view, Instant now) {
  std::vector<std::string> states;
  for (const auto& [name, row] : view.states) {
    JsonMap map(states.emplace_back());
    map.text("machine", name.first);
    map.text("state", name.second);
    map.number("records", row.records);
    map.number("held", row.held);
    map.number("retrying", row.retrying);
  }
  std::string out;
  {
    JsonMap map(out);
    map.text("at", to_text(now));
    map.number("records", view.sum.records);
    map.number("held", view.sum.held);
    map.number("retrying", view.sum.retrying);
    {
      const Tally& tally = view.tally;
      JsonMap rates(map.member("per_second"));
      rates.json("entries", rate_text(tally.entries, tally.seconds));
      rates.json("created", rate_text(tally.created, tally.seconds));
      rates.json("done", rate_text(tally.done, tally.seconds));
      rates.json("failed", rate_text(tally.failed, tally.seconds));
    }
    map.boolean("complete", view.has_all_retrying && view.tally.is_all);
    map.json("states", list_json(states));
    map.json("errors", list_json(view.errors));
    map.json("pauses", list_json(view.pauses));
  }
  return out;
}

void print_text(const View& view, const std::string& where, Instant now, std::ostream& out) {
  const Tally& tally = view.tally;
  const char* least = tally.is_all ? "" : "more than ";
  const std::string retrying =
      std::to_string(view.sum.retrying) + (view.has_all_retrying ? "" : " or more");
  out << printable(where) << "  " << short_time(to_text(now)) << '\n'
      << "records: " << view.sum.records << ", retrying: " << retrying
      << ", on hold: " << view.sum.held << '\n'
      << "per second: " << least << rate_text(tally.entries, tally.seconds) << " entries, "
      << rate_text(tally.created, tally.seconds) << " created, "
      << rate_text(tally.done, tally.seconds) << " done, " << rate_text(tally.failed, tally.seconds)
      << " failed\n";
  for (const std::string& pause : view.pauses)
    out << "paused: " << printable(said(pause, "what") + ": " + said(pause, "reason")) << '\n';
  out << '\n';
  std::vector<std::vector<std::string>> rows{
      {"MACHINE", "STATE", "RECORDS", "RETRYING", "ON HOLD"}};
  const auto shown = [](std::int64_t count) { return count == 0 ? "-" : std::to_string(count); };
  for (const auto& [name, row] : view.states)
    rows.push_back(
        {name.first, name.second, shown(row.records), shown(row.retrying), shown(row.held)});
  if (view.states.empty()) {
    out << "no records\n";
  } else {
    print_table(std::move(rows), out);
  }
  if (view.errors.empty()) return;
  rows = {{"ERRORS", "MACHINE", "STATE", "CODE", "LAST", "MESSAGE"}};
  for (const std::string& error : view.errors) {
    if (rows.size() > kErrorsShown) break;
    rows.push_back({said(error, "count"), said(error, "machine"), said(error, "state"),
                    said(error, "code"), short_time(said(error, "last_at")),
                    said(error, "message")});
  }
  out << '\n';
  print_table(std::move(rows), out);
}

// --- the verb ----------------------------------------------------------------------------------

std::string text_of(const View& view, const std::string& where, Instant now) {
  std::ostringstream text;
  print_text(view, where, now, text);
  return text.str();
}

ExitCode top(const TopOptions& options, const Surroundings& surroundings) {
  const auto every = parse_duration(options.every);
  if (!every) return report(every.error(), "--every", options.every, surroundings.err);
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  Watch watch(**client, options);
  if (const ApiReply begun = watch.begin(); !is_ok(begun))
    return report_reply(begun, options, "", surroundings);
  const std::string where =
      (*client)->url().empty() ? options.place.directory_or_usual() : (*client)->url();
  return watch_live({.client = options, .every = *every, .is_once = options.once}, surroundings,
                    [&](std::string& shown) {
                      View view;
                      ApiReply reply = watch.look(view);
                      if (is_ok(reply))
                        shown = options.json ? json_of(view, surroundings.now())
                                             : text_of(view, where, surroundings.now());
                      return reply;
                    });
}

}  // namespace

void add_top(Command& app, Action& action) {
  auto options = std::make_shared<TopOptions>();
  Command* verb = app.add_subcommand(
      "top", "Watch records live: how many are in each state, and how fast they move");
  verb->add_option("MACHINE", options->machine, "only records of this machine")->check(not_empty());
  verb->add_option("--every", options->every,
                   "how often to refresh; rates are measured over this time")
      ->capture_default_str()
      ->check(not_empty())
      ->type_name("DURATION");
  verb->add_flag("--once", options->once, "print one view, then exit");
  add_client_options(*verb, *options);
  verb->get_option("--json")->description("print one JSON object per view, one a line");
  verb->footer("Example:\n  pawl top\n  pawl top order --once --json");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return top(*options, surroundings); };
  });
}

}  // namespace pawl::cli
