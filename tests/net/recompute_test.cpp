// What a training step computes does not depend on what of it is computed twice: on every backend, in every
// precision, with dropout, loss and updated weights are the same bits with and without recomputation.
#include <gtest/gtest.h>

#include <cmath>

#include "net/step.h"
#include "tests/net/run_graph.h"

namespace voxswap {
namespace {

struct Setting {
  std::string backend, network;
  ElementType type;
};

std::string name_of(const Setting& setting) {
  return setting.backend + "_" + std::string(element_name(setting.type)) + "_" + setting.network;
}
void PrintTo(const Setting& setting, std::ostream* out) {
  *out << name_of(setting);
}

std::vector<Setting> settings() {
  std::vector<Setting> result;
  for (const std::string& backend : backend_names()) {
    const auto device = make_backend(backend);
    for (ElementType type : {ElementType::f32, ElementType::bf16}) {
      if (!device->supports(type)) continue;
      for (const char* network : {"isensee2017", "unet3d"}) result.push_back({backend, network, type});
    }
  }
  return result;
}

// Bits of the loss and of every parameter and optimiser state after two steps.
std::vector<std::vector<std::byte>> after_two_steps(const Setting& setting, bool recompute) {
  StepOptions options;
  options.network = {.name = setting.network, .base_filters = 4, .depth = 3, .dropout = 0.3};
  options.input = {1, 8, 12, 16, 2};
  options.outputs = 2;
  options.activations = setting.type;
  options.loss = parse_loss("dice_cross_entropy");
  options.recompute = recompute;
  const TrainingStep step = build_training_step(options);
  const auto backend = make_backend(setting.backend);
  GraphRun run(step.graph, *backend);
  const auto count = [&](ValueId id) { return step.graph.value(id).shape.count(); };
  run.set(step.input, fill_values(Fill::normal, count(step.input), 1));
  run.set(step.target, fill_values(Fill::bits, count(step.target), 2));
  std::vector<ValueId> results = {step.loss};
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const std::vector<float> start = initial_value(step.graph, step.parameters[i], i, 11);
    run.set(step.parameters[i], {start.begin(), start.end()});
    results.push_back(step.parameters[i]);
  }
  for (ValueId id : step.optimizer_state) {
    run.set(id, std::vector<double>(static_cast<std::size_t>(count(id)), 0.0));
    results.push_back(id);
  }
  for (std::int64_t number = 1; number <= 2; ++number) {
    run.run({.seed = 4, .step = number, .learning_rate = 1e-3});
  }
  std::vector<std::vector<std::byte>> bits;
  for (ValueId id : results) {
    for (double x : run.get(id)) EXPECT_TRUE(std::isfinite(x)) << step.graph.value(id).name;
    bits.push_back(run.bytes(id));
  }
  return bits;
}

class Recomputation : public testing::TestWithParam<Setting> {};

TEST_P(Recomputation, ChangesNoBitOfLossAndWeights) {
  EXPECT_TRUE(after_two_steps(GetParam(), true) == after_two_steps(GetParam(), false));
}

INSTANTIATE_TEST_SUITE_P(Every, Recomputation, testing::ValuesIn(settings()),
                         [](const testing::TestParamInfo<Setting>& parameter) {
                           return name_of(parameter.param);
                         });

}  // namespace
}  // namespace voxswap
