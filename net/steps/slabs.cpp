#include "net/steps/slabs.h"

#include <algorithm>
#include <cassert>
#include <compare>
#include <map>
#include <string>

#include "base/shape.h"
#include "base/text.h"
#include "net/graph/operation.h"
#include "net/graph/window.h"
#include "net/steps/passes.h"
#include "net/steps/slab_ranges.h"

namespace voxswap::net {

namespace {

using Kind = Cut::Kind;

// Sorts the items of a segment. `needed`: how far along the depth (from the end, if the segment goes
// backwards) the node's inputs reach, including those with few slabs. `own`: how far the node itself reaches.
// When one slab of a coarse volume serves several slabs of a finer one, those run one after the other.
struct Position {
  double needed = 0, own = 0;
  auto operator<=>(const Position&) const = default;
};
constexpr Position after_all_slabs{2, 2};

// A gradient with at most 1/waiting_part of the largest slab's bytes waits for the end of the step
// (updates_last).
constexpr std::int64_t waiting_part = 16;

// A slab of a value, or a partial sum, while the new graph is being planned.
struct Made {
  std::int64_t segment = -1;
  Position position;
};

// One node of the new graph.
struct Item {
  NodeId node = none;    // of the old graph
  std::size_t slab = 0;  // index of the slab; for a total, the number of parts
  bool total = false;
  Position position;
};

class Cutter : SlabRanges {
 public:
  Cutter(const Graph& graph, std::vector<PlanesOfSlab> planes, std::int64_t ranks)
      : SlabRanges(graph, std::move(planes), ranks),
        old_(graph),
        made_(graph.values().size()),
        parts_(graph.nodes().size()) {
    cut_.slabs.resize(graph.values().size());
    read_.resize(graph.values().size());
    for (ValueId id = 0; index(id) < graph.values().size(); ++id) {
      made_[index(id)].resize(count(id));
      if (graph.value(id).producer == none) add_given(id);
      if (count(id) == 1) continue;
      const Value& value = graph.value(id);
      largest_slab_ = std::max(largest_slab_, value.bytes() / value.shape[1] * planes_of_slab(id));
    }
  }

  CutGraph run() {
    find_late_nodes();
    std::vector<NodeId> order = late_order(old_, [&](ValueId value) { return count(value) > 1; });
    std::stable_partition(order.begin(), order.end(),
                          [&](NodeId id) { return !is_late_[index(id)] && !updates_last(id); });
    for (const NodeId id : order) {
      if (is_late_[index(id)] && !late_totals_.empty()) add_late_totals();
      if (begins_segment(id)) end_segment();
      add_items(id);
    }
    if (!late_totals_.empty()) add_late_totals();
    end_segment();
    return std::move(cut_);
  }

 private:
  // Sets the owner of the values added since the last call.
  void set_owner(std::int64_t owner) {
    cut_.owners.resize(cut_.graph.values().size(), static_cast<std::int32_t>(owner));
  }

  void add_given(ValueId id) {
    const Value& value = old_.value(id);
    for (std::size_t slab = 0; slab < count(id); ++slab) {
      Shape shape = value.shape;
      if (count(id) > 1) shape[1] = planes_of(id, slab).count();
      cut_.slabs[index(id)].push_back(
          cut_.graph.add_value(origin_of(id, slab), shape, value.type, value.role));
      set_owner(owner(id, slab));
    }
    assert(!value.persistent() || cut_.slabs[index(id)].front() == id);
  }
  Origin origin_of(ValueId id, std::size_t slab) const {
    const Origin& whole = old_.value(id).origin;
    return count(id) == 1 ? whole : whole.with_slab(static_cast<std::int32_t>(slab));
  }

  // The volume by whose slabs a node is split.
  ValueId leading(const Node& node) const {
    const Cut& cut = node.operation->cut;
    switch (cut.kind) {
      case Kind::whole:
        return none;
      case Kind::summed:
        return node.inputs.front();
      case Kind::windowed_sum:
        return node.inputs[index(cut.along)];
      default:
        return node.outputs.front();
    }
  }
  std::size_t items_of(const Node& node) const {
    const ValueId id = leading(node);
    return id == none ? 1 : count(id);
  }
  // True if the node sums each slab separately and these sums are then added.
  bool sums(const Node& node) const {
    const Kind kind = node.operation->cut.kind;
    if (kind == Kind::summed) return items_of(node) > 1;
    return kind == Kind::windowed_sum && (items_of(node) > 1 || count(node.inputs.front()) > 1);
  }
  bool is_windowed(const Node& node) const { return node.operation->cut.window != nullptr; }

  // Slabs of an input that this item reads.
  Planes slabs_read(const Node& node, std::size_t input, std::size_t slab) const {
    const ValueId id = node.inputs[input];
    const auto all = static_cast<std::int64_t>(count(id));
    if (all == 1) return {0, 1};
    if (node.operation->cut.reads_window(input)) {
      const Planes read = node.operation->cut.window(old_, node, planes_of(leading(node), slab)).read;
      const std::int64_t planes = planes_of_slab(id);
      return {read.from / planes, (read.to - 1) / planes + 1};
    }
    if (items_of(node) == 1) return {0, all};
    return {static_cast<std::int64_t>(slab), static_cast<std::int64_t>(slab) + 1};
  }

  // Each rank sums its own blocks of a weight gradient. The sums of all ranks are exchanged together at the
  // end of the step; nodes that depend on them come after that.
  bool is_summed_late(const Node& node) const {
    return ranks() > 1 && node.operation->cut.kind == Kind::windowed_sum && items_of(node) > 1;
  }
  void find_late_nodes() {
    is_late_.resize(old_.nodes().size());
    std::vector<bool> is_late_value(old_.values().size());
    for (NodeId id = 0; index(id) < old_.nodes().size(); ++id) {
      const Node& node = old_.node(id);
      is_late_[index(id)] = std::any_of(node.inputs.begin(), node.inputs.end(),
                                        [&](ValueId input) { return is_late_value[index(input)]; });
      if (!is_late_[index(id)] && !is_summed_late(node)) continue;
      for (const ValueId output : node.outputs) is_late_value[index(output)] = true;
    }
  }
  void add_late_totals() {
    end_segment();
    for (const NodeId id : std::exchange(late_totals_, {})) {
      cut_.graph.phase = old_.node(id).phase;
      add_total(id);
    }
  }

  // After a parameter is updated, nothing that reads it can be recomputed and would have to be swapped out
  // instead, slab by slab. So parameters with small gradients are updated at the end.
  bool updates_last(NodeId id) const {
    const Node& node = old_.node(id);
    return node.phase == Phase::update && !reads_exchange(old_, node) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
             return waiting_part * old_.value(input).bytes() <= largest_slab_;
           });
  }

  // Every second segment runs from the last slab to the first, because the slabs made last are still on the
  // device.
  bool goes_back() const { return segment_ % 2 == 1; }

  Position position(const Made& made) const { return made.segment == segment_ ? made.position : Position{}; }

  // True if each slab of the node needs a whole value that is computed from slabs: it must wait for all of
  // them.
  bool begins_segment(NodeId id) {
    const Node& node = old_.node(id);
    if (begins_sample(node)) return true;
    if (items_of(node) == 1) return false;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return count(input) == 1 && position(made_[index(input)].front()).needed > 0;
    });
  }

  // Slabs of different samples are not interleaved: a sample begins when the previous one is finished, or
  // when all samples have reached the same point.
  bool begins_sample(const Node& node) {
    const std::int64_t sample = node.origin.sample == none ? sample_ : node.origin.sample;
    return std::exchange(sample_, sample) != sample;
  }

  void add_items(NodeId id) {
    const Node& node = old_.node(id);
    const std::size_t items = items_of(node);
    Position last;
    for (std::size_t slab = 0; slab < items; ++slab) {
      Item item{id, slab, false, {}};
      for (std::size_t input = 0; input < node.inputs.size(); ++input) {
        const Planes read = slabs_read(node, input, slab);
        for (std::int64_t k = read.from; k < read.to; ++k)
          item.position = std::max(item.position,
                                   position(made_[index(node.inputs[input])][static_cast<std::size_t>(k)]));
      }
      if (items > 1) {
        const Planes planes = planes_of(leading(node), slab), all = range_around(leading(node), slab);
        const std::int64_t reached = goes_back() ? all.to - planes.from : planes.to - all.from;
        const double own = static_cast<double>(reached) / static_cast<double>(all.count());
        item.position = std::max(item.position, {item.position.needed, own});
        item.position = std::max(item.position, {own, own});
      }
      for (const ValueId updated : node.updates)  // readers need the old value
        item.position = std::max(item.position, position(read_[index(updated)]));
      if (reads_exchange(old_, node)) item.position = {1, 1};  // last, while other ranks' parts are under way
      if (updates_last(id)) item.position = after_all_slabs;
      last = std::max(last, item.position);
      if (!sums(node))
        for (const ValueId output : node.outputs) made_[index(output)][slab] = {segment_, item.position};
      items_.push_back(item);
    }
    for (const ValueId input : node.inputs)
      read_[index(input)] = {segment_, std::max(position(read_[index(input)]), last)};
    if (!sums(node)) return;
    items_.push_back({id, items, true, last});
    if (is_summed_late(node)) late_totals_.push_back(id);
    for (const ValueId output : node.outputs) made_[index(output)].front() = {segment_, last};
  }

  void end_segment() {
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return a.position != b.position ? a.position < b.position : a.node < b.node;
    });
    for (const Item& item : items_) {
      cut_.graph.phase = old_.node(item.node).phase;
      if (item.total && is_summed_late(old_.node(item.node)))
        add_totals_of_ranks(item.node);
      else if (item.total)
        add_total(item.node);
      else
        add_slab(item.node, item.slab);
    }
    items_.clear();
    ++segment_;
  }

  ValueId slab_of(ValueId id, std::int64_t slab) const {
    return cut_.slabs[index(id)][static_cast<std::size_t>(slab)];
  }

  void add_slab(NodeId id, std::size_t slab) {
    const Node& node = old_.node(id);
    const std::size_t items = items_of(node);
    Node made;
    made.origin = items == 1 ? node.origin : node.origin.with_slab(static_cast<std::int32_t>(slab));
    made.operation = node.operation;
    made.attributes = node.attributes;
    std::vector<ValueId> window;
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      const Planes read = slabs_read(node, input, slab);
      if (node.operation->cut.reads_window(input))
        add_window(node, node.inputs[input], slab, read, made, window);
      else
        made.inputs.push_back(slab_of(node.inputs[input], read.from));
      assert(read.count() == 1 || !window.empty());
    }
    made.inputs.insert(made.inputs.end(), window.begin(), window.end());
    if (is_summed_late(node)) {
      made.attributes.set("nodes", 1);
      made.attributes.set("first", static_cast<double>(static_cast<std::int64_t>(slab) *
                                                       blocks_of_slab(node, leading(node))));
    }
    std::string_view operation = made.operation->name;
    if (sums(node) && !is_windowed(node)) operation = node.operation->cut.partial;
    const NodeId added =
        cut_.graph.add(operation, made.origin, made.inputs, made.attributes, updates_of(node));
    set_owner(items == 1 ? none : owner(leading(node), slab));
    const std::vector<ValueId>& outputs = cut_.graph.node(added).outputs;
    if (sums(node)) {
      parts_[index(id)].resize(items);
      parts_[index(id)][slab] = outputs;
      return;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      std::vector<ValueId>& slabs = cut_.slabs[index(node.outputs[i])];
      slabs.resize(items);
      slabs[slab] = outputs[i];
    }
  }

  // Adds the inputs for a window of a volume: one whole slab, or a window of several slabs.
  void add_window(const Node& node, ValueId id, std::size_t slab, Planes read, Node& made,
                  std::vector<ValueId>& window) const {
    const std::size_t items = items_of(node);
    if (items == 1 && count(id) == 1) return made.inputs.push_back(slab_of(id, 0));
    const Cut::Window wanted = node.operation->cut.window(old_, node, planes_of(leading(node), slab));
    made.attributes = wanted.attributes;
    const std::int64_t first = planes_of(id, static_cast<std::size_t>(read.from)).from;
    if (!sums(node) && read.count() == 1 && wanted.read == planes_of(id, static_cast<std::size_t>(read.from)))
      return made.inputs.push_back(slab_of(id, read.from));
    made.operation = find_windowed(*node.operation);
    made.attributes =
        windowed_attributes(wanted.attributes, read.count(), wanted.read.from - first, wanted.read.count());
    for (std::int64_t k = read.from; k < read.to; ++k) window.push_back(slab_of(id, k));
  }

  std::vector<ValueId> updates_of(const Node& node) const {
    std::vector<ValueId> updates;
    for (const ValueId id : node.updates) updates.push_back(slab_of(id, 0));
    return updates;
  }

  // Each rank's parts are nodes of the tree over its blocks (net/graph/block_sums.h). Those of several slabs
  // are added.
  void add_totals_of_ranks(NodeId id) {
    const Node& node = old_.node(id);
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      std::map<std::int64_t, std::vector<ValueId>> parts;
      for (std::size_t slab = 0; slab < parts_[index(id)].size(); ++slab)
        parts[owner(leading(node), slab)].push_back(parts_[index(id)][slab][output]);
      for (const auto& [rank, of_rank] : parts) {
        ValueId sum = of_rank.front();
        if (of_rank.size() > 1) {
          const std::int64_t first = rank * blocks_of_rank(node, leading(node));
          sum = cut_.graph.apply(
              "total", old_.value(node.outputs[output]).origin.with_suffix(format(".of_rank_{}", rank)),
              of_rank,
              {{"nodes", 1},
               {"first", static_cast<double>(first)},
               {"each", static_cast<double>(blocks_of_slab(node, leading(node)))},
               {"end", static_cast<double>(std::min(first + blocks_of_rank(node, leading(node)),
                                                    blocks_of(node, leading(node))))},
               {"apart", 1}});
          set_owner(rank);
        }
        totals_of_ranks_[node.outputs[output]].push_back(sum);
      }
    }
  }
  void add_total(NodeId id) {
    const Node& node = old_.node(id);
    const Cut& cut = node.operation->cut;
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      std::vector<ValueId> parts;
      for (const std::vector<ValueId>& part : parts_[index(id)]) parts.push_back(part[output]);
      const Value& value = old_.value(node.outputs[output]);
      Attributes attributes;
      if (is_summed_late(node)) {
        parts = totals_of_ranks_.at(node.outputs[output]);
        attributes = {{"nodes", 1},
                      {"each", static_cast<double>(blocks_of_rank(node, leading(node)))},
                      {"end", static_cast<double>(blocks_of(node, leading(node)))}};
      }
      if (cut.kind == Kind::summed) {
        const Shape& volume = old_.value(node.inputs.front()).shape;
        attributes = node.attributes;
        attributes.set("plane_voxels", static_cast<double>(volume[2] * volume[3]));
        attributes.set("type", static_cast<double>(value.type));
      }
      const std::string_view operation = cut.kind == Kind::summed ? cut.total : "total";
      cut_.slabs[index(node.outputs[output])].push_back(
          cut_.graph.apply(operation, value.origin, parts, attributes));
      set_owner(none);
    }
  }

  const Graph& old_;
  std::vector<std::vector<Made>> made_;                   // per value and slab
  std::vector<Made> read_;                                // per value: its last reader so far
  std::vector<std::vector<std::vector<ValueId>>> parts_;  // of sums, per node: outputs of each part
  std::vector<Item> items_;                               // of the current segment
  // Only with ranks, for sums over windows.
  std::vector<bool> is_late_;  // per node
  std::vector<NodeId> late_totals_;
  std::map<ValueId, std::vector<ValueId>> totals_of_ranks_;
  std::int64_t segment_ = 0, sample_ = 0;
  std::int64_t largest_slab_ = 0;  // bytes
  CutGraph cut_;
};

}  // namespace

CutGraph cut_into_slabs(const Graph& graph, std::int64_t planes_per_slab, std::int64_t ranks) {
  return Cutter(graph, planes_of_slabs(graph, planes_per_slab, ranks), ranks).run();
}

}  // namespace voxswap::net
