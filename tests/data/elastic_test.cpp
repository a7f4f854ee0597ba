// Elastic deformation, and the noise, which uses the same random number generator.
#include <algorithm>
#include <cmath>

#include "data/augment/intensity.h"
#include "data/augment/spatial_map.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// Tolerance for values up to 2, interpolated in single precision, as are positions.
constexpr double rounding = 2e-5;

// The image at the position given by source(), interpolated with eight taps in double precision.
double slowly(const Image& example, std::array<double, 3> at) {
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t offset = 0, stride = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t last = example.geometry.size[axis] - 1;
      const double clamped = std::clamp(at[axis], 0.0, static_cast<double>(last));
      const auto low = static_cast<std::int64_t>(clamped);
      const bool upper = (corner >> axis & 1) != 0;
      weight *= upper ? clamped - static_cast<double>(low) : 1 - clamped + static_cast<double>(low);
      offset += std::min(low + (upper ? 1 : 0), last) * stride;
      stride *= example.geometry.size[axis];
    }
    sum += weight * example.voxels[static_cast<std::size_t>(offset)];
  }
  return sum;
}

TEST(ElasticDeformation, IsPartOfTheOneMapThatImagesAreReadUnder) {
  const Image example = random_image(geometry({17, 15, 13}));
  const SpatialChange change{
      .symmetry = 5, .degrees = {10, 20, 30}, .factors = {1.1, 1.2, 0.9}, .elastic = 2, .elastic_grid = 6};
  const std::array<Philox, 3> random{Philox(1, 1), Philox(1, 2), Philox(1, 3)};
  const SpatialMap map(change, example.geometry.size, example.geometry.spacing, random);
  std::vector<float> read;
  map.read(example.voxels, 1, read);
  SpatialChange rigid = change;
  rigid.elastic = 0;
  const SpatialMap without(rigid, example.geometry.size, example.geometry.spacing, random);
  double largest = 0;
  for (std::int64_t z = 0, i = 0; z < 13; ++z)
    for (std::int64_t y = 0; y < 15; ++y)
      for (std::int64_t x = 0; x < 17; ++x, ++i) {
        ASSERT_NEAR(read[static_cast<std::size_t>(i)], slowly(example, map.source(x, y, z)), rounding);
        for (std::size_t axis = 0; axis < 3; ++axis)
          largest = std::max(largest, std::fabs(map.source(x, y, z)[axis] - without.source(x, y, z)[axis]));
      }
  EXPECT_GT(largest, 1);
  EXPECT_LT(largest, 8);
}

// The displacement has the requested deviation in millimetres, whatever the spacing.
TEST(ElasticDeformation, HasTheDeviationAskedForInMillimetres) {
  const Size3 size{60, 50, 40};
  const Spacing spacing{1, 2, 1.5};
  double squares = 0;
  std::int64_t count = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const SpatialMap map({.elastic = 0.7, .elastic_grid = 12}, size, spacing,
                         {Philox(seed, 1), Philox(seed, 2), Philox(seed, 3)});
    for (std::int64_t z = 0; z < 40; z += 4)
      for (std::int64_t y = 0; y < 50; y += 5)
        for (std::int64_t x = 0; x < 60; x += 6, ++count) {
          const auto at = map.source(x, y, z);
          const std::array<std::int64_t, 3> here{x, y, z};
          for (std::size_t axis = 0; axis < 3; ++axis)
            squares += std::pow((at[axis] - static_cast<double>(here[axis])) * spacing[axis], 2);
        }
  }
  // From about 2000 control points and axes; about 2 % are clamped.
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(3 * count)), 0.7, 0.07);
}

// Far more than the control points allow: the volume of every cell stays positive.
TEST(ElasticDeformation, FoldsNowhereHoweverStrong) {
  const Size3 size{24, 24, 24};
  const SpatialMap map({.elastic = 100, .elastic_grid = 6}, size, {1, 1, 1},
                       {Philox(3, 1), Philox(3, 2), Philox(3, 3)});
  for (std::int64_t z = 0; z + 1 < 24; ++z)
    for (std::int64_t y = 0; y + 1 < 24; ++y)
      for (std::int64_t x = 0; x + 1 < 24; ++x) {
        const auto o = map.source(x, y, z), a = map.source(x + 1, y, z), b = map.source(x, y + 1, z),
                   c = map.source(x, y, z + 1);
        std::array<std::array<double, 3>, 3> m{};
        for (std::size_t i = 0; i < 3; ++i) m[i] = {a[i] - o[i], b[i] - o[i], c[i] - o[i]};
        const double volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                              m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                              m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
        ASSERT_GT(volume, 0);
      }
}

// Kolmogorov's distance to the normal distribution; 1.95 / sqrt(n) is exceeded by chance once in 1000 times.
TEST(Noise, IsNormalWithTheDeviationAskedFor) {
  std::vector<float> values(100003, 0.0F);
  add_noise(values, Philox(9, 1), 0.25F);
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

}  // namespace
}  // namespace voxswap::data
