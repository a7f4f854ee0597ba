#include "base/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "base/error.h"

namespace voxswap {

namespace {

volatile std::sig_atomic_t requests = 0;  // of somebody who may lose patience
volatile std::sig_atomic_t announced = 0;

void on_signal(int) {
  requests = requests + 1;
  if (requests > 1) ::_exit(static_cast<int>(Exit::interrupted));
}

void on_announcement(int) {
  announced = 1;
}

}  // namespace

void watch_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction announcement = {};
  announcement.sa_handler = on_announcement;
  ::sigaction(SIGUSR1, &announcement, nullptr);
  struct sigaction before = {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() {
  return requests > 0 || announced > 0;
}

void throw_if_interrupted() {
  if (interrupted()) fail(Exit::interrupted, "interrupted");
}

}  // namespace voxswap
