#include "base/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "base/error.h"

namespace voxswap {

namespace {

// Signals are handled on any thread while others read these; a handler must not lock, so they are atomic.
std::atomic<int> requests = 0;  // of interrupts by the user
std::atomic<bool> announced = false, asked_in_scope = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::mutex scopes_lock;
int scopes = 0;
struct sigaction before_scopes = {};  // of the first

void on_signal(int) {
  if (requests.fetch_add(1) > 0) ::_exit(static_cast<int>(Exit::interrupted));
}

void on_announcement(int) {
  announced = true;
}

void on_request(int) {
  asked_in_scope = true;
}

}  // namespace

InterruptScope::InterruptScope() {
  const std::lock_guard lock(scopes_lock);
  if (scopes++ > 0) return;
  struct sigaction action = {};
  action.sa_handler = on_request;
  ::sigaction(SIGINT, &action, &before_scopes);
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(scopes_lock);
  if (--scopes > 0) return;
  ::sigaction(SIGINT, &before_scopes, nullptr);
  asked_in_scope = false;
}

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
  return requests > 0 || announced || asked_in_scope;
}

void throw_if_interrupted() {
  if (interrupted()) fail(Exit::interrupted, "interrupted");
}

}  // namespace voxswap
