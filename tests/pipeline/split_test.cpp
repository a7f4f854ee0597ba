#include "pipeline/cases/split.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
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
  const Split split = make_split(dataset, {0.2, 7, {}, 0}), again = make_split(dataset, {0.2, 7, {}, 0});
  EXPECT_EQ(split.validation, again.validation);
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

// As nnU-Net writes splits_final.json.
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
    try {
      make_split(dataset_of(3), options);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::bad_data) << text;
    }
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
