// Compares the lower bound with schedules from a random search: none may be faster, and some must come close,
// or the bound would be useless.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/philox.h"
#include "base/shape.h"
#include "swap/model/bound.h"
#include "swap/model/simulator.h"
#include "swap/plan/arena.h"
#include "swap/plan/places.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

// A greedy random schedule: values are swapped out or freed for recomputation, and swapped in when needed or
// earlier. Inputs may start in host memory, and kept values may end there. Only the sum of live bytes is
// limited (no offsets are assigned), so the result is at least as fast as a plan with the same decisions.
class Walk {
 public:
  Walk(const net::Graph& graph, const std::vector<net::ValueId>& kept, const Budgets& budgets,
       std::uint64_t seed)
      : graph_(graph), random_(seed, 3), host_(budgets.host), on_device_(graph.values().size(), false) {
    const auto end = static_cast<net::NodeId>(graph.nodes().size());
    on_host_ = must_not_be_recomputed_ = on_device_;
    made_.assign(on_device_.size(), net::none);
    copied_.assign(on_device_.size(), net::none);
    reads_.resize(on_device_.size());
    last_use_.resize(on_device_.size());
    room_ = budgets.device;
    eager_ = chance();
    prefetch_ = chance();
    recompute_ = chance();
    for (net::NodeId id = 0; id < end; ++id) {
      for (const net::ValueId value : graph.node(id).inputs) reads_[index(value)].push_back(id);
      for (const net::ValueId value : graph.node(id).updates) must_not_be_recomputed_[index(value)] = true;
    }
    for (const net::ValueId value : kept) reads_[index(value)].push_back(end);
    for (std::size_t id = 0; id < on_device_.size(); ++id) {
      const net::Value& value = graph.values()[id];
      if (value.persistent()) room_ -= occupied(value.bytes());
    }
    for (const net::ValueId id : graph.with_role(net::Role::input)) {
      on_host_[index(id)] = true;
      if (!reads_[index(id)].empty() && room_ >= bytes(id)) take(id);
    }
  }

  std::optional<Plan> run() {
    for (net::NodeId node = 0; index(node) < graph_.nodes().size(); ++node) {
      now_ = node;
      if (!make(node, 0)) return {};
      drop_dead();
      spare_time();
    }
    now_ = static_cast<net::NodeId>(graph_.nodes().size());
    for (std::size_t id = 0; id < reads_.size(); ++id)
      if (is_kept(static_cast<net::ValueId>(id)) && !on_host_[id] && !bring(static_cast<net::ValueId>(id), 0))
        return {};
    return plan_;
  }

 private:
  double chance() { return random_.uniform(draw_++); }
  std::int64_t bytes(net::ValueId value) const { return occupied(graph_.value(value).bytes()); }
  net::NodeId next_read(net::ValueId value) const {
    for (const net::NodeId node : reads_[index(value)])
      if (node > now_) return node;
    return net::none;
  }
  bool is_kept(net::ValueId value) const {
    const std::vector<net::NodeId>& reads = reads_[index(value)];
    return !reads.empty() && index(reads.back()) == graph_.nodes().size();
  }
  bool pinned(net::ValueId value) const {
    return std::find(pins_.begin(), pins_.end(), value) != pins_.end();
  }

  void take(net::ValueId value) {
    on_device_[index(value)] = true;
    room_ -= bytes(value);
  }
  void drop(net::ValueId value) {
    on_device_[index(value)] = false;
    room_ += bytes(value);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      freed_[lane] = std::max(freed_[lane], last_use_[index(value)].at[lane]);
      last_use_[index(value)].at[lane] = net::none;
    }
  }

  std::int32_t add(Instruction instruction, bool takes_place) {
    const auto lane = static_cast<std::size_t>(instruction.lane());
    for (std::size_t other = 0; other < lane_count; ++other)
      if (takes_place && other != lane && freed_[other] != net::none)
        instruction.waits.push_back(freed_[other]);
    plan_.instructions.push_back(std::move(instruction));
    return static_cast<std::int32_t>(plan_.instructions.size()) - 1;
  }
  void use(net::ValueId value, std::int32_t at) {
    last_use_[index(value)].at[static_cast<std::size_t>(plan_.instructions[index(at)].lane())] = at;
  }

  bool copy_out(net::ValueId value) {
    if (on_host_[index(value)]) return true;
    if (!is_kept(value)) {
      if (host_ < graph_.value(value).bytes()) return false;
      host_ -= graph_.value(value).bytes();
    }
    on_host_[index(value)] = true;
    Instruction instruction;
    instruction.kind = Instruction::Kind::copy_out;
    instruction.value = value;
    instruction.bytes = graph_.value(value).bytes();
    if (made_[index(value)] != net::none) instruction.waits = {made_[index(value)]};
    copied_[index(value)] = add(instruction, false);
    use(value, copied_[index(value)]);
    return true;
  }

  // Whether a value can be recomputed after it was freed without a copy.
  bool can_be_recomputed(net::ValueId value) const {
    const net::NodeId producer = graph_.value(value).producer;
    if (producer == net::none || !graph_.node(producer).updates.empty()) return false;
    return std::none_of(graph_.node(producer).inputs.begin(), graph_.node(producer).inputs.end(),
                        [&](net::ValueId input) { return must_not_be_recomputed_[index(input)]; });
  }

  // Frees memory, usually of the values that are read last.
  bool make_room(std::int64_t wanted) {
    while (room_ < wanted) {
      net::ValueId victim = net::none;
      double best = -1;
      for (net::ValueId id = 0; index(id) < on_device_.size(); ++id) {
        if (!on_device_[index(id)] || pinned(id)) continue;
        const double score = next_read(id) + 3 * chance();
        if (score > best) best = score, victim = id;
      }
      if (victim == net::none) return false;
      if (next_read(victim) != net::none && !on_host_[index(victim)]) {
        const bool recompute = can_be_recomputed(victim) && chance() < recompute_;
        if (!recompute && !copy_out(victim) && !can_be_recomputed(victim)) return false;
      }
      drop(victim);
    }
    return true;
  }

  bool bring(net::ValueId value, int depth) {
    if (graph_.value(value).persistent() || on_device_[index(value)]) return true;
    if (!on_host_[index(value)])
      return depth < 8 && can_be_recomputed(value) && make(graph_.value(value).producer, depth + 1);
    if (!make_room(bytes(value))) return false;
    Instruction instruction;
    instruction.kind = Instruction::Kind::copy_in;
    instruction.value = value;
    instruction.bytes = graph_.value(value).bytes();
    if (copied_[index(value)] != net::none) instruction.waits = {copied_[index(value)]};
    made_[index(value)] = add(instruction, true);
    use(value, made_[index(value)]);
    take(value);
    return true;
  }

  bool make(net::NodeId id, int depth) {
    const net::Node& node = graph_.node(id);
    const std::size_t pins = pins_.size();
    for (const net::ValueId input : node.inputs) {
      if (!bring(input, depth)) return false;
      pins_.push_back(input);
    }
    Instruction instruction;
    instruction.node = id;
    for (const net::ValueId input : node.inputs)
      if (made_[index(input)] != net::none) instruction.waits.push_back(made_[index(input)]);
    std::vector<net::ValueId> over;
    for (const net::ValueId output : node.outputs) {
      if (on_device_[index(output)]) continue;
      net::ValueId under = net::none;
      for (const net::ValueId input : node.inputs)
        if (depth == 0 && next_read(input) == net::none && on_device_[index(input)] &&
            may_take_over(graph_, node, output, input))
          under = input;
      if (under != net::none) {
        over.push_back(under);
        drop(under);
        // Copies of the old content must be done; its readers are on the same lane.
      } else if (!make_room(bytes(output))) {
        return false;
      }
      take(output);
      pins_.push_back(output);
    }
    const std::int32_t at = add(instruction, true);
    for (const net::ValueId input : node.inputs)
      if (on_device_[index(input)]) use(input, at);
    for (const net::ValueId output : node.outputs) {
      made_[index(output)] = at;
      use(output, at);
    }
    pins_.resize(pins);
    return true;
  }

  void drop_dead() {
    for (net::ValueId id = 0; index(id) < on_device_.size(); ++id)
      if (on_device_[index(id)] && next_read(id) == net::none) drop(id);
  }

  // Copies early, in both directions.
  void spare_time() {
    for (net::ValueId id = 0; index(id) < on_device_.size(); ++id)
      if (on_device_[index(id)] && next_read(id) != net::none && chance() < eager_) copy_out(id);
    std::vector<net::ValueId> waiting;
    for (net::ValueId id = 0; index(id) < on_device_.size(); ++id)
      if (!on_device_[index(id)] && on_host_[index(id)] && next_read(id) != net::none) waiting.push_back(id);
    std::sort(waiting.begin(), waiting.end(),
              [&](net::ValueId a, net::ValueId b) { return next_read(a) < next_read(b); });
    for (const net::ValueId id : waiting)
      if (room_ >= bytes(id) && chance() < prefetch_) bring(id, 0);
  }

  struct Uses {
    std::int32_t at[lane_count] = {net::none, net::none, net::none, net::none, net::none, net::none};
  };
  const net::Graph& graph_;
  const Philox random_;
  std::uint64_t draw_ = 0;
  std::int64_t room_ = 0, host_ = 0;
  double eager_ = 0, prefetch_ = 0, recompute_ = 0;
  net::NodeId now_ = 0;
  std::vector<bool> on_device_, on_host_, must_not_be_recomputed_;
  std::vector<std::int32_t> made_,
      copied_;  // instructions that start the residency, and the copy on the host
  std::vector<std::vector<net::NodeId>> reads_;
  std::vector<Uses> last_use_;
  std::int32_t freed_[lane_count] = {net::none, net::none, net::none, net::none, net::none, net::none};
  std::vector<net::ValueId> pins_;
  Plan plan_;
};

TEST(BoundAgainstSearch, NoScheduleIsShorterAndManyComeClose) {
  int close = 0, cases = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const test::SmallStep step =
        seed % 2 == 0 ? test::hourglass(seed, 2 + static_cast<int>(seed % 5)) : test::random_step(seed, 6);
    const Philox random(seed, 5);
    CostModel costs;
    for (std::size_t i = 0; i < step.graph.nodes().size(); ++i)
      costs.node_seconds.push_back(0.2 + random.uniform(i));
    const double rate = 128 * std::exp2(random.uniform(1000) * 4 - 2);  // a volume in 1/4 to 4 s
    costs.to_host = costs.to_device = {rate, rate};
    const std::vector<std::int64_t> workspaces(step.graph.nodes().size(), 0);
    const std::int64_t least = least_budget(step.graph, workspaces, step.kept).bytes;
    for (int more = 0; more < 3; ++more) {
      for (const std::int64_t host : {0, 256, 1 << 20}) {
        const Budgets budgets{least + 128 * more, host, 0};
        const Bound bound = lower_bound(step.graph, workspaces, step.kept, costs, budgets);
        if (bound.node == net::none && !std::isinf(bound.seconds)) continue;  // the compute time alone
        double shortest = std::numeric_limits<double>::infinity();
        for (std::uint64_t walk = 0; walk < 200; ++walk)
          if (const auto plan = Walk(step.graph, step.kept, budgets, 1000 * seed + walk).run())
            shortest = std::min(shortest, simulate(*plan, costs).seconds);
        EXPECT_GE(shortest, bound.seconds * (1 - 1e-9))
            << "seed " << seed << ", budget " << budgets.device << ", host " << host;
        if (std::isinf(bound.seconds)) continue;
        ++cases;
        if (shortest <= 1.01 * bound.seconds) ++close;
      }
    }
  }
  EXPECT_GT(close, 40) << "of " << cases;
}

}  // namespace
}  // namespace voxswap::swap
