// Augmentation of voxels by operations, compared with SciPy and NumPy (tests/fixtures/augmentation.py) and
// with the definitions of the changes.
#include "pipeline/cases/sample_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "pipeline/cases/patches.h"
#include "tests/data/everything_drawn.h"

namespace voxswap::pipeline {
namespace {

using namespace data;

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

// By a graph with all changes, or one without changes of intensities.
void augment(const Augmentation& drawn, NormalizedCase& part, bool intensities = true) {
  SampleGraph graph(intensities ? everything() : AugmentOptions(), part.size, part.channels);
  part = graph.make(drawn, part, {{0, 0, 0}, part.size});
}

TEST(Augmentation, TurnsAndScalesImagesAsSciPyDoes) {
  for (const Row& row : rows("space of image")) {
    NormalizedCase example = fixture();
    augment({{}, space_of(row.parameters), {}}, example);
    expect_near(example.image, row.values, rounding);
  }
  const Row row = rows("space of image after symmetry 17")[0];
  NormalizedCase example = fixture();
  SpatialChange change = space_of(row.parameters);
  change.symmetry = 17;
  augment({{}, change, {}}, example);
  expect_near(example.image, row.values, rounding);
}

// The channel counts with specialised code, and one without.
TEST(Augmentation, TreatsAllChannelsOfAnImageAlike) {
  for (const std::int64_t channels : {2, 3, 4, 5}) {
    const Row row = rows("space of image")[3];
    NormalizedCase one = fixture(), several = fixture(channels);
    const Augmentation augmentation{{}, space_of(row.parameters), {}};
    augment(augmentation, one);
    augment(augmentation, several);
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
    augment({{}, space_of(row.parameters), {}}, example);
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
      augment(augmentation, example);
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
  augment(drawn, example);
  EXPECT_EQ(example.image, before.image);
  EXPECT_EQ(example.truth, before.truth);
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
    augment(drawn, example);
    EXPECT_EQ(example.image, before.image);
    EXPECT_EQ(example.truth, before.truth);
  }
}

TEST(Augmentation, KeepsLabelsInTheListAndValuesFinite) {
  const NormalizedCase before = blob({20, 24, 16}, 2);
  const std::set<std::int16_t> known(before.truth.begin(), before.truth.end());
  for (std::uint32_t i = 0; i < 40; ++i) {
    NormalizedCase example = before;
    augment(draw_augmentation(everything(), {5, 1, i}, example.size, 2), example);
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
  augment(augmentation, example);
  for (const float value : example.image) ASSERT_NEAR(value, 2, 1e-5);
}

TEST(Augmentation, OfALeftOutChannelIsZeroAndTheOthersAreAsTheyWere) {
  const NormalizedCase before = blob({6, 5, 4}, 3);
  NormalizedCase example = before;
  Augmentation drawn;
  drawn.dropped = {false, true, false};
  augment(drawn, example);
  for (std::size_t i = 0; i < example.image.size(); ++i)
    ASSERT_EQ(example.image[i], i % 3 == 1 ? 0.0F : before.image[i]);
  EXPECT_EQ(example.truth, before.truth);
  EXPECT_EQ(describe(drawn), "channel 2 dropped");
}

TEST(Augmentation, HasFlipsAndSymmetriesThatMoveVoxels) {
  for (const Size3& size : {Size3{6, 6, 6}, Size3{6, 6, 4}, Size3{1, 5, 3}})
    for (const int number : allowed_symmetries(size))
      for (const bool intensities : {false, true}) {
        const NormalizedCase before = blob(size, 2);
        NormalizedCase changed = before;
        changed.spacing = {1, 2, 3};
        augment({{}, {.symmetry = number}, {}}, changed, intensities);
        EXPECT_EQ(changed.image, data::apply(symmetry(number), before.image, size, 2)) << number;
        EXPECT_EQ(changed.truth, data::apply(symmetry(number), before.truth, size, 1)) << number;
      }
}

// The image at the position given by source(), interpolated with eight taps in double precision.
double slowly(const NormalizedCase& example, std::array<double, 3> at) {
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t offset = 0, stride = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t last = example.size[axis] - 1;
      const double clamped = std::clamp(at[axis], 0.0, static_cast<double>(last));
      const auto low = static_cast<std::int64_t>(clamped);
      const bool upper = (corner >> axis & 1) != 0;
      weight *= upper ? clamped - static_cast<double>(low) : 1 - clamped + static_cast<double>(low);
      offset += std::min(low + (upper ? 1 : 0), last) * stride;
      stride *= example.size[axis];
    }
    sum += weight * example.image[static_cast<std::size_t>(offset)];
  }
  return sum;
}

TEST(Augmentation, ReadsImagesWhereTheElasticMapSays) {
  for (const bool intensities : {false, true}) {
    const NormalizedCase before = blob({17, 15, 13});
    NormalizedCase changed = before;
    const Augmentation drawn{
        {3, 1, 2},
        {.symmetry = 5, .degrees = {10, 20, 30}, .factors = {1.1, 1.2, 0.9}, .elastic = 2, .elastic_grid = 6},
        {}};
    augment(drawn, changed, intensities);
    const SpatialMap map = map_of(drawn, before.size, before.spacing);
    Augmentation rigid = drawn;
    rigid.space.elastic = 0;
    const SpatialMap without = map_of(rigid, before.size, before.spacing);
    double largest = 0;
    for (std::int64_t z = 0, i = 0; z < 13; ++z)
      for (std::int64_t y = 0; y < 15; ++y)
        for (std::int64_t x = 0; x < 17; ++x, ++i) {
          ASSERT_NEAR(changed.image[static_cast<std::size_t>(i)], slowly(before, map.source(x, y, z)),
                      rounding);
          for (std::size_t axis = 0; axis < 3; ++axis)
            largest = std::max(largest, std::fabs(map.source(x, y, z)[axis] - without.source(x, y, z)[axis]));
        }
    EXPECT_GT(largest, 1);
    EXPECT_LT(largest, 8);
  }
}

// Kolmogorov's distance to the normal distribution; 1.95 / sqrt(n) is exceeded by chance once in 1000 times.
TEST(Noise, IsNormalWithTheDeviationAskedFor) {
  NormalizedCase example{{43, 47, 49}, {1, 1, 1}, 1, {}, {}};
  example.image.resize(43 * 47 * 49);
  Augmentation drawn;
  drawn.key = {9, 1, 1};
  drawn.channels = {{.noise = 0.25}};
  augment(drawn, example);
  std::vector<float>& values = example.image;
  const auto n = static_cast<double>(values.size());
  double squares = 0, correlation = 0;
  for (std::size_t i = 0; i < values.size(); ++i) squares += values[i] * values[i];
  for (std::size_t i = 1; i < values.size(); ++i) correlation += values[i] * values[i - 1];
  EXPECT_NEAR(std::sqrt(squares / n), 0.25, 0.25 * 4 / std::sqrt(2 * n));
  EXPECT_LT(std::fabs(correlation / squares), 4 / std::sqrt(n));
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double below = 0.5 * std::erfc(-values[i] / 0.25 / std::sqrt(2.0));
    distance = std::max({distance, std::fabs(below - static_cast<double>(i) / n),
                         std::fabs(below - static_cast<double>(i + 1) / n)});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

// A part that a graph has changed is not in the next one.
TEST(Augmentation, OfASampleDoesNotDependOnTheSamplesBefore) {
  const NormalizedCase before = blob({20, 24, 16}, 2);
  SampleGraphs shared;
  for (std::uint32_t i = 0; i < 6; ++i) {
    const Augmentation drawn = draw_augmentation(everything(), {5, 2, i}, before.size, 2);
    NormalizedCase alone = before, together = before;
    augment(drawn, alone);
    together.truth = shared.make(everything(), drawn, before, {{0, 0, 0}, before.size}, together.image);
    EXPECT_EQ(alone.image, together.image);
    EXPECT_EQ(alone.truth, together.truth);
  }
}

// A box is read where it lies in the case, also one that extends beyond it.
TEST(Augmentation, OfABoxIsThatOfTheBoxCutOut) {
  NormalizedCase whole = blob({20, 24, 16}, 2);
  whole.background = {-1, 3};
  for (const VoxelBox& box : {VoxelBox{{3, 5, 2}, {12, 12, 10}}, VoxelBox{{-4, 5, 8}, {12, 12, 10}}})
    for (const bool intensities : {false, true})
      for (std::uint32_t i = 0; i < 6; ++i) {
        const AugmentOptions options = intensities ? everything() : AugmentOptions();
        const Augmentation drawn = draw_augmentation(options, {5, 3, i}, box.size, 2);
        const NormalizedCase in_place = SampleGraph(options, box.size, 2).make(drawn, whole, box);
        NormalizedCase cut_out = cut_case(whole, box);
        augment(drawn, cut_out, intensities);
        EXPECT_EQ(in_place.image, cut_out.image);
        EXPECT_EQ(in_place.truth, cut_out.truth);
      }
}

}  // namespace
}  // namespace voxswap::pipeline
