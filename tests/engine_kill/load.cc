#include "load.h"

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <type_traits>

#include "diary.h"
#include "kill_machines.h"

namespace pawl::kill {
namespace {

using Kind = Findings::Kind;

// Kills after which an attempt has timed out, and others at the same task have begun.
constexpr int kKeptTooLong = 8;

constexpr std::array<const char*, 4> kMakers{"red", "green", "blue", "grey"};

Instant now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

void Server::is_at(Connect connect) {
  {
    const std::lock_guard lock(mutex_);
    ++place_.life;
    place_.connect = std::move(connect);
  }
  changed_.notify_all();
}

Server::Place Server::after(int life, const Words& words) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, [&] { return place_.life > life; }))
    give_up("a process that serves after number " + std::to_string(life) +
            ", to ask: " + joined(words));
  return place_;
}

std::optional<Words> Client::ask(const Words& words) {
  while (!connection_) {
    place_ = server_.after(place_.life, words);
    connection_ = place_.connect();
  }
  auto answer = connection_->ask(words);
  if (!answer) connection_.reset();
  return answer;
}

void Held::begins(const Limit& limit, const std::string& token, Instant until) {
  const std::lock_guard lock(mutex_);
  const Instant at = now();
  std::erase_if(attempts_, [&](const auto& one) { return one.second.until <= at; });
  if (until > at) attempts_[token] = {limit.slot, until};
  const auto running = std::count_if(attempts_.begin(), attempts_.end(), [&](const auto& one) {
    return one.second.slot == limit.slot;
  });
  if (running > limit.max)
    findings_.add(Kind::exceeded,
                  std::to_string(running) + " attempts are held at once under " + limit.slot);
}

void Held::may_be_over(const std::string& token) {
  const std::lock_guard lock(mutex_);
  attempts_.erase(token);
}

// --- callers -----------------------------------------------------------------------------------

class Caller {
 public:
  Caller(Load& load, std::string name, const std::filesystem::path& diary, std::uint64_t seed)
      : load_(load), name_(std::move(name)), diary_(diary), random_(seed), client_(load.server_) {}

  void run() {
    while (!load_.callers_end_) {
      const std::uint64_t drawn = random_() % 100;
      if (drawn < 6) {
        make_order();
      } else if (drawn < 16) {
        repeat();
      } else if (drawn < 20) {
        ask_another_thing();
      } else if (const auto key = load_.some_order(random_())) {
        const std::string id = next_id();
        fire({"fire", "order", *key, "add", R"({"id":")" + id + R"("})", id});
      }
    }
  }

 private:
  struct Told {
    Words asked;
    Words answer;
  };

  std::string next_id() { return name_ + "-" + std::to_string(++ids_); }

  void make_order() {
    const std::string key = next_id();
    std::string parts;
    for (const char* maker : kMakers)
      if (random_() % 2 == 0) parts += std::string(parts.empty() ? "" : ",") + '"' + maker + '"';
    const Words create{"create", "order", key, R"({"parts":[)" + parts + "]}"};
    diary_.asked({"create", key});
    const auto [answer, was_unknown] = ask(create);
    if (answer[0] != "ok" && !(was_unknown && answer[0] == "duplicate"))
      return object(create, answer);
    diary_.told({"create", key});
    remember({create, answer});
    {
      const std::lock_guard lock(load_.mutex_);
      load_.orders_.push_back(key);
    }
    fire({"fire", "order", key, "begin", "{}", next_id()});
  }

  void fire(const Words& asked) {
    diary_.asked({"fire", asked[2], asked[5]});
    const Words answer = ask(asked).first;
    if (answer[0] != "ok") return object(asked, answer);
    diary_.told({"fire", asked[2], asked[5], answer[3]});
    remember({asked, answer});
  }

  // The same again: the same answer, and nothing happens.
  void repeat() {
    if (old_.empty()) return;
    const Told& told = old_[random_() % old_.size()];
    const Words answer = ask(told.asked).first;
    ++load_.tally_.repeated;
    const bool is_same =
        told.asked[0] == "create" ? answer[0] == "duplicate" : answer == told.answer;
    if (!is_same) object(told.asked, answer);
  }

  // Under a key that was used for something else.
  void ask_another_thing() {
    if (old_.empty() || old_.back().asked[0] != "fire") return;
    Words asked = old_.back().asked;
    asked[4] = R"({"id":"another"})";
    const Words answer = ask(asked).first;
    if (answer[0] != "error") object(asked, answer);
  }

  // Until it is answered; and whether an answer was lost.
  std::pair<Words, bool> ask(const Words& words) {
    bool was_unknown = false;
    for (;;) {
      if (const auto answer = client_.ask(words)) {
        if (was_unknown) ++load_.tally_.resolved;
        return {*answer, was_unknown};
      }
      if (!was_unknown) ++load_.tally_.unknown;
      was_unknown = true;
    }
  }

  void remember(Told told) {
    old_.push_back(std::move(told));
    if (old_.size() > 200) old_.pop_front();
  }

  void object(const Words& asked, const Words& answer) {
    load_.findings_.add(Kind::other, joined(asked) + " was answered with " + joined(answer));
  }

  Load& load_;
  std::string name_;
  Diary diary_;
  std::mt19937_64 random_;
  Client client_;
  std::deque<Told> old_;
  int ids_ = 0;
};

// --- workers -----------------------------------------------------------------------------------

class Worker {
 public:
  Worker(Load& load, std::string name, const std::filesystem::path& diary, std::uint64_t seed)
      : load_(load), name_(std::move(name)), diary_(diary), random_(seed), client_(load.server_) {}

  void run() {
    while (!load_.workers_end_) {
      settle_kept();
      const Words asked{"claim",   std::to_string(1 + random_() % 3), "50", name_, "makers",
                        "shippers"};
      const auto answer = client_.ask(asked);
      if (!answer) {
        ++load_.tally_.claims_lost;
        continue;
      }
      if (answer->at(0) != "ok") object("claim", *answer);
      std::vector<Attempt> attempts;
      for (std::size_t i = 1; i + 6 <= answer->size(); i += 6)
        attempts.push_back(begun(*answer, i));
      for (const Attempt& attempt : attempts) work_on(attempt);
    }
  }

 private:
  struct Attempt {
    std::string machine;
    std::string key;
    std::string token;
    std::string fence;
    int life = 0;       // of the process that gave it
    int kept_over = 0;  // so many kills
  };

  Attempt begun(const Words& words, std::size_t at) {
    Attempt attempt{words[at], words[at + 1], words[at + 2], words[at + 3], client_.life()};
    const std::string& payload = words[at + 4];
    Held::Limit limit{"order/ship", kShipMax};
    if (attempt.machine == "part") limit = {"part/make of " + payload, kMakePerMaker};
    load_.held_.begins(limit, attempt.token, Instant(Duration(std::stoll(words[at + 5]))));
    diary_.told({"start", attempt.machine, attempt.key, attempt.fence});
    return attempt;
  }

  void work_on(const Attempt& attempt) {
    const std::uint64_t drawn = load_.callers_end_ ? 0 : random_() % 100;
    if (drawn < 60) {
      settle(attempt, "done");
    } else if (drawn < 72) {
      settle(attempt, "fail");
    } else if (drawn < 76) {
      settle(attempt, "busy");
    } else if (drawn < 84) {
      client_.ask({"beat", attempt.machine, attempt.key, attempt.token, R"({"half":true})"});
      settle(attempt, "done");
    } else {
      kept_.push_back(attempt);
      kept_.back().kept_over = drawn < 95 ? 1 : kKeptTooLong;
    }
  }

  // What was kept long enough, and everything once there are no more kills.
  void settle_kept() {
    std::erase_if(kept_, [&](const Attempt& attempt) {
      const bool is_time = client_.life() >= attempt.life + attempt.kept_over;
      if (!is_time && !load_.callers_end_) return false;
      if (attempt.life != client_.life()) ++load_.tally_.kept;
      settle(attempt, "done");
      return true;
    });
  }

  void settle(const Attempt& attempt, const std::string& verb) {
    load_.held_.may_be_over(attempt.token);
    diary_.asked({"settle", attempt.machine, attempt.key, attempt.fence, verb});
    const Words asked = words_of(attempt, verb);
    bool was_unknown = false;
    std::optional<Words> answer;
    while (!(answer = client_.ask(asked))) {
      if (!was_unknown) ++load_.tally_.unknown;
      was_unknown = true;
    }
    if (was_unknown) ++load_.tally_.resolved;
    const std::string& kind = answer->at(0);
    if (kind != "ok" && kind != "stale" && !(was_unknown && kind == "duplicate"))
      object(joined(asked), *answer);
    diary_.told({"settle", attempt.machine, attempt.key, attempt.fence, kind,
                 was_unknown ? "unknown" : "known"});
    if (random_() % 8 == 0) repeat(asked, *answer);
  }

  // The record may have moved on since it failed; one whose task is done stays where it is.
  void repeat(const Words& asked, const Words& first) {
    const auto answer = client_.ask(asked);
    if (!answer) return;
    ++load_.tally_.repeated;
    const std::string& kind = answer->at(0);
    const bool is_settled = first[0] == "ok" || first[0] == "duplicate";
    bool is_same = kind == "stale" && (!is_settled || asked[0] == "fail");
    if (is_settled && kind == "duplicate") is_same = answer->at(3) == first[3];
    if (!is_same) object(joined(asked) + " once more", *answer);
  }

  Words words_of(const Attempt& attempt, const std::string& verb) const {
    Words words{verb, attempt.machine, attempt.key, attempt.token};
    if (verb == "done") {
      words.push_back(R"({"by":")" + attempt.fence + R"("})");
    } else {
      words[0] = "fail";
      words.push_back(verb == "fail" ? "flaky" : "busy");
    }
    return words;
  }

  void object(const std::string& asked, const Words& answer) {
    load_.findings_.add(Kind::other, asked + " was answered with " + joined(answer));
  }

  Load& load_;
  std::string name_;
  Diary diary_;
  std::mt19937_64 random_;
  Client client_;
  std::vector<Attempt> kept_;
};

// --- all of them -------------------------------------------------------------------------------

Load::Load(Server& server, const std::filesystem::path& directory, std::uint64_t seed, Tally& tally,
           Findings& findings)
    : server_(server), tally_(tally), findings_(findings) {
  const auto begin = [&]<class Kind>(std::type_identity<Kind>, const std::string& name,
                                     std::vector<std::thread>& among) {
    diaries_.push_back(directory / (name + ".diary"));
    const std::uint64_t own_seed = seed * 1'000 + diaries_.size();
    among.emplace_back([this, name, own_seed, diary = diaries_.back()] {
      Kind(*this, name, diary, own_seed).run();
    });
  };
  for (int i = 1; i <= kCallers; ++i)
    begin(std::type_identity<Caller>{}, "c" + std::to_string(i), callers_);
  for (int i = 1; i <= kWorkers; ++i)
    begin(std::type_identity<Worker>{}, "w" + std::to_string(i), workers_);
}

void Load::end_callers() {
  callers_end_ = true;
  for (std::thread& caller : callers_) caller.join();
}

void Load::end_workers() {
  workers_end_ = true;
  for (std::thread& worker : workers_) worker.join();
}

std::optional<std::string> Load::some_order(std::uint64_t random) {
  const std::lock_guard lock(mutex_);
  if (orders_.empty()) return std::nullopt;
  // Mostly new ones, with which something still happens.
  const std::size_t of =
      random % 4 == 0 ? orders_.size() : std::min<std::size_t>(orders_.size(), 20);
  return orders_[orders_.size() - 1 - (random / 4) % of];
}

}  // namespace pawl::kill
