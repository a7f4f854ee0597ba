// Unusual contents of data folders: links, pipes, pointers to files that were not downloaded, unexpected
// folders, labels without an image. None may be ignored silently, stop the program, or be misinterpreted.
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "data/cases/check.h"
#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/open_dataset.h"
#include "data/layouts/prediction_input.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

const Geometry small_grid = geometry({4, 4, 4});
const std::vector<std::string> gli{"-t1n", "-t1c", "-t2w", "-t2f"};

void write_brats(const fs::path& folder, const std::string& stem, int highest_label) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < gli.size(); ++i)
    write_image(folder / (stem + gli[i] + ".nii.gz"), random_image(small_grid, i + stem.size()));
  write_label_map(folder / (stem + "-seg.nii.gz"), random_labels(small_grid, {0, 1, 2, highest_label}));
}

CheckReport checked(const fs::path& root) {
  return check_dataset({at(root), false, 0});
}

void expect_unused(const std::vector<Unused>& unused, const fs::path& path, const std::string& severity,
                   const std::string& why) {
  const auto found =
      std::find_if(unused.begin(), unused.end(), [&](const Unused& one) { return one.path == path; });
  ASSERT_NE(found, unused.end()) << path << " is not reported";
  EXPECT_EQ(found->severity, severity) << path;
  EXPECT_TRUE(contains(found->why, why)) << path;
}

void expect_problem(const CheckReport& report, const std::string& severity, const std::string& part) {
  EXPECT_TRUE(std::any_of(report.problems.begin(), report.problems.end(), [&](const Problem& problem) {
    return problem.severity == severity && problem.what.find(part) != std::string::npos;
  })) << part;
}

TEST(Unused, OfBratsAreFoldersOfNoCaseAndFilesBesideIt) {
  const TemporaryFolder folder;
  write_brats(folder.path() / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", 3);
  write_brats(folder.path() / "my_patient", "my_patient", 3);
  write_brats(folder.path() / "BraTS-PED-00001-000", "BraTS-PED-00001-000", 3);
  fs::create_directories(folder.path() / "BraTS-GLI-00002-000");
  write_image(folder / "BraTS-GLI-00001-000/mask.nii.gz", random_image(small_grid));
  fs::ofstream(folder / "scans/p1/t1.mgz") << "x";
  fs::ofstream(folder / "papers/notes.txt") << "x";
  fs::ofstream(folder / "survival.csv") << "x";
  write_image(folder / "BraTS-GLI-00001-000/registered/mask.nii.gz", random_image(small_grid));
  const Dataset dataset = list_dataset(at(folder.path()));
  ASSERT_EQ(dataset.cases.size(), 2U);
  const std::vector<Unused> unused = unused_in(dataset);
  expect_unused(unused, folder / "my_patient", "error", "none of which is named as layout brats requires");
  expect_unused(unused, folder / "BraTS-GLI-00001-000/registered", "note", "its case does not use");
  expect_unused(unused, folder / "BraTS-GLI-00002-000", "warning", "an empty folder");
  expect_unused(unused, folder / "BraTS-GLI-00001-000/mask.nii.gz", "note",
                "neither a channel nor the ground truth");
  expect_unused(unused, folder / "scans", "error", "a folder with images");
  expect_unused(unused, folder / "papers", "note", "without images");
  EXPECT_EQ(unused.size(), 6U);
}

TEST(Unused, OfTheDecathlonAreLabelsWithoutAnImageAndImagesWithoutLabels) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json")
      << R"({"modality": {"0": "T1"}, "labels": {"0": "background", "1": "core"},
    "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}], "test": ["./imagesTs/t.nii.gz"]})";
  for (const char* name : {"imagesTr/a", "imagesTr/forgotten", "imagesTs/t"})
    write_image(folder / format("{}.nii.gz", name), random_image(small_grid, name[9]));
  for (const char* name : {"labelsTr/a", "labelsTr/orphan", "labelsTr/orphan_2"})
    write_label_map(folder / format("{}.nii.gz", name), random_labels(small_grid, {0, 1}));
  const Dataset dataset = open_dataset(at(folder.path()));
  const std::vector<Unused> unused = unused_in(dataset);
  expect_unused(unused, folder / "labelsTr/orphan.nii.gz", "warning", "a label map without an image");
  expect_unused(unused, folder / "imagesTr/forgotten.nii.gz", "error", "does not assign");
  expect_unused(unused, folder / "imagesTs/t.nii.gz", "note", "an image without ground truth");
  const std::vector<UnusedGroup> groups = grouped(unused, folder.path());
  const auto orphans = std::find_if(groups.begin(), groups.end(), [](const UnusedGroup& group) {
    return group.why == "a label map without an image";
  });
  ASSERT_NE(orphans, groups.end());
  EXPECT_EQ(orphans->count, 2U);
  EXPECT_EQ(orphans->what, "labelsTr/orphan.nii.gz and 1 other");
}

TEST(Unused, IsNothingOfADataSetThatIsWhole) {
  const TemporaryFolder folder;
  write_brats(folder.path() / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", 3);
  EXPECT_TRUE(unused_in(open_dataset(at(folder.path()))).empty());
}

TEST(Unused, AreTheChannelsThatWereNotAskedFor) {
  const TemporaryFolder folder;
  write_brats(folder.path() / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", 3);
  DatasetOptions options = at(folder.path());
  options.modalities = {"t1", "t1ce", "flair"};
  const std::vector<Unused> unused = unused_in(open_dataset(options));
  ASSERT_EQ(unused.size(), 1U);
  expect_unused(unused, folder / "BraTS-GLI-00001-000/BraTS-GLI-00001-000-t2w.nii.gz", "note",
                "data.modalities");
}

TEST(Unused, IsFoundInFoldersThatLinkToThemselves) {
  const TemporaryFolder folder;
  write_brats(folder.path() / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", 3);
  fs::create_directory_symlink(folder.path(), folder / "BraTS-GLI-00001-000/up");
  EXPECT_FALSE(unused_in(open_dataset(at(folder.path()))).empty());
}

TEST(Links, ToCaseFoldersGoByTheirOwnNames) {
  const TemporaryFolder folder, store;
  const std::string id = "BraTS-GLI-00007-000";
  write_brats(store.path() / "patient_x", id, 3);  // files are named like the link
  write_brats(store.path() / "BraTS-GLI-00099-000", "BraTS-GLI-00099-000", 3);  // or like its target
  fs::create_directory_symlink(store.path() / "patient_x", folder / id);
  fs::create_directory_symlink(store.path() / "BraTS-GLI-00099-000", folder / "BraTS-GLI-00008-000");
  const Dataset dataset = open_dataset(at(folder.path()));
  ASSERT_EQ(dataset.cases.size(), 2U);
  EXPECT_EQ(dataset.cases[0].id, "BraTS-GLI-00007-000");
  EXPECT_EQ(dataset.cases[1].id, "BraTS-GLI-00008-000");
  for (const CaseFiles& files : dataset.cases) EXPECT_TRUE(read_case(dataset, files).has_truth());
}

TEST(Pipes, AreReportedAndNeverWaitedFor) {
  const TemporaryFolder folder;
  const std::string id = "BraTS-GLI-00001-000";
  write_brats(folder.path() / id, id, 3);
  for (const std::string& name : {id + "-t2w.nii.gz", std::string("-seg.nii.gz")}) {
    const fs::path pipe = folder / (id + "/" + (name[0] == '-' ? id + name : name));
    fs::remove(pipe);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const CheckReport report = checked(folder.path());
    expect_problem(report, "error", pipe.string() + " is not a file (a pipe or a device)");
    expect_failure([&] { open_dataset(at(folder.path())); }, Exit::bad_data,
                   {"not a file (a pipe or a device)"});
    expect_failure([&] { read_image(pipe); }, Exit::bad_data,
                   {pipe.string(), "not a file (a pipe or a device)"});
  }
  ASSERT_EQ(mkfifo((folder / "dataset.json").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((folder / "stray.nii.gz").c_str(), 0600), 0);
  DatasetOptions with_json = at(folder.path());
  with_json.layout = "msd";
  expect_failure([&] { open_dataset(with_json); }, Exit::bad_data, {"dataset.json", "is not a file"});
  fs::remove(folder / "dataset.json");
  expect_unused(checked(folder.path()).unused, folder / "stray.nii.gz", "warning", "a pipe or a device");
}

TEST(Pointers, OfGitLfsAndGitAnnexAreNamedAsSuch) {
  const TemporaryFolder folder;
  const std::string id = "BraTS-GLI-00001-000";
  write_brats(folder.path() / id, id, 3);
  const fs::path file = folder / format("{}/{}-t2w.nii.gz", id, id);
  fs::ofstream(file) << "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  expect_problem(checked(folder.path()), "error", "a Git LFS pointer, not the file itself; `git lfs pull`");
  expect_failure([&] { read_image(file); }, Exit::bad_data, {file.string(), "Git LFS pointer"});
  fs::ofstream(file) << "/annex/objects/MD5E-s123--4d7a.nii.gz\n";
  expect_problem(checked(folder.path()), "error", "a git-annex pointer");
  fs::remove(file);
  fs::create_symlink("../.git/annex/objects/aa/MD5E-s123--4d7a.nii.gz", file);
  expect_problem(checked(folder.path()), "error",
                 "which does not exist; `git annex get` or `datalad get` downloads it");
}

TEST(FourDimensionalFiles, WithMoreOrFewerVolumesThanChannelsAreRefused) {
  const TemporaryFolder folder;
  fs::ofstream(folder / "dataset.json")
      << R"({"modality": {"0": "T1", "1": "T2", "2": "FLAIR"}, "labels": {"0": "background",
    "1": "core"}, "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}], "test": []})";
  write_label_map(folder / "labelsTr/a.nii.gz", random_labels(small_grid, {0, 1}));
  for (const auto& [count, problem] :
       {std::pair{2U, "2 volumes"}, {4U, "holds 4 volumes, but the data set has 3 channels"}}) {
    write_images_4d(folder / "imagesTr/a.nii.gz", std::vector<Image>(count, random_image(small_grid)));
    const Dataset dataset = open_dataset(at(folder.path()));
    expect_failure([&] { read_case(dataset, dataset.cases[0]); }, Exit::bad_data, {"a.nii.gz", problem});
    expect_problem(checked(folder.path()), "error", problem);
  }
}

TEST(Pictures, OfASingleSliceAreWarnedOf) {
  const TemporaryFolder folder;
  for (const char* id : {"a", "b"}) {
    const Geometry flat = geometry({8, 8, 1});
    write_image(folder / format("imagesTr/{}.nii.gz", id), random_image(flat, id[0]));
    write_label_map(folder / format("labelsTr/{}.nii.gz", id), random_labels(flat, {0, 1}));
  }
  expect_problem(checked(folder.path()), "warning", "2 cases, all of them 2D");
  write_image(folder / "imagesTr/c.nii.gz", random_image(small_grid));
  write_label_map(folder / "labelsTr/c.nii.gz", random_labels(small_grid, {0, 1}));
  expect_problem(checked(folder.path()), "warning", "case a is 2D");
}

TEST(Names, WithALineBreakAreCasesLikeOthersAndThoseTooLongForFilesAreRefused) {
  const TemporaryFolder folder;
  write_image(folder / "a\nb/t1.nii.gz", random_image(small_grid));
  DatasetOptions options = at(folder.path());
  options.files = {{"t1", "{case}/t1.nii.gz"}};
  const Dataset dataset = open_dataset(options);
  ASSERT_EQ(dataset.cases.size(), 1U);
  EXPECT_EQ(dataset.cases[0].id, "a\nb");
  write_image(folder / (std::string(240, 'x') + "/t1.nii.gz"), random_image(small_grid));
  expect_failure([&] { open_dataset(options); }, Exit::bad_data, {"has 240 bytes", "at most 180"});
}

// Some libraries treat "case.hdr.nii.gz" as one of a pair of files.
TEST(Names, WithExtensionsOfImagesInThemAreWrittenAndRead) {
  const TemporaryFolder folder;
  const LabelMap labels = random_labels(small_grid, {0, 1, 2});
  for (const char* name : {"a.nii", "a.nii.gz", "a.hdr", "a.img", "a.img.gz", "a.mha", "a.nrrd"}) {
    for (const char* extension : {".nii.gz", ".nii", ".mha", ".nrrd"}) {
      const fs::path path = folder / (std::string(name) + extension);
      write_label_map(path, labels);
      EXPECT_EQ(read_label_map(path).voxels, labels.voxels) << path;
    }
  }
  const fs::path longest = folder / (std::string(248, 'x') + ".nii.gz");
  write_label_map(longest, labels);
  EXPECT_EQ(read_label_map(longest).voxels, labels.voxels);
}

TEST(Labels, BelowZeroAreNone) {
  const TemporaryFolder folder;
  Image image{small_grid, std::vector<float>(64, 0)};
  image.voxels[5] = -3;
  write_image(folder / "a.nii.gz", image);
  expect_failure([&] { read_label_map(folder / "a.nii.gz"); }, Exit::bad_data,
                 {"a.nii.gz", "voxel value -3 is not a label"});
}

TEST(PredictionInput, TakesAnyLayoutThatHasTheChannelsAlsoWhereTheRunNamesAnother) {
  const TemporaryFolder folder;
  write_brats(folder.path() / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", 3);
  write_brats(folder.path() / "BraTS-GLI-00002-000", "BraTS-GLI-00002-000", 3);
  Dataset trained;
  trained.layout = "msd";
  trained.modalities = trained.all_modalities = {"flair", "t1ce"};
  trained.labels = {{"core", 1}};
  trained.regions = {{"core", {1}}};
  DatasetOptions options;
  options.layout = "msd";
  options.modalities = trained.modalities;
  EXPECT_EQ(open_for_prediction(trained, options, folder.path()).cases.size(), 2U);
  // A case that lacks a channel is listed; the error is reported when it is read.
  fs::remove(folder / "BraTS-GLI-00002-000/BraTS-GLI-00002-000-t1c.nii.gz");
  const Dataset dataset = open_for_prediction(trained, options, folder.path());
  EXPECT_EQ(read_case(dataset, dataset.cases.at(0)).channels.size(), 2U);
  expect_failure([&] { read_case(dataset, dataset.cases.at(1)); }, Exit::bad_data,
                 {"BraTS-GLI-00002-000", "channel t1ce is missing"});
}

// The data set of a run on t1, t1ce, t2 and flair of BraTS, as used for prediction.
Dataset four_channels() {
  Dataset trained;
  trained.layout = "brats";
  trained.modalities = trained.all_modalities = {"t1", "t1ce", "t2", "flair"};
  trained.labels = {{"core", 1}};
  trained.regions = {{"core", {1}}};
  return trained;
}

Dataset to_predict(const fs::path& input, const Dataset& trained = four_channels()) {
  return open_for_prediction(trained, {}, input);
}

std::vector<std::string> ids_of(const Dataset& dataset) {
  std::vector<std::string> ids;
  for (const CaseFiles& files : dataset.cases) ids.push_back(files.id);
  return ids;
}

void write_named(const fs::path& folder, const std::string& before, const std::vector<std::string>& names) {
  fs::create_directories(folder);
  for (const std::string& name : names)
    write_image(folder / (before + name + ".nii.gz"), random_image(small_grid, name.size() + before.size()));
}

const std::vector<std::string> plain_names{"_t1", "_t1ce", "_t2", "_flair"};

// Cases from two years of BraTS, from BIDS, with other names, in a flat layout, and in one file.
TEST(PredictionInput, IsEveryCaseThatHasTheChannelsWhateverItsName) {
  const TemporaryFolder folder;
  write_named(folder / "Brats18_A_1", "Brats18_A_1", plain_names);
  write_named(folder / "Brats18_B_1", "Brats18_B_1", plain_names);
  write_named(folder / "BraTS2021_00001", "BraTS2021_00001", plain_names);
  write_named(folder / "BraTS2021_00002", "as_in_the_hospital", plain_names);
  write_brats(folder / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", 3);
  write_named(folder / "sub-01/anat", "sub-01_", {"T1w", "ce-gd_T1w", "T2w", "FLAIR"});
  write_named(folder / "clinic/smith", "", {"T1", "T1c", "T2w", "FLAIR"});
  write_named(folder / "clinic/jones", "scan-", {"t1", "t1gd", "t2", "flair"});
  write_named(folder.path(), "flat", plain_names);
  write_images_4d(folder / "one.nii.gz", std::vector<Image>(4, random_image(small_grid)));
  const Dataset dataset = to_predict(folder.path());
  EXPECT_EQ(ids_of(dataset), (std::vector<std::string>{"BraTS-GLI-00001-000", "BraTS2021_00001",
                                                       "BraTS2021_00002", "Brats18_A_1", "Brats18_B_1",
                                                       "flat", "one", "scan", "smith", "sub-01"}));
  EXPECT_TRUE(dataset.left_out.empty()) << dataset.left_out.front().path;
  for (const CaseFiles& files : dataset.cases) EXPECT_EQ(read_case(dataset, files).channels.size(), 4U);
}

TEST(PredictionInput, NamesWhatMayBeACaseAndCannotBePredicted) {
  const TemporaryFolder folder;
  write_named(folder / "Brats18_A_1", "Brats18_A_1", plain_names);
  write_named(folder / "Brats18_A_1/derived", "x", plain_names);
  write_named(folder / "smith", "", {"IM0001", "IM0002"});
  write_named(folder / "jones", "", {"t1", "t2"});
  const Dataset dataset = to_predict(folder.path());
  EXPECT_EQ(ids_of(dataset), (std::vector<std::string>{"Brats18_A_1", "jones"}));
  expect_failure([&] { read_case(dataset, dataset.cases[1]); }, Exit::bad_data, {"jones", "t1ce is missing"});
  ASSERT_EQ(dataset.left_out.size(), 1U);
  expect_unused(dataset.left_out, folder / "smith", "error", "a folder with images");
}

TEST(PredictionInput, NamesAFolderOfImagesAndAFileOfTheSameNameBesideTheFileOfOneCase) {
  const TemporaryFolder folder;
  for (const char* name : {"one.nii.gz", "one.nii"})
    write_images_4d(folder / name, std::vector<Image>(4, random_image(small_grid)));
  write_named(folder / "smith", "", {"IM0001"});
  const std::vector<Unused> left_out = to_predict(folder.path()).left_out;
  expect_unused(left_out, folder / "smith", "error", "a folder with images");
  expect_unused(left_out, folder / "one.nii.gz", "error", "one.nii has the same name");
}

TEST(PredictionInput, IsOneCasesFolderOfAnyName) {
  const TemporaryFolder folder;
  write_named(folder / "BraTS-GLI-00001-000", "BraTS-GLI-00001-000", gli);
  write_named(folder / "patient", "Brats18_A_1", plain_names);
  write_named(folder / "set/sub-01/anat", "sub-01_", {"T1w", "ce-gd_T1w", "T2w", "FLAIR"});
  EXPECT_EQ(ids_of(to_predict(folder / "BraTS-GLI-00001-000")),
            std::vector<std::string>{"BraTS-GLI-00001-000"});
  EXPECT_EQ(ids_of(to_predict(folder / "patient")), std::vector<std::string>{"Brats18_A_1"});
  EXPECT_EQ(ids_of(to_predict(folder / "set/sub-01")), std::vector<std::string>{"sub-01"});
}

TEST(PredictionInput, OfTwoFoldersWithCasesOfOneNameHasBoth) {
  const TemporaryFolder folder;
  for (const char* batch : {"a", "b"}) write_named(folder / batch / "p1", "", {"t1", "t1ce", "t2", "flair"});
  EXPECT_EQ(ids_of(to_predict(folder.path())), (std::vector<std::string>{"a_p1", "b_p1"}));
}

TEST(PredictionInput, OfAnotherKindSaysWhatItLooksLikeAndWhatIsExpected) {
  const TemporaryFolder folder;
  write_named(folder / "imagesTr", "a", {""});
  fs::ofstream(folder / "dataset.json")
      << R"({"modality": {"0": "MRI"}, "labels": {"0": "background", "1": "x"},
    "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}]})";
  expect_failure([&] { to_predict(folder.path()); }, Exit::bad_data,
                 {"no case with 4 channels found: t1, t1ce, t2, flair", "It looks like layout msd",
                  "1 case with 1 channel (mri)"});
}

TEST(DataSets, OfNoLayoutSayWhatTheyLookLike) {
  const TemporaryFolder folder;
  write_named(folder.path(), "Brats18_A_1", plain_names);
  write_named(folder.path(), "Brats18_B_1", plain_names);
  for (const char* layout : {"auto", "brats"}) {
    DatasetOptions options = at(folder.path());
    options.layout = layout;
    expect_failure([&] { open_dataset(options); }, Exit::bad_data,
                   {"It has images of 2 cases named by channel, e.g. Brats18_A_1_t1.nii.gz",
                    "set data.files='{t1: \"{case}_t1.nii.gz\", t1ce: \"{case}_t1ce.nii.gz\""});
  }
}

TEST(PredictionInput, TakesOtherNamesOfTheSameChannels) {
  const TemporaryFolder folder;
  write_image(folder / "p1/FL.nii.gz", random_image(small_grid, 1));
  write_image(folder / "p1/KM.nii.gz", random_image(small_grid, 2));
  Dataset trained;
  trained.layout = "brats";
  trained.modalities = trained.all_modalities = {"flair", "t1ce"};
  DatasetOptions options;
  options.files = {{"t1ce", "{case}/KM.nii.gz"}, {"flair", "{case}/FL.nii.gz"}};
  options.modalities = trained.modalities;
  const Dataset by_patterns = open_for_prediction(trained, options, folder.path());
  EXPECT_EQ(read_case(by_patterns, by_patterns.cases.at(0)).channels[0].voxels,
            random_image(small_grid, 1).voxels);
  options.files = {{"contrast", "{case}/KM.nii.gz"}, {"fluid", "{case}/FL.nii.gz"}};
  options.modalities = {"fluid", "contrast"};
  const Dataset by_names = open_for_prediction(trained, options, folder.path());
  EXPECT_EQ(by_names.modalities, trained.modalities);
  EXPECT_EQ(read_case(by_names, by_names.cases.at(0)).channels[1].voxels, random_image(small_grid, 2).voxels);
  options.modalities = {"fluid"};
  expect_failure([&] { open_for_prediction(trained, options, folder.path()); }, Exit::usage,
                 {"1 name, but the network has 2 channels"});
}

}  // namespace
}  // namespace voxswap::data
