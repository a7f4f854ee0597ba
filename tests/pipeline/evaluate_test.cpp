// Tests the scoring of label maps on small maps of known overlap.
#include "pipeline/predict/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/image_writing.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class Evaluation : public test::InAFolder {
 protected:
  void SetUp() override {
    fs::create_directories(truth());
    fs::create_directories(prediction());
  }

  fs::path truth() const { return folder_ / "truth"; }
  fs::path prediction() const { return folder_ / "prediction"; }

  // 4 x 4 x 4 voxels; the planes low <= z < high carry the label.
  static data::LabelMap slab(std::int64_t low, std::int64_t high, std::int16_t label = 1) {
    data::LabelMap map;
    map.geometry.size = {4, 4, 4};
    map.voxels.assign(64, 0);
    for (std::int64_t z = low; z < high; ++z) {
      for (std::int64_t i = 0; i < 16; ++i) map.voxels[static_cast<std::size_t>(16 * z + i)] = label;
    }
    return map;
  }

  void given(const std::string& name, const data::LabelMap& known, const data::LabelMap& predicted) const {
    data::write_label_map(truth() / name, known);
    data::write_label_map(prediction() / name, predicted);
  }

  static FolderOptions with_regions(const data::Regions& regions) {
    FolderOptions options;
    options.regions = regions;
    return options;
  }

  void expect_bad_data(const std::string& part, const FolderOptions& options = {}) const {
    test::expect_failure([&] { evaluate_folders(truth(), prediction(), options); }, Exit::bad_data, {part});
  }
};

// The wrong half of the predicted slab lies in voxels that are ignored.
TEST_F(Evaluation, LeavesIgnoredVoxelsOut) {
  data::LabelMap known = slab(0, 1);
  for (std::size_t i = 16; i < 32; ++i) known.voxels[i] = 9;
  given("a.nii.gz", known, slab(0, 2));
  FolderOptions options;
  options.evaluate.ignored = 9;
  options.evaluate.metrics = {"dice", "hd95", "specificity"};
  auto rows = evaluate_folders(truth(), prediction(), options);
  ASSERT_EQ(rows.size(), 1u) << "the label to be ignored is not a region";
  EXPECT_EQ(rows[0].dice, 1);
  EXPECT_EQ(rows[0].hd95, 0);
  EXPECT_EQ(rows[0].predicted_voxels, 16);
  data::write_label_map(prediction() / "a.nii.gz", slab(0, 3));
  rows = evaluate_folders(truth(), prediction(), options);
  EXPECT_EQ(rows[0].dice, 2.0 * 16 / (16 + 32));
  EXPECT_EQ(rows[0].specificity, 0.5) << "of the 32 voxels that are known to be background";
}

TEST_F(Evaluation, PerfectPredictionsScoreOneAndHalfOverlapScoresHalf) {
  given("a.nii.gz", slab(0, 2), slab(0, 2));
  given("b.nii.gz", slab(0, 2), slab(1, 3));
  const auto rows = evaluate_folders(truth(), prediction(), {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].case_id, "a");
  EXPECT_EQ(rows[0].region, "label_1");
  EXPECT_EQ(rows[0].evaluated_at, "native");
  EXPECT_EQ(rows[0].dice, 1);
  EXPECT_EQ(rows[1].dice, 0.5);         // 2 * 16 / (32 + 32)
  EXPECT_EQ(rows[1].sensitivity, 0.5);  // 16 of 32
  EXPECT_EQ(rows[1].truth_voxels, 32);
  EXPECT_EQ(rows[1].predicted_voxels, 32);
}

TEST_F(Evaluation, MatchesCasesAcrossFormatsAndSegmentationSuffixes) {
  data::write_label_map(truth() / "a_seg.nii", slab(0, 2));
  data::write_label_map(prediction() / "a.nrrd", slab(0, 2));
  data::write_label_map(truth() / "b-seg.nii.gz", slab(0, 1, 4));
  data::write_label_map(prediction() / "b.mha", slab(0, 1, 4));
  const auto rows = evaluate_folders(truth(), prediction(), with_regions({{"whole", {1, 4}}}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].case_id, "b");
  EXPECT_EQ(rows[0].dice + rows[1].dice, 2);
}

TEST_F(Evaluation, ReadsTruthFromAFolderPerCase) {
  fs::create_directories(truth() / "a");
  data::write_label_map(truth() / "a" / "a_seg.nii.gz", slab(0, 2));
  data::write_label_map(truth() / "a" / "a_t1.nii.gz", slab(0, 3));
  data::write_label_map(prediction() / "a.nii.gz", slab(0, 2));
  EXPECT_EQ(evaluate_folders(truth(), prediction(), {}).at(0).dice, 1);
}

TEST_F(Evaluation, RefusesAMissingPredictionByNameOfTheCase) {
  data::write_label_map(truth() / "lonely.nii.gz", slab(0, 2));
  data::write_label_map(prediction() / "other.nii.gz", slab(0, 2));
  expect_bad_data("case 'lonely'");
}

TEST_F(Evaluation, LeavesCasesWithoutAPredictionOutWhereThatIsAskedFor) {
  data::write_label_map(truth() / "lonely.nii.gz", slab(0, 2));
  given("a.nii.gz", slab(0, 2), slab(0, 2));
  FolderOptions options;
  options.partial = true;
  const auto rows = evaluate_folders(truth(), prediction(), options);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].case_id, "a");
  fs::remove(prediction() / "a.nii.gz");
  data::write_label_map(prediction() / "b.nii.gz", slab(0, 2));
  EXPECT_THROW(evaluate_folders(truth(), prediction(), options), Error);  // no common case is left
}

TEST_F(Evaluation, ScoresEveryValueOfAnyTruthInEveryCaseAndNoOther) {
  given("a.nii.gz", slab(0, 2, 1), slab(0, 2, 7));
  given("b.nii.gz", slab(0, 2, 4), slab(0, 2, 4));
  const auto rows = evaluate_folders(truth(), prediction(), {});
  ASSERT_EQ(rows.size(), 4u);  // labels 1 and 4; 7 is in no truth
  EXPECT_EQ(rows[0].region, "label_1");
  EXPECT_EQ(rows[0].dice, 0);
  EXPECT_EQ(rows[1].region, "label_4");
  EXPECT_EQ(rows[1].dice, 1);  // empty in both, under the rule of BraTS
  EXPECT_EQ(rows[1].hd95, 0);
  EXPECT_EQ(rows[2].region, "label_1");
  EXPECT_EQ(rows[3].truth_voxels, 32);
}

// Label 2 is predicted in case b, where it was not annotated.
TEST_F(Evaluation, LeavesOutWhatATruthDoesNotTellOf) {
  data::LabelMap both = slab(0, 1);
  std::copy_n(slab(1, 2, 2).voxels.begin() + 16, 16, both.voxels.begin() + 16);
  data::write_label_map(truth() / "a.nii.gz", both);
  data::write_label_map(truth() / "b.nii.gz", slab(0, 1));
  for (const char* name : {"a.nii.gz", "b.nii.gz"}) data::write_label_map(prediction() / name, both);
  const auto scored = [&](const data::Regions& regions) {
    FolderOptions options = with_regions(regions);
    options.annotated = {{"b", {1}}};
    std::string text;
    for (const DiceRow& row : evaluate_folders(truth(), prediction(), options))
      text += format("{} {} {}; ", row.case_id, row.region, row.dice);
    return text;
  };
  EXPECT_EQ(scored({}), "a label_1 1; a label_2 1; b label_1 1; ");
  EXPECT_EQ(scored({{"one", {1}}, {"any", {1, 2}}}), "a one 1; a any 1; b one 1; ");
}

TEST_F(Evaluation, RefusesTruthsThatTellOfMoreThanTheyAreSaidTo) {
  given("a.nii.gz", slab(0, 1), slab(0, 1));
  FolderOptions options;
  options.annotated = {{"a", {2}}};
  expect_bad_data("contains the label 1, which is not annotated in case 'a'", options);
  options.annotated = {{"c", {1}}};
  expect_bad_data("case 'c' is listed with the labels annotated in it, but is not in", options);
}

TEST_F(Evaluation, MeasuresDistancesWithTheSpacingOfTheFiles) {
  data::LabelMap low = slab(0, 1), high = slab(2, 3);
  low.geometry.spacing = high.geometry.spacing = {1, 1, 2.5};
  data::write_label_map(truth() / "a.mha", low);
  data::write_label_map(prediction() / "a.nrrd", high);
  FolderOptions options;
  options.evaluate.metrics = {"dice", "hd95", "average_surface_distance"};
  const auto rows = evaluate_folders(truth(), prediction(), options);
  EXPECT_EQ(rows.at(0).hd95, 5);
  EXPECT_EQ(metric_value(rows[0], "average_surface_distance"), 5);
  EXPECT_TRUE(std::isnan(rows[0].sensitivity));
}

TEST_F(Evaluation, RefusesPredictionsOnAnotherGrid) {
  data::LabelMap moved = slab(0, 2);
  moved.geometry.origin[0] = 1;
  given("a.nii.gz", slab(0, 2), moved);
  expect_bad_data("has another grid than");
}

TEST_F(Evaluation, RefusesEmptyAndMissingFolders) {
  expect_bad_data("contains no label map");
  fs::remove_all(truth());
  expect_bad_data("no such folder");
}

TEST(Score, LeavesMetricsThatWereNotAskedForAsNaN) {
  data::LabelMap map;
  map.geometry.size = {2, 1, 1};
  map.voxels = {0, 1};
  EvaluateOptions options;
  options.empty = "nnunet";
  options.metrics = {"dice"};
  const auto rows = score("a", map, map, {{"one", {1}}, {"two", {2}}}, options);
  EXPECT_EQ(rows.at(0).dice, 1);
  EXPECT_TRUE(std::isnan(rows.at(0).sensitivity));
  EXPECT_TRUE(std::isnan(rows.at(1).dice));  // empty in both, by nnU-Net's rule
}

TEST(DiceTable, ShowsMeanAndMedianPerRegion) {
  DiceRow row;
  row.region = "whole_tumor";
  row.case_id = "a";
  row.dice = 0.5;
  row.truth_voxels = 10;
  DiceRow second = row;
  second.case_id = "b";
  second.dice = 1;
  EXPECT_EQ(dice_table({row, second}),
            "Dice          mean  median     sd  lowest  cases\n"
            "whole_tumor  0.750   0.750  0.354   0.500      2\n");
  row.hd95 = 2;
  set_metric(second, "surface_dice", 0.25);
  EXPECT_EQ(dice_table({row, second}),
            "Dice          mean  median     sd  lowest  cases   hd95  surface_dice\n"
            "whole_tumor  0.750   0.750  0.354   0.500      2  2.000         0.250\n");
  row.dice = second.dice = NAN;
  EXPECT_EQ(dice_table({row, second}),
            "region       metric         mean  median     sd  lowest  cases\n"
            "whole_tumor  hd95          2.000   2.000  0.000   2.000      1\n"
            "whole_tumor  surface_dice  0.250   0.250  0.000   0.250      1\n");
}

TEST(DiceTable, SaysWhereARegionIsAbsent) {
  std::vector<DiceRow> rows(4);
  for (DiceRow& row : rows) {
    row.region = "enhancing_tumor";
    row.case_id = std::to_string(&row - rows.data());
  }
  rows[0].dice = 0.5;
  rows[0].truth_voxels = rows[0].predicted_voxels = 10;
  rows[1].dice = 0;
  rows[1].predicted_voxels = 1;
  rows[2].dice = 1;
  const std::string text = dice_table(rows);  // the last row was not scored
  EXPECT_TRUE(
      text.ends_with("enhancing_tumor is absent from the ground truth of 2 of 3 cases: predicted in 1 "
                     "(Dice 0), not in 1 (Dice 1)\n"))
      << text;
}

}  // namespace
}  // namespace voxswap::pipeline
