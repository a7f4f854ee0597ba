// Properties of what augmentation draws. tests/pipeline/sample_graph_test.cpp tests what becomes of the
// voxels.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "data/augment/augment.h"
#include "tests/data/everything_drawn.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

TEST(ADraw, TurnsImagesInTheirPlaneAlone) {
  AugmentOptions options;
  options.symmetries = false;
  options.rotation = {20, 30, 1};
  const Augmentation image = draw_augmentation(options, {3, 1, 0}, {8, 8, 1}, 1),
                     volume = draw_augmentation(options, {3, 1, 0}, {8, 8, 8}, 1);
  EXPECT_EQ(image.space.degrees[0], 0);
  EXPECT_EQ(image.space.degrees[1], 0);
  EXPECT_GE(image.space.degrees[2], 20);
  EXPECT_EQ(image.space.degrees[2], volume.space.degrees[2]);
  EXPECT_GE(volume.space.degrees[0], 20);
}

TEST(NamesOfLabels, TellSidesIfTheyNameOneOrDifferInTheSideAlone) {
  const auto tell = [](const std::vector<std::string>& names) {
    Labels labels;
    for (const std::string& name : names) labels.emplace_back(name, static_cast<int>(labels.size()) + 1);
    return names_tell_sides(labels);
  };
  for (const auto& [one, other] : {std::pair("left kidney", "tumour"),
                                   {"Kidney-Right", "x"},
                                   {"LungLeft", "LungRight"},
                                   {"lh_hip", "rh_hip"},
                                   {"ctx-lh-cuneus", "ctx-rh-cuneus"},
                                   {"R", "L"},
                                   {"hip l", "hip r"},
                                   {"L.eye", "R.eye"}})
    EXPECT_TRUE(tell({"other", one, other})) << one << ", " << other;
  for (const auto& [one, other] : {std::pair("cleft", "bright"),
                                   {"anterior", "posterior"},
                                   {"hip_l", "eye_r"},
                                   {"lh_hip", "rh_eye"},
                                   {"label_1", "label_2"},
                                   {"LV", "RV"}})
    EXPECT_FALSE(tell({"other", one, other})) << one << ", " << other;
}

TEST(ADraw, IsAFunctionOfSeedEpochAndCaseAlone) {
  const auto drawn = [](AugmentKey key) {
    return describe(draw_augmentation(everything(), key, {8, 8, 8}, 4));
  };
  const std::string one = drawn({1, 2, 3});
  std::set<std::string> all;
  for (std::uint64_t seed : {1, 2})
    for (std::uint64_t epoch : {1, 2})
      for (std::uint32_t which : {3, 4}) all.insert(drawn({seed, epoch, which}));
  EXPECT_EQ(all.size(), 8U);
  EXPECT_EQ(drawn({1, 2, 3}), one);
}

// Frequency and range of each draw. With 4000 draws, the frequency is tested to 4 standard deviations.
TEST(ADraw, HappensAsOftenAsItsProbabilitySaysAndStaysInItsRange) {
  AugmentOptions options = nnunet_augmentation();
  options.elastic = {1, 3, 0.3};
  constexpr int count = 4000;
  std::map<std::string, int> happened;
  const auto see = [&](const std::string& name, double value, double otherwise, const Draw& draw) {
    if (value == otherwise) return;
    ++happened[name];
    EXPECT_GE(value, draw.low) << name;
    EXPECT_LE(value, draw.high) << name;
  };
  int lower_gammas = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Augmentation drawn = draw_augmentation(options, {1, 1, i}, {8, 8, 8}, 1);
    const SpatialChange& space = drawn.space;
    const IntensityChange& channel = drawn.channels[0];
    see("rotation", space.degrees[1], 0, options.rotation);
    see("zoom", space.factors[2], 1, options.zoom);
    see("elastic", space.elastic, 0, options.elastic);
    see("noise", channel.noise, 0, options.noise);
    see("blur", channel.blur, 0, options.blur);
    see("brightness", channel.brightness, 1, options.brightness);
    see("contrast", channel.contrast, 1, options.contrast);
    see("low_resolution", channel.low_resolution, 1, options.low_resolution);
    see("inverted_gamma", channel.inverted_gamma, 1, options.inverted_gamma);
    see("gamma", channel.gamma, 1, options.gamma);
    happened["flip"] += space.symmetry & 1;
    lower_gammas += channel.gamma < 1 ? 1 : 0;
  }
  const std::map<std::string, double> expected = {
      {"rotation", 0.2},       {"zoom", 0.2},        {"elastic", 0.3},   {"noise", 0.1},
      {"blur", 0.1},           {"brightness", 0.15}, {"contrast", 0.15}, {"low_resolution", 0.125},
      {"inverted_gamma", 0.1}, {"gamma", 0.3},       {"flip", 0.5}};
  for (const auto& [name, p] : expected)
    EXPECT_NEAR(happened[name] / double(count), p, 4 * std::sqrt(p * (1 - p) / count)) << name;
  EXPECT_NEAR(lower_gammas / double(happened["gamma"]), 0.5, 0.06);
}

TEST(ADraw, LeavesChannelsOutButNeverAllOfThem) {
  AugmentOptions options;
  options.symmetries = false;
  options.channel_dropout = 0.4;
  constexpr int count = 4000;
  std::array<int, 3> left_out{};
  for (std::uint32_t i = 0; i < count; ++i) {
    const Augmentation drawn = draw_augmentation(options, {1, 1, i}, {8, 8, 8}, 3);
    ASSERT_EQ(drawn.dropped.size(), 3U);
    EXPECT_NE(drawn.dropped, std::vector<bool>(3, true));
    for (std::size_t c = 0; c < 3; ++c) left_out[c] += drawn.dropped[c] ? 1 : 0;
    EXPECT_EQ(draw_augmentation(options, {1, 1, i}, {8, 8, 8}, 1).dropped, std::vector<bool>(1, false));
  }
  const double p = 0.4 - 0.4 * 0.4 * 0.4 / 3;  // in a third of the cases in which all would be dropped, it
                                               // stays
  for (const int times : left_out) EXPECT_NEAR(times / double(count), p, 4 * std::sqrt(p * (1 - p) / count));
}

}  // namespace
}  // namespace voxswap::data
