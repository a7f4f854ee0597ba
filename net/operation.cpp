#include "net/operation.h"

#include <cassert>
#include <cstdlib>

namespace voxswap {

const Operation& find_operation(std::string_view name) {
  for (const Operation* operation : operations())
    if (operation->name == name) return *operation;
  assert(false && "the operation is in the table of net/ops/ops.cpp");
  std::abort();
}

double node_flops(const Graph& graph, const Node& node) {
  return node.operation->flops == nullptr ? 0 : node.operation->flops(graph, node);
}

std::int64_t node_bytes(const Graph& graph, const Node& node) {
  std::int64_t bytes = 0;
  for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs, &node.updates})
    for (ValueId id : *ids) bytes += graph.value(id).bytes();
  return bytes;
}

}  // namespace voxswap
