// Where predictions go.
#include <gtest/gtest.h>

#include "base/json.h"
#include "pipeline/predict/prediction_record.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {
namespace {

data::Dataset dataset() {
  data::Dataset made;
  made.labels = {{"necrosis", 1}, {"oedema", 2}};
  return made;
}

TEST(PredictionFiles, GiveALabelTheColourOfTheRegionThatItIs) {
  data::Dataset trained = dataset();
  trained.regions = {{"whole_tumor", {1, 2}}, {"oedema", {2}}};
  const std::vector<data::Segment> segments = segments_of(trained);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].color, palette_color(2));
  EXPECT_EQ(segments[1].color, palette_color(1));
}

TEST(PredictionFiles, AreNamedAfterCases) {
  const data::Dataset trained = dataset();
  PredictOptions how;
  how.probabilities = how.segmentations = true;
  const PredictionFiles files("out", trained, how);
  const std::vector<fs::path> all = {"out/a.nii.gz", "out/a.seg.nrrd", "out/probabilities/a_oedema.nii.gz"};
  EXPECT_EQ(files.of_case("a", {"oedema"}), all);
  ASSERT_EQ(files.shared().size(), 1u);
  EXPECT_EQ(files.shared()[0].first, "out/itksnap_labels.txt");
}

TEST(PredictionFiles, AreABidsDerivativeWithSubjectsAndSessions) {
  const data::Dataset trained = dataset();
  PredictOptions how;
  how.version = "9.9";
  how.probabilities = how.bids = true;
  const PredictionFiles files("out", trained, how);
  EXPECT_EQ(files.label_map("sub-01"), "out/sub-01/anat/sub-01_desc-voxswap_dseg.nii.gz");
  EXPECT_EQ(files.label_map("sub-01_ses-b"), "out/sub-01/ses-b/anat/sub-01_ses-b_desc-voxswap_dseg.nii.gz");
  EXPECT_EQ(files.label_map("BraTS2021_00005"),
            "out/sub-BraTS202100005/anat/sub-BraTS202100005_desc-voxswap_dseg.nii.gz");
  EXPECT_EQ(files.probability("sub-01", "tumor_core"),
            "out/sub-01/anat/sub-01_label-tumorcore_desc-voxswap_probseg.nii.gz");
  const auto shared = files.shared();
  ASSERT_EQ(shared.size(), 3u);
  const Json description = Json::parse(shared[0].second);
  EXPECT_EQ(description["DatasetType"], "derivative");
  EXPECT_EQ(description["GeneratedBy"][0]["Name"], "voxswap");
  EXPECT_EQ(shared[1].second, "index\tname\n0\tbackground\n1\tnecrosis\n2\toedema\n");
}

}  // namespace
}  // namespace voxswap::pipeline
