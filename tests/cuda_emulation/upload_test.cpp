// Tests batches that are uploaded to the emulated GPU during the previous step.
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "net/backends/backends.h"
#include "pipeline/device/session.h"
#include "pipeline/device/staging.h"
#include "tests/cuda_emulation/gpu.h"
#include "tests/folder.h"

namespace voxswap::net {
namespace {

constexpr std::int64_t side = 8, voxels = side * side * side, channels = 2;

struct Batch {
  std::vector<float> images = std::vector<float>(channels * voxels);
  std::vector<std::uint8_t> targets = std::vector<std::uint8_t>(voxels);
  explicit Batch(std::size_t seed) {
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i] = static_cast<float>((i * 7 + seed * 31) % 97) / 48 - 1;
    for (std::size_t i = 0; i < targets.size(); ++i)
      targets[i] = static_cast<std::uint8_t>((i / 5 + seed) % 8);
  }
};

Value value(const Shape& shape, ElementType type) {
  return {"value", shape, type};
}

TEST(Uploads, HoldABatchInTheNetworksTypeOnTheDeviceOrTheHost) {
  const auto backend = make_cuda_backend({});
  const Value image = value({1, 1, 1, 1, 2}, ElementType::f32), target = value({1, 1, 1, 1}, ElementType::u8);
  for (const std::int64_t spare : {std::int64_t{0}, std::int64_t{1} << 20}) {
    pipeline::Upload upload(*backend, {{image, 0, 1}}, {{target, 0, 1}}, spare);
    for (const float x : {1.5F, 2.5F}) {
      const float voxel[] = {x, -x};
      const std::uint8_t bits[] = {static_cast<std::uint8_t>(x)};
      upload.begin(voxel, bits);
      const pipeline::InputPlaces places = upload.finish();
      EXPECT_EQ(emulation::in_device_memory(places.image[0], 8), spare > 0);
      float found[2] = {};
      std::uint8_t found_bits = 0;
      const auto stream = backend->make_stream();
      stream->copy(found, places.image[0], sizeof found);
      stream->copy(&found_bits, places.target[0], 1);
      stream->synchronize();
      EXPECT_EQ(std::vector(found, found + 2), (std::vector{x, -x}));
      EXPECT_EQ(found_bits, bits[0]);
    }
  }
}

// The previous step may still read them.
TEST(Uploads, LeaveWhatAStepStreamsOnTheHostUntilTheBatchAfterTheNext) {
  const auto backend = make_cuda_backend({});
  pipeline::InputSlab image{value({1, 1, 1, 1, 2}, ElementType::f32), 0, 1};
  image.streams = true;
  pipeline::Upload upload(*backend, {image}, {{value({1, 1, 1, 1}, ElementType::u8), 0, 1}}, 1 << 20);
  const auto begin = [&](float x) {
    const float voxel[] = {x, -x};
    const std::uint8_t bits[] = {static_cast<std::uint8_t>(x)};
    upload.begin(voxel, bits);
  };
  const auto first_number = [](const std::byte* place) { return *reinterpret_cast<const float*>(place); };
  begin(1);
  const pipeline::InputPlaces first = upload.finish();
  EXPECT_FALSE(emulation::in_device_memory(first.image[0], 8));
  EXPECT_TRUE(emulation::in_device_memory(first.target[0], 1));
  for (const float x : {2.0F, 3.0F}) begin(x);  // the second replaces the first
  EXPECT_EQ(first_number(first.image[0]), 1);
  const pipeline::InputPlaces second = upload.finish();
  EXPECT_EQ(first_number(second.image[0]), 3);
  begin(4);
  EXPECT_EQ(first_number(second.image[0]), 3);
  EXPECT_EQ(upload.finish().image[0], first.image[0]);
}

class SessionOnGpu : public test::InAFolder {
 protected:
  pipeline::Experiment experiment_with(std::int64_t budget) const {
    pipeline::Experiment experiment;
    experiment.cache = folder_;
    experiment.memory.device = "cuda";
    experiment.network = {.base_filters = 2, .depth = 2};
    experiment.preprocess.resolution = {side, side, side};
    experiment.memory.budget_bytes = budget;
    experiment.memory.host_bytes = 64 << 20;
    return experiment;
  }
};

constexpr std::int64_t steps = 4;

// Runs a step on a batch, given the next batch.
using MakeStep = std::function<float(const Batch& batch, const Batch& next, const StepContext& context)>;

// The loss of each step, followed by the final weights.
std::vector<float> train(pipeline::Session& session, const MakeStep& make_step) {
  session.initialize(3);
  std::vector<float> results;
  for (std::size_t i = 0; i < steps; ++i)
    results.push_back(make_step(Batch(i), Batch(i + 1), {3, static_cast<std::int64_t>(i) + 1, 1e-2}));
  for (const pipeline::Tensor& tensor : session.weights())
    results.insert(results.end(), tensor.values.begin(), tensor.values.end());
  return results;
}

std::vector<float> train_one_by_one(pipeline::Session& session) {
  return train(session, [&](const Batch& batch, const Batch&, const StepContext& context) {
    return session.train(batch.images, batch.targets, context);
  });
}

TEST_F(SessionOnGpu, HasTheNextBatchBeforeTheFirstKernelOfAStepBeginsAndTrainsToTheSameBits) {
  pipeline::Session session(experiment_with(std::int64_t{64} << 20), {}, {channels, 3},
                            pipeline::Session::Purpose::training);
  const std::vector<float> expected = train_one_by_one(session);
  EXPECT_NE(expected[0], expected[steps - 1]);
  const Batch first(0);
  session.give(first.images, first.targets);
  const auto make_step = [&](const Batch&, const Batch& next, const StepContext& context) {
    auto held = std::make_unique<emulation::KernelsHeld>();
    return session.train(context, nullptr, swap::Detail::lanes, [&] {
      const std::int64_t begun = emulation::counts().kernels_begun, copied = emulation::counts().bytes_copied;
      session.give(next.images, next.targets);
      // If the copy were queued behind the step's kernels, it would wait forever.
      while (emulation::counts().bytes_copied < copied + voxels * (2 * channels + 1))
        std::this_thread::yield();
      EXPECT_EQ(emulation::counts().kernels_begun, begun)
          << "a number of an image takes 2 bytes, a voxel's targets 1";
      held.reset();
    });
  };
  EXPECT_TRUE(train(session, make_step) == expected);
}

TEST_F(SessionOnGpu, TrainsToTheSameBitsWhereTheBatchHasToWaitOnTheHost) {
  pipeline::Session ample(experiment_with(std::int64_t{64} << 20), {}, {channels, 3},
                          pipeline::Session::Purpose::training);
  const std::vector<float> expected = train_one_by_one(ample);
  pipeline::Session tight(experiment_with(ample.arena_bytes()), {}, {channels, 3},
                          pipeline::Session::Purpose::training);
  const Batch first(0);
  tight.give(first.images, first.targets);
  EXPECT_TRUE(train(tight, [&](const Batch&, const Batch& next, const StepContext& context) {
                return tight.train(context, nullptr, swap::Detail::lanes,
                                   [&] { tight.give(next.images, next.targets); });
              }) == expected);
}

TEST_F(SessionOnGpu, ThrowsWhatGoesWrongMeanwhileWhenTheStepIsDone) {
  pipeline::Session session(experiment_with(std::int64_t{64} << 20), {}, {channels, 3},
                            pipeline::Session::Purpose::training);
  session.initialize(3);
  const Batch batch(0);
  session.give(batch.images, batch.targets);
  EXPECT_THROW(session.train({3, 1, 1e-2}, nullptr, swap::Detail::lanes,
                             [] { fail(Exit::bad_data, "the next case"); }),
               Error);
  EXPECT_NE(session.train(batch.images, batch.targets, {3, 2, 1e-2}), 0) << "and goes on";
}

}  // namespace
}  // namespace voxswap::net
