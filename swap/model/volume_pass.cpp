#include <algorithm>
#include <numeric>

#include "base/shape.h"
#include "net/graph/operation.h"
#include "swap/model/relaxation.h"

namespace voxswap::swap {
namespace {

constexpr int equal_segments = 16;  // more hardly tighten the bound, and each costs time per value across it

class PassFinder {
 public:
  PassFinder(const net::Graph& graph, const Needs& needs, const std::vector<double>& seconds)
      : graph_(graph), needs_(needs), seconds_(seconds) {}

  Pass run(double room, net::NodeId cut) {
    find_borders(cut);
    find_moments(room);
    find_ways();
    return std::move(pass_);
  }

 private:
  void find_borders(net::NodeId cut) {
    std::vector<Border>& borders = pass_.borders;
    if (cut != net::none) borders = {{index(cut), cut}, {index(cut) + 1, cut}};
    const double all = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    double before = 0;
    int passed = 0;
    for (std::size_t node = 0; node < seconds_.size(); ++node) {
      const auto now = static_cast<int>(before / all * equal_segments);
      if (net::is_exchange(graph_.nodes()[node])) continue;
      if (now > passed) borders.push_back({node, static_cast<net::NodeId>(node)});
      passed = std::max(passed, now);
      before += seconds_[node];
    }
    const auto useless = [&](const Border& border) { return border.at == 0 || border.at >= seconds_.size(); };
    std::erase_if(borders, useless);
    std::stable_sort(borders.begin(), borders.end(),
                     [](const Border& a, const Border& b) { return a.at < b.at; });
    const auto same = [](const Border& a, const Border& b) { return a.at == b.at; };
    borders.erase(std::unique(borders.begin(), borders.end(), same), borders.end());
    pass_.compute.assign(borders.size() + 1, 0);
    for (std::size_t node = 0; node < seconds_.size(); ++node)
      pass_.compute[segment_at(node)] += seconds_[node];
  }

  // The segment in which node `at` begins.
  std::size_t segment_at(std::size_t at) const {
    const auto after = std::upper_bound(pass_.borders.begin(), pass_.borders.end(), at,
                                        [](std::size_t node, const Border& b) { return node < b.at; });
    return static_cast<std::size_t>(after - pass_.borders.begin());
  }

  void find_moments(double room) {
    const std::vector<std::int64_t> across = bytes_across(graph_, needs_);
    std::vector<std::int64_t> all(seconds_.size());
    for (std::size_t node = 0; node < all.size(); ++node)
      all[node] = across[node] + needs_.working[node].least_bytes;
    for (std::size_t node = 0; node < all.size(); ++node) {
      const bool rising = node == 0 || all[node - 1] <= all[node];
      const bool falling = node + 1 == all.size() || all[node + 1] < all[node];
      if (net::is_exchange(graph_.nodes()[node])) continue;
      if (rising && falling && static_cast<double>(all[node]) > room) pass_.moments.push_back(node);
    }
  }

  void find_ways() {
    const auto end = static_cast<net::NodeId>(seconds_.size());
    std::vector<std::vector<net::NodeId>> uses(graph_.values().size());
    for (std::size_t id = 0; id < uses.size(); ++id)
      if (needs_.last[id] != net::none) uses[id].push_back(needs_.first[id]);
    for (net::NodeId node = 0; node < end; ++node)
      for (const net::ValueId value : needs_.working[index(node)].inputs) uses[index(value)].push_back(node);
    for (std::size_t id = 0; id < uses.size(); ++id) {
      if (needs_.last[id] == end) uses[id].push_back(end);
      if (uses[id].size() > 1 && graph_.values()[id].bytes() > 0 && !is_exchanged(uses[id]))
        add_lifetime(static_cast<net::ValueId>(id), uses[id]);
    }
  }

  bool is_exchanged(const std::vector<net::NodeId>& uses) const {
    return std::any_of(uses.begin(), uses.end(), [&](net::NodeId id) {
      return id >= 0 && index(id) < seconds_.size() && net::is_exchange(graph_.node(id));
    });
  }

  void add_lifetime(net::ValueId value, const std::vector<net::NodeId>& uses) {
    ValueLifetime lifetime;
    lifetime.bytes = static_cast<double>(graph_.value(value).bytes());
    lifetime.read = graph_.value(value).role == net::Role::input;
    lifetime.given = index(uses.back()) == seconds_.size();
    const net::NodeId producer = graph_.value(value).producer;
    if (producer != net::none && graph_.node(producer).updates.empty()) {
      double bytes = 0;
      for (const net::ValueId output : graph_.node(producer).outputs)
        bytes += static_cast<double>(graph_.value(output).bytes());
      lifetime.recompute_per_byte = seconds_[index(producer)] / bytes;
    }
    lifetime.from = pass_.parts.size();
    for (std::size_t i = 0; i + 1 < uses.size(); ++i) add_gap(value, uses[i], uses[i + 1]);
    lifetime.to = pass_.parts.size();
    pass_.lifetimes.push_back(lifetime);
  }

  // The gap from the start of node `a` (-1: of the step) to the start of node `b`.
  void add_gap(net::ValueId value, net::NodeId a, net::NodeId b) {
    const bool over = a >= 0 && may_be_overwritten(value, a);
    const std::vector<Border>& borders = pass_.borders;
    Part part;
    part.segment = segment_at(static_cast<std::size_t>(std::max(a, 0)));
    part.from = static_cast<std::size_t>(over ? a : a + 1);
    for (; part.segment < borders.size(); ++part.segment) {
      const Border& border = borders[part.segment];
      if (border.node >= b) break;
      part.to = std::max(part.from, border.at);
      part.border = static_cast<std::int32_t>(part.segment);
      part.counts_there = border.node != a || over;
      pass_.parts.push_back(part);
      part.from = part.to;
    }
    part.to = std::max(part.from, index(b));
    part.border = net::none;
    part.ends_step = index(b) == seconds_.size();
    pass_.parts.push_back(part);
  }

  // Whether a node's working set certainly counts its output and this input, which is used later, only once:
  // bytes of the input that stay resident then count in addition.
  bool may_be_overwritten(net::ValueId value, net::NodeId id) const {
    const net::Node& node = graph_.node(id);
    return node.outputs.size() == 1 && needs_.working[index(id)].may_leave == std::vector{value} &&
           graph_.value(node.outputs.front()).bytes() == graph_.value(value).bytes();
  }

  const net::Graph& graph_;
  const Needs& needs_;
  const std::vector<double>& seconds_;
  Pass pass_;
};

}  // namespace

Pass find_pass(const net::Graph& graph, const Needs& needs, const std::vector<double>& node_seconds,
               double room, net::NodeId cut) {
  return PassFinder(graph, needs, node_seconds).run(room, cut);
}

}  // namespace voxswap::swap
