// BIDS: the roles of files, the location of ground truths, and errors in ambiguous cases.
#include "base/error.h"
#include "base/file.h"
#include "data/formats/bids_writing.h"
#include "data/formats/image_writing.h"
#include "data/layouts/open_dataset.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

class Bids : public testing::Test {
 protected:
  void scan(const std::string& file) const {
    fs::create_directories((folder_ / file).parent_path());
    write_image(folder_ / file, random_image(geometry({5, 4, 3}), 1));
  }
  void labels(const std::string& file) const {
    fs::create_directories((folder_ / file).parent_path());
    LabelMap map{geometry({5, 4, 3}), std::vector<std::int16_t>(60, 0)};
    map.voxels[30] = 2;
    write_label_map(folder_ / file, map);
  }
  Dataset open() const { return list_dataset(at(folder_.path())); }
  TemporaryFolder folder_;
};

TEST_F(Bids, MakesACaseOfEverySessionAndT1ceOfAScanWithContrast) {
  for (const char* session : {"ses-1", "ses-2"}) {
    const std::string stem = format("sub-a/{0}/anat/sub-a_{0}", session);
    scan(stem + "_FLAIR.nii.gz");
    scan(stem + "_acq-sag_ce-gd_T1w.nii.gz");
    labels(format("derivatives/manual/sub-a/{0}/anat/sub-a_{0}_space-orig_dseg.nii.gz", session));
  }
  write_file(folder_ / "derivatives/manual/dseg.tsv",
             "index\tname\tcolor\n0\tBackground\t#000\n2\tLesion Core\t#fff\n");
  const Dataset dataset = open();
  EXPECT_EQ(dataset.layout, "bids");
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1ce", "flair"}));
  ASSERT_EQ(dataset.cases.size(), 2u);
  EXPECT_EQ(dataset.cases[1].id, "sub-a_ses-2");
  EXPECT_EQ(dataset.cases[1].channels[0].filename(), "sub-a_ses-2_acq-sag_ce-gd_T1w.nii.gz");
  EXPECT_EQ(dataset.cases[1].truth.filename(), "sub-a_ses-2_space-orig_dseg.nii.gz");
  EXPECT_EQ(dataset.labels, (Labels{{"lesion_core", 2}}));
}

TEST_F(Bids, TakesNoPredictionOfOursForATruth) {
  scan("sub-a/anat/sub-a_T1w.nii.gz");
  labels("derivatives/voxswap/sub-a/anat/sub-a_space-orig_dseg.nii.gz");
  write_file(folder_ / "derivatives/voxswap/dataset_description.json", bids_description("P", "voxswap", "1"));
  const Dataset dataset = open();
  EXPECT_TRUE(dataset.cases.at(0).truth.empty());
  ASSERT_EQ(dataset.left_out.size(), 1u);
  EXPECT_EQ(dataset.left_out[0].severity, "note");
}

TEST_F(Bids, TakesNoPredictionOfOursForATruthIfTheyAreDirectlyBelowDerivatives) {
  scan("sub-a/anat/sub-a_T1w.nii.gz");
  labels("derivatives/manual/sub-a/anat/sub-a_dseg.nii.gz");
  labels("derivatives/sub-a/anat/sub-a_desc-voxswap_dseg.nii.gz");
  write_file(folder_ / "derivatives/dataset_description.json", bids_description("P", "voxswap", "1"));
  EXPECT_EQ(open().cases.at(0).truth, folder_ / "derivatives/manual/sub-a/anat/sub-a_dseg.nii.gz");
}

TEST_F(Bids, RefusesTwoTruthsAndNamesThem) {
  scan("sub-a/anat/sub-a_T1w.nii.gz");
  labels("derivatives/one/sub-a/anat/sub-a_dseg.nii.gz");
  labels("derivatives/two/sub-a/anat/sub-a_dseg.nii.gz");
  expect_failure([&] { open(); }, Exit::bad_data, {"derivatives/one", "derivatives/two", "data.files"});
  DatasetOptions options = at(folder_.path());
  options.for_prediction = true;
  EXPECT_EQ(list_dataset(options).cases.size(), 1u) << "a prediction needs no ground truth";
}

TEST_F(Bids, DoesNotGuessWhichOfTwoImagesIsIntended) {
  scan("sub-a/anat/sub-a_run-1_T1w.nii.gz");
  scan("sub-a/anat/sub-a_run-2_T1w.nii.gz");
  DatasetOptions options = at(folder_.path());
  expect_failure([&] { open_dataset(options); }, Exit::bad_data,
                 {"sub-a_run-1_T1w", "sub-a_run-2_T1w", "both t1"});
}

}  // namespace
}  // namespace voxswap::data
