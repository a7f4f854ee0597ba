// What of an image is written into the network's input.
#include "pipeline/device/staging.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/bfloat16.h"
#include "base/float16.h"

namespace voxswap::pipeline {
namespace {

// Of more voxels than one thread takes at a time, if `many`.
Shape stored(std::int64_t channels, bool many = false) {
  return {2, many ? 65 : 3, many ? 64 : 2, many ? 64 : 5, channels};
}

std::vector<float> image_of(const Shape& input, std::int64_t channels) {
  std::vector<float> image(static_cast<std::size_t>(input.count() / input[-1] * channels));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 1001) / 8 - 60;
  return image;
}

template <class Element>
std::vector<Element> staged(const std::vector<float>& image, const net::Value& input) {
  std::vector<Element> elements(static_cast<std::size_t>(input.shape.count()), static_cast<Element>(-1));
  stage(image, {input, 0, input.shape[1]}, reinterpret_cast<std::byte*>(elements.data()));
  return elements;
}

template <class Element, class Convert>
void expect_zeros_behind_the_channels(net::ElementType type, std::int64_t channels, std::int64_t wide,
                                      bool many, Convert convert) {
  const net::Value input{"input", stored(wide, many), type, net::Role::input};
  const std::vector<float> image = image_of(input.shape, channels);
  const std::vector<Element> found = staged<Element>(image, input);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t voxel = i / static_cast<std::size_t>(wide), c = i % static_cast<std::size_t>(wide);
    const bool own = c < static_cast<std::size_t>(channels);
    const Element expected = own ? convert(image[voxel * static_cast<std::size_t>(channels) + c]) : Element{};
    wrong += found[i] != expected;
  }
  EXPECT_EQ(wrong, 0u) << net::element_name(type) << ", " << channels << " of " << wide;
}

TEST(Staging, ConvertsAnImageAndPutsZerosBehindItsChannels) {
  for (const bool many : {false, true}) {
    for (const auto& [channels, wide] : {std::pair{4, 8}, {1, 8}, {3, 3}, {8, 8}, {5, 8}}) {
      expect_zeros_behind_the_channels<std::uint16_t>(net::ElementType::bf16, channels, wide, many,
                                                      to_bfloat16);
      expect_zeros_behind_the_channels<std::uint16_t>(net::ElementType::f16, channels, wide, many,
                                                      to_float16);
      expect_zeros_behind_the_channels<float>(net::ElementType::f32, channels, wide, many,
                                              [](float x) { return x; });
    }
  }
}

TEST(Staging, IsNeedlessWhereTheImageIsTheInputAlready) {
  const net::Value same{"input", stored(4), net::ElementType::f32, net::Role::input},
      wider{"input", stored(8), net::ElementType::f32, net::Role::input},
      half{"input", stored(4), net::ElementType::bf16, net::Role::input};
  const std::vector<float> image = image_of(same.shape, 4);
  const auto* own = reinterpret_cast<const std::byte*>(image.data());
  EXPECT_EQ(found_in(image, {same, 0, same.shape[1]}), own);
  EXPECT_EQ(found_in(image, {wider, 0, wider.shape[1]}), nullptr);
  EXPECT_EQ(found_in(image, {half, 0, half.shape[1]}), nullptr);
}

// Two samples of 5 planes: of each its last two.
TEST(Staging, GivesAPieceItsPlanesOfEverySample) {
  const std::vector<float> image = image_of({2, 5, 2, 3, 4}, 4);
  const net::Value value{"input[1]", {2, 2, 2, 3, 4}, net::ElementType::f32, net::Role::input};
  const InputPiece piece{value, 3, 5};
  EXPECT_EQ(found_in(image, piece), nullptr) << "they do not lie side by side";
  std::vector<float> found(static_cast<std::size_t>(value.shape.count()));
  stage(image, piece, reinterpret_cast<std::byte*>(found.data()));
  std::vector<float> expected;
  for (const std::ptrdiff_t first : {3 * 24, (5 + 3) * 24})
    expected.insert(expected.end(), image.begin() + first, image.begin() + first + 2 * 24);
  EXPECT_EQ(found, expected);

  // As two volumes of one sample, one after the other.
  net::Graph graph;
  std::vector<net::ValueId> ids;
  for (int turn = 0; turn < 2; ++turn)
    for (const std::int64_t planes : {3, 2})
      ids.push_back(graph.add_value("input", {1, planes, 2, 3, 4}, net::ElementType::f32, net::Role::input));
  const std::vector<InputPiece> turns = input_pieces(graph, swap::Plan{}, ids, 2);
  const auto* const bytes = reinterpret_cast<const std::byte*>(image.data());
  const std::vector<std::ptrdiff_t> planes_before = {0, 3, 5, 8};
  for (std::size_t i = 0; i < turns.size(); ++i)
    EXPECT_EQ(found_in(image, turns[i]), bytes + planes_before[i] * 24 * 4) << i;

  const std::vector<std::uint8_t> target = {1, 2, 3, 4, 5, 6};  // of one sample, 3 planes of 2 voxels
  const net::Value bits{"target[1]", {1, 1, 1, 2}, net::ElementType::u8, net::Role::input};
  EXPECT_EQ(found_in(std::span(target), {bits, 1, 3}), reinterpret_cast<const std::byte*>(target.data() + 2));
}

}  // namespace
}  // namespace voxswap::pipeline
