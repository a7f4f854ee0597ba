// A planner for tests that swaps everything, as simple as possible and based only on the contract in
// swap/plan/plan.h. Nodes run in the graph's order. Every value that the next node does not use is swapped
// out (or freed for recomputation) and swapped in right before its next use.
#pragma once

#include <algorithm>
#include <optional>

#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "swap/plan/arena.h"
#include "swap/plan/places.h"
#include "swap/plan/plan.h"

namespace voxswap::test {

struct SwapOptions {
  bool host = true;           // swap values to the host pool
  bool disk = false;          // swap values to disk; together with `host`: every other value
  bool recompute = false;     // recompute values of cheap operations
  bool streams = false;       // stream inputs and kept values (swap/plan/plan.h)
  bool in_place = true;       // outputs overwrite inputs in place
  bool copies_stay = true;    // a copy is used for all swap-ins; otherwise for one
  std::int64_t chunk = 4096;  // bytes per copy; rounded up to whole blocks for values swapped to disk
};

class SwapEverything {
 public:
  SwapEverything(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                 const std::vector<net::ValueId>& kept, const SwapOptions& options)
      : graph_(graph), workspaces_(workspaces), options_(options), state_(graph.values().size()) {
    for (const net::ValueId value : kept)
      if (value != net::none) plan_.kept.push_back(value);
  }

  swap::Plan make() {
    plan_.planner = "swap_everything";
    find_needs();
    for (net::ValueId id = 0; at(id) < state_.size(); ++id) {
      if (graph_.value(id).producer != net::none) continue;
      state(id).saved = is_streamed_input(id);
      if (graph_.value(id).persistent() ||
          (state(id).needed_until >= 0 && (!is_streamed_input(id) || used_next(id, -1))))
        open(id);
    }
    settle(-1);
    for (net::NodeId node = 0; at(node) < graph_.nodes().size(); ++node) {
      for (const net::ValueId value : graph_.node(node).inputs) bring(value);
      run(node, false);
      settle(node);
    }
    for (const net::ValueId value : plan_.kept)
      if (!(streams(value) && state(value).copied)) bring(value);
    for (Place& place : places_)
      if (place.residency.last == open_end) place.residency.last = now() - 1;
    place_device();
    place_host();
    find_waits();
    add_sums();
    return std::move(plan_);
  }

 private:
  static constexpr std::int32_t open_end = -2;
  struct State {
    std::vector<net::NodeId> uses;  // nodes that read it; the number of nodes means the end of the step
    net::NodeId needed_until = -1;  // the last of them, including readers of values recomputed from it
    bool cheap = false;             // recomputed instead of swapped in
    int place = -1;                 // now
    int host = -1;                  // of its last copy in the host pool
    std::int64_t disk = 0;          // offset in the file
    bool saved = false, copied = false;
  };
  struct Place {
    swap::Residency residency;
    int group = -1;  // residencies with one offset
  };
  struct HostPlace {
    std::int64_t bytes;
    std::int32_t first, last;
  };
  struct Range {
    int memory;  // 0 device, 1 host, 2 disk
    std::int64_t begin, end;
    bool write;
  };

  static std::size_t at(std::int64_t id) { return static_cast<std::size_t>(id); }
  static std::int64_t blocks(std::int64_t bytes) {
    return (bytes + swap::disk_block - 1) / swap::disk_block * swap::disk_block;
  }
  State& state(net::ValueId value) { return state_[at(value)]; }
  std::int32_t now() const { return static_cast<std::int32_t>(plan_.instructions.size()); }
  net::NodeId end() const { return static_cast<net::NodeId>(graph_.nodes().size()); }
  bool is_streamed_input(net::ValueId value) const {
    return options_.streams && graph_.value(value).role == net::Role::input;
  }
  bool streams(net::ValueId value) const {
    return is_streamed_input(value) ||
           (options_.streams && std::find(plan_.kept.begin(), plan_.kept.end(), value) != plan_.kept.end());
  }
  bool to_disk(net::ValueId value) const {
    return options_.disk && !streams(value) && (!options_.host || value % 2 == 1);
  }

  // Finds readers and last uses, from the last node to the first.
  void find_needs() {
    for (const net::ValueId value : plan_.kept) {
      state(value).uses.push_back(end());
      state(value).needed_until = end();
    }
    std::vector<net::NodeId> first_update(state_.size(), end());
    for (net::NodeId node = end() - 1; node >= 0; --node)
      for (const net::ValueId value : graph_.node(node).updates) first_update[at(value)] = node;
    for (net::NodeId id = end() - 1; id >= 0; --id) {
      const net::Node& node = graph_.node(id);
      net::NodeId until = id;
      if (options_.recompute && node.operation->cheap && node.outputs.size() == 1 && node.updates.empty() &&
          node.phase == net::Phase::forward) {
        State& output = state(node.outputs[0]);
        output.cheap = std::all_of(node.inputs.begin(), node.inputs.end(), [&](net::ValueId input) {
          return !graph_.value(input).persistent() || first_update[at(input)] > output.needed_until;
        });
        if (output.cheap) until = std::max(until, output.needed_until);
      }
      for (const net::ValueId value : node.inputs) {
        state(value).uses.push_back(id);
        state(value).needed_until = std::max(state(value).needed_until, until);
      }
    }
  }
  bool used_next(net::ValueId value, net::NodeId node) {
    const std::vector<net::NodeId>& uses = state(value).uses;
    return std::find(uses.begin(), uses.end(), node + 1) != uses.end();
  }
  // Whether its memory is freed after `node` without a copy.
  bool ends(net::ValueId value, net::NodeId node) {
    const State& s = state(value);
    if (s.needed_until <= node) return true;
    return !used_next(value, node) && (s.cheap || s.saved);
  }

  void open(net::ValueId value, int group = -1) {
    state(value).place = static_cast<int>(places_.size());
    places_.push_back({{value, net::none, 0, swap::occupied(graph_.value(value).bytes()), now(), open_end},
                       group >= 0 ? group : groups_++});
  }
  void close(net::ValueId value) {
    places_[at(state(value).place)].residency.last = now() - 1;
    state(value).place = -1;
  }

  void run(net::NodeId id, bool recomputed) {
    const net::Node& node = graph_.node(id);
    std::vector<net::ValueId> taken;
    for (const net::ValueId output : node.outputs) {
      int group = -1;
      for (const net::ValueId input : node.inputs) {
        if (recomputed || !options_.in_place || group >= 0 ||
            !swap::may_take_over(graph_, node, output, input))
          continue;
        if (!ends(input, id) || std::find(taken.begin(), taken.end(), input) != taken.end()) continue;
        group = places_[at(state(input).place)].group;
        taken.push_back(input);
      }
      open(output, group);
    }
    if (workspaces_[at(id)] > 0)
      places_.push_back({{net::none, id, 0, swap::occupied(workspaces_[at(id)]), now(), now()}, groups_++});
    swap::Instruction instruction;
    instruction.node = id;
    instruction.recomputed = recomputed;
    plan_.instructions.push_back(instruction);
  }

  // Frees the memory of resident values that the next node does not need.
  void settle(net::NodeId node) {
    const auto leaves = [&](net::ValueId value) {
      return state(value).place >= 0 && !graph_.value(value).persistent();
    };
    for (net::ValueId value = 0; at(value) < state_.size(); ++value)
      if (leaves(value) && ends(value, node)) close(value);
    if (!options_.host && !options_.disk) return;
    for (net::ValueId value = 0; at(value) < state_.size(); ++value) {
      if (!leaves(value) || used_next(value, node)) continue;
      save(value);
      close(value);
    }
  }

  void move(swap::Instruction::Kind kind, net::ValueId value, std::int64_t begin, std::int64_t bytes) {
    swap::Instruction instruction;
    instruction.kind = kind;
    instruction.value = value;
    instruction.begin = begin;
    instruction.bytes = bytes;
    instruction.host = state(value).host;  // index of the residency until offsets are assigned
    if (instruction.lane() >= swap::Lane::to_disk) instruction.disk = state(value).disk + begin;
    if (!streams(value)) host_places_[at(state(value).host)].last = now();
    plan_.instructions.push_back(instruction);
  }
  template <class Action>
  void in_chunks(net::ValueId value, Action action) {
    const std::int64_t size = graph_.value(value).bytes();
    const std::int64_t chunk = to_disk(value) ? blocks(options_.chunk) : options_.chunk;
    for (std::int64_t begin = 0; begin < size; begin += chunk) action(begin, std::min(chunk, size - begin));
  }
  void open_host(net::ValueId value) {
    state(value).host = static_cast<int>(host_places_.size());
    host_places_.push_back({blocks(graph_.value(value).bytes()), now(), now()});
  }

  void save(net::ValueId value) {
    using Kind = swap::Instruction::Kind;
    if (!streams(value)) open_host(value);
    state(value).copied = true;
    if (to_disk(value)) {
      state(value).disk = plan_.disk_bytes;
      plan_.disk_bytes += blocks(graph_.value(value).bytes());
    }
    in_chunks(value, [&](std::int64_t begin, std::int64_t bytes) {
      move(Kind::copy_out, value, begin, bytes);
      if (to_disk(value)) move(Kind::write_disk, value, begin, bytes);
    });
    state(value).saved = true;
  }

  void bring(net::ValueId value) {
    using Kind = swap::Instruction::Kind;
    if (state(value).place >= 0) return;
    if (state(value).cheap) {
      const net::NodeId producer = graph_.value(value).producer;
      for (const net::ValueId input : graph_.node(producer).inputs) bring(input);
      run(producer, true);
      return;
    }
    if (to_disk(value)) open_host(value);
    if (to_disk(value))
      in_chunks(value,
                [&](std::int64_t begin, std::int64_t bytes) { move(Kind::read_disk, value, begin, bytes); });
    open(value);
    in_chunks(value,
              [&](std::int64_t begin, std::int64_t bytes) { move(Kind::copy_in, value, begin, bytes); });
    state(value).saved = options_.copies_stay || is_streamed_input(value);
  }

  void place_device() {
    for (Place& place : places_) {
      const swap::Residency& r = place.residency;
      if (r.value == net::none || !graph_.value(r.value).persistent()) continue;
      place.residency.offset = plan_.persistent_bytes;
      plan_.persistent_bytes += r.bytes;
      place.group = -1;
    }
    std::vector<std::optional<swap::Interval>> of_group(at(groups_));
    for (const Place& place : places_) {
      if (place.group < 0) continue;
      const swap::Residency& r = place.residency;
      std::optional<swap::Interval>& interval = of_group[at(place.group)];
      if (!interval) interval = swap::Interval{r.bytes, r.first, r.last, 0};
      interval->last = std::max(interval->last, r.last);
    }
    std::vector<swap::Interval> intervals;
    for (const auto& interval : of_group)
      if (interval) intervals.push_back(*interval);
    plan_.peak_bytes = plan_.persistent_bytes + swap::pack(intervals);
    std::size_t next = 0;
    for (auto& interval : of_group)
      if (interval) interval = intervals[next++];
    for (Place& place : places_) {
      if (place.group >= 0)
        place.residency.offset = plan_.persistent_bytes + of_group[at(place.group)]->offset;
      plan_.residencies.push_back(place.residency);
    }
  }

  void place_host() {
    std::vector<swap::Interval> intervals;
    for (const HostPlace& place : host_places_)
      intervals.push_back({place.bytes, place.first, place.last, 0});
    plan_.host_bytes = plan_.host_budget_bytes = swap::pack(intervals);
    plan_.disk_budget_bytes = plan_.disk_bytes;
    for (swap::Instruction& instruction : plan_.instructions)
      if (instruction.kind == swap::Instruction::Kind::run)
        continue;
      else if (streams(instruction.value))
        instruction.host = streamed_place(instruction.value) + instruction.begin;
      else
        instruction.host = intervals[at(instruction.host)].offset + instruction.begin;
  }

  std::int64_t streamed_place(net::ValueId value) {
    if (const swap::Streamed* streamed = swap::find_streamed(plan_, value)) return streamed->host;
    plan_.streamed.push_back({value, plan_.host_bytes + plan_.streamed_bytes});
    plan_.streamed_bytes += swap::occupied(graph_.value(value).bytes());
    return plan_.streamed.back().host;
  }

  std::vector<Range> ranges(std::int32_t index) const {
    using Kind = swap::Instruction::Kind;
    const swap::Instruction& i = plan_.instructions[at(index)];
    std::vector<Range> result;
    for (const swap::Residency& r : plan_.residencies) {
      if (r.first > index || r.last < index) continue;
      if (i.kind != Kind::run) {
        if (r.value == i.value && i.lane() <= swap::Lane::to_device)
          result.push_back({0, r.offset + i.begin, r.offset + i.begin + i.bytes, i.kind == Kind::copy_in});
        continue;
      }
      const net::Node& node = graph_.node(i.node);
      const auto has = [&](const std::vector<net::ValueId>& list) {
        return r.value != net::none && std::find(list.begin(), list.end(), r.value) != list.end();
      };
      const bool writes =
          has(node.outputs) || has(node.updates) || (r.value == net::none && r.node == i.node);
      if (writes || has(node.inputs)) result.push_back({0, r.offset, r.offset + r.bytes, writes});
    }
    if (i.kind == Kind::run) return result;
    const bool disk = i.lane() >= swap::Lane::to_disk;
    const std::int64_t bytes = disk ? blocks(i.bytes) : i.bytes;
    result.push_back({1, i.host, i.host + bytes, i.kind == Kind::copy_out || i.kind == Kind::read_disk});
    if (disk) result.push_back({2, i.disk, i.disk + bytes, i.kind == Kind::write_disk});
    return result;
  }

  // On every other lane, the last earlier instruction that shares bytes with this one, unless both only read.
  void find_waits() {
    std::vector<std::vector<Range>> all;
    for (std::int32_t i = 0; i < now(); ++i) {
      all.push_back(ranges(i));
      swap::Instruction& instruction = plan_.instructions[at(i)];
      bool found[swap::lane_count] = {};
      found[static_cast<std::size_t>(instruction.lane())] = true;
      for (std::int32_t j = i - 1; j >= 0; --j) {
        bool& done = found[static_cast<std::size_t>(plan_.instructions[at(j)].lane())];
        if (done || !collide(all[at(i)], all[at(j)])) continue;
        done = true;
        instruction.waits.push_back(j);
      }
    }
  }
  static bool collide(const std::vector<Range>& a, const std::vector<Range>& b) {
    for (const Range& x : a)
      for (const Range& y : b)
        if (x.memory == y.memory && (x.write || y.write) && x.begin < y.end && y.begin < x.end) return true;
    return false;
  }

  // Memory overwritten in place counts once at that instruction.
  void add_sums() {
    plan_.live_bytes.assign(plan_.instructions.size(), 0);
    for (const Place& place : places_) {
      const swap::Residency& r = place.residency;
      for (std::int32_t i = r.first; i <= r.last; ++i) plan_.live_bytes[at(i)] += r.bytes;
      for (const Place& other : places_)
        if (place.group >= 0 && other.group == place.group && other.residency.last == r.first &&
            other.residency.first < r.first)
          plan_.live_bytes[at(r.first)] -= r.bytes;
    }
    for (const std::int64_t sum : plan_.live_bytes)
      plan_.live_peak_bytes = std::max(plan_.live_peak_bytes, sum);
  }

  const net::Graph& graph_;
  const std::vector<std::int64_t>& workspaces_;
  const SwapOptions options_;
  swap::Plan plan_;
  std::vector<State> state_;
  std::vector<Place> places_;
  int groups_ = 0;
  std::vector<HostPlace> host_places_;
};

// The plan has no device budget; its host and disk budgets are the bytes it uses.
inline swap::Plan swap_everything(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                                  const std::vector<net::ValueId>& kept, const SwapOptions& options = {}) {
  return SwapEverything(graph, workspaces, kept, options).make();
}

}  // namespace voxswap::test
