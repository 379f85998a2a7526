// The program `pawl serve`, or another verb that serves, for as long as a test wants it: a process
// of its own, at a free port.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl {

class ServingProgram {
 public:
  // With these options besides; where it does not start, its port is 0, and the test has failed.
  ServingProgram(const std::string& program, const std::vector<std::string>& options,
                 const std::string& verb = "serve") {
    std::vector<std::string> words{program, verb, "--listen", "127.0.0.1:0"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int pipes[2];
    EXPECT_EQ(pipe2(pipes, O_CLOEXEC), 0);
    said_ = pipes[0];
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(pipes[1], STDOUT_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(pipes[1]);
    const std::string address = read_line();
    const std::string token = read_line();
    const std::size_t colon = address.rfind(':');
    EXPECT_NE(colon, std::string::npos) << "no address: '" << address << "'";
    if (colon == std::string::npos) return;
    port_ = static_cast<std::uint16_t>(std::stoul("0" + address.substr(colon + 1)));
    token_ = token.substr(token.rfind(' ') + 1);
  }
  ~ServingProgram() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close(said_);
  }
  ServingProgram(const ServingProgram&) = delete;
  ServingProgram& operator=(const ServingProgram&) = delete;

  std::uint16_t port() const { return port_; }
  // That of the first start, for everything.
  const std::string& token() const { return token_; }

  // Tells it to end, and gives its exit code.
  int end() {
    kill(process_, SIGTERM);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  // A line that does not come fails the test, and does not hang it.
  std::string read_line() const {
    constexpr int kAtMost = 20'000;  // milliseconds
    std::string line;
    for (;;) {
      pollfd ready{.fd = said_, .events = POLLIN, .revents = 0};
      char byte = 0;
      if (poll(&ready, 1, kAtMost) != 1 || read(said_, &byte, 1) != 1) {
        ADD_FAILURE() << "pawl serve said no line, but '" << line << "'";
        return line;
      }
      if (byte == '\n') return line;
      line += byte;
    }
  }

  pid_t process_ = -1;
  int said_ = -1;
  std::uint16_t port_ = 0;
  std::string token_;
};

}  // namespace pawl
