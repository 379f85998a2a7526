// pawl tail: what happens to records, as it happens.
//
// A server tells it as server-sent events, each with the place behind it. When the connection is
// lost, it is asked again from the last place that came in full: each entry is printed once, and
// none is missed, whatever became of the server meanwhile.
#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>
#include <thread>

#include "base/text.h"
#include "cli/client.h"
#include "cli/reply_text.h"
#include "cli/verb.h"
#include "pawl/record.h"

namespace pawl::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFollowAgainAtFirst{250};
constexpr milliseconds kFollowAgainAtMost{10'000};

struct TailOptions : ClientOptions {
  std::string of;  // MACHINE or MACHINE/KEY
  std::vector<std::string> kinds;
  std::string state;
  std::string from;
  std::size_t max = 0;  // 0: without end
  bool once = false;
};

class Tail {
 public:
  Tail(Client& client, const TailOptions& options, const Surroundings& surroundings)
      : client_(client),
        options_(options),
        surroundings_(surroundings),
        machine_(options.of.substr(0, options.of.find('/'))),
        place_(options.from == "start" ? "" : options.from) {
    if (machine_.size() < options.of.size()) key_ = options.of.substr(machine_.size() + 1);
  }

  ExitCode run() {
    if (client_.url().empty() || options_.once) return read();
    // A server that was never there, or does not let it in, is no lost connection.
    if (options_.from.empty()) place_ = "end";
    const ApiReply page = client_.call(get("/v1/feed", query_of()));
    if (!is_ok(page)) return report_reply(page, options_, "", surroundings_);
    if (options_.from.empty()) place_ = said(page.body, "next");
    return follow();
  }

 private:
  // What there is by now.
  ExitCode read() {
    for (;;) {
      QueryPairs query = query_of();
      query.emplace_back("max", "1000");
      const ApiReply page = client_.call(get("/v1/feed", std::move(query)));
      if (!is_ok(page)) return report_reply(page, options_, "", surroundings_);
      for (const std::string& entry : items_of(page.body))
        if (!print(entry)) return ExitCode::ok;
      const std::string next = said(page.body, "next");
      if (next == place_) return ExitCode::ok;
      place_ = next;
    }
  }

  ExitCode follow() {
    auto again_after = kFollowAgainAtFirst;
    for (;;) {
      const ApiReply reply = client_.listen(get("/v1/feed/live", query_of()),
                                            [&](const std::string& id, const std::string& data) {
                                              say_back();
                                              again_after = kFollowAgainAtFirst;
                                              return take(id, data);
                                            });
      if (is_ok(reply)) return ExitCode::ok;
      if (!is_for_later(reply)) return report_reply(reply, options_, "", surroundings_);
      say_away(reply);
      std::this_thread::sleep_for(again_after);
      again_after = std::min(2 * again_after, kFollowAgainAtMost);
    }
  }

  QueryPairs query_of() const {
    QueryPairs query;
    if (!machine_.empty()) query.emplace_back("machine", machine_);
    if (!place_.empty()) query.emplace_back("from", place_);
    return query;
  }

  // Whether more are wanted.
  bool take(const std::string& id, const std::string& data) {
    bool goes_on = true;
    for (const std::string& entry : items_of(R"({"items":)" + data + "}"))
      goes_on = goes_on && print(entry);
    surroundings_.out.flush();
    place_ = id;
    return goes_on && surroundings_.out.good();
  }

  bool print(const std::string& entry) {
    if (!is_wanted(entry)) return true;
    surroundings_.out << (options_.json ? entry : printable(entry_line(entry))) << '\n';
    return ++printed_ != options_.max;
  }

  bool is_wanted(const std::string& entry) const {
    const auto& kinds = options_.kinds;
    return (key_.empty() || said(entry, "key") == key_) &&
           (options_.state.empty() || said(entry, "to") == options_.state) &&
           (kinds.empty() ||
            std::find(kinds.begin(), kinds.end(), said(entry, "kind")) != kinds.end());
  }

  // Once for each time that it goes away.
  void say_away(const ApiReply& reply) {
    if (!is_away_)
      surroundings_.err << "pawl: " << problem_text(reply.body) << "; trying again" << std::endl;
    is_away_ = true;
  }
  void say_back() {
    if (is_away_) surroundings_.err << "pawl: connected again" << std::endl;
    is_away_ = false;
  }

  Client& client_;
  const TailOptions& options_;
  const Surroundings& surroundings_;
  const std::string machine_;
  std::string key_;
  std::string place_;
  std::size_t printed_ = 0;
  bool is_away_ = false;
};

std::vector<std::string> kinds() {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(Entry::Kind::erased); ++i)
    words.emplace_back(to_text(static_cast<Entry::Kind>(i)));
  return words;
}

ExitCode tail(const TailOptions& options, const Surroundings& surroundings) {
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  return Tail(**client, options, surroundings).run();
}

}  // namespace

void add_tail(Command& app, Action& action) {
  auto options = std::make_shared<TailOptions>();
  Command* verb = app.add_subcommand("tail", "Follow what happens to records, live");
  verb->add_option("OF", options->of, "only entries of this MACHINE, or MACHINE/KEY")
      ->check(not_empty());
  verb->add_option("--kind", options->kinds, "only entries of this kind; may be repeated")
      ->allow_extra_args(false)
      ->check(one_of(kinds()))
      ->type_name("KIND");
  verb->add_option("--state", options->state, "only entries that lead to this state, or stay in it")
      ->check(not_empty())
      ->type_name("STATE");
  verb->add_option("--from", options->from,
                   "where to begin: start, or a position in the feed (default: now)")
      ->check(not_empty())
      ->type_name("POSITION");
  verb->add_option("--max", options->max, "exit after this many entries")
      ->check(between(1, 1'000'000'000));
  verb->add_flag("--once", options->once, "print the entries so far, then exit");
  add_client_options(*verb, *options);
  verb->get_option("--json")->description("print one JSON object per entry, one a line");
  verb->footer(
      "Example:\n  pawl tail\n  pawl tail order --kind failed --kind gave_up\n"
      "  pawl tail order/17 --from start --json");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return tail(*options, surroundings); };
  });
}

}  // namespace pawl::cli
