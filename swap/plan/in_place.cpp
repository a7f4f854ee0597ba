// An operation names the outputs that may overwrite an input; the rest follows from the values.
#include "swap/plan/in_place.h"

#include <algorithm>

#include "net/graph/operation.h"

namespace voxswap::swap {

bool may_take_over(const net::Graph& graph, const net::Node& node, net::ValueId output, net::ValueId input) {
  const net::Value& from = graph.value(input);
  if (from.persistent() || from.role == net::Role::input) return false;
  if (from.bytes() < graph.value(output).bytes()) return false;
  // Element over element: with another type the n-th output would lie over another input than the n-th.
  if (from.type != graph.value(output).type) return false;
  // Read twice, it may be needed in two places at different times of the same kernel.
  if (std::count(node.inputs.begin(), node.inputs.end(), input) != 1) return false;
  return std::any_of(
      node.operation->in_place.begin(), node.operation->in_place.end(), [&](const std::pair<int, int>& pair) {
        const auto to = static_cast<std::size_t>(pair.first), over = static_cast<std::size_t>(pair.second);
        return to < node.outputs.size() && over < node.inputs.size() && node.outputs[to] == output &&
               node.inputs[over] == input;
      });
}

}  // namespace voxswap::swap
