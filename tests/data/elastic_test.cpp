// The map of elastic deformation.
#include <algorithm>
#include <cmath>

#include "data/augment/spatial_map.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

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
  for_each_voxel({23, 23, 23}, [&](auto x, auto y, auto z) {
    const auto o = map.source(x, y, z), a = map.source(x + 1, y, z), b = map.source(x, y + 1, z),
               c = map.source(x, y, z + 1);
    std::array<std::array<double, 3>, 3> m{};
    for (std::size_t i = 0; i < 3; ++i) m[i] = {a[i] - o[i], b[i] - o[i], c[i] - o[i]};
    const double volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                          m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                          m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    ASSERT_GT(volume, 0);
  });
}

}  // namespace
}  // namespace voxswap::data
