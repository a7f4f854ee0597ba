// Gradients against central differences, in double on the reference backend: every case of every operation
// that has a gradient, the chain of both losses, and both whole networks as the training step builds them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "net/autodiff.h"
#include "net/step.h"
#include "tests/net/run_graph.h"

namespace voxswap {
namespace {

std::vector<double> normal_values(std::int64_t count, std::uint64_t stream) {
  return fill_values(Fill::normal, count, stream);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> moved(std::vector<double> x, double step, const std::vector<double>& direction) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += step * direction[i];
  return x;
}

// A forward graph with the backward pass of <seed, output> behind it, and what its values hold.
struct Differentiated {
  Graph graph;
  std::vector<ValueId> inputs;                                    // that a gradient must flow to
  std::vector<ValueId> outputs;                                   // of the forward graph
  std::vector<ValueId> seeds;                                     // per output
  std::vector<ValueId> gradients;                                 // per input
  std::vector<std::pair<ValueId, std::vector<double>>> contents;  // of all inputs and seeds

  ValueId add_input(const std::string& name, const Shape& shape, Fill fill) {
    const bool bits = fill == Fill::bits;
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

// Where a direction must not point: the loss takes the sum of targets for a constant.
void keep_targets(const std::string& operation, std::vector<double>& direction) {
  if (operation != "loss_value") return;
  for (std::size_t i = 1; i < direction.size(); i += 4) direction[i] = 0;
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
    keep_targets(operation, direction);
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
      continue;
    }
    inputs.push_back(d.add_input("input" + std::to_string(i), input.shape, input.fill));
    const bool constant = input.kind == OperationCase::Input::Kind::bits || (dropout && i == 4);
    if (!constant) d.inputs.push_back(inputs.back());
  }
  const NodeId node = d.graph.add(operation.name, "node", inputs, attributes);
  d.outputs = d.graph.node(node).outputs;
  d.differentiate_outputs();
  return d;
}

// Statistics alone have no gradient: it is part of norm_activation's.
bool differentiable_alone(const Operation& operation) {
  return operation.gradient != nullptr && operation.name != "instance_norm_statistics";
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

class LossGradient : public testing::TestWithParam<std::string> {};

TEST_P(LossGradient, OfTheWholeChainAgreesWithFiniteDifferences) {
  const LossOptions loss = parse_loss(GetParam());
  Differentiated d;
  const Shape shape = {2, 4, 3, 5, 3};
  const ValueId logits = d.add_input("logits", shape, Fill::normal);
  const ValueId target = d.add_input("target", {2, 4, 3, 5}, Fill::bits);
  const ValueId sums = d.graph.apply("loss_sums", "sums", {logits, target});
  d.outputs = {d.graph.apply("loss_value", "loss", {sums},
                             {{"dice", loss.dice},
                              {"cross_entropy", loss.cross_entropy},
                              {"epsilon", loss.epsilon},
                              {"voxels", 4 * 3 * 5}})};
  d.inputs = {logits};
  d.differentiate_outputs();
  check(d, "loss");
}

INSTANTIATE_TEST_SUITE_P(Both, LossGradient, testing::Values("weighted_dice", "dice_cross_entropy"),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           return parameter.param;
                         });

// A value that is read twice, and one that is read by nobody else than its own sum.
TEST(Differentiate, AddsTheGradientsOfEveryReader) {
  Differentiated d;
  const ValueId x = d.add_input("x", {1, 2, 3, 2, 3}, Fill::normal);
  const ValueId active = d.graph.apply("leaky_relu", "active", {x}, {{"slope", 0.3}});
  const ValueId sum = d.graph.apply("add", "sum", {x, active});
  const ValueId twice = d.graph.apply("add", "twice", {sum, sum});
  d.outputs = {d.graph.apply("concat", "joined", {twice, active})};
  d.inputs = {x};
  d.differentiate_outputs();
  check(d, "several readers");
}

struct NetworkCase {
  std::string name;
  NetworkOptions network;
  Shape input;
  std::string loss;
};

void PrintTo(const NetworkCase& example, std::ostream* out) {
  *out << example.name;
}

class NetworkGradient : public testing::TestWithParam<NetworkCase> {};

// A training step in f64 whose parameters have moved away from the symmetric start, and stay there.
struct NetworkRun {
  TrainingStep step;
  std::unique_ptr<Backend> backend = make_backend("reference");
  std::unique_ptr<GraphRun> run;
  StepContext context{.seed = 3, .step = 5, .learning_rate = 0};
  std::vector<std::vector<double>> parameters, gradients;

  explicit NetworkRun(const NetworkCase& example) {
    StepOptions options;
    options.network = example.network;
    options.input = example.input;
    options.activations = ElementType::f64;
    options.loss = parse_loss(example.loss);
    step = build_training_step(options);
    run = std::make_unique<GraphRun>(step.graph, *backend);
    fill();
    run->run(context);
    for (ValueId id : step.parameters) gradients.push_back(run->get(gradient_of(id)));
  }

  double loss_at(double distance, const std::vector<std::vector<double>>& direction) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      run->set(step.parameters[i], moved(parameters[i], distance, direction[i]));
    }
    run->run(context, Phase::loss);
    return run->get(step.loss)[0];
  }

 private:
  void fill() {
    const auto count = [&](ValueId id) { return step.graph.value(id).shape.count(); };
    run->set(step.input, normal_values(count(step.input), 1));
    run->set(step.target, fill_values(Fill::bits, count(step.target), 2));
    for (ValueId id : step.optimizer_state) {
      run->set(id, std::vector<double>(static_cast<std::size_t>(count(id)), 0.0));
    }
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      const std::vector<float> start = initial_value(step.graph, step.parameters[i], i, 11);
      parameters.push_back(
          moved({start.begin(), start.end()}, 0.1, normal_values(count(step.parameters[i]), 10 + i)));
      run->set(step.parameters[i], parameters.back());
    }
  }
  ValueId gradient_of(ValueId parameter) const {
    for (const Node& node : step.graph.nodes()) {
      if (!node.updates.empty() && node.updates[0] == parameter) return node.inputs[0];
    }
    ADD_FAILURE() << step.graph.value(parameter).name << " is never updated";
    return none;
  }
};

// Steps are short enough that hardly an activation crosses the kink of its leaky ReLU, and long enough that
// the loss, near 1, changes in more digits than are compared.
void expect_derivative(NetworkRun& network, const std::vector<std::vector<double>>& direction,
                       const std::string& what) {
  double expected = 0, squares = 0, length = 0;
  for (std::size_t i = 0; i < direction.size(); ++i) {
    expected += dot(network.gradients[i], direction[i]);
    length += dot(direction[i], direction[i]);
    if (dot(direction[i], direction[i]) > 0) squares += dot(network.gradients[i], network.gradients[i]);
  }
  const double step = 1e-8;
  const double found = (network.loss_at(step, direction) - network.loss_at(-step, direction)) / (2 * step);
  EXPECT_NEAR(expected, found, 1e-5 * std::sqrt(squares) + 2e-7)
      << what << ", a direction of length " << std::sqrt(length);
}

TEST_P(NetworkGradient, AgreesWithFiniteDifferences) {
  NetworkRun network(GetParam());
  const std::size_t parameters = network.parameters.size();
  const auto direction_of = [&](std::size_t i, std::uint64_t stream) {
    return normal_values(static_cast<std::int64_t>(network.parameters[i].size()), stream);
  };
  std::vector<std::vector<double>> still;
  for (const auto& values : network.parameters) still.emplace_back(values.size(), 0.0);
  // Every third by itself: four belong to a block, so weights, biases, gammas and betas all have their turn.
  for (std::size_t i = 0; i < parameters; i += 3) {
    std::vector<std::vector<double>> direction = still;
    direction[i] = direction_of(i, 500 + i);
    expect_derivative(network, direction, network.step.graph.value(network.step.parameters[i]).name);
  }
  for (std::uint64_t round = 0; round < 3; ++round) {  // all at once
    std::vector<std::vector<double>> direction;
    for (std::size_t i = 0; i < parameters; ++i) direction.push_back(direction_of(i, 1000 * (round + 1) + i));
    expect_derivative(network, direction, "all parameters");
  }
}

std::vector<NetworkCase> network_cases() {
  const NetworkOptions isensee{.name = "isensee2017", .base_filters = 2, .depth = 5, .dropout = 0.3};
  NetworkOptions normalized = isensee;
  normalized.heads = "normalized";
  const NetworkOptions unet{.name = "unet3d", .base_filters = 2, .depth = 4, .dropout = 0.3};
  return {{"isensee2017", isensee, {1, 32, 16, 16, 4}, "weighted_dice"},
          {"isensee2017_normalized_heads", normalized, {1, 16, 32, 16, 2}, "dice_cross_entropy"},
          {"unet3d", unet, {1, 16, 16, 16, 2}, "dice_cross_entropy"}};
}

INSTANTIATE_TEST_SUITE_P(Whole, NetworkGradient, testing::ValuesIn(network_cases()),
                         [](const testing::TestParamInfo<NetworkCase>& parameter) {
                           return parameter.param.name;
                         });

}  // namespace
}  // namespace voxswap
