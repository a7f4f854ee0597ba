// Tests the search for post-processing on small cases with a known truth.
#include "pipeline/predict/postprocessing.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "pipeline/predict/smallest_regions.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

const data::Regions brats = {{"whole_tumor", {1, 2, 4}}, {"tumor_core", {1, 4}}, {"enhancing_tumor", {4}}};

data::LabelMap row(const std::vector<std::int16_t>& labels, double spacing = 1) {
  data::LabelMap map;
  map.geometry.size = {static_cast<std::int64_t>(labels.size()), 1, 1};
  map.geometry.spacing = {spacing, 1, 1};
  map.voxels = labels;
  return map;
}

std::vector<std::int16_t> done(const std::vector<std::int16_t>& labels, const PostStep& step,
                               double spacing = 1) {
  data::LabelMap map = row(labels, spacing);
  apply_step(map, step, brats);
  return map.voxels;
}

using Labels = std::vector<std::int16_t>;

TEST(PostSteps, TakeAwayAllButTheLargestComponent) {
  EXPECT_EQ(done({2, 0, 2, 4, 2, 0, 1}, {"whole_tumor", Removal::all_but_largest}),
            (Labels{0, 0, 2, 4, 2, 0, 0}));
}

TEST(PostSteps, TakeAwayWhatIsSmallerThanSoManyCubicMillimetres) {
  const PostStep step = {"enhancing_tumor", Removal::small_components, 2};
  EXPECT_EQ(done({4, 2, 4, 4, 2, 0}, step), (Labels{1, 2, 4, 4, 2, 0}));  // necrosis instead
  EXPECT_EQ(done({4, 2, 4, 4, 2, 0}, step, 2), (Labels{4, 2, 4, 4, 2, 0}));
}

TEST(PostSteps, TakeAwayARegionThatIsSmallInAll) {
  const PostStep step = {"enhancing_tumor", Removal::small_whole, 4};
  EXPECT_EQ(done({4, 2, 4, 4, 2, 0}, step), (Labels{1, 2, 1, 1, 2, 0}));
  EXPECT_EQ(done({4, 2, 4, 4, 2, 4}, step), (Labels{4, 2, 4, 4, 2, 4}));
  EXPECT_EQ(done({2, 2, 0}, step), (Labels{2, 2, 0}));
}

// Repeats every pair `times` times, as separate cases or as repeats of one.
Postprocessing found(const std::vector<std::pair<Labels, Labels>>& truths_and_predictions, double spacing = 1,
                     std::size_t times = 10, bool repeats = false) {
  const std::size_t count = truths_and_predictions.size();
  return find_postprocessing(
      count * times,
      [&](std::size_t i) {
        return TruthAndPrediction{row(truths_and_predictions[i % count].first, spacing),
                                  row(truths_and_predictions[i % count].second, spacing),
                                  repeats ? i % count : i};
      },
      brats);
}

TEST(FoundPostprocessing, KeepsTheLargestComponentWhereThereIsButOneTumour) {
  const Postprocessing what = found({{{0, 2, 4, 4, 2, 0, 0, 0}, {0, 2, 4, 4, 2, 0, 2, 2}},
                                     {{2, 2, 4, 2, 0, 0, 0, 0}, {2, 2, 4, 2, 0, 2, 2, 2}}});
  ASSERT_EQ(what.steps.size(), 1u);
  EXPECT_EQ(what.steps[0].region, "whole_tumor");
  EXPECT_EQ(what.steps[0].remove, Removal::all_but_largest);
  EXPECT_EQ(what.cases, 20u);
  EXPECT_EQ(what.gains[0].holding, 20u);
  ASSERT_EQ(what.gains.size(), 3u);
  EXPECT_NEAR(what.gains[0].before, (8.0 / 10 + 8.0 / 11) / 2, 1e-12);
  EXPECT_NEAR(what.gains[0].after, 1, 1e-12);
  EXPECT_NEAR(what.gains[2].after, what.gains[2].before, 1e-12);
  EXPECT_NEAR(what.steps[0].gain, (1 - what.gains[0].before) / 3, 1e-12);
}

// A voxel has 15 mm^3: one voxel is removed as noise, three are kept.
TEST(FoundPostprocessing, TurnsAFewVoxelsOfEnhancingTumourIntoNecrosis) {
  const std::pair<Labels, Labels> without = {{2, 1, 1, 2, 2}, {2, 4, 1, 2, 2}},
                                  with = {{2, 4, 4, 4, 2}, {2, 4, 4, 4, 2}};
  const Postprocessing what = found({without, with, without}, 15);
  ASSERT_EQ(what.steps.size(), 1u);
  EXPECT_EQ(what.steps[0].region, "enhancing_tumor");
  EXPECT_EQ(what.steps[0].below_mm3, 20);
  EXPECT_NEAR(what.gains[2].before, 1.0 / 3, 1e-12);
  EXPECT_NEAR(what.gains[2].after, 1, 1e-12);
}

const std::pair<Labels, Labels> improved = {{0, 2, 4, 4, 2, 0, 0, 0}, {0, 2, 4, 4, 2, 0, 2, 2}},
                                unchanged = {{2, 2, 0, 0, 0}, {2, 2, 0, 0, 0}};

TEST(FoundPostprocessing, IsNotSearchedOnFewCasesHoweverOftenTheyWerePredicted) {
  EXPECT_EQ(found({improved}, 1, 10).steps.size(), 1u);
  EXPECT_TRUE(found({improved}, 1, 9).steps.empty());
  const Postprocessing repeated = found({improved, improved}, 1, 10, /*repeats=*/true);
  EXPECT_TRUE(repeated.steps.empty());
  EXPECT_EQ(repeated.gains[0].holding, 2u);
}

// Only one case of 30 improves much, which may be chance.
TEST(FoundPostprocessing, IsNothingWhereTheGainIsWithinItsInterval) {
  std::vector<std::pair<Labels, Labels>> cases(30, unchanged);
  cases[0] = improved;
  EXPECT_TRUE(found(cases, 1, 1).steps.empty());
}

// Two cases have two tumours and one has one: removing the second costs more than it gains.
TEST(FoundPostprocessing, IsNothingWhereNothingHelps) {
  const std::pair<Labels, Labels> two = {{2, 2, 0, 2, 0}, {2, 2, 0, 2, 0}},
                                  one = {{2, 2, 0, 0, 0}, {2, 2, 0, 2, 0}};
  const Postprocessing what = found({two, two, one});
  EXPECT_TRUE(what.steps.empty());
  for (const Postprocessing::Gain& gain : what.gains) EXPECT_EQ(gain.before, gain.after) << gain.region;
}

// Enhancing tumour of 6 to 25 voxels of 2 mm^3 in 20 ground truths.
data::LabelMap truth_with(std::size_t voxels) {
  Labels labels(60, 2);
  std::fill_n(labels.begin(), voxels, std::int16_t{4});
  return row(labels, 2);
}

TEST(SmallestRegions, GiveAStepForEachRegionWithinAnother) {
  const auto steps = [](std::size_t count) {
    return steps_for_smallest(
        count, [](std::size_t i) { return truth_with(6 + i); }, brats);
  };
  EXPECT_TRUE(steps(19).empty()) << "too few cases";
  const std::vector<PostStep> made = steps(20);
  ASSERT_EQ(made.size(), 2u);  // nothing is around the whole tumour
  EXPECT_EQ(made[0].region, "tumor_core");
  EXPECT_EQ(made[1].region, "enhancing_tumor");
  EXPECT_EQ(made[1].remove, Removal::small_whole);
  EXPECT_EQ(made[1].below_mm3, 6);
  EXPECT_EQ(made[1].labelled, 20u);
  EXPECT_TRUE(steps_for_smallest(
                  40, [](std::size_t i) { return truth_with(i < 19 ? 6 : 0); }, brats)
                  .empty())
      << "in too few cases";
}

TEST(SmallestRegions, AreRemovedUnlessACaseWouldBeWorse) {
  const PostStep step{"enhancing_tumor", Removal::small_whole, 3, 0, 20};
  const std::pair<Labels, Labels> without = {{2, 1, 1, 2, 2}, {2, 4, 1, 2, 2}},
                                  with = {{2, 4, 4, 4, 2}, {2, 4, 4, 4, 2}},
                                  small = {{2, 4, 1, 2, 2}, {2, 4, 1, 2, 2}};
  const auto found = [&](const std::vector<std::pair<Labels, Labels>>& cases) {
    return find_postprocessing(cases.size(),
                               [&](std::size_t i) {
                                 return TruthAndPrediction{row(cases[i].first), row(cases[i].second), i};
                               },
                               brats, {step});
  };
  const Postprocessing helps = found({without, with});
  ASSERT_EQ(helps.steps.size(), 1u);
  EXPECT_NEAR(helps.steps[0].gain, 1.0 / 3 / 2, 1e-12);
  EXPECT_NEAR(helps.gains[2].after, 1, 1e-12);
  EXPECT_EQ(found({with, with}).steps.size(), 1u);  // it costs nothing
  EXPECT_TRUE(found({without, small}).steps.empty());
}

TEST(FoundPostprocessing, ComesBackFromTheFileItWasWrittenTo) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / postprocessing_file;
  const Postprocessing what = {{{"whole_tumor", Removal::all_but_largest, 0, 0.25},
                                {"enhancing_tumor", Removal::small_whole, 500, 0.125, 36}},
                               12,
                               {{"whole_tumor", 0.5, 0.75, 11}}};
  write_file(file, postprocessing_json(what));
  const Postprocessing back = read_postprocessing(file, brats);
  EXPECT_EQ(postprocessing_json(back), postprocessing_json(what));
  EXPECT_THROW(read_postprocessing(file, {{"liver", {1}}}), Error);
  for (const char* text : {"", "{}", R"({"steps": [{"region": "whole_tumor", "remove": "all"}]})",
                           R"({"steps": [{"region": "whole_tumor", "remove": "small_whole"}]})"}) {
    write_file(file, text);
    EXPECT_THROW(read_postprocessing(file, brats), Error) << text;
  }
}

}  // namespace
}  // namespace voxswap::pipeline
