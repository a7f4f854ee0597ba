// Each layout on tiny files, with the names of that year's challenge.

#include "base/file.h"
#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

const Geometry tiny = geometry({4, 4, 4});

void write_case(const fs::path& folder, const std::string& stem, const std::vector<std::string>& suffixes,
                const std::string& extension, int highest_label, const std::string& truth = "") {
  fs::create_directories(folder);
  for (std::size_t i = 0; i + 1 < suffixes.size(); ++i) {
    Image image = random_image(tiny, i);
    image.voxels[0] = static_cast<float>(i + 10);  // distinguishes the channels
    write_image(folder / (stem + suffixes[i] + extension), image);
  }
  LabelMap labels = random_labels(tiny, {0, 1, 2, highest_label});
  write_label_map(folder / ((truth.empty() ? stem + suffixes.back() : truth) + extension), labels);
}

const std::vector<std::string> plain{"_t1", "_t1ce", "_t2", "_flair", "_seg"};
const std::vector<std::string> gli{"-t1n", "-t1c", "-t2w", "-t2f", "-seg"};
const Labels labels_to_2021{{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
const Regions regions_to_2021{{"whole_tumor", {1, 2, 4}}, {"tumor_core", {1, 4}}, {"enhancing_tumor", {4}}};

Dataset open(const fs::path& root) {
  return open_dataset(at(root));
}

// The order is t1, t1ce, t2, flair whatever the names of the year, and every case is readable.
void expect_brats(const Dataset& dataset, const std::vector<std::string>& ids) {
  EXPECT_EQ(dataset.layout, "brats");
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1", "t1ce", "t2", "flair"}));
  ASSERT_EQ(dataset.cases.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(dataset.cases[i].id, ids[i]);
    const Volume volume = read_case(dataset, dataset.cases[i]);
    EXPECT_TRUE(volume.has_truth());
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(volume.channels[c].voxels[0], static_cast<float>(c + 10));
  }
}

// Cases of a challenge with the names of its year; the highest label distinguishes years.
struct WrittenCase {
  std::string path;
  int highest_label;
  const char* extension = ".nii.gz";
};
struct Challenge {
  std::vector<WrittenCase> cases;
  Labels labels;
  Regions regions;
};

std::vector<Challenge> challenges() {
  const Labels of_2023 = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 3}};
  const Regions regions_of_2023 = {
      {"whole_tumor", {1, 2, 3}}, {"tumor_core", {1, 3}}, {"enhancing_tumor", {3}}};
  Labels of_2024 = of_2023;
  Regions regions_of_2024 = regions_of_2023;
  of_2024.push_back({"resection_cavity", 4});
  regions_of_2024.push_back({"resection_cavity", {4}});
  std::vector<Challenge> result = {
      {{{"LGG/Brats17_2013_0_1", 4, ".nii"}, {"HGG/Brats17_TCIA_201_1", 4}}, labels_to_2021, regions_to_2021},
      {{{"MICCAI_BraTS_2018_Data_Training/HGG/Brats18_A_1", 4, ".nii"}}, labels_to_2021, regions_to_2021},
      // 2024 has follow-up scans, or a fourth label.
      {{{"BraTS-GLI-00005-100", 3}}, of_2024, regions_of_2024},
      {{{"BraTS-GLI-00000-000", 4}}, of_2024, regions_of_2024},
      {{{"BraTS-PED-00001-000", 3}, {"BraTS-PED-00002-000", 4}},
       {{"enhancing", 1}, {"non_enhancing", 2}, {"cyst", 3}, {"oedema", 4}},
       {{"whole_tumor", {1, 2, 3, 4}}, {"tumor_core", {1, 2, 3}}, {"enhancing_tumor", {1}}}}};
  for (const char* id : {"BraTS-GLI-00000-000", "BraTS-MET-00086-000", "BraTS-MEN-00004-000",
                         "BraTS-SSA-00002-000", "BraTS-PED-00001-000", "BraTS-GoAT-00001"})
    result.push_back({{{id, 3}}, of_2023, regions_of_2023});
  return result;
}

TEST(Brats, OfEveryYearIsRecognisedByItsNamesAndLabelValues) {
  for (const Challenge& challenge : challenges()) {
    SCOPED_TRACE(challenge.cases.back().path);
    const TemporaryFolder folder;
    std::vector<std::string> ids;
    for (const auto& [path, highest_label, extension] : challenge.cases) {
      ids.push_back(fs::path(path).filename().string());
      write_case(folder / path, ids.back(), contains(path, "BraTS-") ? gli : plain, extension, highest_label);
    }
    fs::ofstream(folder / "survival_data.csv") << "x";
    const Dataset dataset = open(folder.path());
    expect_brats(dataset, ids);
    EXPECT_EQ(dataset.labels, challenge.labels);
    EXPECT_EQ(dataset.regions, challenge.regions);
    if (contains(ids[0], "Brats17")) {
      EXPECT_TRUE(contains(dataset.recognised, "BraTS 2017"));
    }
  }
}

TEST(Brats2020, IsRecognisedAndTheStrayTruthOfCase355Found) {
  const TemporaryFolder folder;
  write_case(folder / "BraTS20_Training_001", "BraTS20_Training_001", plain, ".nii", 4);
  write_case(folder / "BraTS20_Training_355", "BraTS20_Training_355", plain, ".nii", 4,
             "W39_1998.09.19_Segm");
  const Dataset dataset = open(folder.path());
  expect_brats(dataset, {"BraTS20_Training_001", "BraTS20_Training_355"});
  EXPECT_EQ(dataset.cases[1].truth.filename(), "W39_1998.09.19_Segm.nii");
  EXPECT_EQ(dataset.regions, regions_to_2021);
}

TEST(Brats2021, IsRecognisedAndSoIsASingleCase) {
  const TemporaryFolder folder;
  write_case(folder / "BraTS2021_00000", "BraTS2021_00000", plain, ".nii.gz", 4);
  write_case(folder / "BraTS2021_00002", "BraTS2021_00002", plain, ".nii.gz", 4);
  const Dataset dataset = open(folder.path());
  expect_brats(dataset, {"BraTS2021_00000", "BraTS2021_00002"});
  EXPECT_EQ(dataset.labels, labels_to_2021);
  expect_brats(open(folder.path() / "BraTS2021_00002"), {"BraTS2021_00002"});
  expect_brats(open((folder.path() / "BraTS2021_00002").string() + "/"), {"BraTS2021_00002"});
}

TEST(BratsOfTwoYears, AreCasesAlikeIfTheirLabelsMeanTheSame) {
  const TemporaryFolder folder;
  for (const char* id : {"BraTS2021_00000", "BraTS2021_00002"}) write_case(folder / id, id, plain, ".nii", 4);
  write_case(folder / "BraTS20_Training_001", "BraTS20_Training_001", plain, ".nii", 4);
  const Dataset dataset = open(folder.path());
  expect_brats(dataset, {"BraTS2021_00000", "BraTS2021_00002", "BraTS20_Training_001"});
  EXPECT_TRUE(contains(dataset.recognised, "3 case folders named as in BraTS 2020, 2021"));
  write_case(folder / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", gli, ".nii", 3);
  expect_failure([&] { open(folder.path()); }, Exit::bad_data,
                 {"case BraTS-GLI-00001-000 is named as in BraTS 2023/2024, whose labels differ in meaning "
                  "from those of 2020, 2021",
                  "a folder of their own", "data.labels"});
  DatasetOptions options = at(folder.path());
  options.labels = labels_to_2021;
  EXPECT_EQ(open_dataset(options).cases.size(), 4U);
}

TEST(Modalities, AreSelectedAndOrderedAndUnknownOnesRefused) {
  const TemporaryFolder folder;
  write_case(folder / "BraTS2021_00000", "BraTS2021_00000", plain, ".nii.gz", 4);
  DatasetOptions options = at(folder.path());
  options.modalities = {"flair", "t1"};
  const Dataset dataset = open_dataset(options);
  EXPECT_EQ(dataset.modalities, options.modalities);
  const Volume volume = read_case(dataset, dataset.cases[0]);
  EXPECT_EQ(volume.channels[0].voxels[0], 13);
  EXPECT_EQ(volume.channels[1].voxels[0], 10);
  options.modalities = {"flair", "dwi"};
  expect_failure([&] { open_dataset(options); }, Exit::usage, {"dwi", "t1, t1ce, t2, flair"});
  options.modalities = {"flair", "flair"};
  expect_failure([&] { open_dataset(options); }, Exit::usage, {"flair", "twice"});
}

TEST(LabelsAndRegions, OfTheExperimentGoBeforeTheLayouts) {
  const TemporaryFolder folder;
  write_case(folder / "BraTS2021_00000", "BraTS2021_00000", plain, ".nii.gz", 3);
  DatasetOptions options = at(folder.path());
  options.labels = {{"a", 1}, {"b", 2}, {"c", 3}};
  EXPECT_EQ(open_dataset(options).labels, options.labels);
  EXPECT_EQ(open_dataset(options).regions, (Regions{{"a", {1}}, {"b", {2}}, {"c", {3}}}));
  options.regions = {{"both", {1, 3}}};
  EXPECT_EQ(open_dataset(options).regions, options.regions);
  options.regions = {{"both", {1, 4}}};
  expect_failure([&] { open_dataset(options); }, Exit::usage, {"both", "4", "c: 3"});
}

const char* const decathlon_json =
    R"({"name": "BRATS", "modality": {"0": "FLAIR", "1": "T1w", "2": "t1gd", "3": "T2w"},
  "labels": {"0": "background", "1": "edema", "2": "non-enhancing tumor", "3": "enhancing tumour"},
  "training": [{"image": "./imagesTr/BRATS_002.nii.gz", "label": "./labelsTr/BRATS_002.nii.gz"},
               {"image": "./imagesTr/BRATS_001.nii.gz", "label": "./labelsTr/BRATS_001.nii.gz"}]})";

TEST(TheDecathlon, GivesItsFourModalitiesFromOneFileAndItsTumourRegions) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json") << decathlon_json;
  std::vector<Image> images;
  for (std::uint64_t i = 0; i < 4; ++i) images.push_back(random_image(tiny, i));
  for (const char* id : {"BRATS_001", "BRATS_002"}) {
    write_images_4d(folder / (format("imagesTr/{}.nii.gz", id)), images);
    write_label_map(folder / (format("labelsTr/{}.nii.gz", id)), random_labels(tiny, {0, 1, 2, 3}));
  }
  const Dataset dataset = open(folder.path());
  EXPECT_EQ(dataset.layout, "msd");
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"flair", "t1", "t1ce", "t2"}));
  EXPECT_EQ(dataset.labels, (Labels{{"edema", 1}, {"non_enhancing_tumor", 2}, {"enhancing_tumour", 3}}));
  EXPECT_EQ(dataset.regions,
            (Regions{{"whole_tumor", {1, 2, 3}}, {"tumor_core", {2, 3}}, {"enhancing_tumor", {3}}}));
  ASSERT_EQ(dataset.cases.size(), 2U);
  EXPECT_EQ(dataset.cases[0].id, "BRATS_001");
  const Volume volume = read_case(dataset, dataset.cases[0]);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(volume.channels[c].voxels, images[c].voxels);
  DatasetOptions options = at(folder.path());
  options.modalities = {"t2", "t1gd"};  // any name of a sequence
  const Dataset two = open_dataset(options);
  EXPECT_EQ(read_case(two, two.cases[0]).channels[0].voxels, images[3].voxels);
  EXPECT_EQ(read_case(two, two.cases[0]).channels[1].voxels, images[2].voxels);
}

TEST(TheDecathlon, CopesWithoutADatasetJson) {
  const TemporaryFolder folder;
  write_image(folder / "imagesTr/h_1.nii.gz", random_image(tiny));
  write_image(folder / "imagesTr/h_2.nii.gz", random_image(tiny));
  write_label_map(folder / "labelsTr/h_1.nii.gz", random_labels(tiny, {0, 1, 2}));
  fs::ofstream(folder / "imagesTr/._h_1.nii.gz") << "left by another system";
  const Dataset dataset = open(folder.path());
  EXPECT_EQ(dataset.layout, "msd");
  EXPECT_EQ(dataset.labels, (Labels{{"label_1", 1}, {"label_2", 2}}));
  ASSERT_EQ(dataset.cases.size(), 2U);
  EXPECT_TRUE(read_case(dataset, dataset.cases[0]).has_truth());
  EXPECT_FALSE(read_case(dataset, dataset.cases[1]).has_truth());
}

DatasetOptions pattern_options(const fs::path& root) {
  DatasetOptions options = at(root);
  options.files = {{"flair", "{case}/Flair*.nii.gz"},
                   {"t1ce", "{case}/{case}_T1c?.nii.gz"},
                   {"truth", "truth/{case}.nii.gz"}};
  options.labels = {{"tumor", 1}};
  return options;
}

TEST(Patterns, FindTheFilesOfEachCase) {
  const TemporaryFolder folder;
  for (const char* id : {"b_1.x", "a"}) {
    write_image(folder / format("{}/Flair_x.nii.gz", id), random_image(tiny, 1));
    write_image(folder / format("{}/{}_T1cx.nii.gz", id, id), random_image(tiny, 2));
    fs::ofstream(folder / format("{}/License.txt", id)) << "x";
  }
  write_label_map(folder / "truth/a.nii.gz", random_labels(tiny, {0, 1}));
  DatasetOptions options = pattern_options(folder.path());
  options.modalities = {"t1ce", "flair"};
  const Dataset dataset = open_dataset(options);
  EXPECT_EQ(dataset.layout, "files");
  ASSERT_EQ(dataset.cases.size(), 2U);
  EXPECT_EQ(dataset.cases[0].id, "a");
  EXPECT_EQ(dataset.cases[1].id, "b_1.x");
  EXPECT_EQ(dataset.regions, (Regions{{"tumor", {1}}}));
  const Volume volume = read_case(dataset, dataset.cases[0]);
  EXPECT_EQ(volume.channels[0].voxels, random_image(tiny, 2).voxels);
  EXPECT_TRUE(volume.has_truth());
  EXPECT_TRUE(dataset.cases[1].truth.empty());
  options.labels.clear();
  EXPECT_EQ(open_dataset(options).labels, (Labels{{"label_1", 1}})) << "found in the label map";
}

TEST(Patterns, ThatMatchNoFileOrSeveralOrNameNoCaseAreReported) {
  const TemporaryFolder folder;
  write_image(folder / "a/Flair_x.nii.gz", random_image(tiny));
  expect_failure([&] { open_dataset(pattern_options(folder.path())); }, Exit::bad_data,
                 {"case a", "t1ce", "a_T1c?.nii.gz"});
  write_image(folder / "a/Flair_y.nii.gz", random_image(tiny));
  expect_failure([&] { open_dataset(pattern_options(folder.path())); }, Exit::bad_data,
                 {"Flair_x", "Flair_y"});
  DatasetOptions options = pattern_options(folder.path());
  options.files["flair"] = "Flair.nii.gz";
  expect_failure([&] { open_dataset(options); }, Exit::usage, {"data.files.flair", "{case}"});
  options = pattern_options(folder.path());
  options.modalities = {"dwi"};
  expect_failure([&] { open_dataset(options); }, Exit::usage, {"dwi", "flair, t1ce"});
}

TEST(Hippocampus, OpensAndReads) {
  const fs::path root = shared_data() / "hippocampus";
  if (!fs::exists(root))
    GTEST_SKIP() << "real scans that are no part of the repository: " << root << " does not exist";
  const Dataset dataset = open(root);
  EXPECT_EQ(dataset.layout, "msd");
  EXPECT_EQ(dataset.cases.size(), 200U);
  EXPECT_EQ(dataset.regions, (Regions{{"anterior", {1}}, {"posterior", {2}}}));
  for (std::size_t i = 0; i < 200; i += 10) {
    const Volume volume = read_case(dataset, dataset.cases[i]);
    EXPECT_TRUE(volume.has_truth());
    EXPECT_GE(volume.geometry().size[0], 31);  // limits from the README of the data
    EXPECT_LE(volume.geometry().size[0], 43);
  }
}

TEST(Brats2015, OpensAndReadsThroughPatterns) {
  const fs::path root = shared_data() / "brats2015-mini";
  if (!fs::exists(root))
    GTEST_SKIP() << "real scans that are no part of the repository: " << root << " does not exist";
  DatasetOptions options = at(root);
  options.files = {{"flair", "{case}/Flair*.nii.gz"},
                   {"t1ce", "{case}/T1c*.nii.gz"},
                   {"truth", "{case}/OTMultiClass.nii.gz"}};
  options.labels = {{"necrosis", 1}, {"oedema", 2}, {"non_enhancing", 3}, {"enhancing", 4}};
  const Dataset dataset = open_dataset(options);
  EXPECT_EQ(dataset.cases.size(), 4U);
  EXPECT_EQ(dataset.regions,
            (Regions{{"whole_tumor", {1, 2, 3, 4}}, {"tumor_core", {1, 3, 4}}, {"enhancing_tumor", {4}}}));
  const Volume volume = read_case(dataset, dataset.cases[0]);
  EXPECT_EQ(volume.geometry().size, (Size3{240, 240, 155}));
  EXPECT_LT(volume.channels[0].voxels[0], -2);  // the background according to the README of the data
  const LabelMap mask = read_label_map(root / dataset.cases[0].id / "brainmask.nii.gz");  // stored scaled
  for (const std::int16_t value : mask.voxels) ASSERT_TRUE(value == 0 || value == 1);
}

}  // namespace
}  // namespace voxswap::data
