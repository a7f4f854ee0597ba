// nnU-Net's layout on tiny files: current and older dataset.json, regions, other file endings, bare folders
// to predict.
#include "base/file.h"
#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "data/layouts/prediction_input.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

const Geometry four_cubed = geometry({4, 4, 4});

// Channel i of a case has 10 + i in its first voxel.
void write_channels(const fs::path& folder, const std::string& id, int channels, const std::string& ending) {
  fs::create_directories(folder);
  for (int i = 0; i < channels; ++i) {
    Image image = random_image(four_cubed, static_cast<std::uint64_t>(i));
    image.voxels[0] = static_cast<float>(10 + i);
    write_image(folder / format("{}_{:04}{}", id, i, ending), image);
  }
}

Dataset open_as(const fs::path& root, const std::string& layout = "auto") {
  DatasetOptions options = at(root);
  options.layout = layout;
  return open_dataset(options);
}

const char* const labels_only = R"({"channel_names": {"1": "FLAIR", "0": "T1w"},
  "labels": {"background": 0, "Edema": 2, "Tumour core": 1}, "numTraining": 2, "file_ending": ".nii.gz"})";

TEST(NnUNet, IsRecognisedByItsChannelNamesAndListsTestCasesWithoutTruth) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json") << labels_only;
  for (const char* id : {"b_001", "a_7_0001"}) {
    write_channels(folder / "imagesTr", id, 2, ".nii.gz");
    write_label_map(folder / format("labelsTr/{}.nii.gz", id), random_labels(four_cubed, {0, 1, 2}));
  }
  write_channels(folder / "imagesTs", "z", 2, ".nii.gz");
  write_label_map(folder / "labelsTs/z.nii.gz", random_labels(four_cubed, {0, 1, 2}));
  const Dataset dataset = open_as(folder.path());
  EXPECT_EQ(dataset.layout, "nnunet");
  EXPECT_TRUE(contains(dataset.recognised, "channel_names"));
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1", "flair"}));
  EXPECT_EQ(dataset.labels, (Labels{{"tumour_core", 1}, {"edema", 2}}));
  ASSERT_EQ(dataset.cases.size(), 3U);
  EXPECT_EQ(dataset.cases[0].id, "a_7_0001");
  EXPECT_EQ(dataset.cases[2].id, "z");
  EXPECT_TRUE(dataset.cases[2].truth.empty());  // so that nobody trains on it
  const Volume volume = read_case(dataset, dataset.cases[0]);
  EXPECT_EQ(volume.channels[0].voxels[0], 10);
  EXPECT_EQ(volume.channels[1].voxels[0], 11);
  EXPECT_TRUE(volume.has_truth());
}

TEST(NnUNet, NamesVoxelsToBeIgnored) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json") << R"({"channel_names": {"0": "MRI"}, "file_ending": ".nii.gz",
    "labels": {"background": 0, "core": 1, "ignore": 2}})";
  write_channels(folder / "imagesTr", "a", 1, ".nii.gz");
  write_label_map(folder / "labelsTr/a.nii.gz", random_labels(four_cubed, {0, 1, 2}));
  const Dataset dataset = open_as(folder.path());
  EXPECT_EQ(dataset.ignore_label, 2);
  EXPECT_EQ(dataset.labels, (Labels{{"core", 1}}));
  EXPECT_TRUE(read_case(dataset, dataset.cases[0]).has_truth());

  DatasetOptions options = at(folder.path());
  options.ignore_label = 0;
  const Dataset strict = open_dataset(options);
  expect_failure([&] { read_case(strict, strict.cases[0]); }, Exit::bad_data, {"the label 2"});
  options.labels = {{"core", 1}, {"edge", 2}};
  options.ignore_label = 2;
  expect_failure([&] { open_dataset(options); }, Exit::usage,
                 {"data.ignore_label: 2 is also the label edge"});
}

TEST(NnUNet, GivesRegionsWhereLabelsAreLists) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json") << R"({"channel_names": {"0": "MRI"}, "file_ending": ".nii.gz",
    "labels": {"background": 0, "whole tumor": [1, 2, 3], "core": [2, 3], "enhancing": 3},
    "regions_class_order": [1, 2, 3]})";
  write_channels(folder / "imagesTr", "a", 1, ".nii.gz");
  write_label_map(folder / "labelsTr/a.nii.gz", random_labels(four_cubed, {0, 1, 2, 3}));
  const Dataset dataset = open_as(folder.path());
  EXPECT_EQ(dataset.regions, (Regions{{"whole_tumor", {1, 2, 3}}, {"core", {2, 3}}, {"enhancing", {3}}}));
  EXPECT_EQ(dataset.labels, (Labels{{"label_1", 1}, {"label_2", 2}, {"enhancing", 3}}));
}

TEST(NnUNet, HasOtherFileEndingsAndListedFiles) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json")
      << R"({"channel_names": {"0": "MRI"}, "labels": {"background": 0, "x": 1},
    "file_ending": ".nrrd", "dataset": {"one": {"images": ["scans/first.nrrd"], "label": "truth/first.nrrd"}}})";
  write_image(folder / "scans/first.nrrd", random_image(four_cubed));
  write_label_map(folder / "truth/first.nrrd", random_labels(four_cubed, {0, 1}));
  const Dataset dataset = open_as(folder.path());
  ASSERT_EQ(dataset.cases.size(), 1U);
  EXPECT_EQ(dataset.cases[0].id, "one");
  EXPECT_TRUE(read_case(dataset, dataset.cases[0]).has_truth());
}

TEST(NnUNet, OfItsFirstVersionLooksLikeTheDecathlonsButIsNot) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json") << R"({"modality": {"0": "FLAIR", "1": "T1w"},
    "labels": {"0": "background", "1": "edema"},
    "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}]})";
  write_channels(folder / "imagesTr", "a", 2, ".nii.gz");
  write_label_map(folder / "labelsTr/a.nii.gz", random_labels(four_cubed, {0, 1}));
  const Dataset dataset = open_as(folder.path());
  EXPECT_EQ(dataset.layout, "nnunet");
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"flair", "t1"}));
  EXPECT_EQ(read_case(dataset, dataset.cases[0]).channels[1].voxels[0], 11);
}

TEST(NnUNet, ReportsAMissingChannelAndOneTooMany) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json") << labels_only;
  write_channels(folder / "imagesTr", "a", 2, ".nii.gz");
  fs::remove(folder / "imagesTr/a_0001.nii.gz");
  expect_failure([&] { open_as(folder.path()); }, Exit::bad_data, {"case a", "flair", "a_0001.nii.gz"});
  write_channels(folder / "imagesTr", "a", 3, ".nii.gz");
  expect_failure([&] { open_as(folder.path()); }, Exit::bad_data,
                 {"a_0002.nii.gz", "channel number 2", "t1, flair"});
}

TEST(NnUNet, WithAnUnusableDatasetJsonIsBadDataNamingTheKey) {
  const TemporaryFolder folder;
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {R"({"channel_names": ["T1"]})", "channel_names"},
           {R"({"channel_names": {"0": "T1", "2": "T2"}})", "0, 1, 2"},
           {R"({"channel_names": {"0": "T1"}, "labels": {"a": "b"}})", "labels"},
           {R"({"channel_names": {"0": "T1"}, "labels": {"a": [1, null]}})", "labels"},
           {R"({"channel_names": {"0": "T1"}, "labels": {"a": 1e99}})", "labels"},
           {R"({"channel_names": {"0": "T1"}, "file_ending": 7})", "file_ending"},
           {R"({"channel_names": {"0": "T1"}, "dataset": {"../x": {"images": []}}})", "dataset"},
           {"{\"channel_names\": {\"0\": \"\xff\xfe\"}}", "dataset.json"}}) {
    fs::ofstream(folder / "dataset.json") << text;
    expect_failure([&] { open_as(folder.path()); }, Exit::bad_data, {"dataset.json", part});
  }
}

// A training set of three channels, two of which are used, in another order.
class Predicting : public testing::Test {
 protected:
  Predicting() {
    fs::ofstream(folder_ / "set/dataset.json")
        << R"({"channel_names": {"0": "T1", "1": "T2", "2": "FLAIR"}, "labels": {"background": 0, "x": 1}})";
    write_channels(folder_ / "set/imagesTr", "a", 3, ".nii.gz");
    write_label_map(folder_ / "set/labelsTr/a.nii.gz", random_labels(four_cubed, {0, 1}));
    write_channels(folder_ / "set/imagesTs", "t", 3, ".nii.gz");
    options_.root = folder_ / "set";
    options_.modalities = {"flair", "t1"};
    trained_ = open_dataset(options_);
  }
  // The first voxels of the channels, by case.
  std::map<std::string, std::pair<float, float>> channels(const fs::path& input) const {
    std::map<std::string, std::pair<float, float>> result;
    const Dataset dataset = open_for_prediction(trained_, options_, input);
    EXPECT_EQ(dataset.labels, trained_.labels);
    for (const CaseFiles& files : dataset.cases) {
      const Volume volume = read_case(dataset, files);
      EXPECT_FALSE(volume.has_truth());
      result[files.id] = {volume.channels.at(0).voxels[0], volume.channels.at(1).voxels[0]};
    }
    return result;
  }
  using Expected = std::map<std::string, std::pair<float, float>>;
  TemporaryFolder folder_;
  DatasetOptions options_;
  Dataset trained_;
};

TEST_F(Predicting, TakesADataSetItsTestFolderAndBareScansElsewhere) {
  EXPECT_EQ(channels(folder_ / "set"), (Expected{{"a", {12, 10}}, {"t", {12, 10}}}));
  EXPECT_EQ(channels(folder_ / "set/imagesTs"), (Expected{{"t", {12, 10}}}));
  write_channels(folder_ / "elsewhere", "new", 3, ".nii.gz");
  EXPECT_EQ(channels(folder_ / "elsewhere"), (Expected{{"new", {12, 10}}}));
}

TEST_F(Predicting, TakesOneFileWithAllChannelsInTheTrainingSetsOrder) {
  std::vector<Image> images;
  for (const char* channel : {"0000", "0001", "0002"})
    images.push_back(read_image(folder_ / format("set/imagesTr/a_{}.nii.gz", channel)));
  write_images_4d(folder_ / "one.nii.gz", images);
  EXPECT_EQ(channels(folder_ / "one.nii.gz"), (Expected{{"one", {12, 10}}}));
}

TEST_F(Predicting, TakesADataSetOfAnotherLayoutAndOneCaseOfIt) {
  const fs::path brats = folder_ / "brats/BraTS2021_00007/x";
  for (const auto& [name, value] :
       {std::pair{"t1", 10}, std::pair{"t1ce", 99}, std::pair{"t2", 11}, std::pair{"flair", 12}}) {
    Image image = random_image(four_cubed);
    image.voxels[0] = static_cast<float>(value);
    write_image(brats.parent_path() / format("BraTS2021_00007_{}.nii.gz", name), image);
  }
  EXPECT_EQ(channels(folder_ / "brats"), (Expected{{"BraTS2021_00007", {12, 10}}}));
  EXPECT_EQ(channels(brats.parent_path()), (Expected{{"BraTS2021_00007", {12, 10}}}));
}

TEST_F(Predicting, RefusesWhatHoldsNoScans) {
  expect_failure([&] { channels(folder_ / "none"); }, Exit::bad_data, {"none", "no such file"});
  fs::ofstream(folder_ / "notes/readme.txt") << "x";
  expect_failure([&] { channels(folder_ / "notes"); }, Exit::bad_data, {"notes"});
}

}  // namespace
}  // namespace voxswap::data
