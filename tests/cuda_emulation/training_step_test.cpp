// Whole training steps of every network on the emulated GPU beside the reference: the losses of a few steps,
// so that the gradients and the updates between them count.
#include <gtest/gtest.h>

#include "net/backends/backends.h"
#include "net/networks/network.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {
namespace {

std::vector<double> losses(const TrainingStep& step, Backend& backend) {
  GraphRun run(step.graph, backend);
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const std::vector<float> value = initial_value(step.graph, step.parameters[i], i, 11);
    run.set(step.parameters[i], {value.begin(), value.end()});
  }
  for (ValueId id : step.optimizer_state)
    run.set(id, std::vector<double>(static_cast<std::size_t>(step.graph.value(id).shape.count()), 0.0));
  // The sign of the first of two input channels decides which labels a voxel has: something that can be
  // learnt.
  std::vector<double> target(static_cast<std::size_t>(step.graph.value(step.target[0]).shape.count()));
  const std::vector<double> image =
      fill_values(Fill::normal, 2 * static_cast<std::int64_t>(target.size()), 3);
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = image[2 * i] > 0 ? 1 : 6;
  run.set(step.input[0], image);
  run.set(step.target[0], target);
  std::vector<double> result;
  for (std::int64_t i = 1; i <= 4; ++i) {
    run.run({.seed = 5, .step = i, .learning_rate = 1e-2});
    result.push_back(run.get(step.loss)[0]);
  }
  return result;
}

void expect_the_references_losses(const NetworkOptions& network, ElementType type, double tolerance) {
  StepOptions options;
  options.network = network;
  options.input = {1, 8, 8, 12, 2};
  options.loss = loss_options(Loss::dice_cross_entropy);
  options.activations = type;
  const auto reference = make_reference_backend(), emulated = make_cuda_backend({});
  const std::vector<double> expected = losses(build_training_step(options), *reference);
  options.voxel_alignment = emulated->voxel_alignment();
  const TrainingStep step = build_training_step(options);
  EXPECT_EQ(step.graph.nodes().front().operation->name, "zero_pad") << "voxels of 16 bytes";
  const std::vector<double> found = losses(step, *emulated);
  EXPECT_GT(expected.front() - expected.back(), 0.01) << "it learns";
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance) << network.name << " step " << i;
}

TEST(EmulatedTraining, FollowsTheReferenceInFullPrecision) {
  expect_the_references_losses({.name = "isensee2017", .base_filters = 4, .depth = 3}, ElementType::f32,
                               2e-4);
  expect_the_references_losses({.name = "unet3d", .base_filters = 4, .depth = 3}, ElementType::f32, 2e-4);
  expect_the_references_losses(
      {.name = "unet3d", .base_filters = 4, .depth = 2, .upsampling = Upsampling::nearest}, ElementType::f32,
      2e-4);
  expect_the_references_losses({.name = "resnet3d", .base_filters = 5, .depth = 2}, ElementType::f32, 2e-4);
}

TEST(EmulatedTraining, FollowsTheReferenceInHalfPrecision) {
  expect_the_references_losses({.name = "isensee2017", .base_filters = 4, .depth = 3}, ElementType::bf16,
                               2e-2);
  expect_the_references_losses({.name = "unet3d", .base_filters = 4, .depth = 3}, ElementType::bf16, 2e-2);
}

}  // namespace
}  // namespace voxswap::net
