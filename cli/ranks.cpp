#include "cli/ranks.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/restart.h"
#include "net/collective/launched.h"
#include "pipeline/plan/planning.h"
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
  const std::set<std::string> supported = {"run", "train", "sweep", "bench", "info"};
  if (!supported.contains(command))
    fail(Exit::usage,
         "launched with {}, but only run, train, sweep, bench and info support several ranks. Start voxswap "
         "{} without mpirun",
         counted(net::launched_count(), "rank"), command);
  net::agree(net::launched_ranks(), "command line", join(arguments, " "));
}

bool let_first_rank_speak() {
  if (!is_silent_rank()) return true;
  log::set_level(log::Level::warning);
  const bool was_interrupted = interrupted();
  const int turn = std::min(net::launched_rank(), 50);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5000 + 100 * turn);
  while (std::chrono::steady_clock::now() < end) {
    if (interrupted() && !was_interrupted) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::string of_rank() {
  return is_silent_rank() ? format("rank {}: ", net::launched_rank()) : "";
}

namespace {

std::string machine_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// One-way time of a message: half of the shortest round trip.
double seconds_one_way(net::Ranks& ranks, int other, std::int64_t bytes, int times) {
  std::string message(static_cast<std::size_t>(bytes), 'x');
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const auto send = [&] { ranks.send(other, message.data(), bytes); };
    if (ranks.is_first()) send();
    ranks.receive(other, message.data(), bytes);
    if (!ranks.is_first()) send();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  return best / 2;
}

struct Link {
  double bytes_per_second = 0, seconds = 0;
};

// Links from the first rank to every other rank, measured one at a time.
std::vector<Link> measure_links(net::Ranks& ranks) {
  constexpr std::int64_t large = 8 << 20;
  std::vector<Link> links(static_cast<std::size_t>(ranks.count()));
  for (int other = 1; other < ranks.count(); ++other) {
    if (!ranks.is_first() && ranks.rank() != other) continue;
    const int peer = ranks.is_first() ? other : 0;
    Link& link = links[static_cast<std::size_t>(other)];
    link.seconds = seconds_one_way(ranks, peer, 1, 20);
    link.bytes_per_second = static_cast<double>(large) / seconds_one_way(ranks, peer, large, 4);
  }
  return links;
}

Json this_rank(const net::Ranks& ranks) {
  const pipeline::Machine machine = pipeline::this_machine();
  return {{"rank", ranks.rank()},
          {"machine", machine_name()},
          {"cores", pipeline::core_text(machine.cores)},
          {"device", pipeline::open_device("auto")->description()},
          {"memory_bytes", machine.host_bytes / ranks.on_this_machine()}};
}

}  // namespace

Json rank_list(net::Ranks& ranks) {
  Json list = Json::array();
  for (const std::string& one :
       net::gather(ranks, this_rank(ranks).dump(-1, ' ', false, Json::error_handler_t::replace)))
    list.push_back(checked_json(one));
  const std::vector<Link> links = measure_links(ranks);
  for (std::size_t rank = 1; rank < links.size(); ++rank) {
    list[rank]["link_gbps"] = links[rank].bytes_per_second / 1e9;
    list[rank]["link_microseconds"] = links[rank].seconds * 1e6;
  }
  return list;
}

std::vector<std::pair<std::string, std::string>> rank_lines(const Json& list) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Json& rank : list) {
    std::string line = format("{}, cores {}, {}, {} of memory", rank["machine"].get<std::string>(),
                              rank["cores"].get<std::string>(), rank["device"].get<std::string>(),
                              format_bytes(rank["memory_bytes"].get<std::int64_t>()));
    if (rank.contains("link_gbps")) {
      const auto microseconds = rank["link_microseconds"].get<double>();
      line += format("; {:.2f} GB/s to rank 0, {:.{}f} us", rank["link_gbps"].get<double>(), microseconds,
                     microseconds < 10 ? 1 : 0);
    }
    lines.emplace_back(format("rank {}", rank["rank"].get<int>()), line);
  }
  return lines;
}

}  // namespace voxswap::cli
