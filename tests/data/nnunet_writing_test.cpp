// Writes a data set of another layout for nnU-Net, and reads it back.
#include "data/cases/nnunet_writing.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "data/cases/read_case.h"
#include "data/layouts/open_dataset.h"
#include "data/phantoms/phantom.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

class NnunetWriting : public testing::Test {
 protected:
  NnunetWriting() {
    PhantomOptions phantoms;
    phantoms.out = folder_ / "set";
    phantoms.cases = 2;
    phantoms.size = {20, 24, 18};
    phantoms.layout = "bids";
    write_phantoms(phantoms);
  }
  Dataset open(const char* name) const { return open_dataset(at(folder_ / name)); }
  void convert(const Dataset& dataset, bool as_regions) const {
    Outputs outputs(false);
    write_nnunet(dataset, folder_ / "nnunet", as_regions, outputs);
  }
  TemporaryFolder folder_;
};

TEST_F(NnunetWriting, GivesTheSameVolumesWithLabelsThatCountOn) {
  const Dataset bids = open("set");
  ASSERT_EQ(bids.layout, "bids");
  convert(bids, false);
  const Dataset written = open("nnunet");
  EXPECT_EQ(written.layout, "nnunet");
  EXPECT_EQ(written.modalities, bids.modalities);
  EXPECT_EQ(written.labels, (Labels{{"necrosis", 1}, {"oedema", 2}, {"enhancing", 3}}));
  ASSERT_EQ(written.cases.size(), 2u);
  const std::map<int, int> values = nnunet_values(bids);
  for (std::size_t i = 0; i < 2; ++i) {
    const Volume before = read_case(bids, bids.cases[i]), after = read_case(written, written.cases[i]);
    EXPECT_EQ(after.id, before.id);
    EXPECT_TRUE(same_grid(after.geometry(), before.geometry()));
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(after.channels[c].voxels, before.channels[c].voxels);
    for (std::size_t v = 0; v < before.truth.voxels.size(); ++v) {
      const int label = before.truth.voxels[v];
      ASSERT_EQ(after.truth.voxels[v], label == 0 ? 0 : values.at(label));
    }
  }
}

TEST_F(NnunetWriting, DescribesNestedRegionsWithTheLabelThatEachLeavesBehind) {
  const Json json = Json::parse(nnunet_description(open("set"), 2, true));
  EXPECT_EQ(json["labels"]["background"], 0);
  EXPECT_EQ(json["labels"]["whole_tumor"], Json({1, 2, 3}));
  EXPECT_EQ(json["labels"]["tumor_core"], Json({1, 3}));
  EXPECT_EQ(json["labels"]["enhancing_tumor"], 3);
  EXPECT_EQ(json["regions_class_order"], Json({2, 1, 3}));
  EXPECT_EQ(json["channel_names"]["1"], "t1ce");
}

TEST_F(NnunetWriting, RefusesRegionsThatCannotBeDescribedExistingFilesAndTheFolderOfTheDataSet) {
  Dataset dataset = open("set");
  dataset.regions.push_back({"again", {2}});
  dataset.regions.push_back({"twice", {2}});
  expect_failure([&] { nnunet_description(dataset, 2, true); }, Exit::usage, {"smaller region"});
  fs::create_directories(folder_ / "nnunet");
  write_file(folder_ / "nnunet/dataset.json", "{}");
  expect_failure([&] { convert(open("set"), false); }, Exit::usage, {"dataset.json"});
  EXPECT_FALSE(fs::exists(folder_ / "nnunet/imagesTr"));
  Outputs outputs(false);
  expect_failure([&] { write_nnunet(open("set"), folder_ / "set/nnunet", false, outputs); }, Exit::usage,
                 {"is in the data set"});
}

TEST_F(NnunetWriting, RemovesFilesOfAnEarlierConversionAndNothingElse) {
  convert(open("set"), false);
  write_file(folder_ / "nnunet/labelsTr/mine.nii.gz", "mine");
  fs::remove_all(folder_ / "set/sub-001");
  testing::internal::CaptureStderr();
  convert(open("set"), false);
  EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), "1 file of another data set"));
  EXPECT_TRUE(fs::exists(folder_ / "nnunet/imagesTr/sub-000_0000.nii.gz"));
  EXPECT_FALSE(fs::exists(folder_ / "nnunet/imagesTr/sub-001_0000.nii.gz"));
  EXPECT_FALSE(fs::exists(folder_ / "nnunet/labelsTr/sub-001.nii.gz"));
  EXPECT_TRUE(fs::exists(folder_ / "nnunet/labelsTr/mine.nii.gz"));
}

TEST_F(NnunetWriting, PutsCasesWithoutATruthIntoImagesTs) {
  fs::remove_all(folder_ / "set/derivatives/truth/sub-001");
  convert(open("set"), false);
  EXPECT_TRUE(fs::exists(folder_ / "nnunet/imagesTr/sub-000_0003.nii.gz"));
  EXPECT_TRUE(fs::exists(folder_ / "nnunet/imagesTs/sub-001_0003.nii.gz"));
  EXPECT_FALSE(fs::exists(folder_ / "nnunet/labelsTr/sub-001.nii.gz"));
}

}  // namespace
}  // namespace voxswap::data
