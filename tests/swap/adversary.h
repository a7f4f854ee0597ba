// The adversary of verify(): executes a plan on marks instead of numbers, in orders of its choice. An order
// is a sequence of starts and ends of instructions that streams and waits allow, so several may be in flight.
// It has no rule for what must be ordered; it only checks whether every node reads the right marks. Copies
// move any marks.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/philox.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "swap/plan/plan.h"

namespace voxswap::test {

class Adversary {
 public:
  // REQUIRES: sizes and chunks are multiples of `cell` bytes; instructions and residencies are in range.
  Adversary(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const swap::Plan& plan)
      : graph_(graph), workspaces_(workspaces), plan_(plan), count_(plan.instructions.size()) {
    whole_ = sizes_are_sane() && resolve();
    if (whole_) find_order();
  }

  // In the order of the list.
  bool survives_list() {
    std::vector<Event> order;
    for (std::size_t i = 0; i < count_; ++i) order.insert(order.end(), {{i, false}, {i, true}});
    return whole_ && survives(order);
  }

  // Every instruction in turn starts as early and ends as late as possible, so that two unordered users of
  // the same bytes overlap.
  bool survives_long_instructions() {
    for (std::size_t i = 0; whole_ && i < count_; ++i)
      if (!survives(stretched(i))) return false;
    return whole_;
  }

  // Streams of random speeds, which change from order to order.
  bool survives_random_orders(std::uint64_t seed, int orders) {
    for (int i = 0; whole_ && i < orders; ++i)
      if (!survives(random_order(Philox(seed, 17, static_cast<std::uint32_t>(i))))) return false;
    return whole_;
  }

  bool survives_everything(std::uint64_t seed) {
    return survives_list() && survives_long_instructions() && survives_random_orders(seed, 50);
  }

 private:
  static constexpr std::int64_t cell = 16;  // bytes
  using Kind = swap::Instruction::Kind;
  using Mark = std::int64_t;
  static constexpr Mark rubbish = -1;
  static Mark under_way(std::size_t instruction) { return -2 - static_cast<Mark>(instruction); }

  struct Event {
    std::size_t instruction;
    bool end;
  };
  struct Operand {
    net::ValueId value;  // none: workspace
    std::size_t begin, cells;
    int version;                // to be read, or written
    bool written_over = false;  // by an output, if the operation allows it
    std::size_t memory = 0;     // the arena, or host memory for streamed values
  };
  struct Resolved {
    std::vector<Operand> reads, writes;          // run: in the arena
    std::size_t from_memory = 0, to_memory = 0;  // copies
    std::size_t from = 0, to = 0, cells = 0;
    std::vector<Mark> found;  // while it is in flight
  };

  static std::size_t at(std::int64_t id) { return static_cast<std::size_t>(id); }
  static std::size_t cells_of(std::int64_t bytes) { return at((bytes + cell - 1) / cell); }
  static Mark mark(net::ValueId value, int version, std::size_t index) {
    return ((static_cast<Mark>(value) << 12) + version) * (Mark{1} << 32) + static_cast<Mark>(index);
  }

  bool sizes_are_sane() {
    const std::int64_t sizes[] = {plan_.peak_bytes, host_bytes(), plan_.disk_bytes};
    for (std::size_t m = 0; m < 3; ++m) {
      if (sizes[m] < 0 || sizes[m] > 1 << 24) return false;
      size_[m] = cells_of(sizes[m]);
    }
    return true;
  }

  std::int64_t host_bytes() const { return plan_.host_bytes + plan_.streamed_bytes; }

  const swap::Residency* place(net::ValueId value, net::NodeId node, std::int64_t bytes,
                               std::size_t when) const {
    for (const swap::Residency& r : plan_.residencies)
      if (r.value == value && (value != net::none || r.node == node) && at(r.first) <= when &&
          when <= at(r.last)) {
        const bool good =
            r.offset >= 0 && r.offset % 64 == 0 && r.bytes >= bytes && r.offset + r.bytes <= plan_.peak_bytes;
        return good ? &r : nullptr;
      }
    return nullptr;
  }
  bool operand(net::ValueId value, std::size_t when, int version, std::vector<Operand>& list) const {
    const swap::Residency* r = place(value, net::none, graph_.value(value).bytes(), when);
    if (r != nullptr)
      list.push_back({value, at(r->offset / cell), cells_of(graph_.value(value).bytes()), version});
    return r != nullptr;
  }

  bool streamed(net::ValueId value, std::vector<Operand>& list) const {
    const swap::Streamed* place = swap::find_streamed(plan_, value);
    if (place == nullptr || place->host < 0 || place->host % cell != 0 ||
        place->host + graph_.value(value).bytes() > host_bytes())
      return false;
    list.push_back({value, at(place->host / cell), cells_of(graph_.value(value).bytes()), 0, false, 1});
    return true;
  }

  bool resolve() {
    std::vector<int> version(graph_.values().size(), 0);
    std::vector<std::map<net::ValueId, int>> expected;  // versions that nodes read, in the graph's order
    for (const net::Node& node : graph_.nodes()) {
      expected.emplace_back();
      for (const net::ValueId value : node.inputs) expected.back()[value] = version[at(value)];
      for (const net::ValueId value : node.updates) expected.back()[value] = version[at(value)]++;
    }
    std::set<net::NodeId> nodes;
    for (std::size_t i = 0; i < count_; ++i) {
      const swap::Instruction& instruction = plan_.instructions[i];
      resolved_.emplace_back();
      if (instruction.kind == Kind::run) {
        nodes.insert(instruction.node);
        if (!resolve_run(i, expected[at(instruction.node)])) return false;
      } else if (!resolve_move(i)) {
        return false;
      }
      for (const std::int32_t wait : instruction.waits)
        if (wait < 0 || at(wait) >= i) return false;
    }
    return nodes.size() == graph_.nodes().size() && resolve_ends(version);
  }
  bool resolve_ends(const std::vector<int>& version) {
    for (net::ValueId id = 0; at(id) < graph_.values().size(); ++id) {
      const net::Value& value = graph_.value(id);
      if (value.persistent() &&
          !(operand(id, 0, 0, before_) && operand(id, count_ - 1, version[at(id)], after_)))
        return false;
      if (value.role != net::Role::input) continue;
      operand(id, 0, 0, before_);
      streamed(id, before_);
    }
    return std::all_of(plan_.kept.begin(), plan_.kept.end(), [&](net::ValueId id) {
      return operand(id, count_ - 1, version[at(id)], after_) || streamed(id, after_);
    });
  }

  bool resolve_run(std::size_t i, const std::map<net::ValueId, int>& versions) {
    Resolved& run = resolved_[i];
    const net::NodeId id = plan_.instructions[i].node;
    const net::Node& node = graph_.node(id);
    for (const auto* list : {&node.inputs, &node.updates})
      for (const net::ValueId value : *list)
        if (!operand(value, i, versions.at(value), run.reads)) return false;
    if (const std::int64_t bytes = workspaces_[at(id)]; bytes > 0) {
      const swap::Residency* r = place(net::none, id, bytes, i);
      if (r == nullptr) return false;
      run.writes.push_back({net::none, at(r->offset / cell), cells_of(bytes), 0});
    }
    for (const net::ValueId value : node.outputs)
      if (!operand(value, i, 0, run.writes)) return false;
    for (const net::ValueId value : node.updates)
      if (!operand(value, i, versions.at(value) + 1, run.writes)) return false;
    for (Operand& read : run.reads)
      for (const Operand& write : run.writes)
        read.written_over |= read.begin == write.begin && may_lie_over(node, write.value, read.value);
    return true;
  }
  bool may_lie_over(const net::Node& node, net::ValueId output, net::ValueId input) const {
    if (std::count(node.updates.begin(), node.updates.end(), input) > 0) return output == input;
    if (std::count(node.inputs.begin(), node.inputs.end(), input) != 1) return false;
    return std::any_of(
        node.operation->in_place.begin(), node.operation->in_place.end(), [&](const auto& pair) {
          return node.outputs[at(pair.first)] == output && node.inputs[at(pair.second)] == input;
        });
  }

  bool resolve_move(std::size_t i) {
    const swap::Instruction& m = plan_.instructions[i];
    const bool disk = m.lane() == swap::Lane::to_disk || m.lane() == swap::Lane::from_disk;
    const std::int64_t bytes = disk ? (m.bytes + 4095) / 4096 * 4096 : m.bytes;
    if (m.bytes <= 0 || m.begin < 0 || m.begin + m.bytes > graph_.value(m.value).bytes()) return false;
    if (m.host < 0 || m.host + bytes > host_bytes()) return false;
    std::size_t other = 0;
    if (disk) {
      if (m.disk < 0 || m.disk + bytes > plan_.disk_bytes) return false;
      if (m.disk % 4096 != 0 || m.host % 4096 != 0) return false;
      other = at(m.disk / cell);
    } else {
      const swap::Residency* r = place(m.value, net::none, graph_.value(m.value).bytes(), i);
      if (r == nullptr) return false;
      other = at((r->offset + m.begin) / cell);
    }
    const std::size_t host = at(m.host / cell), other_memory = disk ? 2 : 0;
    Resolved& move = resolved_[i];
    move.cells = cells_of(bytes);
    if (m.kind == Kind::copy_out || m.kind == Kind::read_disk) {
      move.from_memory = other_memory, move.from = other, move.to_memory = 1, move.to = host;
    } else {
      move.from_memory = 1, move.from = host, move.to_memory = other_memory, move.to = other;
    }
    return true;
  }

  // Direct predecessors: the previous instruction on its stream, and those it waits for.
  void find_order() {
    std::vector<std::int32_t> latest(swap::lane_count, net::none);
    for (std::size_t i = 0; i < count_; ++i) {
      const swap::Instruction& instruction = plan_.instructions[i];
      before_each_.emplace_back(instruction.waits.begin(), instruction.waits.end());
      std::int32_t& on_lane = latest[static_cast<std::size_t>(instruction.lane())];
      if (on_lane != net::none) before_each_.back().push_back(at(on_lane));
      on_lane = static_cast<std::int32_t>(i);
    }
  }

  std::vector<Event> stretched(std::size_t middle) const {
    std::vector<bool> first(count_, false), last(count_, false);
    first[middle] = last[middle] = true;
    for (std::size_t i = middle + 1; i-- > 0;)
      if (first[i])
        for (const std::size_t p : before_each_[i]) first[p] = true;
    for (std::size_t i = middle + 1; i < count_; ++i)
      for (const std::size_t p : before_each_[i]) last[i] = last[i] || last[p];
    std::vector<Event> order;
    const auto add = [&](auto&& wanted) {
      for (std::size_t i = 0; i < count_; ++i)
        if (i != middle && wanted(i)) order.insert(order.end(), {{i, false}, {i, true}});
    };
    add([&](std::size_t i) { return first[i]; });
    order.push_back({middle, false});
    add([&](std::size_t i) { return !first[i] && !last[i]; });
    order.push_back({middle, true});
    add([&](std::size_t i) { return last[i]; });
    return order;
  }

  std::vector<Event> random_order(const Philox& random) const {
    std::uint64_t draw = 0;
    double speed[swap::lane_count];
    for (double& s : speed) s = std::pow(10.0, 4.0 * random.uniform(draw++) - 2);
    std::vector<std::vector<std::size_t>> queue(swap::lane_count);
    for (std::size_t i = count_; i-- > 0;)
      queue[static_cast<std::size_t>(plan_.instructions[i].lane())].push_back(i);
    std::vector<bool> begun(count_, false), ended(count_, false);
    std::vector<Event> order;
    while (order.size() < 2 * count_) {
      std::vector<std::size_t> lanes;
      double sum = 0;
      for (std::size_t lane = 0; lane < swap::lane_count; ++lane) {
        if (queue[lane].empty()) continue;
        const std::size_t next = queue[lane].back();
        const auto& waits = plan_.instructions[next].waits;
        if (!begun[next] &&
            !std::all_of(waits.begin(), waits.end(), [&](std::int32_t w) { return ended[at(w)]; }))
          continue;
        lanes.push_back(lane);
        sum += speed[lane];
      }
      double left = random.uniform(draw++) * sum;
      std::size_t chosen = lanes.back();
      for (std::size_t k = lanes.size(); k-- > 0 && left >= 0; left -= speed[lanes[k]]) chosen = lanes[k];
      const std::size_t i = queue[chosen].back();
      order.push_back({i, begun[i]});
      if (begun[i]) {
        ended[i] = true;
        queue[chosen].pop_back();
      }
      begun[i] = true;
    }
    return order;
  }

  bool survives(const std::vector<Event>& order) {
    for (std::size_t m = 0; m < 3; ++m) memory_[m].assign(size_[m], rubbish);
    for (const Operand& operand : before_) write(operand);
    fault_ = false;
    for (const Event& event : order) {
      const bool run = plan_.instructions[event.instruction].kind == Kind::run;
      if (run)
        event.end ? end_run(event.instruction) : begin_run(event.instruction);
      else
        event.end ? end_move(event.instruction) : begin_move(event.instruction);
      if (fault_) return false;
    }
    for (const Operand& operand : after_) check(operand);
    return !fault_;
  }

  void check(const Operand& operand) {
    for (std::size_t i = 0; i < operand.cells; ++i)
      if (memory_[operand.memory][operand.begin + i] != mark(operand.value, operand.version, i))
        fault_ = true;
  }
  void write(const Operand& operand) {
    for (std::size_t i = 0; i < operand.cells; ++i)
      memory_[operand.memory][operand.begin + i] =
          operand.value == net::none ? rubbish : mark(operand.value, operand.version, i);
  }

  void begin_run(std::size_t i) {
    for (const Operand& operand : resolved_[i].reads) check(operand);
    for (const Operand& operand : resolved_[i].writes)
      std::fill_n(memory_[0].begin() + static_cast<std::ptrdiff_t>(operand.begin), operand.cells,
                  under_way(i));
  }
  void end_run(std::size_t i) {
    for (const Operand& operand : resolved_[i].reads)
      if (!operand.written_over) check(operand);  // a kernel reads while it writes
    for (const Operand& operand : resolved_[i].writes)
      for (std::size_t k = 0; k < operand.cells; ++k) {
        Mark& place = memory_[0][operand.begin + k];
        const bool alone = place == under_way(i) && operand.value != net::none;
        place = alone ? mark(operand.value, operand.version, k) : rubbish;
      }
  }

  void begin_move(std::size_t i) {
    Resolved& move = resolved_[i];
    const auto from = memory_[move.from_memory].begin() + static_cast<std::ptrdiff_t>(move.from);
    move.found.assign(from, from + static_cast<std::ptrdiff_t>(move.cells));
    std::fill_n(memory_[move.to_memory].begin() + static_cast<std::ptrdiff_t>(move.to), move.cells,
                under_way(i));
  }
  void end_move(std::size_t i) {
    const Resolved& move = resolved_[i];
    for (std::size_t k = 0; k < move.cells; ++k) {
      Mark& to = memory_[move.to_memory][move.to + k];
      const bool still = memory_[move.from_memory][move.from + k] == move.found[k] && move.found[k] >= 0;
      to = to == under_way(i) && still ? move.found[k] : rubbish;
    }
  }

  const net::Graph& graph_;
  const std::vector<std::int64_t>& workspaces_;
  const swap::Plan& plan_;
  const std::size_t count_;
  bool whole_ = false, fault_ = false;
  std::vector<Resolved> resolved_;
  std::vector<Operand> before_, after_;  // required contents before and after the step
  std::vector<std::vector<std::size_t>> before_each_;
  std::size_t size_[3] = {};
  std::vector<Mark> memory_[3];  // arena, host pool, scratch file
};

}  // namespace voxswap::test
