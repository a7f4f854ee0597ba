// The gradient of whole networks against central differences, in double on the reference backend, as the
// training step computes it: dropout on.
#include <gtest/gtest.h>

#include <cmath>

#include "net/backends/backends.h"
#include "net/networks/network.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "tests/net/directions.h"

namespace voxswap::net {
namespace {

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

// A training step in f64 whose parameters have moved away from the symmetric start, and stay there.
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
  // Zeros where the parameter is never updated: the loss must not depend on it.
  std::vector<double> gradient_of(std::size_t parameter) {
    for (const Node& node : step.graph.nodes()) {
      for (std::size_t i = 0; i < node.updates.size(); i += 3)
        if (node.updates[i] == step.parameters[parameter]) return run->get(node.inputs[i / 3]);
    }
    return std::vector<double>(parameters[parameter].size());
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
    // What is frozen stays where it is: nobody knows how the loss would change with it.
    const std::string& name = network.step.graph.value(network.step.parameters[i]).name;
    if (is_frozen(GetParam().network, name)) return std::vector<double>(network.parameters[i].size());
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
