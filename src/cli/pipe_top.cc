// pawl pipe top: a live view of the pipes of a server: what each partition is at, and whether the
// books balance.
#include <cstdio>
#include <memory>
#include <sstream>

#include "base/text.h"
#include "cli/client.h"
#include "cli/live_view.h"
#include "cli/pipe_verbs.h"
#include "cli/reply_text.h"
#include "decide/json_edit.h"
#include "pawl/time.h"

namespace pawl::cli {
namespace {

struct PipeTopOptions : ClientOptions {
  std::string pipe;
  std::string every = "2s";
  bool once = false;
};

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::int64_t number(const std::string& json, std::string_view path) {
  return parse_whole(said(json, path)).value_or(0);
}

// `load`, or `retrying load`; with what a person should see first.
std::string state_text(const std::string& partition) {
  std::string state = said(partition, "state");
  if (const std::string of = said(partition, "of"); !of.empty()) state += " " + of;
  for (const char* mark : {"paused", "draining", "stalled", "alarm"})
    if (said(partition, mark) == "true") state += std::string(" (") + mark + ")";
  return state;
}

// How long ago, in whole seconds.
std::string since_text(const std::string& partition, Instant now) {
  const auto since = parse_instant(said(partition, "since"));
  if (!since) return "-";
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now - *since);
  return to_text(Duration(std::max(seconds, std::chrono::seconds{0})));
}

std::string cause_text(const std::string& partition) {
  const std::string code = said(partition, "code");
  if (code.empty()) return "-";
  const std::string reason = said(partition, "reason");
  return code + " " + said(partition, "error") + (reason.empty() ? "" : ": " + reason);
}

// What all partitions have together.
struct Books {
  std::int64_t consumed = 0;
  std::int64_t indexed = 0;
  std::int64_t duplicate = 0;
  std::int64_t errors = 0;
  std::int64_t skipped = 0;
  std::int64_t in_flight = 0;
  std::int64_t unaccounted = 0;
  std::int64_t lag = 0;

  void add(const std::string& partition) {
    consumed += number(partition, "counts.consumed");
    indexed += number(partition, "counts.indexed");
    duplicate += number(partition, "counts.duplicate");
    errors += number(partition, "counts.errors");
    skipped += number(partition, "counts.skipped");
    in_flight += number(partition, "in_flight.items");
    unaccounted += number(partition, "unaccounted");
    lag += number(partition, "offset.lag");
  }
};

std::vector<std::string> row_of(const std::string& partition, Instant now) {
  const std::string attempt = said(partition, "failures");
  return {said(partition, "topic") + "/" + said(partition, "partition"),
          state_text(partition),
          since_text(partition, now),
          attempt == "0" ? "-" : attempt,
          or_dash(said(partition, "offset.lag")),
          said(partition, "rate.in"),
          said(partition, "rate.out"),
          said(partition, "in_flight.items"),
          said(partition, "counts.indexed"),
          said(partition, "counts.duplicate"),
          said(partition, "counts.errors"),
          said(partition, "counts.skipped"),
          cause_text(partition)};
}

void print_pipe(const std::string& pipe, Instant now, std::ostream& out) {
  std::vector<std::vector<std::string>> rows{{"PARTITION", "STATE", "FOR", "FAILED", "LAG", "IN/S",
                                              "OUT/S", "IN FLIGHT", "INDEXED", "DUPLICATE",
                                              "ERRORS", "SKIPPED", "CAUSE"}};
  Books books;
  for (const std::string& partition : items_of(pipe, "partitions")) {
    books.add(partition);
    rows.push_back(row_of(partition, now));
  }
  out << printable(said(pipe, "name")) << ": " << said(pipe, "bulks") << " of "
      << said(pipe, "window") << " bulk requests in flight, lag " << books.lag << ", "
      << said(pipe, "rebalances") << " rebalances, " << said(pipe, "commits") << " commits ("
      << said(pipe, "commit_failures") << " failed)\n";
  if (const std::string kafka = said(pipe, "kafka"); !kafka.empty())
    out << "kafka: " << printable(kafka) << '\n';
  for (const std::string& node : items_of(pipe, "nodes"))
    if (said(node, "down") == "true")
      out << "down: " << printable(said(node, "url") + ": " + said(node, "error")) << '\n';
  out << "consumed " << books.consumed << " = indexed " << books.indexed << " + duplicate "
      << books.duplicate << " + errors " << books.errors << " + skipped " << books.skipped
      << " + in flight " << books.in_flight << "; unaccounted " << books.unaccounted << '\n';
  if (rows.size() == 1) {
    out << "no partitions\n";
    return;
  }
  out << '\n';
  print_table(std::move(rows), out);
}

std::string text_of(const std::vector<std::string>& pipes, const std::string& where, Instant now) {
  std::ostringstream out;
  out << printable(where) << "  " << short_time(to_text(now)) << '\n';
  if (pipes.empty()) out << "no pipes are running there\n";
  for (const std::string& pipe : pipes) print_pipe(pipe, now, out << '\n');
  return out.str();
}

ExitCode pipe_top(const PipeTopOptions& options, const Surroundings& surroundings) {
  const auto every = parse_duration(options.every);
  if (!every) return report(every.error(), "--every", options.every, surroundings.err);
  const auto server = choose_server(options.place, surroundings.environment);
  if (!server) return report(server.error(), "", "", surroundings.err);
  if (!*server)
    return report_usage("name the process that runs the pipes: use --url", "pipe top",
                        surroundings.err);
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  return watch_live({.client = options,
                     .every = options.once ? Duration{0} : *every,
                     .is_once = options.once,
                     .shows_at_once = true},
                    surroundings, [&](std::string& shown) {
                      const std::string path = options.pipe.empty()
                                                   ? "/v1/pipes"
                                                   : "/v1/pipes/" + percent_encoded(options.pipe);
                      ApiReply reply = (*client)->call(get(path));
                      if (!is_ok(reply)) return reply;
                      const auto pipes = options.pipe.empty()
                                             ? items_of(reply.body)
                                             : std::vector<std::string>{reply.body};
                      shown = options.json ? R"({"at":")" + to_text(surroundings.now()) +
                                                 R"(","pipes":[)" + join(pipes, ",", ",") + "]}"
                                           : text_of(pipes, (*client)->url(), surroundings.now());
                      return reply;
                    });
}

}  // namespace

void add_pipe_top(Command& pipe, Action& action) {
  auto options = std::make_shared<PipeTopOptions>();
  Command* verb = pipe.add_subcommand("top", "Watch the pipes of a server or of `pawl pipe`");
  verb->add_option("PIPE", options->pipe, "only this pipe")->check(not_empty());
  verb->add_option("--every", options->every, "how often to refresh")
      ->capture_default_str()
      ->check(not_empty())
      ->type_name("DURATION");
  verb->add_flag("--once", options->once, "print one view and exit");
  add_client_options(*verb, *options);
  verb->get_option("--json")->description("one JSON object per line for each view");
  verb->footer(
      "Example:\n  pawl pipe top --url http://127.0.0.1:7296\n  pawl pipe top clicks --once --json");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return pipe_top(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
