#include "victim.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "base/mutant.h"
#include "engine/runner.h"
#include "kill_machines.h"
#include "pawl/zones.h"
#include "store/sqlite/sqlite_store.h"
#include "wire.h"

namespace pawl::kill {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "engine_kill: the process that serves: %s\n", why.c_str());
  std::_Exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().message);
  return *std::move(result);
}

void break_rule(const std::string& name) {
  if (name.empty()) return;
#ifdef PAWL_MUTANTS
  const auto known = std::find(kMutants.begin(), kMutants.end(), name);
  if (known == kMutants.end()) fail("there is no mutant " + name);
  mutant_in_force = static_cast<Mutant>(known - kMutants.begin());
#else
  fail("cannot break " + name + ": build with -DPAWL_MUTANTS=ON");
#endif
}

// A line that was written is there after a SIGKILL, synced or not.
Channel journal(const std::filesystem::path& file) {
  const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return log_channel([to](const std::string& line) {
    const std::string ended = line + "\n";
    if (write(to, ended.data(), ended.size()) != static_cast<ssize_t>(ended.size()))
      fail("cannot write the journal");
  });
}

class Service {
 public:
  Service(SqliteStore& store, Runner& runner, Instant since)
      : store_(store), runner_(runner), since_(since) {}

  Words answer(const Words& asked) {
    const std::string& verb = asked.at(0);
    if (verb == "claim") return claim(asked);
    if (verb == "wait") return wait(asked);
    if (verb == "open") return names({.machine = asked.at(1), .max = kPageMax});
    if (verb == "held") return names({.held = true, .max = kPageMax});
    return told(runner_.call(stimulus(asked)));
  }

 private:
  static Stimulus stimulus(const Words& asked) {
    const std::string& verb = asked.at(0);
    Stimulus made{.machine = asked.at(1), .key = asked.at(2), .actor = {.name = "caller"}};
    if (verb == "create") {
      made.what = Stimulus::Create{.data = asked.at(3)};
    } else if (verb == "fire") {
      made.what = Stimulus::Fire{.event = asked.at(3), .payload = asked.at(4)};
      made.idempotency_key = asked.at(5);
    } else if (verb == "beat") {
      made.what = Stimulus::Beat{hash_of_token(asked.at(3)), asked.at(4)};
    } else if (verb == "done") {
      made.what = Stimulus::Done{hash_of_token(asked.at(3)), asked.at(4)};
    } else if (verb == "fail") {
      made.what = Stimulus::Fail{hash_of_token(asked.at(3)), {.code = asked.at(4)}};
    } else if (verb == "release") {
      made.what = Stimulus::Order{.verb = Stimulus::Order::Verb::release, .reason = "a kill"};
      made.actor.roles = {"operator"};
    } else {
      fail("asked for " + verb);
    }
    return made;
  }

  static Words failed(const Error& error) { return {"failed", error.message}; }

  static Words told(const Result<Answer>& answer) {
    if (!answer) return failed(answer.error());
    return {std::string(to_text(answer->kind)), answer->reason, answer->state,
            std::to_string(answer->revision)};
  }

  Words claim(const Words& asked) {
    const auto given = runner_.claim({.queues = Words(asked.begin() + 4, asked.end()),
                                      .max = std::stoul(asked.at(1)),
                                      .worker = asked.at(3),
                                      .wait = milliseconds{std::stol(asked.at(2))}});
    if (!given) return failed(given.error());
    Words words{"ok"};
    for (const GivenAttempt& attempt : *given) {
      const Answer& start = attempt.given;
      const Instant until = std::min(*start.lease_until, *start.deadline_at);
      for (const std::string& word :
           {start.machine, start.key, attempt.token, std::to_string(start.fence), start.payload,
            std::to_string(until.time_since_epoch().count())})
        words.push_back(word);
    }
    return words;
  }

  Words wait(const Words& asked) {
    const auto record =
        runner_.wait({asked.at(1), asked.at(2)}, {}, milliseconds{std::stol(asked.at(3))});
    if (!record) return failed(record.error());
    return {"ok", *record ? (*record)->state : ""};
  }

  Words names(const Query& query) {
    Words words{"ok"};
    for (Cursor from;;) {
      const auto page = store_.list(query, from);
      if (!page) return failed(page.error());
      for (const Record& record : page->items) {
        // What a kill has cut short ends with its timeout: a delivery's is not waited for.
        if (record.machine == "delivery" && record.running && record.running->started_at < since_)
          continue;
        words.push_back(record.machine);
        words.push_back(record.key);
      }
      if (page->next.empty()) return words;
      from = page->next;
    }
  }

  SqliteStore& store_;
  Runner& runner_;
  Instant since_;
};

}  // namespace

std::filesystem::path store_in(const std::filesystem::path& directory) {
  return directory / "store";
}

std::filesystem::path journal_in(const std::filesystem::path& directory) {
  return directory / "journal";
}

void serve(const std::filesystem::path& directory, const std::filesystem::path& socket,
           const std::string& mutant) {
  const Instant since = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  break_rule(mutant);
  SqliteOptions options{.directory = store_in(directory)};
  options.wal_mib = 1;  // so that checkpoints are met as well
  const auto store = must(open_sqlite_store(options));
  if (!must(store->put_machines(machines()))) fail("the machines are others");
  const bool is_new = must(store->last_id()).value == 0;
  StepperOptions engine{.zones = must(Zones::open())};
  if (!is_new) engine.closed_at = store->last_used();
  engine.ward = directory / "ward";
  const auto runner = must(Runner::open(
      *store, std::move(engine), {.channels = {{"journal", journal(journal_in(directory))}}}));
  Service service(*store, *runner, since);
  const Descriptor listening = listen_at(socket);
  if (!listening) fail("cannot listen at " + socket.string());
  if (write(STDOUT_FILENO, ".\n", 2) != 2) fail("nobody waits for it");
  for (;;) {
    Descriptor caller(accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller) fail("cannot accept");
    std::thread([&service, own = std::make_shared<Descriptor>(std::move(caller))] {
      while (const auto asked = receive_words(*own))
        if (!send_words(*own, service.answer(*asked))) return;
    }).detach();
  }
}

}  // namespace pawl::kill
