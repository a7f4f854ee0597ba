// Computes the bound at every node in one sweep. Sizes on the device are rounded up to place_alignment; bytes
// moved or recomputed are exact.
//
// Proof. While node k runs, persistent values leave `room` bytes of the device. A value live across k that is
// not resident when k begins was copied out before (or will be recomputed after k). One that is not resident
// when k ends is copied in (or recomputed) after it. Nodes run for the first time in the graph's order, and
// recomputations of such values come after k, so they add to the compute time after k.
//
// A node may overwrite in place an input that is used later, if the input is swapped in or recomputed for
// that use. The input, which is at least as large as the output, is then evicted instead of other values: the
// excess is no smaller, but the input may be part of it.
#include "swap/model/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/shape.h"
#include "net/graph/operation.h"
#include "swap/model/needs.h"
#include "swap/model/relaxation.h"
#include "swap/model/volume_program.h"
#include "swap/plan/arena.h"

namespace voxswap::swap {
namespace {

constexpr double rounding = 1 + 1e-12;  // sums in another order may differ by this factor

// Recomputable values, cheapest seconds per byte first.
struct Remake {
  net::ValueId value = net::none;
  double bytes = 0, seconds_per_byte = 0;
};

std::vector<Remake> remakes(const net::Graph& graph, const Needs& needs, const CostModel& costs) {
  std::vector<Remake> all;
  for (net::NodeId id = 0; index(id) < graph.nodes().size(); ++id) {
    const net::Node& node = graph.node(id);
    if (!node.updates.empty() || net::is_exchange(node)) continue;
    double bytes = 0;
    for (const net::ValueId output : node.outputs) bytes += static_cast<double>(graph.value(output).bytes());
    for (const net::ValueId output : node.outputs)
      if (needs.last[index(output)] > id + 1)
        all.push_back({output, static_cast<double>(graph.value(output).bytes()),
                       costs.node_seconds[index(id)] / bytes});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Remake& a, const Remake& b) { return a.seconds_per_byte < b.seconds_per_byte; });
  return all;
}

double rate(const Link& link) {
  return std::max(link.alone, link.busy);
}

// The bound at one node, as a function of the bytes r of the excess that are recomputed at cost(r):
//   max(before, (y - read) / out, z / to disk) + during + max(after + cost(r), (y - given) / in, z / from
//   disk)
// with y = excess - r the bytes evicted, of which inputs need no copy out and kept values no copy in, and
// z = max(0, y - read - given - host) the bytes that pass the disk. Each part is the maximum of three lines
// in r (cost is slabwise linear), so the sum is convex.
struct Cut {
  double excess = 0, before = 0, during = 0, after = 0;
  double out = 0, in = 0, to_disk = 0, from_disk = 0;  // rates
  double host = 0;                                     // budget, bytes
  double read = 0, given = 0;                          // bytes live across of inputs; of kept values
  double least_r = 0;                                  // bytes that neither host nor disk can take

  double seconds(double r, double cost) const {
    const double left = excess - r, spilled = std::max(0.0, left - read - given - host);
    const double by_disk_out = spilled > 0 ? spilled / to_disk : 0,
                 by_disk_in = spilled > 0 ? spilled / from_disk : 0;
    const double by_out = left > read ? (left - read) / out : 0,
                 by_in = left > given ? (left - given) / in : 0;
    return std::max({before, by_out, by_disk_out}) + during + std::max({after + cost, by_in, by_disk_in});
  }
};

// A segment of r with constant cost per byte.
struct Segment {
  double from = 0, to = 0, cost = 0, slope = 0;  // cost: at `from`
  double cost_at(double r) const { return cost + slope * (r - from); }
};

// a + b r
struct Line {
  double a = 0, b = 0;
};

struct Least {
  double seconds = infinity, r = 0;
};

void try_at(const Cut& cut, const Segment& segment, double r, Least& least) {
  if (!(r >= segment.from && r <= segment.to && r >= cut.least_r)) return;
  const double seconds = cut.seconds(r, segment.cost_at(r));
  if (seconds < least.seconds) least = {seconds, r};
}

// The minimum over a segment: at an end, or where two lines of one part cross.
void refine(const Cut& cut, const Segment& segment, Least& least) {
  const double x = cut.excess, spill = x - cut.read - cut.given - cut.host;
  const Line parts[2][3] = {
      {{cut.before, 0}, {(x - cut.read) / cut.out, -1 / cut.out}, {spill / cut.to_disk, -1 / cut.to_disk}},
      {{cut.after + segment.cost - segment.slope * segment.from, segment.slope},
       {(x - cut.given) / cut.in, -1 / cut.in},
       {spill / cut.from_disk, -1 / cut.from_disk}}};
  try_at(cut, segment, segment.from, least);
  try_at(cut, segment, segment.to, least);
  try_at(cut, segment, spill, least);
  try_at(cut, segment, cut.least_r, least);
  for (const auto& lines : parts)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j)
        try_at(cut, segment, (lines[j].a - lines[i].a) / (lines[i].b - lines[j].b), least);
}

// Exchanges run concurrently with other nodes.
std::vector<double> compute_seconds(const net::Graph& graph, const CostModel& costs) {
  std::vector<double> seconds = costs.node_seconds;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    if (net::is_exchange(graph.nodes()[i])) seconds[i] = 0;
  return seconds;
}

// The end of the last exchange. Each follows the previous one and the nodes before it.
double exchange_bound(const net::Graph& graph, const CostModel& costs) {
  double computed = 0, exchanged = 0;
  for (net::NodeId id = 0; index(id) < graph.nodes().size(); ++id) {
    if (net::is_exchange(graph.node(id)))
      exchanged = std::max(exchanged, computed) + costs.node_seconds[index(id)];
    else
      computed += costs.node_seconds[index(id)];
  }
  return exchanged;
}

class Sweep {
 public:
  Sweep(const net::Graph& graph, const Needs& needs, const CostModel& costs, const Budgets& budgets)
      : graph_(graph),
        needs_(needs),
        budgets_(budgets),
        node_seconds_(compute_seconds(graph, costs)),
        remakes_(remakes(graph, needs, costs)),
        // The last allocation may end at a budget that is not a multiple of the alignment.
        room_(occupied(budgets.device) - needs.persistent),
        stays_(graph.values().size(), net::none) {
    cut_.out = rate(costs.to_host);
    cut_.in = rate(costs.to_device);
    cut_.to_disk = rate(costs.to_disk);
    cut_.from_disk = rate(costs.from_disk);
    cut_.host = static_cast<double>(budgets.host);
    bound_.compute_seconds = std::accumulate(node_seconds_.begin(), node_seconds_.end(), 0.0);
    bound_.seconds = std::max(bound_.compute_seconds, exchange_bound(graph, costs));
  }

  Bound run() {
    const auto is_read = [&](net::ValueId id) { return graph_.value(id).role == net::Role::input; };
    const auto is_given = [&](net::ValueId id) {
      return needs_.last[index(id)] == static_cast<net::NodeId>(node_seconds_.size());
    };
    const std::vector<std::int64_t> across = bytes_across(graph_, needs_),
                                    read = bytes_across(graph_, needs_, is_read),
                                    given = bytes_across(graph_, needs_, is_given);
    double before = 0;
    for (net::NodeId node = 0; index(node) < node_seconds_.size(); ++node) {
      const WorkingSet& working = needs_.working[index(node)];
      if (working.least_bytes > room_) return impossible(node);
      if (net::is_exchange(graph_.node(node)))
        continue;  // values live across it may be evicted while it runs
      cut_.excess = static_cast<double>(across[index(node)] + working.bytes - room_);
      cut_.read = static_cast<double>(read[index(node)]);
      cut_.given = static_cast<double>(given[index(node)]);
      for (const net::ValueId value : working.may_leave)
        if (is_given(value)) cut_.given += static_cast<double>(graph_.value(value).bytes());
      cut_.before = before;
      cut_.during = node_seconds_[index(node)];
      before += cut_.during;
      cut_.after = bound_.compute_seconds - before;
      if (cut_.excess > 0) add_cut(node);
      if (bound_.seconds == infinity) break;
    }
    bound_.moment_seconds = bound_.seconds;
    return bound_;
  }

 private:
  Bound impossible(net::NodeId node) const {
    return {infinity, bound_.compute_seconds, infinity, node, 0, 0};
  }

  // The most bytes that can be evicted, regardless of time.
  double room_elsewhere() const {
    if (cut_.out <= 0 || cut_.in <= 0) return 0;
    const double streamed = cut_.read + cut_.given;
    if (budgets_.host <= 0) return streamed;
    const bool disk = cut_.to_disk > 0 && cut_.from_disk > 0;
    return streamed + cut_.host + (disk ? static_cast<double>(budgets_.disk) : 0);
  }

  bool exceeds(const Least& least) const { return least.seconds > bound_.seconds * rounding; }

  void add_cut(net::NodeId node) {
    const Least least = least_over_remakes(node);
    if (!exceeds(least)) return;
    bound_.seconds = least.seconds;
    bound_.node = node;
    bound_.excess_bytes = cut_.excess;
    bound_.recomputed_bytes = least.r;
  }

  // Follows the convex function from segment to segment until it rises (the minimum is then in the last two),
  // or until it cannot exceed the largest bound found so far.
  Least least_over_remakes(net::NodeId node) {
    for (const net::ValueId value : needs_.working[index(node)].inputs) stays_[index(value)] = node;
    for (const net::ValueId value : needs_.working[index(node)].may_leave) stays_[index(value)] = net::none;
    cut_.least_r = std::max(0.0, cut_.excess - room_elsewhere());
    Segment before, current;
    Least least;
    try_at(cut_, current, 0, least);
    for (const Remake& remake : remakes_) {
      if (current.to >= cut_.excess || !exceeds(least)) break;
      if (!needs_.across(remake.value, node) || stays_[index(remake.value)] == node) continue;
      before = current;
      current = {before.to, std::min(cut_.excess, before.to + remake.bytes), before.cost_at(before.to),
                 remake.seconds_per_byte};
      if (current.to < cut_.least_r) continue;
      const double begin = std::max(current.from, cut_.least_r);
      try_at(cut_, current, begin, least);
      try_at(cut_, current, current.to, least);
      if (cut_.seconds(current.to, current.cost_at(current.to)) > cut_.seconds(begin, current.cost_at(begin)))
        break;
    }
    refine(cut_, before, least);
    refine(cut_, current, least);
    return least;
  }

  const net::Graph& graph_;
  const Needs& needs_;
  const Budgets& budgets_;
  const std::vector<double> node_seconds_;  // on the compute lane
  const std::vector<Remake> remakes_;
  const std::int64_t room_;
  std::vector<net::NodeId> stays_;  // per value: the last node seen that needs it on the device
  Cut cut_;
  Bound bound_;
};

}  // namespace

Bound lower_bound(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                  const std::vector<net::ValueId>& kept, const CostModel& costs, const Budgets& budgets) {
  const Needs needs = find_needs(graph, workspaces, kept);
  Bound bound = Sweep(graph, needs, costs, budgets).run();
  if (bound.seconds == infinity) return bound;
  const std::vector<double> seconds = compute_seconds(graph, costs);
  for (const double least : {relaxed_seconds(graph, needs, seconds, costs, budgets, bound.node),
                             volume_program_seconds(graph, needs, seconds, costs, budgets)})
    if (least > bound.seconds * rounding) bound.seconds = least;
  return bound;
}

Floor least_budget(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                   const std::vector<net::ValueId>& kept) {
  const Needs needs = find_needs(graph, workspaces, kept);
  Floor floor{0, graph.nodes().empty() ? net::none : 0};
  for (net::NodeId node = 0; index(node) < needs.working.size(); ++node)
    if (needs.working[index(node)].least_bytes > floor.bytes)
      floor = {needs.working[index(node)].least_bytes, node};
  floor.bytes += needs.persistent;
  return floor;
}

}  // namespace voxswap::swap
