#include "swap/model/network.h"

#include <algorithm>
#include <vector>

#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/steps/sum_by_halves.h"

namespace voxswap::swap {

namespace {

constexpr std::int64_t element_bytes = sizeof(float);

// When all ranks have made all swaps of one chunk, each of which begins when both of its ranks are there.
class Clocks {
 public:
  explicit Clocks(const Network& network)
      : network_(network), on_each_(network.ranks / network.machines), now_(index(network.ranks), 0) {}

  double after(const net::SumByHalves& sum) {
    for (const net::Swap& swap : sum.swaps) make(swap);
    for (auto swap = sum.swaps.rbegin(); swap != sum.swaps.rend(); ++swap) make(*swap);
    return *std::max_element(now_.begin(), now_.end());
  }

 private:
  // The ranks of a machine share its way to the others.
  void make(const net::Swap& swap) {
    if (swap.is_local()) return;
    const bool outside = swap.left.rank / on_each_ != swap.right.rank / on_each_;
    const double rate = outside ? network_.rate / on_each_ : network_.local_rate;
    const std::int64_t most = std::max(swap.middle - swap.begin, swap.end - swap.middle) * element_bytes;
    double &left = now_[index(swap.left.rank)], &right = now_[index(swap.right.rank)];
    left = right =
        std::max(left, right) + network_.message_seconds + (most > 0 ? static_cast<double>(most) / rate : 0);
  }

  static std::size_t index(std::int64_t rank) { return static_cast<std::size_t>(rank); }

  const Network& network_;
  int on_each_;  // ranks on a machine
  std::vector<double> now_;
};

}  // namespace

double exchange_seconds(std::int64_t bytes, const Network& network) {
  if (network.ranks == 1) return 0;
  const auto seconds = [&](std::int64_t length) {
    return length == 0 ? 0 : Clocks(network).after(net::sum_by_halves(network.ranks, network.ranks, length));
  };
  const std::int64_t chunk = net::exchange_chunk_bytes(network.ranks);
  return static_cast<double>(bytes / chunk) * (bytes < chunk ? 0 : seconds(chunk / element_bytes)) +
         seconds(bytes % chunk / element_bytes);
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
