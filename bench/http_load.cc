// Callers over HTTP that keep a server busy with jobs, and what they see: http_load MODE PORT TOKEN
// [N] [SECONDS]
//
// The server has the machines `job` and `called` of http_bench.py. A job is created, claimed and
// done; one of `called` becomes one that can be claimed by its event `go`.
//   batched N SECONDS  N connections, a hundred jobs in each call
//   single N SECONDS   N connections, one job in each call
//   latency N          one worker waits; N times an event is fired, and the worker gets its job
//   pollers N SECONDS  N workers wait; nothing happens for so long, then 200 jobs as above
// Prints one JSON object. `pollers` says {"waiting": N} first, when all of them wait.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kInBatch = 100;
constexpr int kTries = 200;  // beside waiting workers

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "http_load: %s\n", what.c_str());
  std::exit(1);
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Asks one thing at a time; `answered` is called with the body of the reply.
class Connection {
 public:
  using Answered = std::function<void(std::string_view body)>;

  Connection(int epoll, std::uint16_t port, std::string token) : token_(std::move(token)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail("cannot connect: " + std::string(std::strerror(errno)));
    const int at_once = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = this;
    epoll_ctl(epoll, EPOLL_CTL_ADD, socket_, &event);
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void ask(const char* path, const std::string& body, Answered answered) {
    answered_ = std::move(answered);
    std::string text = std::string("POST ") + path + " HTTP/1.1\r\nHost: pawl\r\n" +
                       "Content-Type: application/json\r\nAuthorization: Bearer " + token_ +
                       "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    for (std::string_view left = text; !left.empty();) {
      const ssize_t sent = send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) fail("the connection was lost");
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void read() {
    char some[65'536];
    const ssize_t size = recv(socket_, some, sizeof some, MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) fail("the connection was lost");
    got_.append(some, static_cast<std::size_t>(size));
    const std::size_t end = got_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::size_t length = got_.find("Content-Length: ");
    if (length > end) fail("a reply without a length");
    const std::size_t whole = end + 4 + std::strtoul(got_.c_str() + length + 16, nullptr, 10);
    if (got_.size() < whole) return;
    if (got_.compare(9, 3, "200") != 0) fail(got_);
    std::string reply = std::move(got_);
    got_.clear();
    answered_(std::string_view(reply).substr(end + 4));
  }

 private:
  int socket_;
  std::string token_;
  std::string got_;
  Answered answered_;
};

class Load {
 public:
  Load(std::uint16_t port, std::string token) : port_(port), token_(std::move(token)) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }

  Connection& connection() {
    return *connections_.emplace_back(std::make_unique<Connection>(epoll_, port_, token_));
  }

  void run_until(const std::function<bool()>& is_over, Clock::time_point end = {}) {
    std::vector<epoll_event> events(256);
    while (!is_over()) {
      int wait = -1;
      if (end != Clock::time_point{}) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0) return;
        wait = static_cast<int>(left);
      }
      const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait);
      for (int i = 0; i < ready; ++i)
        static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr)->read();
    }
  }

  std::string new_key() { return "j" + std::to_string(++keys_); }

 private:
  std::uint16_t port_;
  std::string token_;
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Connection>> connections_;
  std::uint64_t keys_ = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
};

std::string text_after(std::string_view text, std::string_view name, std::size_t& from) {
  const std::string quoted = "\"" + std::string(name) + "\":\"";
  const std::size_t at = text.find(quoted, from);
  if (at == std::string_view::npos) return {};
  from = at + quoted.size();
  return std::string(text.substr(from, text.find('"', from) - from));
}

// Maps that name the attempts of a claim's reply.
std::vector<std::string> named_attempts(std::string_view body) {
  std::vector<std::string> attempts;
  std::size_t from = 0;
  for (;;) {
    const std::string machine = text_after(body, "machine", from);
    if (machine.empty()) return attempts;
    const std::string key = text_after(body, "key", from);
    const std::string token = text_after(body, "token", from);
    attempts.push_back(R"({"machine":")" + machine + R"(","key":")" + key + R"(","token":")" +
                       token + R"("})");
  }
}

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ",") + item;
  return out;
}

// One connection that does jobs, one after the other or a hundred at a time.
class Worker {
 public:
  Worker(Load& load, bool is_batched, std::uint64_t& done)
      : load_(load), connection_(load.connection()), is_batched_(is_batched), done_(done) {}

  void create() {
    const auto then = [this](std::string_view) { claim(); };
    const std::string rest = R"("machine":"job","key":")";
    if (!is_batched_)
      return connection_.ask(("/v1/records/job/" + load_.new_key()).c_str(), "{}", then);
    std::vector<std::string> calls;
    for (int i = 0; i < kInBatch; ++i)
      calls.push_back(R"({"call":"create",)" + rest + load_.new_key() + "\"}");
    connection_.ask("/v1/batch", R"({"calls":[)" + joined(calls) + "]}", then);
  }

 private:
  void claim() {
    connection_.ask("/v1/claim",
                    R"({"queues":["jobs"],"wait":"5s","max":)" +
                        std::to_string(is_batched_ ? kInBatch : 1) + "}",
                    [this](std::string_view body) { settle(named_attempts(body)); });
  }

  void settle(const std::vector<std::string>& attempts) {
    if (attempts.empty()) return create();
    const auto then = [this, count = attempts.size()](std::string_view) {
      done_ += count;
      create();
    };
    if (!is_batched_) return connection_.ask("/v1/done", attempts[0], then);
    connection_.ask("/v1/done", R"({"attempts":[)" + joined(attempts) + "]}", then);
  }

  Load& load_;
  Connection& connection_;
  bool is_batched_;
  std::uint64_t& done_;
};

void measure_jobs(Load& load, bool is_batched, int count, double seconds) {
  std::uint64_t done = 0;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<Worker>(load, is_batched, done));
    workers.back()->create();
  }
  const auto begin = Clock::now();
  const double cpu_before = cpu_seconds();
  load.run_until([] { return false; }, begin + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds)));
  const std::chrono::duration<double> took = Clock::now() - begin;
  std::printf(
      "{\"jobs\":%llu,\"jobs_per_s\":%.0f,\"generator_cpu_us\":%.1f}\n",
      static_cast<unsigned long long>(done), static_cast<double>(done) / took.count(),
      (cpu_seconds() - cpu_before) * 1e6 / static_cast<double>(std::max<std::uint64_t>(done, 1)));
}

// From the question to the waiting worker's answer, and from the asker's own answer on.
struct Latencies {
  std::vector<double> from_ask;
  std::vector<double> from_answer;
};

void print_latency(const char* name, std::vector<double>& milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  const std::size_t size = milliseconds.size();
  std::printf("\"%s\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f}", name, milliseconds[size / 2],
              milliseconds[size * 99 / 100], milliseconds.back());
}

// Workers wait, and jobs come one at a time, by an event each.
void measure_waiting(Load& load, int workers, double idle_seconds, int tries) {
  Clock::time_point given;
  bool is_given = false;
  bool is_settled = false;
  std::function<void(Connection&)> wait = [&](Connection& one) {
    one.ask("/v1/claim", R"({"queues":["jobs"],"wait":"60s"})", [&](std::string_view body) {
      const auto attempts = named_attempts(body);
      if (attempts.empty()) return wait(one);
      given = Clock::now();
      is_given = true;
      one.ask("/v1/done", attempts[0], [&](std::string_view) {
        is_settled = true;
        wait(one);
      });
    });
  };
  for (int i = 0; i < workers; ++i) wait(load.connection());
  const auto rest = [&](double seconds) {
    load.run_until([] { return false; },
                   Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds)));
  };
  rest(idle_seconds > 0 ? 3 : 0.2);
  if (idle_seconds > 0) {
    std::printf("{\"waiting\":%d}\n", workers);
    std::fflush(stdout);
    rest(idle_seconds);
  }
  Connection& caller = load.connection();  // one that says nothing for long is closed
  Latencies seen;
  for (int i = 0; i < tries; ++i) {
    rest(0.01);  // so that it waits again
    is_given = is_settled = false;
    const std::string record = "/v1/records/called/" + load.new_key();
    bool is_created = false;
    caller.ask(record.c_str(), "{}", [&](std::string_view) { is_created = true; });
    load.run_until([&] { return is_created; });
    bool is_answered = false;
    Clock::time_point answered;
    const auto asked = Clock::now();
    caller.ask((record + "/fire").c_str(), R"({"event":"go"})", [&](std::string_view) {
      answered = Clock::now();
      is_answered = true;
    });
    load.run_until([&] { return is_given && is_answered && is_settled; });
    const auto milliseconds = [](Clock::duration time) {
      return std::chrono::duration<double, std::milli>(time).count();
    };
    seen.from_ask.push_back(milliseconds(given - asked));
    seen.from_answer.push_back(milliseconds(given - answered));
  }
  std::printf("{\"tries\":%d,", tries);
  print_latency("from_ask_ms", seen.from_ask);
  std::printf(",");
  print_latency("from_answer_ms", seen.from_answer);
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) fail("usage: http_load batched|single|latency|pollers PORT TOKEN N [SECONDS]");
  const std::string mode = argv[1];
  Load load(static_cast<std::uint16_t>(std::atoi(argv[2])), argv[3]);
  const int count = std::atoi(argv[4]);
  const double seconds = argc > 5 ? std::atof(argv[5]) : 0;
  if (mode == "latency")
    measure_waiting(load, 1, 0, count);
  else if (mode == "pollers")
    measure_waiting(load, count, seconds, kTries);
  else
    measure_jobs(load, mode == "batched", count, seconds);
}
