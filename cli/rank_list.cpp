#include "cli/rank_list.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/plan/planning.h"
#include "pipeline/sweep/sweep_shares.h"

namespace voxswap::cli {

namespace {

std::string machine_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Of so many bytes there and back: half of the shortest time of a few.
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

// Between the first and each of the others, one after the other; nothing on itself.
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
    list.push_back(Json::parse(one));
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
