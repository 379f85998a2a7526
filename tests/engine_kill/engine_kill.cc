// Kills a process with an engine under load, again and again: engine_kill [--kills N] [--minutes M]
// [--seed S] [--mutant NAME] [--server PAWL].
//
// Eight callers and four workers ask it over a socket, or with --server over HTTP: the process is
// then the program PAWL, which serves the same directory at the same port each time. It is killed
// at a random moment, also while it starts; then its store is opened as every start does and
// compared with what they were told: what was acknowledged is there, nothing was done twice, no
// more runs than may, and everything holds together. Whose answer was lost asks again, with the
// same key or token. Every 25 kills the faults stop, and everything has to come to its end. At most
// N kills in at most M minutes, and no wait is longer than kPatience: what was waited for is said
// then. The last line says what was reached; exit status 1 when something is wrong.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "findings.h"
#include "http_connection.h"
#include "kill_machines.h"
#include "ledger.h"
#include "load.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/temporary_directory.h"
#include "victim.h"
#include "wire.h"

namespace {

using namespace pawl;
using namespace pawl::kill;
using Clock = std::chrono::steady_clock;
using Kind = Findings::Kind;
using std::chrono::microseconds;

constexpr int kKillsOfAStore = 25;
constexpr const char* kLongest = "60000";  // milliseconds that anything may take

// The process that serves dies with this one.
[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "engine_kill: %s\n", why.c_str());
  std::_Exit(1);
}

void wait_for(const Descriptor& descriptor, const std::string& what) {
  pollfd one{.fd = descriptor.number(), .events = POLLIN, .revents = 0};
  // Before those give up who wait for the process meanwhile.
  constexpr std::chrono::milliseconds kAtMost = kPatience / 2;
  if (poll(&one, 1, static_cast<int>(kAtMost.count())) == 0)
    fail("waited a minute for " + what + ", in vain");
}

class Victim {
 public:
  // What it writes to standard error is appended to the file.
  Victim(Words words, const std::filesystem::path& errors = {}) {
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) != 0) fail("cannot make a pipe");
    said_ = Descriptor(pipes[0]);
    const Descriptor its_end(pipes[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, its_end.number(), STDOUT_FILENO);
    if (!errors.empty())
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failed =
        posix_spawnp(&process_, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) fail("cannot make a process");
  }

  void wait_until_ready() { read_line(); }

  std::string read_line() {
    std::string line;
    for (char one = 0; one != '\n'; line += one) {
      wait_for(said_, "the process to say that it is ready");
      if (read(said_.number(), &one, 1) != 1) fail("the process ended while it started");
    }
    return line.substr(0, line.size() - 1);
  }

  void kill_after(microseconds delay) {
    std::this_thread::sleep_for(delay);
    ::kill(process_, SIGKILL);
    wait_for(Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0))),
             "the process to end by SIGKILL");
    int status = 0;
    waitpid(process_, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) fail("the process ended by itself");
  }

 private:
  pid_t process_ = 0;
  Descriptor said_;
};

struct Options {
  std::int64_t kills = 5;
  double minutes = 5;
  std::uint64_t seed = std::random_device{}();
  std::string mutant = {};
  std::string server = {};  // the program; empty: this one
};

struct Reached {
  std::int64_t kills = 0;
  std::int64_t at_start = 0;
  std::int64_t released = 0;
  std::int64_t acknowledged = 0;
};

// One store, from its beginning until everything has come to its end.
class Round {
 public:
  Round(const Options& options, std::mt19937_64& random, Reached& reached, Load::Tally& tally,
        Findings& findings)
      : options_(options),
        random_(random),
        reached_(reached),
        findings_(findings),
        load_(server_, directory_.path(), random(), tally, findings),
        ledger_(load_.diaries()) {
    place_.port = port_of(random);
  }

  void kill_once() {
    const bool is_at_start = has_begun_ && random_() % 8 == 0;
    if (is_at_start) {
      start().victim.kill_after(microseconds(random_() % 30'000));
      ++reached_.at_start;
    } else {
      begin().kill_after(microseconds(random_() % 400'000));
    }
    ++reached_.kills;
    compare(false);
  }

  // The faults are over.
  void settle() {
    Victim victim = begin();
    load_.end_callers();
    release_held();
    wait_for_all("order");
    wait_for_all("delivery");
    load_.end_workers();
    victim.kill_after(microseconds{0});
    compare(true);
    reached_.acknowledged += ledger_.acknowledged();
  }

 private:
  struct Started {
    Victim victim;
    std::function<Connect(Victim&)> wait_until_ready;
  };

  Started start() { return options_.server.empty() ? start_engine() : start_server(); }

  // Ready, and known to those who ask.
  Victim begin() {
    Started started = start();
    server_.is_at(started.wait_until_ready(started.victim));
    has_begun_ = true;
    return std::move(started.victim);
  }

  Started start_engine() {
    const std::filesystem::path socket =
        directory_.path() / ("socket" + std::to_string(++sockets_));
    return {Victim({"/proc/self/exe", "--serve", directory_.path(), socket, options_.mutant}),
            [socket](Victim& victim) {
              victim.wait_until_ready();
              return words_to(socket);
            }};
  }

  // It dies with this process, as the other one does.
  Started start_server() {
    Words words{"setpriv", "--pdeathsig", "KILL", options_.server, "serve"};
    const auto add = [&](const std::string& option, const std::string& value) {
      words.push_back(option);
      words.push_back(value);
    };
    add("--dir", store_in(directory_.path()));
    add("--listen", "127.0.0.1:" + std::to_string(place_.port));
    add("--log-channel", "journal");
    for (const StoredMachine& machine : machines()) {
      const std::filesystem::path file = directory_.path() / (machine.name + ".yaml");
      if (!has_begun_) std::ofstream(file) << machine.text;
      add("--apply", file);
    }
    const std::filesystem::path journal = journal_in(directory_.path());
    std::ofstream(journal, std::ios::app) << '\n';  // the last line may be torn
    place_.since = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    return {Victim(std::move(words), journal), [this](Victim& victim) {
              victim.wait_until_ready();
              if (place_.token.empty()) {
                const std::string line = victim.read_line();
                place_.token = line.substr(line.rfind(' ') + 1);
              }
              return [place = place_] { return connect_to(place); };
            }};
  }

  // Not one of those that the system gives to whoever connects to others meanwhile.
  static std::uint16_t port_of(std::mt19937_64& random) {
    return static_cast<std::uint16_t>(20'000 + random() % 10'000);
  }

  void compare(bool is_settled) {
    auto store = open_sqlite_store({.directory = store_in(directory_.path())});
    if (!store) return findings_.add(Kind::other, store.error().message);
    ledger_.read();
    ledger_.compare(**store, journal_in(directory_.path()), is_settled, findings_);
  }

  Words ask(const Words& words) {
    const auto answer = client_.ask(words);
    if (!answer || answer->at(0) == "failed") fail(words[0] + " was not answered");
    return *answer;
  }

  // A record that was in work at two kills in a row is taken to be their cause.
  void release_held() {
    const Words held = ask({"held"});
    for (std::size_t i = 1; i + 2 <= held.size(); i += 2) {
      ask({"release", held[i], held[i + 1]});
      ++reached_.released;
    }
  }

  void wait_for_all(const std::string& machine) {
    const Words names = ask({"open", machine});
    for (std::size_t i = 1; i + 2 <= names.size(); i += 2) {
      const Words answer = ask({"wait", names[i], names[i + 1], kLongest});
      if (answer[1] != "shipped" && answer[1] != "sent")
        return findings_.add(Kind::other, names[i] + "/" + names[i + 1] + " stays in " + answer[1]);
    }
  }

  const Options& options_;
  std::mt19937_64& random_;
  Reached& reached_;
  Findings& findings_;
  TemporaryDirectory directory_;
  Server server_;
  Client client_{server_};
  Load load_;
  Ledger ledger_;
  HttpPlace place_;
  bool has_begun_ = false;
  int sockets_ = 0;
};

int run(const Options& options) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  std::mt19937_64 random(options.seed);
  Reached reached;
  Load::Tally tally;
  Findings findings;
  const auto end = Clock::now() + std::chrono::duration<double>(options.minutes * 60);
  const auto is_over = [&] {
    return reached.kills >= options.kills || Clock::now() >= end || !findings.is_empty();
  };
  while (!is_over()) {
    Round round(options, random, reached, tally, findings);
    for (int i = 0; i < kKillsOfAStore && !is_over(); ++i) round.kill_once();
    std::printf("%lld kills\n", static_cast<long long>(reached.kills));
    std::fflush(stdout);
    round.settle();
  }
  if (tally.unknown != tally.resolved) findings.add(Kind::other, "a request was never resolved");

  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const auto found = [&](Kind kind) { return number(findings.count(kind)); };
  std::printf("%s\n",
              (number(reached.at_start) + " kills at a start, " + number(tally.repeated) +
               " requests repeated, " + number(tally.kept) + " attempts settled after a kill, " +
               number(tally.claims_lost) + " claims without an answer, " +
               number(reached.released) + " records released that were in work at two kills")
                  .c_str());
  std::printf("%s\n", (number(reached.kills) + " kills, " + number(reached.acknowledged) +
                       " acknowledged, " + found(Kind::lost) + " lost, " + found(Kind::twice) +
                       " twice, " + number(tally.resolved) + " unknown resolved, limits exceeded " +
                       found(Kind::exceeded) + " times, " + found(Kind::other) + " other findings")
                          .c_str());
  return findings.is_empty() && reached.kills * 10 >= options.kills ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "--serve") == 0) serve(argv[2], argv[3], argv[4]);
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--kills") options.kills = std::atoll(argv[i + 1]);
    if (name == "--minutes") options.minutes = std::atof(argv[i + 1]);
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--mutant") options.mutant = argv[i + 1];
    if (name == "--server") options.server = argv[i + 1];
  }
  return run(options);
}
