#include "net/graph/fused_moments.h"

#include <utility>
#include <vector>

#include "base/shape.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

// The node that makes `volume` and can output its moments, else none.
NodeId maker_of(const Graph& graph, ValueId volume, const MakesMoments& makes_moments) {
  const NodeId id = graph.value(volume).producer;
  if (id == none) return none;
  const Node& node = graph.node(id);
  const Operation& operation = node.operation->inner != nullptr ? node.operation->inner() : *node.operation;
  const bool convolves = operation.name == "conv3d" || operation.name == "conv3d_sum";
  return convolves && makes_moments(graph, node) ? id : none;
}

// Statistics of a whole volume from the moments of its planes.
Node out_of_planes(const Graph& graph, Node statistics, ValueId planes) {
  const Shape& volume = graph.value(statistics.inputs[0]).shape;
  statistics.operation = &find_operation("statistics_of_planes");
  statistics.attributes.set("plane_voxels", static_cast<double>(volume[2] * volume[3]));
  statistics.attributes.set("type", static_cast<double>(graph.value(statistics.outputs[0]).type));
  statistics.inputs = {planes};
  return statistics;
}

}  // namespace

void fuse_moments(Graph& graph, const MakesMoments& makes_moments) {
  std::vector<ValueId> moments(graph.nodes().size(),
                               none);  // extra output of a node: the moments of its planes
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    Node node = graph.nodes()[i];
    const bool of_planes = node.operation->name == "plane_moments";
    if (of_planes || node.operation->name == "instance_norm_statistics") {
      const Shape volume = graph.value(node.inputs[0]).shape;
      const NodeId maker = maker_of(graph, node.inputs[0], makes_moments);
      if (maker != none && moments[index(maker)] == none) {
        ValueId& planes = moments[index(maker)];
        planes = of_planes ? node.outputs[0]
                           : graph.add_value(node.origin.with_suffix(".planes"),
                                             {volume[0], volume[1], volume[4], 2}, ElementType::f64,
                                             Role::statistic);
        if (of_planes) continue;
        node = out_of_planes(graph, std::move(node), planes);
      }
    }
    nodes.push_back(std::move(node));
  }
  for (Node& node : nodes) {
    if (node.outputs.empty()) continue;
    const ValueId planes = moments[index(graph.value(node.outputs[0]).producer)];
    if (planes == none) continue;
    node.attributes.set("moments", 1);
    node.outputs.push_back(planes);
  }
  graph.replace_nodes(std::move(nodes));
}

}  // namespace voxswap::net
