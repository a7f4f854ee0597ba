#include "cli/ranks.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/counts.h"
#include "base/log.h"
#include "cli/restart.h"
#include "net/collective/launched.h"
#include "pipeline/sweep/sweep_shares.h"

namespace voxswap::cli {

void take_cores(char** values) {
  const net::LaunchedPlace place = net::launched_place();
  if (values[0] != nullptr && values[1] != nullptr && std::string_view(values[1]) == "sweep") return;
  if (place.count <= 1 || std::getenv("OMP_NUM_THREADS") != nullptr || pipeline::was_bound()) return;
  const std::vector<int> cores = pipeline::cores_of_rank(pipeline::this_machine(), place.index, place.count);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (!cores.empty() && ::sched_setaffinity(0, sizeof set, &set) != 0) return;
  ::setenv("OMP_NUM_THREADS", std::to_string(std::max<std::size_t>(cores.size(), 1)).c_str(), 1);
  restart(values);
}

void warn_of_shared_cores(net::Ranks& ranks) {
  if (ranks.is_alone() || std::getenv("OMP_NUM_THREADS") != nullptr) return;
  std::map<std::string, std::vector<std::string>> ranks_of;
  const std::vector<std::string> all =
      net::gather(ranks, pipeline::this_kernel() + " " + pipeline::core_text(pipeline::this_machine().cores));
  for (std::size_t rank = 0; rank < all.size(); ++rank) ranks_of[all[rank]].push_back(std::to_string(rank));
  for (const auto& [place, sharers] : ranks_of)
    if (sharers.size() > 1)
      log::warn(
          "ranks {} are bound to the same cores ({}), and each uses all of them. Start them with `mpirun "
          "--bind-to none`, or set OMP_NUM_THREADS",
          join(sharers, ", "), place.substr(place.find(' ') + 1));
}

bool is_silent_rank() {
  return net::launched_count() > 1 && net::launched_rank() > 0;
}

void join_ranks(const Arguments& arguments) {
  if (net::launched_count() <= 1) return;
  if (is_silent_rank() && std::freopen("/dev/null", "w", stdout) == nullptr)
    fail(Exit::failed, "/dev/null cannot be opened");
  net::launched_ranks();
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command != "run" && command != "train" && command != "info" && command != "sweep")
    fail(Exit::usage,
         "launched with {}, but only run, train, sweep and info support several ranks. Start voxswap {} "
         "without mpirun",
         counted(net::launched_count(), "rank"), command);
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

}  // namespace voxswap::cli
