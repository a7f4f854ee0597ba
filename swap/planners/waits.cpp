#include "swap/planners/waits.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/shape.h"
#include "swap/plan/places.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {
namespace {

constexpr std::int32_t never = -1;
using Latest = std::array<std::int32_t, lane_count>;  // per lane: an instruction, or never

constexpr Latest no_instructions = [] {
  Latest all{};
  all.fill(never);
  return all;
}();

void raise(Latest& latest, const Latest& other) {
  for (std::size_t lane = 0; lane < lane_count; ++lane) latest[lane] = std::max(latest[lane], other[lane]);
}

// The latest users of every byte of one memory, in disjoint cells keyed by their first byte.
class Users {
 public:
  // Records a read of [begin, end); adds the instructions that it must follow to `after`.
  void read(std::int64_t begin, std::int64_t end, std::size_t lane, std::int32_t by, Latest& after) {
    split(begin);
    split(end);
    std::int64_t at = begin;
    for (auto cell = cells_.lower_bound(begin); cell != cells_.end() && cell->first < end; ++cell) {
      if (cell->first > at)
        cells_.emplace_hint(cell, at, Cell{cell->first, no_instructions, no_instructions})
            ->second.read[lane] = by;
      raise(after, cell->second.written);
      cell->second.read[lane] = by;
      at = cell->second.end;
    }
    if (at < end) cells_[at] = Cell{end, no_instructions, with(lane, by)};
  }
  // The same for a write.
  void write(std::int64_t begin, std::int64_t end, std::size_t lane, std::int32_t by, Latest& after) {
    split(begin);
    split(end);
    auto first = cells_.lower_bound(begin), last = first;
    for (; last != cells_.end() && last->first < end; ++last) {
      raise(after, last->second.written);
      raise(after, last->second.read);
    }
    cells_.erase(first, last);
    cells_[begin] = Cell{end, with(lane, by), no_instructions};
  }

 private:
  struct Cell {
    std::int64_t end;
    Latest written, read;
  };
  static Latest with(std::size_t lane, std::int32_t by) {
    Latest latest = no_instructions;
    latest[lane] = by;
    return latest;
  }
  void split(std::int64_t at) {
    auto cell = cells_.upper_bound(at);
    if (cell == cells_.begin()) return;
    --cell;
    if (cell->first == at || cell->second.end <= at) return;
    const Cell rest = cell->second;
    cell->second.end = at;
    cells_[at] = rest;
  }
  std::map<std::int64_t, Cell> cells_;
};

class Waits {
 public:
  Waits(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, Plan& plan)
      : graph_(graph), workspaces_(workspaces), plan_(plan), places_(graph, plan) {
    clocks_.fill(no_instructions);
  }

  void run() {
    history_.resize(plan_.instructions.size());
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) {
      Instruction& instruction = plan_.instructions[index(i)];
      const auto lane = static_cast<std::size_t>(instruction.lane());
      Latest after = no_instructions;
      for (const std::int32_t wait : instruction.waits) {
        const auto other = static_cast<std::size_t>(plan_.instructions[index(wait)].lane());
        after[other] = std::max(after[other], wait);
      }
      instruction.waits.clear();
      touch(i, instruction, lane, after);
      Latest& clock = clocks_[lane];
      // Later instructions first: their own waits are then implied.
      std::array<std::size_t, lane_count> order{};
      for (std::size_t other = 0; other < lane_count; ++other) order[other] = other;
      std::sort(order.begin(), order.end(),
                [&](std::size_t x, std::size_t y) { return after[x] > after[y]; });
      for (const std::size_t other : order) {
        if (other == lane || after[other] <= clock[other]) continue;
        instruction.waits.push_back(after[other]);
        raise(clock, history_[index(after[other])]);
      }
      std::sort(instruction.waits.begin(), instruction.waits.end());
      clock[lane] = i;
      history_[index(i)] = clock;
    }
  }

 private:
  void touch(std::int32_t i, const Instruction& in, std::size_t lane, Latest& after) {
    using Kind = Instruction::Kind;
    if (in.kind == Kind::run) return touch_operands(i, lane, after);
    const std::int64_t blocks = whole_blocks(in.bytes);
    const std::int64_t host_end = in.host + blocks, disk_end = in.disk + blocks;
    switch (in.kind) {
      case Kind::run:
        return;
      case Kind::copy_out:
      case Kind::copy_in: {
        const std::int64_t device = places_.of_value(in.value, i)->offset + in.begin;
        if (in.kind == Kind::copy_out) {
          device_.read(device, device + in.bytes, lane, i, after);
          host_.write(in.host, in.host + in.bytes, lane, i, after);
        } else {
          host_.read(in.host, in.host + in.bytes, lane, i, after);
          device_.write(device, device + in.bytes, lane, i, after);
        }
        return;
      }
      case Kind::write_disk:
        host_.read(in.host, host_end, lane, i, after);
        disk_.write(in.disk, disk_end, lane, i, after);
        return;
      case Kind::read_disk:
        disk_.read(in.disk, disk_end, lane, i, after);
        host_.write(in.host, host_end, lane, i, after);
        return;
    }
  }

  void touch_operands(std::int32_t i, std::size_t lane, Latest& after) {
    const net::NodeId id = plan_.instructions[index(i)].node;
    const net::Node& node = graph_.node(id);
    for (const net::ValueId value : node.inputs) {
      const Residency& r = *places_.of_value(value, i);
      device_.read(r.offset, r.offset + r.bytes, lane, i, after);
    }
    for (const auto* list : {&node.updates, &node.outputs})
      for (const net::ValueId value : *list) {
        const Residency& r = *places_.of_value(value, i);
        device_.write(r.offset, r.offset + r.bytes, lane, i, after);
      }
    if (workspaces_[index(id)] > 0) {
      const Residency& r = *places_.of_workspace(id, i);
      device_.write(r.offset, r.offset + r.bytes, lane, i, after);
    }
  }

  const net::Graph& graph_;
  const std::vector<std::int64_t>& workspaces_;
  Plan& plan_;
  Places places_;
  Users device_, host_, disk_;
  std::array<Latest, lane_count> clocks_;  // per lane: instructions known to be done when its next one starts
  std::vector<Latest> history_;            // clock of the lane after each instruction
};

}  // namespace

void add_waits(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, Plan& plan) {
  Waits(graph, workspaces, plan).run();
}

}  // namespace voxswap::swap
