// pawl bench: what this machine does with a store of its own.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "base/json_text.h"
#include "cli/job_load.h"
#include "cli/store_files.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = "pawl-bench";  // a file: the directory is ours
constexpr int kCallersMax = 10'000;
constexpr double kSecondsMax = 3'600;
constexpr std::int64_t kSleepingMax = 100'000'000;

struct BenchOptions {
  int callers = 16;
  double seconds = 5;
  std::int64_t sleeping = 100'000;
  std::string directory = {};
  bool json = false;
};

// Where the stores of a run are: a directory that is kept, or one that goes when all is done.
class Workplace {
 public:
  static Result<Workplace> open(const std::string& directory) {
    std::error_code failed;
    if (directory.empty()) {
      std::string name = fs::temp_directory_path(failed) / "pawl-bench-XXXXXX";
      if (failed || mkdtemp(name.data()) == nullptr)
        return Error{ErrorCode::environment,
                     "cannot create a temporary directory; choose one with --dir"};
      return Workplace(name, true);
    }
    const bool is_ours = fs::exists(fs::path(directory) / kMark, failed);
    fs::create_directories(directory, failed);
    if (!is_ours && !failed && !fs::is_empty(directory, failed))
      return Error{ErrorCode::bad_input,
                   directory + " was not made by `pawl bench`; choose a new or empty directory"};
    std::ofstream mark(fs::path(directory) / kMark, std::ios::app);
    if (failed || !mark) return Error{ErrorCode::environment, "cannot write to " + directory};
    return Workplace(directory, false);
  }

  Workplace(Workplace&& other) noexcept
      : path_(std::exchange(other.path_, {})), is_temporary_(other.is_temporary_) {}
  Workplace& operator=(Workplace&&) = delete;
  ~Workplace() {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::remove_all(is_temporary_ ? path_ : run(), ignored);
  }

  // With that many records; seeded the first time, and used again.
  fs::path seeded(std::int64_t records) const {
    return path_ / ("sleeping-" + std::to_string(records));
  }
  fs::path run() const { return path_ / "run"; }
  bool is_temporary() const { return is_temporary_; }
  std::string name() const { return path_.string(); }

 private:
  Workplace(fs::path path, bool is_temporary)
      : path_(std::move(path)), is_temporary_(is_temporary) {}

  fs::path path_;
  bool is_temporary_;
};

Result<void> seed(const Workplace& place, const Zones& zones, const BenchOptions& options,
                  const Surroundings& surroundings) {
  constexpr int kMib = 512;  // what is seeded fits into memory, and goes to the disk once
  const fs::path seeded = place.seeded(options.sleeping);
  const fs::path unfinished = seeded.string() + ".unfinished";
  if (fs::exists(seeded)) return {};
  fs::remove_all(unfinished);
  {
    PAWL_TRY(const auto store,
             open_sqlite_store({.directory = unfinished, .cache_mib = kMib, .wal_mib = kMib}));
    const TransferProgress progress = progress_line("idle records created:", surroundings);
    auto done = seed_sleeping(*store, zones, options.sleeping, [&](std::int64_t records) {
      if (progress) progress(records, options.sleeping);
    });
    end_progress_line(surroundings);
    PAWL_CHECK(done);
  }
  fs::rename(unfinished, seeded);
  return {};
}

Result<std::unique_ptr<SqliteStore>> prepare(const Workplace& place, const Zones& zones,
                                             const BenchOptions& options,
                                             const Surroundings& surroundings) {
  PAWL_CHECK(seed(place, zones, options, surroundings));
  fs::remove_all(place.run());
  if (place.is_temporary()) {
    fs::rename(place.seeded(options.sleeping), place.run());
  } else {
    fs::copy(place.seeded(options.sleeping), place.run());
    sync();  // the copy is no part of what is measured
  }
  return open_sqlite_store({.directory = place.run(), .creates = false});
}

// All that was answered is there.
Result<void> check_records(SqliteStore& store, std::uint64_t jobs, std::int64_t sleeping) {
  PAWL_TRY(const Counts counts, store.counts());
  std::int64_t records = 0;
  std::int64_t done = 0;
  for (const StateCount& count : counts.states) {
    records += count.records;
    if (count.state == "finished") done = count.records;
  }
  if (done == static_cast<std::int64_t>(jobs) && records == sleeping + done) return {};
  return Error{ErrorCode::damaged,
               "the store does not match the answers it gave: " + std::to_string(done) + " of " +
                   std::to_string(jobs) + " jobs are done"};
}

Result<LoadFigures> run_load(SqliteStore& store, const Zones& zones, const BenchOptions& options,
                             const Surroundings& surroundings) {
  const std::chrono::duration<double> time(options.seconds);
  PAWL_TRY(const auto load,
           JobLoad::start(store, zones, static_cast<std::size_t>(options.callers)));
  const TransferProgress progress = progress_line("warming up, then measuring: step", surroundings);
  if (progress) progress(1, 2);
  const auto warmed_up = load->measure(time / 4);
  if (progress && warmed_up) progress(2, 2);
  auto measured = warmed_up ? load->measure(time) : warmed_up;
  end_progress_line(surroundings);
  PAWL_TRY(LoadFigures figures, std::move(measured));
  PAWL_TRY(const std::uint64_t jobs, load->finish());
  PAWL_CHECK(check_records(store, jobs, options.sleeping));
  return figures;
}

std::string rounded(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

struct Summary {
  double stimuli_per_s;
  double mean_batch;
  double p50_ms;
  double p99_ms;
  double max_ms;
  double cpu_us;
  double write_bytes;

  explicit Summary(const LoadFigures& figures) {
    const auto stimuli = static_cast<double>(figures.stimuli);
    const auto wait_ms = [&](std::size_t hundredths) {
      if (figures.waits.empty()) return 0.0;
      const std::size_t last = figures.waits.size() - 1;
      return figures.waits[last * hundredths / 100] / 1e3;
    };
    stimuli_per_s = stimuli / figures.wall_s;
    mean_batch = stimuli / static_cast<double>(figures.commits);
    p50_ms = wait_ms(50);
    p99_ms = wait_ms(99);
    max_ms = wait_ms(100);
    cpu_us = figures.cpu_s / stimuli * 1e6;
    write_bytes = figures.write_bytes / stimuli;
  }
};

void print_json(const LoadFigures& figures, const BenchOptions& options, std::ostream& out) {
  const Summary summary(figures);
  out << R"({"callers":)" << options.callers << R"(,"sleeping":)" << options.sleeping
      << R"(,"seconds":)" << rounded(figures.wall_s, 3) << R"(,"sqlite":)"
      << json_string(sqlite3_libversion()) << R"(,"stimuli":)" << figures.stimuli
      << R"(,"jobs_per_s":)" << rounded(summary.stimuli_per_s / 3, 1) << R"(,"stimuli_per_s":)"
      << rounded(summary.stimuli_per_s, 1) << R"(,"mean_batch":)" << rounded(summary.mean_batch, 2)
      << R"(,"answer_ms":{"p50":)" << rounded(summary.p50_ms, 3) << R"(,"p99":)"
      << rounded(summary.p99_ms, 3) << R"(,"max":)" << rounded(summary.max_ms, 3)
      << R"(},"cpu_us":)" << rounded(summary.cpu_us, 2) << R"(,"write_bytes":)"
      << rounded(summary.write_bytes, 0) << R"(,"rss_mib":)" << rounded(figures.rss_mib, 1)
      << "}\n";
}

void print_text(const LoadFigures& figures, const BenchOptions& options, const std::string& place,
                std::ostream& out) {
  const Summary summary(figures);
  out << "callers:  " << options.callers << ", with " << options.sleeping << " idle records, for "
      << rounded(figures.wall_s, 1) << " s in " << place << "; SQLite " << sqlite3_libversion()
      << ", every commit synced to disk\n"
      << "jobs:     " << rounded(summary.stimuli_per_s / 3, 0)
      << " per second, each created, claimed and completed\n"
      << "stimuli:  " << rounded(summary.stimuli_per_s, 0) << " per second, "
      << rounded(summary.mean_batch, 1) << " per commit\n"
      << "latency:  " << rounded(summary.p50_ms, 2) << " ms (p50), " << rounded(summary.p99_ms, 2)
      << " ms (p99), " << rounded(summary.max_ms, 2) << " ms (max)\n"
      << "CPU:      " << rounded(summary.cpu_us, 1)
      << " us per stimulus (callers, engine and SQLite together)\n"
      << "written:  " << rounded(summary.write_bytes, 0) << " bytes per stimulus\n"
      << "memory:   " << rounded(figures.rss_mib, 0) << " MiB\n";
}

ExitCode measure(const BenchOptions& options, const Surroundings& surroundings) {
  const auto zones = Zones::open();
  if (!zones) return report(zones.error(), "", "", surroundings.err);
  const auto place = Workplace::open(options.directory);
  if (!place) return report(place.error(), "", "", surroundings.err);
  const auto store = prepare(*place, *zones, options, surroundings);
  if (!store) return report(store.error(), "", "", surroundings.err);
  const auto figures = run_load(**store, *zones, options, surroundings);
  if (!figures) return report(figures.error(), "", "", surroundings.err);
  if (options.json) {
    print_json(*figures, options, surroundings.out);
  } else {
    print_text(*figures, options, place->name(), surroundings.out);
  }
  return ExitCode::ok;
}

}  // namespace

void add_bench(Command& app, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  Command* verb =
      app.add_subcommand("bench", "Measure how many jobs per second this computer can do");
  verb->add_option("--callers", options->callers,
                   "concurrent callers, 1 to 10000; each waits for one answer at a time")
      ->check(between(1, kCallersMax))
      ->capture_default_str();
  verb->add_option("--seconds", options->seconds,
                   "how long to measure, after a warm-up of a quarter of that")
      ->check(between(0.01, kSecondsMax))
      ->capture_default_str();
  verb->add_option("--sleeping", options->sleeping, "idle records in the store")
      ->check(between(std::int64_t{0}, kSleepingMax))
      ->capture_default_str();
  verb->add_option("--dir", options->directory,
                   "directory for the store; keeps the idle records for the next run "
                   "(default: a temporary directory)");
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl bench --callers 256 --sleeping 1000000 --dir /var/tmp/pawl-bench");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return measure(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
