// Gradients of operations against central differences, in double on the reference backend: every case of
// every operation that has a gradient, the chain of both losses, a value with several readers.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "net/backends/backends.h"
#include "net/graph/autodiff.h"
#include "net/steps/step.h"
#include "tests/net/directions.h"

namespace voxswap::net {
namespace {

// A forward graph with the backward pass of <seed, output> behind it, and what its values hold.
struct Differentiated {
  Graph graph;
  std::vector<ValueId> inputs;                                    // that a gradient must flow to
  std::vector<ValueId> outputs;                                   // of the forward graph
  std::vector<ValueId> seeds;                                     // per output
  std::vector<ValueId> gradients;                                 // per input
  std::vector<std::pair<ValueId, std::vector<double>>> contents;  // of all inputs and seeds

  // A copy of the shape: adding a value moves the others, one of which it may be of.
  ValueId add_input(const std::string& name, Shape shape, Fill fill) {
    const bool bits = fill == Fill::bits || fill == Fill::classes || fill == Fill::taps;
    const ValueId id = graph.add_value(name, shape, bits ? ElementType::u8 : ElementType::f64, Role::input);
    contents.emplace_back(id, fill_values(fill, shape.count(), contents.size()));
    return id;
  }
  void differentiate_outputs() {
    std::vector<std::pair<ValueId, ValueId>> pairs;
    for (ValueId output : outputs) {
      seeds.push_back(
          add_input("seed" + std::to_string(seeds.size()), graph.value(output).shape, Fill::normal));
      pairs.emplace_back(output, seeds.back());
    }
    gradients = differentiate(graph, pairs, inputs);
  }
};

// Where a direction must not point: the loss takes the sum of targets, and the number of voxels, for
// constants.
void keep_targets(const std::string& operation, std::int64_t kinds, std::vector<double>& direction) {
  if (operation != "loss_value") return;
  for (std::size_t i = 0; i < direction.size(); ++i)
    if (const std::size_t kind = i % static_cast<std::size_t>(kinds); kind == 1 || kind == 4)
      direction[i] = 0;
}

// Compares along one random direction per input. The tolerance is relative to the gradient's norm: that is
// how large the derivative along a direction of independent normal components typically is.
void check(Differentiated& d, const std::string& operation) {
  const auto backend = make_backend("reference");
  GraphRun run(d.graph, *backend);
  for (const auto& [id, values] : d.contents) run.set(id, values);
  const StepContext context;
  const auto value_of = [&] {
    run.run(context, Phase::forward);
    double sum = 0;
    for (std::size_t i = 0; i < d.outputs.size(); ++i) sum += dot(run.get(d.outputs[i]), run.get(d.seeds[i]));
    return sum;
  };
  run.run(context);
  std::vector<std::vector<double>> gradients;
  for (ValueId id : d.gradients) {
    ASSERT_NE(id, none) << operation << ": an input without a gradient";
    gradients.push_back(run.get(id));
  }
  for (std::size_t i = 0; i < d.inputs.size(); ++i) {
    const std::vector<double> start = run.get(d.inputs[i]);
    std::vector<double> direction = normal_values(d.graph.value(d.inputs[i]).shape.count(), 1000 + i);
    keep_targets(operation, d.graph.value(d.inputs[i]).shape[-1], direction);
    const double step = 1e-6;
    run.set(d.inputs[i], moved(start, step, direction));
    const double above = value_of();
    run.set(d.inputs[i], moved(start, -step, direction));
    const double below = value_of();
    run.set(d.inputs[i], start);
    const double norm = std::sqrt(dot(gradients[i], gradients[i]));
    EXPECT_NEAR(dot(gradients[i], direction), (above - below) / (2 * step), 1e-6 * norm + 1e-8)
        << operation << ", input " << i;
  }
}

// A case of the table in f64. Statistics are made from the first input, for the gradient of the norm takes
// them for functions of it.
Differentiated differentiated_case(const Operation& operation, const OperationCase& example) {
  Differentiated d;
  std::vector<ValueId> inputs;
  Attributes attributes = example.attributes;
  if (operation.name == "cast") attributes.set("type", static_cast<double>(ElementType::f64));
  const bool dropout = operation.name == "norm_activation" && attributes.flag("has_scale");
  for (std::size_t i = 0; i < example.inputs.size(); ++i) {
    const auto& input = example.inputs[i];
    if (input.fill == Fill::statistics) {
      inputs.push_back(
          d.graph.apply("instance_norm_statistics", "statistics", {inputs[0]}, {{"epsilon", 1e-5}}));
      if (attributes.flag("batch"))
        inputs.back() = d.graph.apply("statistics_of_batch", "batch", {inputs.back()}, {{"epsilon", 1e-5}});
      continue;
    }
    inputs.push_back(d.add_input("input" + std::to_string(i), input.shape, input.fill));
    const bool constant = input.kind == OperationCase::Input::Kind::bits || (dropout && i == 4);
    if (!constant) d.inputs.push_back(inputs.back());
  }
  const NodeId node = d.graph.add(operation.name, "node", inputs, attributes);
  for (const ValueId output : d.graph.node(node).outputs)
    if (d.graph.value(output).type != ElementType::u8) d.outputs.push_back(output);  // a choice has none
  d.differentiate_outputs();
  return d;
}

// Statistics alone have no gradient: it is part of norm_activation's.
bool differentiable_alone(const Operation& operation) {
  return operation.gradient != nullptr && operation.name != "instance_norm_statistics" &&
         operation.name != "statistics_of_batch";
}

std::vector<const Operation*> differentiable_operations() {
  std::vector<const Operation*> result;
  for (const Operation* operation : operations()) {
    if (differentiable_alone(*operation)) result.push_back(operation);
  }
  return result;
}

class OperationGradient : public testing::TestWithParam<const Operation*> {};

TEST_P(OperationGradient, AgreesWithFiniteDifferencesInEveryCase) {
  for (const OperationCase& example : GetParam()->cases) {
    SCOPED_TRACE(example.name);
    Differentiated d = differentiated_case(*GetParam(), example);
    check(d, std::string(GetParam()->name));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, OperationGradient, testing::ValuesIn(differentiable_operations()),
                         [](const testing::TestParamInfo<const Operation*>& parameter) {
                           return std::string(parameter.param->name);
                         });

TEST(OperationGradients, AreAllChecked) {
  std::set<std::string_view> checked;
  for (const Operation* operation : differentiable_operations()) {
    ASSERT_FALSE(operation->cases.empty()) << operation->name;
    for (const OperationCase& example : operation->cases) {
      const Differentiated d = differentiated_case(*operation, example);
      for (const Node& node : d.graph.nodes()) checked.insert(node.operation->name);
    }
  }
  for (const Operation* operation : operations()) {
    EXPECT_TRUE(operation->gradient == nullptr || checked.contains(operation->name)) << operation->name;
  }
}

class LossGradient : public testing::TestWithParam<Loss> {};

TEST_P(LossGradient, OfTheWholeChainAgreesWithFiniteDifferences) {
  const LossOptions loss = loss_options(GetParam());
  Differentiated d;
  const std::int64_t channels = loss.classes ? 3 : 11;
  const Shape shape = {2, 4, 3, 5, channels};
  const ValueId logits = d.add_input("logits", shape, Fill::normal);
  const ValueId target = d.add_input("target", loss.classes ? Shape{2, 4, 3, 5} : Shape{2, 4, 3, 5, 2},
                                     loss.classes ? Fill::classes : Fill::bits);
  const ValueId sums =
      d.graph.apply(loss.classes ? "softmax_loss_sums" : "loss_sums", "sums", {logits, target});
  d.outputs = {d.graph.apply("loss_value", "loss", {sums},
                             {{"dice", loss.dice},
                              {"cross_entropy", loss.cross_entropy},
                              {"epsilon", loss.epsilon},
                              {"first", loss.classes ? 1 : 0},
                              {"count", 4 * 3 * 5}})};
  d.inputs = {logits};
  d.differentiate_outputs();
  check(d, "loss");
}

INSTANTIATE_TEST_SUITE_P(Every, LossGradient,
                         testing::Values(Loss::weighted_dice, Loss::dice_cross_entropy,
                                         Loss::softmax_cross_entropy, Loss::softmax_dice_cross_entropy),
                         [](const testing::TestParamInfo<Loss>& parameter) {
                           return choice_name(parameter.param);
                         });

// A value that is read twice, and one that is read by nobody else than its own sum.
TEST(Differentiate, AddsTheGradientsOfEveryReader) {
  Differentiated d;
  const ValueId x = d.add_input("x", {1, 2, 3, 2, 3}, Fill::normal);
  const ValueId active = d.graph.apply("leaky_relu", "active", {x}, {{"slope", 0.3}});
  const ValueId sum = d.graph.apply("add", "sum", {x, active});
  const ValueId twice = d.graph.apply("add", "twice", {sum, sum});
  d.outputs = {d.graph.apply("concat", "joined", {twice, active}, {{"axis", 4}})};
  d.inputs = {x};
  d.differentiate_outputs();
  check(d, "several readers");
}

}  // namespace
}  // namespace voxswap::net
