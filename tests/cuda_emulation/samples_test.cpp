// Tests samples that are made on the emulated GPU: they are those that the CPU makes, wherever the case and
// the sample are, and little is copied for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/float16.h"
#include "net/backends/backends.h"
#include "pipeline/cases/patches.h"
#include "pipeline/device/device_samples.h"
#include "tests/cuda_emulation/gpu.h"
#include "tests/data/everything_drawn.h"

namespace voxswap::net {
namespace {

using pipeline::DrawnSample;
using pipeline::InputSlab;

constexpr std::int64_t channels = 2;
constexpr Size3 box_size{10, 9, 8};

// A case with regions of labels.
std::shared_ptr<const data::NormalizedCase> some_case(const Size3& size, float shift) {
  data::NormalizedCase made{size, {1, 1.5, 2}, channels, {}, {}, {-1, 3}};
  for (std::int64_t i = 0; i < size[0] * size[1] * size[2]; ++i) {
    const std::int64_t x = i % size[0], y = i / size[0] % size[1], z = i / (size[0] * size[1]);
    for (std::int64_t c = 0; c < channels; ++c)
      made.image.push_back(std::sin(0.3F * static_cast<float>(x + 2 * y - z + 3 * c) + shift));
    made.truth.push_back(
        static_cast<std::int16_t>((x / 4 + y / 3 + z / 5) % 4 == 3 ? 300 : (x / 4 + y / 3) % 3));
  }
  return std::make_shared<const data::NormalizedCase>(std::move(made));
}

// Two bytes per label, all different.
const std::vector<std::uint8_t>& table() {
  static const std::vector<std::uint8_t> made = [] {
    std::vector<std::uint8_t> bytes(std::size_t{2} << 16);
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
      bytes[2 * i] = static_cast<std::uint8_t>(i & 255U);
      bytes[2 * i + 1] = static_cast<std::uint8_t>(i >> 8U & 127U);
    }
    return bytes;
  }();
  return made;
}
const std::vector<std::uint8_t> always = {0, 128};

DrawnSample drawn(std::size_t index, std::uint32_t number, const VoxelBox& box = {{3, 2, 1}, box_size}) {
  DrawnSample sample{index, some_case({15, 14, 12}, static_cast<float>(index)), box, {}, always};
  sample.changes = data::draw_augmentation(data::everything(), {7, 1, number}, box.size, channels);
  return sample;
}

// The slabs of a batch of two, each cut into parts of these planes.
std::vector<InputSlab> slabs(ElementType type, std::int64_t values, const std::vector<std::int64_t>& planes,
                             bool streams = false) {
  std::vector<InputSlab> result;
  for (std::int64_t turn = 0; turn < 2; ++turn) {
    std::int64_t first = 0;
    for (const std::int64_t depth : planes) {
      InputSlab slab{
          {"slab", {1, depth, box_size[1], box_size[0], values}, type}, first, box_size[2], turn, 2};
      slab.streams = streams;
      result.push_back(slab);
      first += depth;
    }
  }
  return result;
}

struct Made {
  std::vector<std::byte> image, target;
  bool operator==(const Made&) const = default;
};

struct Setting {
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> planes = {box_size[2]};
  std::int64_t spare = 32 << 20, for_cases = 32 << 20;
  bool streams = false;
};

class SamplesOnGpu : public testing::Test {
 protected:
  pipeline::DeviceSamples samples(const Setting& setting) const {
    return {*backend_,
            {data::everything(), box_size, channels, 2, setting.type},
            slabs(setting.type, channels, setting.planes, setting.streams),
            slabs(ElementType::u8, 2, setting.planes),
            table(),
            {setting.spare, setting.for_cases}};
  }
  // The bytes of both samples.
  Made finish(pipeline::DeviceSamples& samples, const Setting& setting) const {
    const pipeline::InputPlaces places = samples.finish();
    const auto bytes = [&](const std::vector<const std::byte*>& from, const std::vector<InputSlab>& of) {
      std::vector<std::byte> all;
      const auto stream = backend_->make_stream();
      for (std::size_t i = 0; i < of.size(); ++i) {
        std::vector<std::byte> part(static_cast<std::size_t>(of[i].value.bytes()));
        stream->copy(part.data(), from[i], std::ssize(part));
        stream->synchronize();
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    };
    return {bytes(places.image, slabs(setting.type, channels, setting.planes)),
            bytes(places.target, slabs(ElementType::u8, 2, setting.planes))};
  }
  Made made(const Setting& setting, bool held, const std::vector<DrawnSample>& batch) const {
    pipeline::DeviceSamples there = samples(setting);
    for (const DrawnSample& sample : batch) {
      if (held && !there.hold(sample.case_index, *sample.from)) ADD_FAILURE() << sample.case_index;
    }
    there.begin(batch);
    return finish(there, setting);
  }

  std::unique_ptr<Backend> backend_ = make_cuda_backend({});
};

std::vector<DrawnSample> batch_of(std::uint32_t number) {
  return {drawn(0, number), drawn(1, number + 1, {{5, 5, 4}, box_size})};
}

TEST_F(SamplesOnGpu, AreThoseOfTheCpuWithTheTargetsOfTheirLabels) {
  for (std::uint32_t number = 0; number < 12; number += 2) {
    const std::vector<DrawnSample> batch = batch_of(number);
    const Made found = made({}, true, batch);
    const auto* image = reinterpret_cast<const float*>(found.image.data());
    const auto* target = reinterpret_cast<const std::uint8_t*>(found.target.data());
    for (const DrawnSample& sample : batch) {
      const data::NormalizedCase expected = pipeline::SampleGraph(data::everything(), box_size, channels)
                                                .make(sample.changes, *sample.from, sample.box);
      for (const float x : expected.image) ASSERT_NEAR(*image++, x, 2e-4) << number;
      std::int64_t others = 0;  // where two labels are equally near, rounding decides
      for (const std::int16_t label : expected.truth) {
        others += target[0] != (label & 255) || target[1] != (label >> 8 | 128);
        target += 2;
      }
      EXPECT_LE(others, 2) << number;
    }
  }
}

TEST_F(SamplesOnGpu, HaveTheSameBitsWhereverTheCaseAndTheSampleAre) {
  const std::vector<DrawnSample> batch = batch_of(4);
  const Made expected = made({}, true, batch);
  EXPECT_TRUE(made({}, false, batch) == expected) << "a box is copied";
  EXPECT_TRUE(made({.spare = 0}, false, batch) == expected) << "in pinned memory";
  EXPECT_TRUE(made({.planes = {3, 1, 4}}, true, batch) == expected) << "in slabs";
  EXPECT_TRUE(made({.planes = {3, 5}, .streams = true}, true, batch) == expected)
      << "in slabs that are streamed";
  Made rounded = made({.type = ElementType::bf16}, true, batch);
  const auto* exact = reinterpret_cast<const float*>(expected.image.data());
  const auto* half = reinterpret_cast<const std::uint16_t*>(rounded.image.data());
  for (std::size_t i = 0; i < rounded.image.size() / 2; ++i) ASSERT_EQ(half[i], to_bfloat16(exact[i])) << i;
}

TEST_F(SamplesOnGpu, OfABoxBeyondTheCaseAreThoseOfTheBoxCutOut) {
  const VoxelBox beyond{{-3, 8, 2}, box_size};
  const std::vector<DrawnSample> batch = {drawn(0, 3, beyond), drawn(1, 5, beyond)};
  std::vector<DrawnSample> cut = batch;
  for (DrawnSample& sample : cut) {
    sample.from = std::make_shared<const data::NormalizedCase>(pipeline::cut_case(*sample.from, beyond));
    sample.box = {{0, 0, 0}, box_size};
  }
  EXPECT_TRUE(made({}, false, batch) == made({}, true, cut));
}

TEST_F(SamplesOnGpu, DoNotDependOnTheBatchesBefore) {
  pipeline::DeviceSamples there = samples({});
  for (const std::size_t index : {0, 1}) EXPECT_TRUE(there.hold(index, *drawn(index, 0).from));
  for (std::uint32_t number = 0; number < 6; ++number) {
    there.begin(batch_of(number + 1));  // which the next one replaces
    there.begin(batch_of(number));
    EXPECT_TRUE(finish(there, {}) == made({}, true, batch_of(number))) << number;
  }
}

TEST_F(SamplesOnGpu, HoldCasesWhileThereIsRoom) {
  const std::int64_t bytes = 15 * 14 * 12 * (4 * channels + 2);
  pipeline::DeviceSamples there = samples({.for_cases = 2 * bytes});
  EXPECT_TRUE(there.hold(0, *drawn(0, 0).from));
  EXPECT_TRUE(there.hold(1, *drawn(1, 0).from));
  EXPECT_FALSE(there.hold(2, *drawn(2, 0).from));
  EXPECT_GE(there.device_bytes(), 2 * bytes);
  pipeline::DeviceSamples on_host = samples({.spare = 0});
  EXPECT_FALSE(on_host.hold(0, *drawn(0, 0).from));
  EXPECT_EQ(on_host.device_bytes(), 0);
}

// The host's share of a sample of any size: what was drawn, in one copy, and launches.
TEST_F(SamplesOnGpu, OfCasesThatAreHeldNeedOneCopyOfAFewKilobytes) {
  pipeline::DeviceSamples there = samples({});
  for (const std::size_t index : {0, 1}) there.hold(index, *drawn(index, 0).from);
  there.begin(batch_of(0));  // which may take memory for its control points
  there.finish();
  there.begin(batch_of(0));
  there.finish();
  const std::int64_t copied = emulation::counts().bytes_across, copies = emulation::counts().copies_across,
                     kernels = emulation::counts().kernels_begun;
  there.begin(batch_of(0));
  there.finish();
  EXPECT_LE(emulation::counts().bytes_across - copied, 64 << 10);
  EXPECT_EQ(emulation::counts().copies_across - copies, 1);
  EXPECT_LE(emulation::counts().kernels_begun - kernels, 2 * 100) << "of two samples with two channels";
}

}  // namespace
}  // namespace voxswap::net
