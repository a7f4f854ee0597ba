// Stochastic gradient descent with Nesterov's momentum (Sutskever et al. 2013, as PyTorch's SGD computes it).
// A node updates one parameter or many, as Adam's does.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(!inputs.empty());
  for (const ValueId id : inputs) assert(graph.value(id).type == full_type(graph, id));
  return {};
}

double flops(const Graph& graph, const Node& node) {
  double elements = 0;
  for (std::size_t i = 0; i < node.updates.size(); i += 2)
    elements += static_cast<double>(shape_of(graph, node.updates[i]).count());
  return 7 * elements;
}

OperationCase example(std::string name, const std::vector<Shape>& shapes, double weight_decay) {
  OperationCase result = {std::move(name), {}, {{"momentum", 0.9}, {"weight_decay", weight_decay}}, {}};
  for (const Shape& shape : shapes) {
    result.inputs.push_back(full(shape));
    result.updates.insert(result.updates.end(), {full(shape), full(shape)});
  }
  return result;
}

OperationCase with(OperationCase example, const std::vector<Input>& more) {
  example.inputs.insert(example.inputs.end(), more.begin(), more.end());
  return example;
}

}  // namespace

// gradients, one or more (, state[3], finite[1]: loss scaling) (, clip[1]); updates parameter, momentum of
// the first gradient, then of the second, … (all full): d = g + weight_decay parameter; momentum = mu
// momentum + d; parameter -= rate (d + mu momentum). Attributes momentum (mu), weight_decay; the learning
// rate from StepContext. With loss scaling gradients are divided by the scale, and nothing changes where
// finite is 0; with clip they are multiplied by it.
const Operation& sgd() {
  const auto scaled = [](Fill finite) {
    return std::vector<Input>{full({3}, Fill::positive), full({1}, finite)};
  };
  static const Operation operation = {
      "sgd",
      infer,
      nullptr,
      flops,
      {},
      /*cheap=*/false,
      whole,
      {example("weight", {{16, 4, 3, 3, 3}}, 0), example("bias, with decay", {{5}}, 0.01),
       example("three, odd counts", {{33}, {7, 5, 3, 3, 3}, {1}}, 0.1),
       with(example("clipped", {{20, 80, 3, 3, 3}, {16}}, 0.01), {full({1}, Fill::positive)}),
       with(example("scaled", {{16, 5, 3, 3, 3}, {7}}, 0.01), scaled(Fill::positive)),
       with(example("scaled, not finite", {{7}}, 0), scaled(Fill::zeros)),
       with(with(example("scaled and clipped", {{1}, {263}}, 0), scaled(Fill::positive)),
            {full({1}, Fill::positive)})},
      /*depends_on_step=*/true};
  return operation;
}

}  // namespace voxswap::net::ops
