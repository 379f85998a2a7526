// Signals: those that end a server, taken by one thread alone, once it waits for them.
#pragma once

#include <csignal>
#include <initializer_list>

namespace pawl::cli {

// Made before there are other threads, which then never see them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set_, one);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int wait() const {
    int given = 0;
    sigwait(&set_, &given);
    return given;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

}  // namespace pawl::cli
