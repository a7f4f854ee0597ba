// Surfaces, distances and lesions on maps small enough to verify by hand, and the rules for empty regions.
#include "metrics/surface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/lesions.h"
#include "tests/metrics/random_label_maps.h"

namespace voxswap::metrics {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A row of voxels along x.
Mask row_mask(const std::string& text) {
  Mask mask{{static_cast<std::int64_t>(text.size()), 1, 1}, {}};
  for (char c : text) mask.voxels.push_back(c == '#');
  return mask;
}

Mask box(const Size3& size, const VoxelBox& filled) {
  Mask mask{size, std::vector<std::uint8_t>(static_cast<std::size_t>(size[0] * size[1] * size[2])),
            is_slice(size)};
  for (std::int64_t z = filled.start[2]; z < filled.end()[2]; ++z) {
    for (std::int64_t y = filled.start[1]; y < filled.end()[1]; ++y) {
      for (std::int64_t x = filled.start[0]; x < filled.end()[0]; ++x)
        mask.voxels[static_cast<std::size_t>((z * size[1] + y) * size[0] + x)] = 1;
    }
  }
  return mask;
}

TEST(DistanceMap, EqualsTheSmallestOfAllDistances) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const RandomLabelMaps maps(seed);
    Mask mask{maps.size, {}};
    for (std::int16_t label : maps.truth) mask.voxels.push_back(label != 0);
    const std::vector<double> found = squared_distances(mask, maps.spacing);
    const auto place = [&](std::size_t i, std::size_t axis) {
      const auto at = static_cast<std::int64_t>(i);
      const Size3 index{at % mask.size[0], at / mask.size[0] % mask.size[1],
                        at / mask.size[0] / mask.size[1]};
      return static_cast<double>(index[axis]) * maps.spacing[axis];
    };
    for (std::size_t i = 0; i < found.size(); i += 7) {
      double smallest = infinity;
      for (std::size_t j = 0; j < found.size(); ++j) {
        if (mask.voxels[j] == 0) continue;
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) sum += std::pow(place(i, axis) - place(j, axis), 2);
        smallest = std::min(smallest, sum);
      }
      if (smallest == infinity) {
        EXPECT_EQ(found[i], infinity);
      } else {
        EXPECT_NEAR(found[i], smallest, 1e-9);
      }
    }
  }
}

TEST(Surface, IsWhatTouchesTheOutsideWithAFaceAlsoAtTheGridsBorder) {
  EXPECT_EQ(surface(box({5, 5, 5}, {{1, 1, 1}, {3, 3, 3}})).count(), 26);
  EXPECT_EQ(surface(box({3, 3, 3}, {{0, 0, 0}, {3, 3, 3}})).count(), 26);
  EXPECT_EQ(surface(box({6, 6, 6}, {{0, 0, 0}, {4, 4, 4}})).count(), 56);
}

TEST(Surface, OfARegionInAnImageIsItsOutline) {
  const Mask outline = surface(box({6, 6, 1}, {{1, 1, 0}, {4, 4, 1}}));
  EXPECT_EQ(std::count(outline.voxels.begin(), outline.voxels.end(), 1), 12);
  EXPECT_EQ(surface(box({6, 1, 6}, {{1, 0, 1}, {4, 1, 4}})).count(), 12);
  EXPECT_EQ(surface(box({1, 6, 6}, {{0, 1, 1}, {1, 4, 4}})).count(), 12);
  EXPECT_EQ(surface(box({6, 1, 1}, {{1, 0, 0}, {4, 1, 1}})).count(), 4) << "all of a row";
}

// A square in one slice of a volume, and the same with a hole: all their voxels are surface. Whatever other
// metrics are selected, and so whatever box is cut.
TEST(Surface, OfAFlatRegionInAVolumeIsAllOfIt) {
  const Size3 size{7, 7, 7};
  std::vector<std::int16_t> truth(343), prediction(343);
  for (std::size_t i = 0; i < 9; ++i) {
    const std::size_t at = (3 * 7 + i / 3 + 2) * 7 + i % 3 + 2;
    truth[at] = 1;
    prediction[at] = i == 4 ? 0 : 1;
  }
  const std::vector<std::vector<int>> region{{1}};
  MetricOptions options;
  options.lesions.volume = 0;
  const std::vector<std::string> surfaces{"hausdorff", "hd95", "boundary_iou"}, one{"lesion_wise_hd95"};
  std::vector<std::string> both = surfaces;
  both.push_back(one[0]);
  const auto scores = [&](const std::vector<std::string>& metrics) {
    return score_regions(truth, prediction, size, {1, 1, 1}, region, metrics, options).at(0).values;
  };
  EXPECT_DOUBLE_EQ(scores(surfaces)[0], 1);
  EXPECT_DOUBLE_EQ(scores(surfaces)[1], 0.6);  // between the last two of eight times 0 and once 1
  EXPECT_DOUBLE_EQ(scores(surfaces)[2], 8.0 / 9);
  EXPECT_DOUBLE_EQ(scores(one)[0], 0.6);
  std::vector<double> together = scores(surfaces);
  together.push_back(scores(one)[0]);
  EXPECT_EQ(scores(both), together);
}

TEST(SurfaceDistances, AreInMillimetresOfTheGridsOwnSpacing) {
  const SurfaceDistances distances =
      surface_distances(row_mask("##......"), row_mask(".....##."), {2.5, 1, 1});
  EXPECT_EQ(distances.from_truth, (std::vector<double>{12.5, 10}));
  EXPECT_EQ(distances.from_prediction, (std::vector<double>{10, 12.5}));
  EXPECT_DOUBLE_EQ(average_surface_distance(distances, EmptyRule::brats), 11.25);
  EXPECT_DOUBLE_EQ(hd95(distances, EmptyRule::brats), 10 + 0.95 * 2.5);  // interpolated, like NumPy
  EXPECT_DOUBLE_EQ(hausdorff(distances, EmptyRule::brats), 12.5);
}

TEST(HausdorffDistance, IsOneVoxelsWhicheverSideItIsOn) {
  const Mask near = row_mask("##......"), far = row_mask("##.....#");
  EXPECT_DOUBLE_EQ(hausdorff(surface_distances(near, far, {1, 1, 1}), EmptyRule::brats), 6);
  EXPECT_DOUBLE_EQ(hausdorff(surface_distances(far, near, {1, 1, 1}), EmptyRule::brats), 6);
}

TEST(SurfaceDice, CountsWhatIsWithinTheToleranceAndWhatIsItButForRounding) {
  // 0.1 * 3 is slightly more than 0.3.
  const SurfaceDistances distances = surface_distances(row_mask("#...."), row_mask("...#."), {0.1, 1, 1});
  EXPECT_EQ(surface_dice(distances, 0.3, EmptyRule::brats), 1);
  EXPECT_EQ(surface_dice(distances, 0.2999, EmptyRule::brats), 0);
  // 0.1F * 10 is 1.5e-8 more than 1.
  const Spacing of_file{0.1F, 1, 1};
  const Mask one = row_mask("#..........."), other = row_mask("..........#.");
  EXPECT_EQ(surface_dice(surface_distances(one, other, of_file), 1, EmptyRule::brats), 1);
  const Mask slice = box({30, 30, 1}, {{0, 0, 0}, {30, 30, 1}});
  EXPECT_EQ(rim_overlap(slice, slice, 1, of_file).truth, 4 * 30 + 26 * 22);
}

TEST(EmptyRegion, HasTheDistancesOfItsRule) {
  const SurfaceDistances neither = surface_distances(row_mask("..."), row_mask("..."), {1, 1, 1});
  const SurfaceDistances one = surface_distances(row_mask("..."), row_mask(".#."), {1, 1, 1});
  for (const auto score : {hd95, hausdorff, average_surface_distance}) {
    EXPECT_EQ(score(neither, EmptyRule::brats), 0);
    EXPECT_EQ(score(one, EmptyRule::brats), 373.12866);
    EXPECT_TRUE(std::isnan(score(neither, EmptyRule::nnunet)));
    EXPECT_TRUE(std::isnan(score(one, EmptyRule::nnunet)));
  }
  EXPECT_EQ(surface_dice(neither, 1, EmptyRule::brats), 1);
  EXPECT_EQ(surface_dice(one, 1, EmptyRule::brats), 0);
  EXPECT_TRUE(std::isnan(surface_dice(neither, 1, EmptyRule::nnunet)));
  EXPECT_EQ(surface_dice(one, 1, EmptyRule::nnunet), 0);
}

TEST(Components, HoldTogetherAtCorners) {
  Mask mask{{3, 3, 3}, std::vector<std::uint8_t>(27)};
  mask.voxels[0] = mask.voxels[13] = mask.voxels[26] = 1;  // along the diagonal
  EXPECT_EQ(connected_components(mask).sizes, (std::vector<std::int64_t>{3}));
  mask.voxels[13] = 0;
  const Components apart = connected_components(mask);
  EXPECT_EQ(apart.sizes, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(apart.labels[26], 2);
}

LesionScores lesions(const std::string& truth, const std::string& prediction, std::int64_t dilation,
                     double volume, EmptyRule rule = EmptyRule::brats) {
  return lesion_scores(row_mask(truth), row_mask(prediction), {1, 1, 1}, {dilation, volume}, rule);
}

TEST(Lesions, ThatAreNearEachOtherCountAsOne) {
  EXPECT_EQ(lesions("##..##", "......", 0, 0).missed, 2);
  EXPECT_EQ(lesions("##..##", "......", 1, 0).missed, 1);  // after dilation by one voxel they touch
}

TEST(Lesions, AreFoundByWhatComesNearAndScoredWithAllOfIt) {
  const LesionScores scores = lesions("##......", "..##....", 1, 0);
  EXPECT_EQ(scores.found, 1);
  EXPECT_EQ(scores.false_positives, 0);
  EXPECT_EQ(scores.dice, 0);
  EXPECT_LT(scores.hd95, 3);
}

TEST(Lesions, ThatNobodyFindsAndFalsePositivesScoreZeroAnd374Millimetres) {
  const LesionScores scores = lesions("##...#.....", "##......#.#", 0, 0);
  EXPECT_EQ(scores.found, 1);
  EXPECT_EQ(scores.missed, 1);
  EXPECT_EQ(scores.false_positives, 2);
  EXPECT_DOUBLE_EQ(scores.dice, 1.0 / 4);
  EXPECT_DOUBLE_EQ(scores.hd95, 374.0 * 3 / 4);
}

TEST(Lesions, UpToTheVolumeAreLeftOutWithWhatFoundThem) {
  const LesionScores scores = lesions("###...#.", "###...##", 0, 1);
  EXPECT_EQ(scores.found, 1);
  EXPECT_EQ(scores.false_positives, 0);
  EXPECT_EQ(scores.dice, 1);
  EXPECT_EQ(scores.hd95, 0);
}

TEST(Lesions, OfNoneAtAllFollowTheRule) {
  EXPECT_EQ(lesions("....", "....", 1, 0).dice, 1);
  EXPECT_EQ(lesions("....", "....", 1, 0).hd95, 0);
  EXPECT_TRUE(std::isnan(lesions("....", "....", 1, 0, EmptyRule::nnunet).dice));
}

}  // namespace
}  // namespace voxswap::metrics
