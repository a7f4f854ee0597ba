// Parameter updates: Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter
// 2019), and stochastic gradient descent with Nesterov momentum (Sutskever et al. 2013, as in PyTorch's SGD).
// A node updates one parameter as soon as its gradient is available, or many small ones together.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(!inputs.empty());
  for (const ValueId id : inputs) assert(graph.value(id).type == full_type(graph, id));
  return {};
}

// `states`: optimiser states per parameter.
template <int per_element, std::size_t states>
double flops(const Graph& graph, const Node& node) {
  double elements = 0;
  for (std::size_t i = 0; i < node.updates.size(); i += 1 + states)
    elements += static_cast<double>(shape_of(graph, node.updates[i]).count());
  return per_element * elements;
}

OperationCase adam_case(std::string name, const std::vector<Shape>& shapes, double weight_decay) {
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

OperationCase sgd_case(std::string name, const std::vector<Shape>& shapes, double weight_decay) {
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

// Inputs of loss scaling, with finite or infinite gradients.
std::vector<Input> scaled(Fill finite) {
  return {full({3}, Fill::positive), full({1}, finite)};
}

// More parameters than one GPU launch takes, of one to seven elements.
std::vector<Shape> many() {
  std::vector<Shape> shapes;
  for (std::int64_t i = 0; i < 230; ++i) shapes.push_back({1 + i % 7});
  return shapes;
}

}  // namespace

// gradients, one or more (, state[3], finite[1]: loss scaling) (, clip[1]); updates parameter, m, v of the
// first gradient, then of the second, … (all full). Kingma & Ba 2015, algorithm 1, with decoupled weight
// decay. Attributes beta1, beta2, epsilon, weight_decay; learning rate and step from StepContext. With loss
// scaling, gradients are divided by the scale, the step is the number of updates made + 1, and nothing
// changes if finite is 0.
const Operation& adam() {
  static const Operation operation = {
      "adam",
      infer,
      nullptr,
      flops<12, 2>,
      {},
      /*cheap=*/false,
      whole,
      {adam_case("weight", {{16, 4, 3, 3, 3}}, 0), adam_case("bias, with decay", {{5}}, 0.01),
       adam_case("one", {{1}}, 0), adam_case("weight, with decay", {{3, 20, 1, 1, 1}}, 0.1),
       adam_case("three, odd counts", {{33}, {7, 5, 3, 3, 3}, {1}}, 0.1),
       adam_case("two, one of several blocks", {{16}, {20, 80, 3, 3, 3}}, 0), adam_case("many", many(), 0.01),
       with(adam_case("scaled", {{16, 5, 3, 3, 3}}, 0.01), scaled(Fill::positive)),
       with(adam_case("three, scaled", {{1}, {263}, {16, 5, 1, 1, 1}}, 0.01), scaled(Fill::positive)),
       with(adam_case("scaled, not finite", {{7}}, 0.01), scaled(Fill::zeros)),
       with(adam_case("three, scaled, not finite", {{7}, {64}, {2}}, 0.01), scaled(Fill::zeros)),
       with(adam_case("clipped", {{20, 80, 3, 3, 3}, {16}}, 0.01), {full({1}, Fill::positive)}),
       with(with(adam_case("scaled and clipped", {{1}, {263}}, 0), scaled(Fill::positive)),
            {full({1}, Fill::positive)})},
      /*depends_on_step=*/true};
  return operation;
}

// gradients, one or more (, state[3], finite[1]: loss scaling) (, clip[1]); updates parameter, momentum of
// the first gradient, then of the second, … (all full): d = g + weight_decay parameter; momentum = mu
// momentum + d; parameter -= rate (d + mu momentum). Attributes momentum (mu), weight_decay; learning rate
// from StepContext. With loss scaling, gradients are divided by the scale and nothing changes if finite is 0.
// With clip, gradients are multiplied by it.
const Operation& sgd() {
  static const Operation operation = {
      "sgd",
      infer,
      nullptr,
      flops<7, 1>,
      {},
      /*cheap=*/false,
      whole,
      {sgd_case("weight", {{16, 4, 3, 3, 3}}, 0), sgd_case("bias, with decay", {{5}}, 0.01),
       sgd_case("three, odd counts", {{33}, {7, 5, 3, 3, 3}, {1}}, 0.1),
       with(sgd_case("clipped", {{20, 80, 3, 3, 3}, {16}}, 0.01), {full({1}, Fill::positive)}),
       with(sgd_case("scaled", {{16, 5, 3, 3, 3}, {7}}, 0.01), scaled(Fill::positive)),
       with(sgd_case("scaled, not finite", {{7}}, 0), scaled(Fill::zeros)),
       with(with(sgd_case("scaled and clipped", {{1}, {263}}, 0), scaled(Fill::positive)),
            {full({1}, Fill::positive)})},
      /*depends_on_step=*/true};
  return operation;
}

}  // namespace voxswap::net::ops
