#include "net/steps/samples.h"

#include <cassert>
#include <map>
#include <string>
#include <utility>

#include "base/shape.h"
#include "base/text.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

// Offset between the random keys of a node in one sample and in the next. Larger than the difference between
// any two nodes' keys.
constexpr std::int64_t keys_per_sample = std::int64_t{1} << 16;

class Repeater {
 public:
  // The last group holds the values of `together`.
  Repeater(const Graph& one, const Share& share, const std::vector<std::vector<ValueId>>& groups,
           const std::vector<ValueId>& together)
      : one_(one),
        share_(share),
        parts_(parts_of(share)),
        groups_(groups),
        group_of_(one.values().size(), none),
        sum_of_(one.values().size(), none),
        waits_(one.nodes().size(), false) {
    groups_.push_back(together);
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (const ValueId id : groups_[group]) group_of_[index(id)] = static_cast<std::int32_t>(group);
    shared_.copies.resize(one.values().size());
    shared_.sums.resize(groups_.size());
    missing_.resize(groups_.size());
    find_waiting(together);
  }

  SharedGraph run() {
    for (ValueId id = 0; index(id) < one_.values().size(); ++id)
      if (one_.value(id).persistent()) add_persistent(id);
    for (std::int64_t i = 0; i < share_.count; ++i) add_sample(share_.first + i);
    const std::vector<ValueId>& sums = shared_.sums.back();
    for (std::size_t i = 0; i < sums.size(); ++i) sum_of_[index(groups_.back()[i])] = sums[i];
    for (std::int64_t i = 0; i < share_.count && !groups_.back().empty(); ++i)
      add_nodes(share_.first + i, /*waiting=*/true);
    shared_.sums.pop_back();
    return std::move(shared_);
  }

 private:
  // In a batch of one, names stay those of the one sample.
  Origin in_sample(const Origin& origin, std::int64_t sample) const {
    return share_.batch == 1 ? origin : origin.with_sample(static_cast<std::int32_t>(sample));
  }
  ValueId last_copy(ValueId id) const { return shared_.copies[index(id)].back(); }
  // The value that a sample's node reads instead of one of the original graph.
  ValueId read_by(std::int64_t sample, ValueId id) const {
    if (sum_of_[index(id)] != none) return sum_of_[index(id)];
    if (one_.value(id).persistent()) return last_copy(id);
    return shared_.copies[index(id)][index(sample - share_.first)];
  }

  // Finds the nodes that depend on the sums of `together`.
  void find_waiting(const std::vector<ValueId>& together) {
    std::vector<bool> late(one_.values().size(), false);
    for (const ValueId id : together) late[index(id)] = true;
    for (std::size_t i = 0; i < one_.nodes().size(); ++i) {
      const Node& node = one_.nodes()[i];
      for (const ValueId id : node.inputs) waits_[i] = waits_[i] || late[index(id)];
      for (const ValueId id : node.outputs) late[index(id)] = late[index(id)] || waits_[i];
    }
  }

  void add_persistent(ValueId id) {
    const Value& value = one_.value(id);
    const ValueId added = shared_.graph.add_value(value.origin, value.shape, value.type, value.role);
    assert(added == id && "persistent values come first");
    shared_.copies[index(id)].push_back(added);
  }

  void add_sample(std::int64_t sample) {
    for (ValueId id = 0; index(id) < one_.values().size(); ++id) {
      const Value& value = one_.value(id);
      if (value.producer != none || value.persistent()) continue;
      shared_.copies[index(id)].push_back(
          shared_.graph.add_value(in_sample(value.origin, sample), value.shape, value.type, value.role));
    }
    add_nodes(sample, /*waiting=*/false);
  }

  void add_nodes(std::int64_t sample, bool waiting) {
    for (std::size_t group = 0; group < groups_.size(); ++group) missing_[group] = groups_[group].size();
    for (std::size_t i = 0; i < one_.nodes().size(); ++i)
      if (waits_[i] == waiting) add_node(one_.nodes()[i], sample);
  }

  void add_node(const Node& node, std::int64_t sample) {
    assert(node.updates.empty() || share_.batch == 1);
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(read_by(sample, id));
    Attributes attributes = node.attributes;
    if (attributes.values().contains("key"))
      attributes.set("key", static_cast<double>(attributes.integer("key") + sample * keys_per_sample));
    shared_.graph.phase = node.phase;
    const NodeId added = shared_.graph.add(node.operation->name, in_sample(node.origin, sample),
                                           std::move(inputs), attributes, node.updates);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      shared_.copies[index(node.outputs[i])].push_back(shared_.graph.node(added).outputs[i]);
      if (group_of_[index(node.outputs[i])] != none) add_up(node.outputs[i], sample);
    }
  }

  // Adds a sample's part of a sum as soon as the tree allows.
  void add_up(ValueId id, std::int64_t sample) {
    ValueId sum = last_copy(id);
    Samples samples = {sample, sample + 1};
    for (const Sum& next : sums_ending_with(share_, sample)) {
      samples = {next.left.first, next.right.last};
      sum =
          shared_.graph.apply("add", format("{}@{}-{}", one_.value(id).name, samples.first + 1, samples.last),
                              {sums_.at({id, next.left.first}), sum});
    }
    sums_[{id, samples.first}] = sum;
    const auto group = static_cast<std::size_t>(group_of_[index(id)]);
    if (--missing_[group] == 0 && sample + 1 == share_.first + share_.count) finish(group);
  }

  // Finishes a group's sums when all samples have contributed.
  void finish(std::size_t group) {
    std::vector<ValueId> inputs;
    for (const ValueId id : groups_[group])
      for (const Samples& part : parts_) inputs.push_back(sums_.at({id, part.first}));
    if (share_.count < share_.batch) {
      if (group + 1 < groups_.size()) shared_.graph.phase = Phase::backward;
      const NodeId added = shared_.graph.add(
          "exchange", one_.value(groups_[group].front()).name + ".exchange", inputs,
          {{"parts", static_cast<double>(parts_.size())}, {"batch", static_cast<double>(share_.batch)}});
      inputs = shared_.graph.node(added).outputs;
    }
    shared_.sums[group] = std::move(inputs);
  }

  const Graph& one_;
  Share share_;
  std::vector<Samples> parts_;
  std::vector<std::vector<ValueId>> groups_;
  std::vector<std::int32_t> group_of_;  // per value; none: not summed
  std::vector<ValueId> sum_of_;         // per value; none: each sample reads its own
  std::vector<bool> waits_;             // per node: for the sums of `together`
  std::vector<std::size_t> missing_;    // per group: values that the sample has not computed yet
  std::map<std::pair<ValueId, std::int64_t>, ValueId> sums_;  // the latest, by value and first sample
  SharedGraph shared_;
};

}  // namespace

SharedGraph for_share(const Graph& one, const Share& share, const std::vector<std::vector<ValueId>>& groups,
                      const std::vector<ValueId>& together) {
  return Repeater(one, share, groups, together).run();
}

}  // namespace voxswap::net
