// Gradients compared with central differences, in double on the reference backend: for every case of every
// differentiable operation, a value with several readers, and whole networks as in the training step, with
// dropout.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "net/graph/autodiff.h"
#include "net/networks/network.h"
#include "tests/conformance/cases/cases.h"
#include "tests/net/training.h"

namespace voxswap::net {
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

// A forward graph followed by the backward pass of <seed, output>, and the contents of its values.
struct Differentiated {
  Graph graph;
  std::vector<ValueId> inputs;                                    // that need a gradient
  std::vector<ValueId> outputs;                                   // of the forward graph
  std::vector<ValueId> seeds;                                     // per output
  std::vector<ValueId> gradients;                                 // per input
  std::vector<std::pair<ValueId, std::vector<double>>> contents;  // of all inputs and seeds

  // Copies the shape: it may refer to a value of the graph, and adding a value moves these.
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

// Removes directions that are not differentiated: the loss treats the sum of targets and the number of voxels
// as constants.
void keep_targets(const std::string& operation, std::int64_t kinds, std::vector<double>& direction) {
  if (operation != "loss_value") return;
  for (std::size_t i = 0; i < direction.size(); ++i)
    if (const std::size_t kind = i % static_cast<std::size_t>(kinds); kind == 1 || kind == 4)
      direction[i] = 0;
}

// Compares along one random direction per input. The tolerance is relative to the gradient's norm, which is
// the typical derivative along a direction with independent normal components.
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

// A case in f64. Statistics are computed from the first input, because the gradient of the norm
// treats them as functions of it.
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

// Statistics have no gradient of their own: it is part of norm_activation's.
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
  for (const OperationCase& example : cases_of(GetParam()->name)) {
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
    ASSERT_FALSE(cases_of(operation->name).empty()) << operation->name;
    for (const OperationCase& example : cases_of(operation->name)) {
      const Differentiated d = differentiated_case(*operation, example);
      for (const Node& node : d.graph.nodes()) checked.insert(node.operation->name);
    }
  }
  for (const Operation* operation : operations()) {
    EXPECT_TRUE(operation->gradient == nullptr || checked.contains(operation->name)) << operation->name;
  }
}

// A value that is read twice, and one that is read only by its own sum.
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

// --- Whole networks

struct NetworkCase {
  std::string name;
  NetworkOptions network;
  Shape input;
  Loss loss;
};

void PrintTo(const NetworkCase& example, std::ostream* out) {
  *out << example.name;
}

class NetworkGradient : public testing::TestWithParam<NetworkCase> {};

// A training step in f64, with constant parameters that differ from the symmetric initial values.
struct NetworkRun {
  TrainingStep step;
  std::unique_ptr<Backend> backend = make_backend("reference");
  std::unique_ptr<GraphRun> run;
  StepContext context{.seed = 3, .step = 5, .learning_rate = 0};
  std::vector<std::vector<double>> parameters, gradients;

  Fill labels = Fill::bits;

  explicit NetworkRun(const NetworkCase& example) {
    StepOptions options;
    options.network = example.network;
    options.input = example.input;
    options.activations = ElementType::f64;
    options.loss = loss_options(example.loss);
    options.outputs = options.loss.classes ? 5 : 3;
    labels = options.loss.classes ? Fill::classes : Fill::bits;
    step = build_training_step(options);
    run = std::make_unique<GraphRun>(step.graph, *backend);
    fill();
    run->run(context);
    for (std::size_t i = 0; i < step.parameters.size(); ++i) gradients.push_back(gradient_of(i));
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
    run->set(step.input[0], normal_values(count(step.input[0]), 1));
    run->set(step.target[0], fill_values(labels, count(step.target[0]), 2));
    begin(*run, step, 11);
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      const ValueId id = step.parameters[i];
      parameters.push_back(moved(run->get(id), 0.1, normal_values(count(id), 10 + i)));
      run->set(id, parameters.back());
    }
  }
  // Zeros for a parameter that is never updated: the loss must not depend on it.
  std::vector<double> gradient_of(std::size_t parameter) {
    for (const Node& node : step.graph.nodes()) {
      for (std::size_t i = 0; i < node.updates.size(); i += 3)
        if (node.updates[i] == step.parameters[parameter]) return run->get(node.inputs[i / 3]);
    }
    return std::vector<double>(parameters[parameter].size());
  }
};

// The step is short enough that hardly any activation crosses the kink of its leaky ReLU, and long enough
// that the loss, near 1, changes in more digits than are compared.
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
    // Frozen parameters do not move, because they have no gradient.
    const std::string& name = network.step.graph.value(network.step.parameters[i]).name;
    if (is_frozen(GetParam().network, name)) return std::vector<double>(network.parameters[i].size());
    return normal_values(static_cast<std::int64_t>(network.parameters[i].size()), stream);
  };
  std::vector<std::vector<double>> still;
  for (const auto& values : network.parameters) still.emplace_back(values.size(), 0.0);
  // Every third parameter alone: a block has four, so weights, biases, gammas and betas are all covered.
  for (std::size_t i = 0; i < parameters; i += 3) {
    std::vector<std::vector<double>> direction = still;
    direction[i] = direction_of(i, 500 + i);
    expect_derivative(network, direction, network.step.graph.value(network.step.parameters[i]).name);
  }
  for (std::uint64_t round = 0; round < 3; ++round) {  // all parameters together
    std::vector<std::vector<double>> direction;
    for (std::size_t i = 0; i < parameters; ++i) direction.push_back(direction_of(i, 1000 * (round + 1) + i));
    expect_derivative(network, direction, "all parameters");
  }
}

std::vector<NetworkCase> network_cases() {
  const NetworkOptions isensee{.name = "isensee2017", .base_filters = 2, .depth = 5, .dropout = 0.3};
  NetworkOptions normalized = isensee;
  normalized.heads = Heads::normalized;
  const NetworkOptions unet{.name = "unet3d", .base_filters = 2, .depth = 4, .dropout = 0.3};
  const NetworkOptions resnet{.name = "resnet3d", .base_filters = 3, .depth = 4};
  NetworkOptions partly_frozen = isensee, frozen_norms = {.name = "resnet18", .base_filters = 2};
  partly_frozen.frozen = {"encoder.1", "decoder.*.up", "head"};
  frozen_norms.frozen = {"bn1", "*.bn1", "*.bn2", "*.downsample.1", "layer2"};
  return {{"isensee2017", isensee, {1, 32, 16, 16, 4}, Loss::weighted_dice},
          {"isensee2017_normalized_heads", normalized, {1, 16, 32, 16, 2}, Loss::dice_cross_entropy},
          {"unet3d", unet, {1, 16, 16, 16, 2}, Loss::dice_cross_entropy},
          {"resnet3d", resnet, {1, 6, 7, 9, 2}, Loss::dice_cross_entropy},
          {"isensee2017_partly_frozen", partly_frozen, {1, 32, 16, 16, 4}, Loss::weighted_dice},
          {"resnet18_with_frozen_norms", frozen_norms, {2, 1, 32, 32, 3}, Loss::softmax_cross_entropy}};
}

INSTANTIATE_TEST_SUITE_P(Whole, NetworkGradient, testing::ValuesIn(network_cases()),
                         [](const testing::TestParamInfo<NetworkCase>& parameter) {
                           return parameter.param.name;
                         });

}  // namespace
}  // namespace voxswap::net
