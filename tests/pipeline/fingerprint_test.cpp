// Tests the fingerprint of a data set against the content of its files.
#include "pipeline/cases/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/phantoms/phantom.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class FingerprintOfPhantoms : public test::InAFolder {
 protected:
  FingerprintOfPhantoms() {
    data::write_phantoms({.out = folder_ / "data", .cases = 3, .size = {16, 20, 24}, .seed = 3});
    options_.root = folder_ / "data";
  }

  fs::path file(int number, const std::string& what) const {
    const std::string id = format("BraTS2021_{:05}", number);
    return folder_ / "data" / id / format("{}_{}.nii.gz", id, what);
  }

  data::DatasetOptions options_;
};

TEST_F(FingerprintOfPhantoms, HasTheShapeTheSpacingAndTheAxesOfEveryCase) {
  const Fingerprint fingerprint = take_fingerprint(options_);
  ASSERT_EQ(fingerprint.cases.size(), 3u);
  EXPECT_EQ(fingerprint.dataset.cases.size(), 3u);
  EXPECT_TRUE(fingerprint.unreadable.empty());
  EXPECT_EQ(fingerprint.median_size(), (Size3{16, 20, 24}));
  EXPECT_NEAR(fingerprint.median_spacing()[0], 240.0 / 16, 1e-4);
  EXPECT_EQ(fingerprint.cases[0].axes.size(), 3u);
  EXPECT_GT(fingerprint.cropped_away(), 0.1);
  EXPECT_LT(fingerprint.median_foreground()[0], 16);
}

TEST_F(FingerprintOfPhantoms, CountsVoxelsAndComponentsOfEveryLabel) {
  data::LabelMap truth = data::read_label_map(file(1, "seg"));
  std::fill(truth.voxels.begin(), truth.voxels.end(), 0);
  truth.at(1, 1, 1) = truth.at(2, 2, 2) = truth.at(9, 9, 9) = 2;  // the first two share a corner
  truth.at(5, 5, 5) = 1;
  data::write_label_map(file(1, "seg"), truth);
  const Fingerprint fingerprint = take_fingerprint(options_);
  const std::map<int, LabelExtent>& labels = fingerprint.cases[1].labels;
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels.at(2).voxels, 3);
  EXPECT_EQ(labels.at(2).components, 2);
  EXPECT_EQ(labels.at(1).components, 1);
}

TEST_F(FingerprintOfPhantoms, DescribesIntensitiesOfTheForeground) {
  data::Image image = data::read_image(file(1, "t2"), -1);
  std::fill(image.voxels.begin(), image.voxels.end(), -5.f);  // the corners hold background
  for (std::size_t i = 3000; i < 3101; ++i) image.voxels[i] = static_cast<float>(i - 3000);
  data::write_image(file(1, "t2"), image);
  const CaseFingerprint one = take_fingerprint(options_).cases[1];
  EXPECT_TRUE(one.background_in_corners);
  ASSERT_TRUE(one.channels[2].has_value());
  EXPECT_DOUBLE_EQ(one.channels[2]->mean, 50);
  EXPECT_NEAR(one.channels[2]->deviation, 29.1548, 1e-4);  // sqrt((101^2 - 1) / 12)
  EXPECT_DOUBLE_EQ(one.channels[2]->median(), 50);
  EXPECT_DOUBLE_EQ(one.channels[2]->highest(), 100);  // the nearest of 101 values
}

// Without named labels, all label maps are read: only the last of 21 contains a 7.
TEST_F(FingerprintOfPhantoms, FindsLabelsWithoutNamesInAllLabelMaps) {
  const data::Image image = data::read_image(file(1, "t2"), -1);
  data::LabelMap truth = data::read_label_map(file(1, "seg"));
  options_.root = folder_ / "unnamed";
  for (const char* folder : {"imagesTr", "labelsTr"}) fs::create_directories(options_.root / folder);
  for (int i = 1; i <= 21; ++i) {
    const std::string name = format("case_{:02}.nii.gz", i);
    if (i == 21) truth.at(3, 3, 3) = 7;
    data::write_image(options_.root / "imagesTr" / name, image);
    data::write_label_map(options_.root / "labelsTr" / name, truth);
  }
  const Fingerprint fingerprint = take_fingerprint(options_);
  EXPECT_TRUE(fingerprint.unreadable.empty());
  EXPECT_EQ(fingerprint.cases.size(), 21u);
  EXPECT_EQ(fingerprint.dataset.labels.back(), (data::Labels::value_type{"label_7", 7}));
}

TEST_F(FingerprintOfPhantoms, ListsCasesThatCannotBeReadAndKeepsTheOthers) {
  fs::resize_file(file(2, "t1"), 100);
  fs::remove(file(0, "flair"));
  const Fingerprint fingerprint = take_fingerprint(options_);
  ASSERT_EQ(fingerprint.cases.size(), 1u);
  EXPECT_EQ(fingerprint.cases[0].id, "BraTS2021_00001");
  ASSERT_EQ(fingerprint.unreadable.size(), 2u);
  EXPECT_TRUE(test::contains(fingerprint.unreadable[1].why, "BraTS2021_00002_t1"));
}

TEST_F(FingerprintOfPhantoms, HasNoIntensitiesOfAChannelThatIsMissing) {
  fs::remove(file(0, "flair"));
  options_.missing_modalities = true;
  const Fingerprint fingerprint = take_fingerprint(options_);
  ASSERT_EQ(fingerprint.cases.size(), 3u);
  EXPECT_FALSE(fingerprint.cases[0].channels[3].has_value());
  EXPECT_GT(fingerprint.median_intensities(3).deviation, 0);  // from the other two
}

TEST_F(FingerprintOfPhantoms, IsCachedUnderTheContentOfTheFiles) {
  const fs::path cache = folder_ / "cache";
  const auto texts = [&] {
    const Fingerprint fingerprint = take_fingerprint(options_, cache);
    std::vector<std::string> result;
    for (const CaseFingerprint& one : fingerprint.cases)
      result.push_back(to_json(one, fingerprint.dataset.modalities).dump());
    return result;
  };
  const auto files = [&] {
    std::vector<fs::path> result;
    for (const auto& entry : fs::directory_iterator(cache)) result.push_back(entry.path());
    return result;
  };
  const std::vector<std::string> first = texts();
  EXPECT_EQ(files().size(), 3u);
  EXPECT_EQ(texts(), first);

  // The cache entry is used unless it is damaged.
  const auto of_case_1 = [&] {
    for (const fs::path& path : files())
      if (test::contains(read_file(path), "BraTS2021_00001")) return path;
    return fs::path();
  };
  Json changed = Json::parse(read_file(of_case_1()));
  changed["axes"] = "XYZ";
  write_file(of_case_1(), changed.dump());
  EXPECT_TRUE(test::contains(texts()[1], "XYZ"));
  write_file(of_case_1(), "{\"case\": \"BraTS2021_00001\"}");
  EXPECT_EQ(texts(), first);

  data::LabelMap truth = data::read_label_map(file(2, "seg"));
  std::fill(truth.voxels.begin(), truth.voxels.end(), 0);
  data::write_label_map(file(2, "seg"), truth);
  EXPECT_NE(texts()[2], first[2]);
  EXPECT_EQ(texts()[0], first[0]);
  EXPECT_EQ(files().size(), 4u);
}

}  // namespace
}  // namespace voxswap::pipeline
