#include "swap/measure/network_rate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "base/log.h"
#include "net/collective/exchange.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t little = 16, much = std::int64_t{2} << 20;  // elements
constexpr int times = 4;

// The shortest of a few, of one f32 value of that many elements.
double seconds_of(net::Ranks& ranks, std::int64_t elements) {
  net::Graph graph;
  const net::ValueId part = graph.add_value("part", {elements}, net::ElementType::f32, net::Role::input);
  const net::NodeId node =
      graph.add("exchange", "sum", {part}, {{"parts", 1}, {"batch", static_cast<double>(ranks.count())}});
  net::Exchange exchange(ranks);
  const std::unique_ptr<net::Kernel> kernel = exchange.make_kernel(graph, graph.node(node));
  exchange.begin();
  std::vector<float> values(static_cast<std::size_t>(elements)), sums(values.size());
  void* const in[] = {values.data()};
  void* const out[] = {sums.data()};
  double shortest = std::numeric_limits<double>::max();
  for (int i = 0; i < times; ++i) {
    net::wait_for_all(ranks);
    const auto begun = std::chrono::steady_clock::now();
    kernel->run({in, out, {}, nullptr, nullptr});
    shortest =
        std::min(shortest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  return shortest;
}

}  // namespace

Network measure_network(net::Ranks& ranks) {
  Network network;
  network.ranks = ranks.count();
  const double levels = 2 * std::ceil(std::log2(ranks.count()));
  network.message_seconds = seconds_of(ranks, little) / levels;
  const std::int64_t bytes = 4 * much;
  const double messages = std::ceil(static_cast<double>(bytes) / net::exchange_block_bytes);
  // Messages on their way at the same time hide some of their fixed cost: of the time, at least half is rate.
  const double whole = seconds_of(ranks, much);
  const double at_rate = std::max(whole - levels * messages * network.message_seconds, whole / 2);
  network.message_seconds = std::min(network.message_seconds, (whole - at_rate) / (levels * messages));
  network.rate = network.local_rate = levels * static_cast<double>(bytes) / at_rate;
  net::hand_on(ranks, &network, sizeof network);
  log::debug("exchanges between {} ranks: {:.2f} GB/s and {:.0f} us a message, each way", ranks.count(),
             network.rate / 1e9, 1e6 * network.message_seconds);
  return network;
}

}  // namespace voxswap::swap
