#include "pipeline/cases/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "data/formats/dicom_writing.h"
#include "data/formats/image_writing.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

data::Dataset dataset_of(int cases) {
  data::Dataset dataset;
  dataset.root = "somewhere";
  for (int i = 0; i < cases; ++i) dataset.cases.push_back({format("case_{:02d}", i), {}, {}, "truth.nii.gz"});
  return dataset;
}

TEST(Split, IsSeededAndEveryCaseIsInExactlyOnePart) {
  const data::Dataset dataset = dataset_of(25);
  const Split split = make_split(dataset, {0.2, 7, {}, 0}), repeated = make_split(dataset, {0.2, 7, {}, 0});
  EXPECT_EQ(split.validation, repeated.validation);
  EXPECT_EQ(split.validation.size(), 5u);
  EXPECT_EQ(split.training.size(), 20u);
  std::vector<std::size_t> all = split.training;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
  EXPECT_NE(make_split(dataset, {0.2, 8, {}, 0}).validation, split.validation);
}

TEST(Split, OfFoldsLetsEveryCaseValidateOnce) {
  const data::Dataset dataset = dataset_of(23);
  std::vector<std::size_t> validated;
  for (std::int64_t fold = 0; fold < 5; ++fold) {
    const Split split = make_split(dataset, {.seed = 7, .file = {}, .fold = fold, .folds = 5});
    EXPECT_EQ(split.training.size() + split.validation.size(), 23u);
    EXPECT_GE(split.validation.size(), 4u);
    EXPECT_LE(split.validation.size(), 5u);
    for (const std::size_t index : split.validation)
      EXPECT_FALSE(std::binary_search(split.training.begin(), split.training.end(), index));
    validated.insert(validated.end(), split.validation.begin(), split.validation.end());
  }
  std::sort(validated.begin(), validated.end());
  EXPECT_EQ(validated.size(), 23u);
  EXPECT_EQ(std::adjacent_find(validated.begin(), validated.end()), validated.end());
  EXPECT_THROW(make_split(dataset_of(4), {.seed = 7, .file = {}, .folds = 5}), Error);
}

TEST(Split, ComesBackFromTheFileItWasWrittenTo) {
  const data::Dataset dataset = dataset_of(10);
  const Split split = make_split(dataset, {0.3, 1, {}, 0});
  const test::TemporaryFolder folder;
  const fs::path file = folder / "split.csv";
  write_split(file, dataset, split);
  const Split back = make_split(dataset, {0.5, 99, file, 0});
  EXPECT_EQ(back.training, split.training);
  EXPECT_EQ(back.validation, split.validation);
}

TEST(Split, RefusesFilesThatDoNotFitTheDataSet) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / "bad_split.csv";
  for (const char* text : {"case,part\ncase_00,training\nnobody,validation\n",
                           "case,part\ncase_00,training\ncase_00,validation\n", "case,part\ncase_00,tests\n",
                           "case,part\ncase_00,training\n", "id,part\ncase_00,training\n"}) {
    write_file(file, text);
    EXPECT_THROW(make_split(dataset_of(3), {0.2, 1, file, 0}), Error) << text;
  }
}

// The format of nnU-Net's splits_final.json.
TEST(Split, ComesFromAFoldOfNnUNet) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / "splits_final.json";
  write_file(file, R"([{"train": ["case_00", "case_02"], "val": ["case_01"]},
                       {"train": ["case_01", "case_02"], "val": ["case_00"]}])");
  SplitOptions options;
  options.file = file;
  EXPECT_EQ(make_split(dataset_of(4), options).training, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(make_split(dataset_of(4), options).validation, (std::vector<std::size_t>{1}));
  options.fold = 1;
  EXPECT_EQ(make_split(dataset_of(4), options).validation, (std::vector<std::size_t>{0}));
  options.fold = 2;
  EXPECT_THROW(make_split(dataset_of(4), options), Error);
  options.fold = 0;
  for (const char* text : {"", "{}", "[1]", R"([{"train": ["case_00"]}])", R"([{"train": [1], "val": [2]}])",
                           R"([{"train": ["case_00"], "val": ["case_00"]}])"}) {
    write_file(file, text);
    SCOPED_TRACE(text);
    test::expect_failure([&] { make_split(dataset_of(3), options); }, Exit::bad_data);
  }
}

// 40 cases of 15 patients; patient k has cases k, k + 15 and k + 30.
data::Dataset dataset_of_patients() {
  data::Dataset dataset;
  dataset.root = "somewhere";
  for (int i = 0; i < 40; ++i)
    dataset.cases.push_back({format("p{:02d}_scan{}", i % 15, i / 15), {}, {}, "truth.nii.gz"});
  return dataset;
}

std::set<std::string> patients_in(const data::Dataset& dataset, const std::vector<std::size_t>& part) {
  std::set<std::string> patients;
  for (const std::size_t index : part) patients.insert(dataset.cases[index].id.substr(0, 3));
  return patients;
}

TEST(Split, ByPatientsNeverHasOneOnBothSides) {
  const data::Dataset dataset = dataset_of_patients();
  std::vector<std::size_t> validated;
  for (std::int64_t fold = 0; fold < 4; ++fold) {
    const Split split =
        make_split(dataset, {.seed = 3, .file = {}, .fold = fold, .folds = 4, .patient = "{patient}_*"});
    for (const std::string& patient : patients_in(dataset, split.validation))
      EXPECT_FALSE(patients_in(dataset, split.training).contains(patient)) << patient;
    EXPECT_NEAR(static_cast<double>(split.validation.size()), 10, 2);
    validated.insert(validated.end(), split.validation.begin(), split.validation.end());
  }
  EXPECT_EQ(std::set<std::size_t>(validated.begin(), validated.end()).size(), 40u);
  EXPECT_EQ(validated.size(), 40u);
  const Split split = make_split(dataset, {.validation = 0.25, .file = {}, .patient = "{patient}_scan?"});
  EXPECT_NEAR(static_cast<double>(split.validation.size()), 10, 2);
  EXPECT_THROW(make_split(dataset, {.file = {}, .patient = "q{patient}_*"}), Error);
}

data::Dataset named(const std::vector<std::string>& names) {
  data::Dataset dataset;
  dataset.root = "somewhere";
  for (const std::string& name : names) dataset.cases.push_back({name, {}, {}, "truth.nii.gz"});
  return dataset;
}

TEST(Split, KeepsSessionsOfBidsAndFollowUpsOfBratsTogether) {
  for (const auto& [patients, first, second] :
       {std::tuple{"sub-", "_ses-1", "_ses-2"}, {"BraTS-GLI-000", "-100", "-101"}}) {
    std::vector<std::string> names;
    for (int patient = 10; patient < 20; ++patient)
      for (const char* scan : {first, second}) names.push_back(patients + std::to_string(patient) + scan);
    const data::Dataset dataset = named(names);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Split split = make_split(dataset, {.seed = seed, .file = {}});
      ASSERT_EQ(split.validation.size(), 4u);
      for (std::size_t i = 0; i < 4; i += 2) {
        EXPECT_EQ(split.validation[i] % 2, 0u) << seed;
        EXPECT_EQ(split.validation[i + 1], split.validation[i] + 1) << seed;
      }
    }
  }
}

// A case of one DICOM slice of a patient.
data::CaseFiles dicom_case(const fs::path& folder, const std::string& id, const std::string& patient) {
  data::Image image;
  image.geometry.size = {2, 2, 1};
  image.voxels.resize(4);
  fs::create_directories(folder / id);
  data::write_dicom(folder / id, image, "t1", "1");
  const fs::path slice = folder / id / data::dicom_names(1).front();
  std::string bytes = read_file(slice);
  const std::size_t element = bytes.find(std::string("\x10\x00\x20\x00", 4));  // PatientID, empty
  bytes[element + 4] = static_cast<char>(patient.size());
  write_file(slice, bytes.insert(element + 8, patient));
  return {id, {folder / id}, {-1}, "truth.nii.gz"};
}

TEST(Split, KeepsDicomSeriesWithOnePatientIdTogetherUnlessAllHaveIt) {
  const test::TemporaryFolder folder;
  data::Dataset dataset = named({}), anonymised = named({}), unknown = named({});
  for (int i = 0; i < 8; ++i) {
    const std::string id = "study_" + std::to_string(i);
    dataset.cases.push_back(dicom_case(folder / "known", id, format("ID{}", i / 2 * 2 + 10)));
    anonymised.cases.push_back(dicom_case(folder / "anonymised", id, "ANON"));
    unknown.cases.push_back(dicom_case(folder / "unknown", id, ""));
  }
  testing::internal::CaptureStderr();
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Split split = make_split(dataset, {.validation = 0.25, .seed = seed, .file = {}});
    ASSERT_EQ(split.validation.size(), 2u);
    EXPECT_EQ(split.validation[0] / 2, split.validation[1] / 2) << seed;
    for (const data::Dataset& ungrouped : {anonymised, unknown})
      EXPECT_EQ(
          make_split(ungrouped, {.validation = 0.25, .seed = seed, .file = {}}).validation,
          make_split(ungrouped, {.validation = 0.25, .seed = seed, .file = {}, .patient = ""}).validation);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "anonymised data is no reason to warn";
}

// Every case of BraTS 2018 and 2020 is a patient, although their names end in numbers, too.
TEST(Split, OfNamesThatTellNoPatientIsTheOneWithoutPatients) {
  for (const auto& [before, after] :
       {std::pair{"Brats18_TCIA_", "_1"}, {"BraTS20_Training_0", ""}, {"BraTS-GoAT-000", ""}, {"sub-", ""}}) {
    std::vector<std::string> names;
    for (int patient = 10; patient < 30; ++patient) names.push_back(before + std::to_string(patient) + after);
    EXPECT_EQ(make_split(named(names), {.file = {}}).validation,
              make_split(named(names), {.file = {}, .patient = ""}).validation);
  }
}

TEST(Split, OfTooFewPatientsIsDrawnAmongTheirCases) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(make_split(named({"sub-1_ses-1", "sub-1_ses-2", "sub-1_ses-3", "sub-1_ses-4"}), {.file = {}})
                .validation.size(),
            1u);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("4 cases of 1 patient: too few"), std::string::npos);
}

TEST(Split, ByPatientsReadsThePatientsFromAFile) {
  const data::Dataset dataset = dataset_of_patients();
  const test::TemporaryFolder folder;
  const fs::path file = folder / "split.csv", table = folder / "table.csv";
  write_file(file, "case,part\np00_scan0,training\np01_scan0,validation\n");
  EXPECT_EQ(make_split(dataset, {.file = file, .patient = "{patient}_*"}).validation.size(), 1u);
  std::string rows = "case,who\n";
  for (const data::CaseFiles& files : dataset.cases) rows += files.id + ",same\n";
  write_file(table, rows);
  EXPECT_THROW(make_split(dataset, {.file = file, .table = table, .patient = "who"}), Error);
  write_file(file, "case,part\np00_scan0,training\np00_scan1,validation\n");
  EXPECT_THROW(make_split(dataset, {.file = file, .patient = "{patient}_*"}), Error);
}

// The number of cases of each hospital differs by at most one between folds.
TEST(Split, ByAColumnSpreadsItsValuesEvenly) {
  const data::Dataset dataset = dataset_of(37);
  const test::TemporaryFolder folder;
  const fs::path table = folder / "table.csv";
  std::string rows = "case,hospital\n";
  const auto hospital = [](std::size_t i) { return std::string(i < 20 ? "a" : i < 33 ? "b" : "c"); };
  for (std::size_t i = 0; i < 37; ++i) rows += dataset.cases[i].id + "," + hospital(i) + "\n";
  write_file(table, rows);
  const auto count = [&](const std::vector<std::size_t>& part, const std::string& name) {
    return std::count_if(part.begin(), part.end(), [&](std::size_t i) { return hospital(i) == name; });
  };
  for (std::int64_t fold = 0; fold < 4; ++fold) {
    const Split split = make_split(
        dataset, {.seed = 5, .file = {}, .fold = fold, .folds = 4, .table = table, .stratify = "hospital"});
    EXPECT_EQ(count(split.validation, "a"), 5);
    EXPECT_NEAR(static_cast<double>(count(split.validation, "b")), 3.25, 0.8);
    EXPECT_EQ(count(split.validation, "c"), 1);
  }
  const Split split =
      make_split(dataset, {.validation = 0.3, .seed = 5, .file = {}, .table = table, .stratify = "hospital"});
  EXPECT_NEAR(static_cast<double>(count(split.validation, "a")), 6, 1);
  EXPECT_NEAR(static_cast<double>(count(split.validation, "b")), 3.9, 1);
  EXPECT_GE(count(split.validation, "c"), 1);
  write_file(table, "case,hospital\ncase_00,a\n");
  EXPECT_THROW(make_split(dataset, {.file = {}, .folds = 4, .table = table, .stratify = "hospital"}), Error);
  EXPECT_THROW(make_split(dataset, {.file = {}, .folds = 4, .table = table, .stratify = "age"}), Error);
}

// Case k has k labelled voxels: every fold gets small and large ones.
TEST(Split, ByForegroundSpreadsSmallAndLargeOnes) {
  const test::TemporaryFolder folder;
  data::Dataset dataset = dataset_of(20);
  for (std::size_t i = 0; i < 20; ++i) {
    data::LabelMap truth;
    truth.geometry.size = {20, 1, 1};
    truth.voxels.assign(20, 0);
    std::fill_n(truth.voxels.begin(), i, std::int16_t{1});
    dataset.cases[i].truth = folder / format("truth_{}.nii.gz", i);
    data::write_label_map(dataset.cases[i].truth, truth);
  }
  for (std::int64_t fold = 0; fold < 4; ++fold) {
    const Split split =
        make_split(dataset, {.seed = 5, .file = {}, .fold = fold, .folds = 4, .stratify = "foreground"});
    ASSERT_EQ(split.validation.size(), 5u);
    for (std::size_t fifth = 0; fifth < 5; ++fifth) EXPECT_EQ(split.validation[fifth] / 4, fifth);
  }
}

TEST(Split, NeedsTwoCasesWithTruth) {
  data::Dataset dataset = dataset_of(3);
  dataset.cases[0].truth.clear();
  EXPECT_EQ(make_split(dataset, {0.01, 1, {}, 0}).validation.size(), 1u);
  dataset.cases[1].truth.clear();
  EXPECT_THROW(make_split(dataset, {0.2, 1, {}, 0}), Error);
}

}  // namespace
}  // namespace voxswap::pipeline
