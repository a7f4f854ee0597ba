// Dice, sensitivity and specificity on maps small enough to count by hand, and both rules for empty regions.
#include "metrics/overlap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "metrics/metrics.h"
#include "tests/expect.h"

namespace voxswap::metrics {
namespace {

const std::vector<std::int16_t> truth = {0, 0, 1, 1, 2, 2, 4, 4, 0, 0};
const std::vector<std::int16_t> prediction = {0, 2, 2, 1, 2, 0, 4, 1, 4, 0};
const std::vector<int> whole_tumor = {1, 2, 4}, tumor_core = {1, 4}, enhancing_tumor = {4};

Overlap counts_of(const std::vector<int>& region) {
  return overlap(label_pairs(truth, prediction, {5, 2, 1}), region);
}

void expect_counts(const Overlap& counts, std::int64_t in_truth, std::int64_t in_prediction,
                   std::int64_t in_both) {
  EXPECT_EQ(counts.truth, in_truth);
  EXPECT_EQ(counts.prediction, in_prediction);
  EXPECT_EQ(counts.intersection, in_both);
}

TEST(Overlap, CountsARegionAsTheUnionOfItsLabels) {
  expect_counts(counts_of(whole_tumor), 6, 7, 5);
  expect_counts(counts_of(tumor_core), 4, 4, 3);
  expect_counts(counts_of(enhancing_tumor), 2, 2, 1);
  expect_counts(counts_of({3}), 0, 0, 0);
}

TEST(Overlap, ScoresAgreeWithCountingByHand) {
  const Overlap whole = counts_of(whole_tumor);
  EXPECT_DOUBLE_EQ(dice(whole, EmptyRule::brats), 2.0 * 5 / (6 + 7));
  EXPECT_DOUBLE_EQ(sensitivity(whole, EmptyRule::brats), 5.0 / 6);
  EXPECT_DOUBLE_EQ(specificity(whole, 10, EmptyRule::brats), 2.0 / 4);
  EXPECT_DOUBLE_EQ(precision(whole, EmptyRule::brats), 5.0 / 7);
}

TEST(Overlap, FindsTheBoxAroundARegionInBothMaps) {
  const VoxelBox box = box_around(label_pairs(truth, prediction, {5, 2, 1}), enhancing_tumor);
  EXPECT_EQ(box.start, (Size3{1, 1, 0}));  // the second row's voxels 1, 2 and 3
  EXPECT_EQ(box.size, (Size3{3, 1, 1}));
  EXPECT_TRUE(box_around(label_pairs(truth, prediction, {5, 2, 1}), std::vector<int>{3}).empty());
}

TEST(Overlap, OfAMapWithItselfIsPerfect) {
  const Overlap same = overlap(label_pairs(truth, truth, {5, 2, 1}), tumor_core);
  EXPECT_EQ(dice(same, EmptyRule::nnunet), 1);
  EXPECT_EQ(sensitivity(same, EmptyRule::nnunet), 1);
  EXPECT_EQ(specificity(same, 10, EmptyRule::nnunet), 1);
}

TEST(EmptyRegion, BothEmptyIsPerfectForBratsAndNoNumberForNnunet) {
  const Overlap empty{0, 0, 0};
  EXPECT_EQ(dice(empty, EmptyRule::brats), 1);
  EXPECT_EQ(sensitivity(empty, EmptyRule::brats), 1);
  EXPECT_TRUE(std::isnan(dice(empty, EmptyRule::nnunet)));
  EXPECT_TRUE(std::isnan(sensitivity(empty, EmptyRule::nnunet)));
  EXPECT_EQ(specificity(empty, 10, EmptyRule::nnunet), 1);  // the outside of the region is not empty
}

TEST(EmptyRegion, OneEmptyIsZeroForBoth) {
  for (EmptyRule rule : {EmptyRule::brats, EmptyRule::nnunet}) {
    EXPECT_EQ(dice({5, 0, 0}, rule), 0);
    EXPECT_EQ(dice({0, 5, 0}, rule), 0);
    EXPECT_EQ(sensitivity({5, 0, 0}, rule), 0);
    EXPECT_EQ(sensitivity({0, 5, 0}, rule), 0);
    EXPECT_EQ(specificity({10, 4, 4}, 10, rule), 0);
  }
}

TEST(EmptyRegion, OfSpecificityIsWhatLiesOutside) {
  EXPECT_EQ(specificity({10, 10, 10}, 10, EmptyRule::brats), 1);
  EXPECT_TRUE(std::isnan(specificity({10, 10, 10}, 10, EmptyRule::nnunet)));
}

TEST(EmptyRule, HasTwoNamesAndRefusesOthers) {
  EXPECT_EQ(parse_empty_rule("brats"), EmptyRule::brats);
  EXPECT_EQ(parse_empty_rule("nnunet"), EmptyRule::nnunet);
  test::expect_failure([&] { parse_empty_rule("monai"); }, Exit::usage, {"monai"});
}

TEST(Metrics, AreFoundByNameAndAgreeWithTheFunctions) {
  MetricInput input;
  input.overlap = counts_of(tumor_core);
  input.voxels = 10;
  input.spacing = {2, 5, 10};
  EXPECT_DOUBLE_EQ(metric("dice").score(input), 0.75);
  EXPECT_DOUBLE_EQ(metric("sensitivity").score(input), 0.75);
  EXPECT_DOUBLE_EQ(metric("specificity").score(input), 5.0 / 6);
  input.overlap.prediction = 7;
  EXPECT_DOUBLE_EQ(metric("volume_difference").score(input), 0.3);  // 3 voxels of 100 mm^3, in ml
}

TEST(Metrics, RefuseAnUnknownNameAndSuggestTheNearest) {
  test::expect_failure([&] { metric("dise"); }, Exit::usage, {"Did you mean 'dice'"});
}

}  // namespace
}  // namespace voxswap::metrics
