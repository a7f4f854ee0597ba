// Compares training steps of every network on the emulated GPU with the reference: the losses of a few steps,
// which also depend on gradients and updates.
#include <gtest/gtest.h>

#include "tests/net/training.h"

namespace voxswap::net {
namespace {

Doubles losses(const TrainingStep& step, Backend& backend, double rate) {
  GraphRun run(step.graph, backend);
  begin(run, step, 11);
  // The sign of the first of two input channels determines a voxel's labels, so that they can be learnt.
  Doubles target(static_cast<std::size_t>(step.graph.value(step.target[0]).shape.count()));
  const Doubles image = fill_values(Fill::normal, 2 * static_cast<std::int64_t>(target.size()), 3);
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = image[2 * i] > 0 ? 1 : 6;
  run.set(step.input[0], image);
  run.set(step.target[0], target);
  return train(run, step, 4, rate).losses;
}

void expect_the_references_losses(const NetworkOptions& network, ElementType type, double tolerance,
                                  double rate) {
  StepOptions options;
  options.network = network;
  options.input = {1, 8, 8, 12, 2};
  options.loss = loss_options(Loss::dice_cross_entropy);
  options.activations = type;
  const auto reference = make_reference_backend(), emulated = make_cuda_backend({});
  const Doubles expected = losses(build_training_step(options), *reference, rate);
  options.voxel_alignment = emulated->voxel_alignment();
  const TrainingStep step = build_training_step(options);
  EXPECT_EQ(step.graph.nodes().front().operation->name, "zero_pad") << "voxels of 16 bytes";
  const Doubles found = losses(step, *emulated, rate);
  EXPECT_GT(expected.front() - expected.back(), 0.01) << "it learns";
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance) << network.name << " step " << i;
}

TEST(EmulatedTraining, FollowsTheReferenceInFullPrecision) {
  for (const NetworkOptions& network : std::vector<NetworkOptions>{
           {.name = "isensee2017", .base_filters = 4, .depth = 3},
           {.name = "unet3d", .base_filters = 4, .depth = 3},
           {.name = "unet3d", .base_filters = 4, .depth = 2, .upsampling = Upsampling::nearest},
           {.name = "resnet3d", .base_filters = 5, .depth = 2}})
    expect_the_references_losses(network, ElementType::f32, 2e-4, 1e-2);
}

// With a larger learning rate, the order of sums changes the losses within two steps.
TEST(EmulatedTraining, FollowsTheReferenceInHalfPrecision) {
  for (const char* name : {"isensee2017", "unet3d"})
    expect_the_references_losses({.name = name, .base_filters = 4, .depth = 3}, ElementType::bf16, 5e-3,
                                 2e-3);
}

}  // namespace
}  // namespace voxswap::net
