#include "cli/ranks.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/log.h"
#include "net/collective/launched.h"

namespace voxswap::cli {

bool is_silent_rank() {
  return net::launched_count() > 1 && net::launched_rank() > 0;
}

void join_ranks(const Arguments& arguments) {
  if (net::launched_count() <= 1) return;
  if (is_silent_rank() && std::freopen("/dev/null", "w", stdout) == nullptr)
    fail(Exit::failed, "/dev/null cannot be opened");
  net::launched_ranks();
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command != "run" && command != "train")
    fail(Exit::usage,
         "{} ranks were launched; run and train are what they can share, start voxswap {} by itself",
         net::launched_count(), command);
}

void let_first_rank_speak() {
  if (!is_silent_rank()) return;
  log::set_level(log::Level::warning);
  const int turn = std::min(net::launched_rank(), 50);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000 + 100 * turn));
}

std::string of_rank() {
  return is_silent_rank() ? format("rank {}: ", net::launched_rank()) : "";
}

void part_from_ranks(Exit exit) {
  if (exit == Exit::done)
    net::leave_ranks();
  else
    net::end_all_ranks(static_cast<int>(exit));
}

}  // namespace voxswap::cli
