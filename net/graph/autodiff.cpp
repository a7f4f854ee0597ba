#include "net/graph/autodiff.h"

#include <cassert>

#include "base/shape.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

// Marks the values that depend on any of `wrt`. Other values get no gradient.
std::vector<bool> dependents(const Graph& graph, const std::vector<ValueId>& wrt) {
  std::vector<bool> depends(graph.values().size());
  for (ValueId id : wrt) depends[index(id)] = true;
  for (const Node& node : graph.nodes())
    for (ValueId input : node.inputs)
      if (depends[index(input)])
        for (ValueId output : node.outputs) depends[index(output)] = true;
  return depends;
}

// The gradient of every value so far.
class Gradients {
 public:
  Gradients(Graph& graph, std::size_t values) : graph_(graph), gradients_(values, none) {}

  ValueId of(ValueId id) const { return gradients_[index(id)]; }

  void add(ValueId id, ValueId gradient) {
    ValueId& sum = gradients_[index(id)];
    sum = sum == none ? gradient
                      : graph_.apply("add", graph_.value(id).name + ".gradient_sum", {sum, gradient});
  }

 private:
  Graph& graph_;
  std::vector<ValueId> gradients_;
};

}  // namespace

std::vector<ValueId> differentiate(Graph& graph, const std::vector<std::pair<ValueId, ValueId>>& seeds,
                                   const std::vector<ValueId>& wrt) {
  const Phase phase_before = graph.phase;
  graph.phase = Phase::backward;
  const std::vector<bool> depends = dependents(graph, wrt);
  Gradients gradients(graph, graph.values().size());
  for (const auto& [output, seed] : seeds) gradients.add(output, seed);

  for (NodeId id = static_cast<NodeId>(graph.nodes().size()) - 1; id >= 0; --id) {
    const Node node = graph.node(id);  // a copy: appending nodes invalidates references
    std::vector<ValueId> output_gradients;
    bool reached = false, needed = false;
    for (ValueId output : node.outputs) {
      output_gradients.push_back(gradients.of(output));
      reached = reached || output_gradients.back() != none;
    }
    std::vector<bool> wanted;
    for (ValueId input : node.inputs) {
      wanted.push_back(depends[index(input)]);
      needed = needed || wanted.back();
    }
    if (!reached || !needed) continue;
    assert(node.operation->gradient != nullptr &&
           "all operations between outputs and wrt are differentiable");
    const std::vector<ValueId> made = node.operation->gradient(graph, id, output_gradients, wanted);
    assert(made.size() == node.inputs.size());
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i] != none && wanted[i]) gradients.add(node.inputs[i], made[i]);
  }
  graph.phase = phase_before;

  std::vector<ValueId> result;
  for (ValueId id : wrt) result.push_back(gradients.of(id));
  return result;
}

}  // namespace voxswap::net
