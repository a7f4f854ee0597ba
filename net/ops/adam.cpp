// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter 2019). A node updates
// one parameter, as soon as its gradient is there, or many whose gradients are small enough to wait.
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
  for (std::size_t i = 0; i < node.updates.size(); i += 3)
    elements += static_cast<double>(shape_of(graph, node.updates[i]).count());
  return 12 * elements;
}

OperationCase example(std::string name, const std::vector<Shape>& shapes, double weight_decay) {
  OperationCase result = {
      std::move(name),
      {},
      {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", weight_decay}},
      {}};
  for (const Shape& shape : shapes) {
    result.inputs.push_back(full(shape));
    result.updates.insert(result.updates.end(), {full(shape), full(shape), full(shape, Fill::positive)});
  }
  return result;
}

// With loss scaling, in a step whose gradients were or were not finite.
OperationCase scaled(std::string name, const std::vector<Shape>& shapes, Fill finite) {
  OperationCase result = example(std::move(name), shapes, 0.01);
  result.inputs.push_back(full({3}, Fill::positive));
  result.inputs.push_back(full({1}, finite));
  return result;
}

// More than one launch of a GPU takes, of one to seven elements.
std::vector<Shape> many() {
  std::vector<Shape> shapes;
  for (std::int64_t i = 0; i < 230; ++i) shapes.push_back({1 + i % 7});
  return shapes;
}

}  // namespace

// gradients, one or more (, state[3], finite[1]: loss scaling); updates parameter, m, v of the first
// gradient, then of the second, … (all full). Kingma & Ba 2015, algorithm 1, with decoupled weight decay.
// Attributes beta1, beta2, epsilon, weight_decay; learning rate and step from StepContext. With loss
// scaling gradients are divided by the scale, the step is the updates ever made + 1, and nothing changes
// where finite is 0.
const Operation& adam() {
  static const Operation operation = {
      "adam",
      infer,
      nullptr,
      flops,
      {},
      /*cheap=*/false,
      whole,
      {example("weight", {{16, 4, 3, 3, 3}}, 0), example("bias, with decay", {{5}}, 0.01),
       example("one", {{1}}, 0), example("weight, with decay", {{3, 20, 1, 1, 1}}, 0.1),
       example("three, odd counts", {{33}, {7, 5, 3, 3, 3}, {1}}, 0.1),
       example("two, one of several blocks", {{16}, {20, 80, 3, 3, 3}}, 0), example("many", many(), 0.01),
       scaled("scaled", {{16, 5, 3, 3, 3}}, Fill::positive),
       scaled("three, scaled", {{1}, {263}, {16, 5, 1, 1, 1}}, Fill::positive),
       scaled("scaled, not finite", {{7}}, Fill::zeros),
       scaled("three, scaled, not finite", {{7}, {64}, {2}}, Fill::zeros)},
      /*depends_on_step=*/true};
  return operation;
}

}  // namespace voxswap::net::ops
