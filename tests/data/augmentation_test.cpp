// Compares augmentation with SciPy and NumPy (tests/fixtures/augmentation.py), and tests properties of all
// draws.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "data/augment/augment.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

std::vector<double> numbers(const std::string& text) {
  std::vector<double> values;
  for (const std::string& part : split(text, ' ')) values.push_back(std::stod(part));
  return values;
}

struct Row {
  std::vector<double> parameters, values;
};

// The rows of the fixture with a name.
std::vector<Row> rows(const std::string& name) {
  static const Csv csv = read_csv(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/augmentation.csv");
  std::vector<Row> found;
  for (const auto& fields : csv.rows)
    if (fields[0] == name) found.push_back({numbers(fields[1]), numbers(fields[2])});
  EXPECT_FALSE(found.empty()) << name;
  return found;
}

// The fixture's image as channel 1 of `channels`; the other channels have a constant.
NormalizedCase fixture(std::int64_t channels = 1) {
  const Row image = rows("image")[0], labels = rows("labels")[0];
  NormalizedCase example;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    example.size[axis] = static_cast<std::int64_t>(image.parameters[axis]);
    example.spacing[axis] = image.parameters[axis + 3];
  }
  example.channels = channels;
  const auto stride = static_cast<std::size_t>(channels);
  example.image.assign(image.values.size() * stride, 7.0F);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    example.image[i * stride + std::min<std::size_t>(1, stride - 1)] = static_cast<float>(image.values[i]);
  example.truth.assign(labels.values.begin(), labels.values.end());
  return example;
}

// A smooth image with labels in it, large enough for statistics.
NormalizedCase blob(const Size3& size, std::int64_t channels = 1) {
  NormalizedCase example{size, {1, 1, 1}, channels, {}, {}};
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y)
      for (std::int64_t x = 0; x < size[0]; ++x) {
        const auto part = [](std::int64_t i, std::int64_t n) {
          return (static_cast<double>(i) + 0.5) / static_cast<double>(n) - 0.5;
        };
        const double u = part(x, size[0]), v = part(y, size[1]), w = part(z, size[2]);
        const double r = std::sqrt(u * u + v * v + w * w);
        for (std::int64_t c = 0; c < channels; ++c)
          example.image.push_back(static_cast<float>(std::cos(9 * r) + 0.3 * std::sin(7 * u + 3 * v) +
                                                     0.1 * static_cast<double>(c)));
        example.truth.push_back(r < 0.15 ? 4 : r < 0.3 ? 2 : r < 0.35 ? 1 : 0);
      }
  return example;
}

SpatialChange space_of(const std::vector<double>& parameters) {
  SpatialChange change;
  std::copy_n(parameters.begin(), 3, change.degrees.begin());
  std::copy_n(parameters.begin() + 3, 3, change.factors.begin());
  return change;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance) << "voxel " << i;
}

// Tolerance for values up to about 4, interpolated in single precision, as are positions.
constexpr double rounding = 2e-5;

TEST(Augmentation, TurnsAndScalesImagesAsSciPyDoes) {
  for (const Row& row : rows("space of image")) {
    NormalizedCase example = fixture();
    apply({{}, space_of(row.parameters), {}}, example);
    expect_near(example.image, row.values, rounding);
  }
  const Row row = rows("space of image after symmetry 17")[0];
  NormalizedCase example = fixture();
  SpatialChange change = space_of(row.parameters);
  change.symmetry = 17;
  apply({{}, change, {}}, example);
  expect_near(example.image, row.values, rounding);
}

// The channel counts with specialised code, and one without.
TEST(Augmentation, TreatsAllChannelsOfAnImageAlike) {
  for (const std::int64_t channels : {2, 3, 4, 5}) {
    const Row row = rows("space of image")[3];
    NormalizedCase one = fixture(), several = fixture(channels);
    const Augmentation augmentation{{}, space_of(row.parameters), {}};
    apply(augmentation, one);
    apply(augmentation, several);
    const auto stride = static_cast<std::size_t>(channels);
    for (std::size_t i = 0; i < one.image.size(); ++i) {
      EXPECT_EQ(several.image[i * stride + 1], one.image[i]);
      EXPECT_NEAR(several.image[i * stride], 7, 2e-6);  // a constant stays constant
    }
    EXPECT_EQ(several.truth, one.truth);
  }
}

TEST(Augmentation, TurnsAndScalesLabelsAsSciPyDoesTheirIndicators) {
  for (const Row& row : rows("space of labels")) {
    NormalizedCase example = fixture();
    apply({{}, space_of(row.parameters), {}}, example);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (row.values[i] < 0) continue;  // two labels tie for the largest weight
      EXPECT_EQ(example.truth[i], row.values[i]) << "voxel " << i;
      ++compared;
    }
    EXPECT_GT(compared, row.values.size() * 9 / 10);
  }
}

TEST(Augmentation, ChangesIntensitiesAsTheFormulasOfTheFixtureSay) {
  const std::vector<std::pair<std::string, double IntensityChange::*>> members = {
      {"blur", &IntensityChange::blur},         {"brightness", &IntensityChange::brightness},
      {"contrast", &IntensityChange::contrast}, {"low_resolution", &IntensityChange::low_resolution},
      {"gamma", &IntensityChange::gamma},       {"inverted_gamma", &IntensityChange::inverted_gamma}};
  for (const auto& [name, member] : members) {
    for (const Row& row : rows(name)) {
      Augmentation augmentation;
      augmentation.channels.resize(3);
      augmentation.channels[1].*member = row.parameters[0];
      NormalizedCase example = fixture(3);
      const NormalizedCase before = example;
      apply(augmentation, example);
      std::vector<float> channel, others;
      for (std::size_t i = 0; i < example.image.size(); ++i)
        (i % 3 == 1 ? channel : others).push_back(example.image[i]);
      SCOPED_TRACE(name + " " + number(row.parameters[0]));
      expect_near(channel, row.values, rounding);
      EXPECT_TRUE(std::all_of(others.begin(), others.end(), [](float v) { return v == 7; }));
      EXPECT_EQ(example.truth, before.truth);
    }
  }
}

TEST(Augmentation, LeavesEveryBitAsItWasWhenNothingIsDrawn) {
  AugmentOptions options;
  options.symmetries = false;
  const Augmentation drawn = draw_augmentation(options, {1, 2, 3}, {12, 9, 7}, 2);
  EXPECT_EQ(describe(drawn), "unchanged");
  NormalizedCase example = blob({12, 9, 7}, 2);
  const NormalizedCase before = example;
  apply(drawn, example);
  EXPECT_EQ(example.image, before.image);
  EXPECT_EQ(example.truth, before.truth);
}

std::vector<float> read(const SpatialMap& map, const std::vector<float>& image, std::int64_t channels) {
  std::vector<float> result;
  map.read(image, channels, result);
  return result;
}

// The identity map still runs the interpolation if called directly.
TEST(Augmentation, ReadsVoxelsToTheLastBitWhereAMapFallsOnThem) {
  const NormalizedCase before = blob({12, 9, 7}, 2);
  const Philox random(1, 1);
  const SpatialMap map({}, before.size, before.spacing, {random, random, random});
  EXPECT_EQ(read(map, before.image, 2), before.image);
  EXPECT_EQ(map.read(before.truth), before.truth);
}

TEST(Augmentation, HasFlipsAndSymmetriesThatAgreeWithTheMap) {
  for (const Size3& size : {Size3{6, 6, 6}, Size3{6, 6, 4}, Size3{1, 5, 3}}) {
    for (const int number : allowed_symmetries(size)) {
      NormalizedCase exact = blob(size, 2);
      exact.spacing = {1, 2, 3};
      const Philox random(1, 1);
      const SpatialMap map({.symmetry = number}, size, exact.spacing, {random, random, random});
      const NormalizedCase before = exact;
      apply({{}, {.symmetry = number}, {}}, exact);
      EXPECT_EQ(read(map, before.image, 2), exact.image) << number;
      EXPECT_EQ(map.read(before.truth), exact.truth) << number;
    }
  }
}

TEST(Augmentation, TurnsImagesInTheirPlaneAlone) {
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

TEST(Augmentation, LeavesASymmetricPhantomAsItIsUnderFlips) {
  NormalizedCase example = blob({10, 12, 14});
  for (std::int64_t z = 0; z < 14; ++z)  // make it symmetric under all eight flips
    for (std::int64_t y = 0; y < 12; ++y)
      for (std::int64_t x = 0; x < 10; ++x) {
        const std::int64_t u = std::min(x, 9 - x), v = std::min(y, 11 - y), w = std::min(z, 13 - z);
        const auto at = static_cast<std::size_t>((z * 12 + y) * 10 + x);
        example.image[at] = static_cast<float>(u + 10 * v + 100 * w);
        example.truth[at] = static_cast<std::int16_t>(w > 3 ? u : 0);
      }
  const NormalizedCase before = example;
  AugmentOptions options;
  options.symmetries = false;
  options.flip = {1, 1, 1};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Augmentation drawn = draw_augmentation(options, {1, 1, i}, example.size, 1);
    EXPECT_EQ(drawn.space.symmetry, 7);
    apply(drawn, example);
    EXPECT_EQ(example.image, before.image);
    EXPECT_EQ(example.truth, before.truth);
  }
}

AugmentOptions everything() {
  AugmentOptions options = nnunet_augmentation();
  options.scale = 0.25;
  options.intensity = 0.1;
  options.elastic = {1, 3, 1};
  options.elastic_grid = 8;
  for (Draw* draw : {&options.rotation, &options.zoom, &options.noise, &options.blur, &options.brightness,
                     &options.contrast, &options.low_resolution, &options.inverted_gamma, &options.gamma})
    draw->probability = 0.7;
  return options;
}

TEST(Augmentation, KeepsLabelsInTheListAndValuesFinite) {
  const NormalizedCase before = blob({20, 24, 16}, 2);
  const std::set<std::int16_t> known(before.truth.begin(), before.truth.end());
  for (std::uint32_t i = 0; i < 40; ++i) {
    NormalizedCase example = before;
    apply(draw_augmentation(everything(), {5, 1, i}, example.size, 2), example);
    for (const std::int16_t label : example.truth) ASSERT_TRUE(known.contains(label));
    for (const float value : example.image) ASSERT_TRUE(std::isfinite(value));
    EXPECT_NE(example.image, before.image);
  }
}

// A constant channel has zero contrast, range and deviation.
TEST(Augmentation, KeepsAConstantImageFinite) {
  NormalizedCase example = blob({8, 8, 8});
  std::fill(example.image.begin(), example.image.end(), 2.0F);
  Augmentation augmentation;
  augmentation.channels = {
      {.blur = 1, .contrast = 1.2, .low_resolution = 0.5, .inverted_gamma = 0.8, .gamma = 1.4}};
  apply(augmentation, example);
  for (const float value : example.image) ASSERT_NEAR(value, 2, 1e-5);
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

TEST(Augmentation, OfALeftOutChannelIsZeroAndTheOthersAreAsTheyWere) {
  const NormalizedCase before = blob({6, 5, 4}, 3);
  NormalizedCase example = before;
  Augmentation drawn;
  drawn.dropped = {false, true, false};
  apply(drawn, example);
  for (std::size_t i = 0; i < example.image.size(); ++i)
    ASSERT_EQ(example.image[i], i % 3 == 1 ? 0.0F : before.image[i]);
  EXPECT_EQ(example.truth, before.truth);
  EXPECT_EQ(describe(drawn), "channel 2 dropped");
}

}  // namespace
}  // namespace voxswap::data
