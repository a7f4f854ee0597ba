#include "swap/model/network.h"

#include <cmath>

#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::swap {

double exchange_seconds(std::int64_t bytes, const Network& network) {
  if (network.ranks == 1) return 0;
  const auto levels_above = [](int count) { return std::ceil(std::log2(count)); };
  const double outside = levels_above(network.machines), inside = levels_above(network.ranks) - outside;
  const double messages = std::ceil(static_cast<double>(bytes) / net::exchange_block_bytes);
  const double size = static_cast<double>(bytes);
  const auto level = [&](double rate) { return messages * network.message_seconds + size / rate; };
  return 2 * ((outside > 0 ? outside * level(network.rate) : 0) +
              (inside > 0 ? inside * level(network.local_rate) : 0));
}

void set_exchange_seconds(const net::Graph& graph, const Network& network, CostModel& costs) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const net::Node& node = graph.nodes()[i];
    if (!net::is_exchange(node)) continue;
    std::int64_t bytes = 0;
    for (const net::ValueId sum : node.outputs) bytes += graph.value(sum).bytes();
    costs.node_seconds[i] = exchange_seconds(bytes, network);
  }
}

}  // namespace voxswap::swap
