#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

extern char** environ;

namespace pawl {
namespace {

// Closed with its owner.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

struct Pipe {
  FileDescriptor reads;
  FileDescriptor writes;
};

Error failed(const std::string& what) {
  return {ErrorCode::environment, what + ": " + std::strerror(errno)};
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed("cannot create a pipe");
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void no_waiting(const FileDescriptor& end) {
  fcntl(end.get(), F_SETFL, fcntl(end.get(), F_GETFL) | O_NONBLOCK);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// A pipe whose reader is gone must not end this process.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~NoPipeSignal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    const timespec at_once{};
    while (sigtimedwait(&set, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t before_{};
};

// Ours, but for what the program has of its own: which of two counts is up to the program.
std::vector<std::string> environment_of(const ChildProgram& program) {
  std::vector<std::string> all = program.environment;
  const auto name_of = [](std::string_view one) { return one.substr(0, one.find('=')); };
  for (char** one = environ; *one != nullptr; ++one) {
    const bool is_its_own =
        std::any_of(program.environment.begin(), program.environment.end(),
                    [&](const std::string& its) { return name_of(its) == name_of(*one); });
    if (!is_its_own) all.emplace_back(*one);
  }
  return all;
}

Result<pid_t> spawn(const ChildProgram& program, const Pipe& in, const Pipe& out, const Pipe& err) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = environment_of(program);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.reads.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.writes.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.writes.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  errno = posix_spawnp(&child, arguments[0].c_str(), &actions, &attributes,
                       pointers(arguments).data(), pointers(environment).data());
  const int error = errno;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  errno = error;
  if (error != 0) return failed("cannot run " + arguments[0]);
  return child;
}

// One child while it runs.
class Running {
 public:
  Running(const ChildProgram& program, pid_t child, FileDescriptor in, FileDescriptor out,
          FileDescriptor err)
      : program_(program),
        child_(child),
        end_seen_(static_cast<int>(syscall(SYS_pidfd_open, child, 0))),
        in_(std::move(in)),
        out_(std::move(out)),
        err_(std::move(err)) {
    no_waiting(in_);
    no_waiting(out_);
    no_waiting(err_);
    if (program_.input.empty()) in_.close();
  }

  ChildEnd wait() {
    bool has_ended = false;
    while (!has_ended) {
      std::array<pollfd, 4> all{pollfd{end_seen_.get(), POLLIN, 0}, pollfd{in_.get(), POLLOUT, 0},
                                pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
      const auto ms = static_cast<int>(program_.asked_every.count());
      const int ready = poll(all.data(), all.size(), std::max(1, ms));
      if (all[1].revents != 0) write_some();
      if (all[2].revents != 0) read_some(out_);
      if (all[3].revents != 0) read_some(err_);
      has_ended = all[0].revents != 0;
      if (ready == 0 || is_time()) ask();
    }
    return finish();
  }

 private:
  // While output keeps coming nothing is ever silent: who asks is asked by the clock as well.
  bool is_time() {
    const auto now = std::chrono::steady_clock::now();
    return now - asked_at_ >= program_.asked_every;
  }

  void ask() {
    asked_at_ = std::chrono::steady_clock::now();
    if (end_.is_killed || !program_.may_go_on || program_.may_go_on()) return;
    end_.is_killed = true;
    kill(-child_, SIGKILL);
  }

  void write_some() {
    const std::string_view rest = std::string_view(program_.input).substr(written_);
    const ssize_t wrote = write(in_.get(), rest.data(), rest.size());
    if (wrote > 0) written_ += static_cast<std::size_t>(wrote);
    const bool is_over = wrote < 0 && errno != EAGAIN && errno != EINTR;
    if (is_over || written_ == program_.input.size()) in_.close();
  }

  void read_some(FileDescriptor& from) {
    std::array<char, 16'384> buffer{};
    const ssize_t size = read(from.get(), buffer.data(), buffer.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) return from.close();
    const std::string_view some(buffer.data(), static_cast<std::size_t>(size));
    if (&from == &out_) {
      const std::size_t room = program_.output_max - end_.output.size();
      end_.is_cut = end_.is_cut || some.size() > room;
      end_.output += some.substr(0, room);
    } else {
      end_.error += some;
      if (end_.error.size() > program_.error_max)
        end_.error.erase(0, end_.error.size() - program_.error_max);
    }
  }

  // What it wrote before it ended is there; what its own children hold open is not waited for.
  ChildEnd finish() {
    for (FileDescriptor* from : {&out_, &err_}) {
      for (;;) {
        pollfd one{from->get(), POLLIN, 0};
        if (!from->is_open() || poll(&one, 1, 0) <= 0) break;
        read_some(*from);
      }
    }
    kill(-child_, SIGKILL);
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    return std::move(end_);
  }

  const ChildProgram& program_;
  pid_t child_;
  FileDescriptor end_seen_;
  FileDescriptor in_;
  FileDescriptor out_;
  FileDescriptor err_;
  std::size_t written_ = 0;
  std::chrono::steady_clock::time_point asked_at_ = std::chrono::steady_clock::now();
  ChildEnd end_;
};

}  // namespace

Result<ChildEnd> run_child(const ChildProgram& program) {
  if (program.arguments.empty()) return Error{ErrorCode::bad_input, "there is no program to run"};
  PAWL_TRY(Pipe in, make_pipe());
  PAWL_TRY(Pipe out, make_pipe());
  PAWL_TRY(Pipe err, make_pipe());
  PAWL_TRY(const pid_t child, spawn(program, in, out, err));
  in.reads.close();
  out.writes.close();
  err.writes.close();
  const NoPipeSignal quiet;
  return Running(program, child, std::move(in.writes), std::move(out.reads), std::move(err.reads))
      .wait();
}

}  // namespace pawl
