// Tests the conversion of an image into the network's input.
#include "pipeline/device/staging.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/float16.h"

namespace voxswap::pipeline {
namespace {

// With `many`, more voxels than one thread takes at a time.
Shape stored(std::int64_t channels, bool many = false) {
  return {2, many ? 65 : 3, many ? 64 : 2, many ? 64 : 5, channels};
}

std::vector<float> image_of(const Shape& input) {
  std::vector<float> image(static_cast<std::size_t>(input.count()));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 1001) / 8 - 60;
  return image;
}

template <class Element, class Convert>
void expect_converted(net::ElementType type, const Shape& shape, Convert convert) {
  const net::Value input{"input", shape, type, net::Role::input};
  const std::vector<float> image = image_of(shape);
  std::vector<Element> found(image.size(), static_cast<Element>(-1));
  stage(image, {input, 0, shape[1]}, reinterpret_cast<std::byte*>(found.data()));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != convert(image[i]);
  EXPECT_EQ(wrong, 0u) << net::element_name(type) << ", " << shape[-1] << " channels";
}

TEST(Staging, ConvertsAnImage) {
  for (const bool many : {false, true})
    for (const std::int64_t channels : {1, 3, 4, 8}) {
      expect_converted<std::uint16_t>(net::ElementType::bf16, stored(channels, many), to_bfloat16);
      expect_converted<std::uint16_t>(net::ElementType::f16, stored(channels, many), to_float16);
      expect_converted<float>(net::ElementType::f32, stored(channels, many), [](float x) { return x; });
    }
}

TEST(Staging, IsNeedlessWhereTheImageIsTheInputAlready) {
  const net::Value same{"input", stored(4), net::ElementType::f32, net::Role::input},
      half{"input", stored(4), net::ElementType::bf16, net::Role::input};
  const std::vector<float> image = image_of(same.shape);
  EXPECT_EQ(found_in(image, {same, 0, same.shape[1]}), reinterpret_cast<const std::byte*>(image.data()));
  EXPECT_EQ(found_in(image, {half, 0, half.shape[1]}), nullptr);
}

// Two samples of 5 planes: the slab takes the last two planes of each.
TEST(Staging, GivesASlabItsPlanesOfEverySample) {
  const std::vector<float> image = image_of({2, 5, 2, 3, 4});
  const net::Value value{"input[1]", {2, 2, 2, 3, 4}, net::ElementType::f32, net::Role::input};
  const InputSlab slab{value, 3, 5};
  EXPECT_EQ(found_in(image, slab), nullptr) << "they do not lie side by side";
  std::vector<float> found(static_cast<std::size_t>(value.shape.count()));
  stage(image, slab, reinterpret_cast<std::byte*>(found.data()));
  std::vector<float> expected;
  for (const std::ptrdiff_t first : {3 * 24, (5 + 3) * 24})
    expected.insert(expected.end(), image.begin() + first, image.begin() + first + 2 * 24);
  EXPECT_EQ(found, expected);

  // With two volumes of one sample, one after the other.
  net::Graph graph;
  std::vector<net::ValueId> ids;
  for (int turn = 0; turn < 2; ++turn)
    for (const std::int64_t planes : {3, 2})
      ids.push_back(graph.add_value("input", {1, planes, 2, 3, 4}, net::ElementType::f32, net::Role::input));
  const std::vector<InputSlab> turns = input_slabs(graph, swap::Plan{}, ids, 2);
  const auto* const bytes = reinterpret_cast<const std::byte*>(image.data());
  const std::vector<std::ptrdiff_t> planes_before = {0, 3, 5, 8};
  for (std::size_t i = 0; i < turns.size(); ++i)
    EXPECT_EQ(found_in(image, turns[i]), bytes + planes_before[i] * 24 * 4) << i;

  const std::vector<std::uint8_t> target = {1, 2, 3, 4, 5, 6};  // one sample, 3 planes of 2 voxels
  const net::Value bits{"target[1]", {1, 1, 1, 2}, net::ElementType::u8, net::Role::input};
  EXPECT_EQ(found_in(std::span(target), {bits, 1, 3}), reinterpret_cast<const std::byte*>(target.data() + 2));
}

}  // namespace
}  // namespace voxswap::pipeline
