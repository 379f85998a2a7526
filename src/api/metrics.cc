// Metrics: figures of the engine, counts of the store and of this process, in the text format that
// Prometheus reads (0.0.4). They are of all machines, so that they take a token for all of them.
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "api/call.h"
#include "api/metrics_text.h"
#include "api/pipe_metrics.h"
#include "pipe/pipe_board.h"

namespace pawl {
namespace {

void write_machines(MetricsText& text, const Figures& figures) {
  struct Counter {
    std::string_view name;
    std::string_view help;
    std::uint64_t MachineFigures::*value;
  };
  static constexpr Counter kCounters[] = {
      {"records_created_total", "Records created.", &MachineFigures::created},
      {"transitions_total", "Transitions from one state to another.", &MachineFigures::transitions},
      {"attempts_total", "Attempts started.", &MachineFigures::attempts},
      {"retries_total", "Failures that will be retried.", &MachineFigures::retries},
      {"gave_up_total", "Failures that will not be retried.", &MachineFigures::gave_up},
      {"holds_total", "Records put on hold.", &MachineFigures::holds}};
  for (const Counter& counter : kCounters) {
    text.begin(counter.name, "counter", counter.help);
    for (const auto& [name, machine] : figures.machines)
      text.line({{"machine", name}}, as_number(machine.*counter.value));
  }
  text.begin("failures_total", "counter", "Failed attempts by error code.");
  for (const auto& [name, machine] : figures.machines)
    for (const auto& [code, count] : machine.failures)
      text.line({{"machine", name}, {"code", code}}, as_number(count));
  text.begin("time_in_state_seconds", "histogram",
             "How long records stayed in a state before they left it.");
  for (const auto& [name, machine] : figures.machines)
    for (const auto& [state, seconds] : machine.in_state)
      text.lines({{"machine", name}, {"state", state}}, seconds);
  text.begin("deliveries_total", "counter", "Delivery attempts by channel and outcome.");
  for (const auto& [name, channel] : figures.channels) {
    text.line({{"channel", name}, {"outcome", "delivered"}}, as_number(channel.delivered));
    text.line({{"channel", name}, {"outcome", "failed"}}, as_number(channel.failed));
  }
}

void write_engine(MetricsText& text, const Figures& figures) {
  text.one("due_lag_seconds",
           "How late the engine was with timers, schedules, leases and deadlines.",
           figures.due_lag);
  text.one("ready_wait_seconds", "How long ready attempts waited for a worker.",
           figures.ready_wait);
  text.one("batch_size", "Decisions per commit.", figures.batch_units);
  text.one("commit_seconds", "How long commits took.", figures.commit_seconds);
  text.one("waiting_claims", "gauge", "Claims now waiting for an attempt.",
           static_cast<double>(figures.waiting_claims));
  text.one("stale_settles_total", "counter", "Settles that came too late and changed nothing.",
           as_number(figures.stale_settles));
  text.one("repeats_answered_total", "counter",
           "Repeated calls that got the stored answer of the first one.",
           as_number(figures.repeats_answered));
  text.one("double_applied_total", "counter",
           "Settles and idempotency keys carried out twice: must stay 0.",
           as_number(figures.double_applied));
}

// Where there are more states than are shown apart, the rest is one line.
void write_counts(MetricsText& text, const Counts& counts) {
  std::int64_t other = 0;
  std::int64_t other_held = 0;
  const auto write = [&](std::int64_t StateCount::*value, std::int64_t& rest) {
    for (std::size_t i = 0; i < counts.states.size(); ++i) {
      const StateCount& count = counts.states[i];
      if (i >= kFiguresMax) {
        rest += count.*value;
      } else {
        text.line({{"machine", count.machine}, {"state", count.state}},
                  static_cast<double>(count.*value));
      }
    }
    if (counts.states.size() > kFiguresMax)
      text.line({{"machine", kOtherFigures}, {"state", kOtherFigures}}, static_cast<double>(rest));
  };
  text.begin("records", "gauge", "Records by machine and state.");
  write(&StateCount::records, other);
  text.begin("records_on_hold", "gauge", "Records on hold by machine and state.");
  write(&StateCount::held, other_held);
}

void write_process(MetricsText& text) {
  std::ifstream memory("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  if (memory >> pages >> resident)
    text.process("process_resident_memory_bytes", "Resident memory of the process.",
                 resident * static_cast<double>(sysconf(_SC_PAGESIZE)));
  // When it was started is field 22, in ticks since the system was; the name before it, in
  // parentheses, may hold anything.
  std::ifstream status("/proc/self/stat");
  std::string line;
  std::getline(status, line);
  std::ifstream system("/proc/stat");
  double booted = 0;
  for (std::string word; system >> word && word != "btime";) std::getline(system, word);
  if (!(system >> booted) || line.rfind(')') == std::string::npos) return;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 3; i < 22; ++i) fields >> skipped;
  double ticks = 0;
  if (fields >> ticks)
    text.process("process_start_time_seconds", "Start time of the process, in Unix time.",
                 booted + ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace

void show_metrics(const SharedCall& call) {
  if (!call->is_for_everything()) return;
  const auto counts = call->engine.counts();
  if (!counts) return call->fail(counts.error());
  const Figures figures = call->engine.figures();
  MetricsText text;
  write_machines(text, figures);
  write_engine(text, figures);
  write_counts(text, *counts);
  if (call->pipes != nullptr) write_pipes(text, call->pipes->views());
  write_process(text);
  call->replied({.body = text.take(), .content_type = "text/plain; version=0.0.4; charset=utf-8"});
}

}  // namespace pawl
