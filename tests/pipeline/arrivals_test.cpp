// Tests which scans in a watched folder count as complete, with a clock of the test.
#include "pipeline/predict/arrivals.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

using namespace std::chrono_literals;

class ArrivalsIn : public testing::Test {
 protected:
  // Every file NAME.nii.gz is a case, and every folder of slices.
  static data::Dataset list(const fs::path& folder) {
    data::Dataset dataset;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".")) continue;
      data::CaseFiles files;
      files.id = name.substr(0, name.find('.'));
      files.channels = {entry.path()};
      dataset.cases.push_back(files);
    }
    if (dataset.cases.empty()) fail(Exit::bad_data, "no case");
    return dataset;
  }

  void write(const std::string& name, const std::string& text) const {
    write_file(folder_.path() / name, text);
  }

  std::vector<std::string> at(std::chrono::seconds time) {
    std::vector<std::string> ids;
    for (const data::CaseFiles& files : arrivals_.take(Arrivals::Clock::time_point(time)).cases)
      ids.push_back(files.id);
    return ids;
  }

  using Ids = std::vector<std::string>;
  const test::TemporaryFolder folder_;
  Arrivals arrivals_{folder_.path(), 10s, list};
};

TEST_F(ArrivalsIn, AreCompleteWhenTheirFilesNoLongerChange) {
  EXPECT_EQ(at(0s), Ids());
  write("a.nii.gz", "1");
  EXPECT_EQ(at(100s), Ids());
  EXPECT_EQ(at(109s), Ids());
  write("a.nii.gz", "12");
  EXPECT_EQ(at(111s), Ids());
  EXPECT_EQ(at(120s), Ids());
  EXPECT_EQ(at(121s), Ids{"a"});
  EXPECT_EQ(at(200s), Ids());
}

TEST_F(ArrivalsIn, AreReturnedOldestFirstAndDoNotWaitForOneAnother) {
  write("z.nii.gz", "1");
  at(0s);
  write("a.nii.gz", "1");
  at(5s);
  write("b.nii.gz", "1");
  EXPECT_EQ(at(14s), Ids{"z"});
  EXPECT_EQ(at(30s), (Ids{"a", "b"}));
}

TEST_F(ArrivalsIn, AreReturnedAgainWhenTheyChangedOrCameBack) {
  write("a.nii.gz", "1");
  at(0s);
  EXPECT_EQ(at(10s), Ids{"a"});
  write("a.nii.gz", "other");
  at(20s);
  EXPECT_EQ(at(30s), Ids{"a"});
  fs::remove(folder_.path() / "a.nii.gz");
  EXPECT_EQ(at(40s), Ids());
  write("a.nii.gz", "other");
  at(50s);
  EXPECT_EQ(at(60s), Ids{"a"});
}

TEST_F(ArrivalsIn, MayBeFoldersOfSlices) {
  fs::create_directory(folder_.path() / "series");
  write("series/1.dcm", "1");
  at(0s);
  write("series/2.dcm", "1");
  EXPECT_EQ(at(9s), Ids());
  EXPECT_EQ(at(18s), Ids());
  EXPECT_EQ(at(19s), Ids{"series"});
}

TEST_F(ArrivalsIn, DoNotWaitForHiddenFilesOfCopiesInProgress) {
  write("a.nii.gz", "1");
  at(0s);
  write(".b.nii.gz.Xa1", "1");
  EXPECT_EQ(at(10s), Ids{"a"});
}

TEST(NewerOutput, IsNotOlderThanAnyFileOfItsCase) {
  const test::TemporaryFolder folder;
  data::CaseFiles files;
  files.channels = {folder.path() / "a_0000.nii.gz", folder.path() / "a_0001.nii.gz"};
  const fs::path output = folder.path() / "label_map.nii.gz";
  for (const fs::path& channel : files.channels) write_file(channel, "1");
  EXPECT_FALSE(is_newer(output, files));
  write_file(output, "1");
  const std::time_t now = fs::last_write_time(output);
  EXPECT_TRUE(is_newer(output, files));
  fs::last_write_time(files.channels[1], now + 5);
  EXPECT_FALSE(is_newer(output, files));
}

TEST(NewerOutput, IsOlderThanAFileThatWasMovedThereLater) {
  const test::TemporaryFolder folder;
  data::CaseFiles files;
  files.channels = {folder.path() / "a.nii.gz"};
  const fs::path output = folder.path() / "label_map.nii.gz", other = folder.path() / "other.nii.gz";
  write_file(other, "2");
  write_file(files.channels[0], "1");
  write_file(output, "1");
  fs::last_write_time(output, fs::last_write_time(output) + 2);  // not in the same tick of the clock
  EXPECT_TRUE(is_newer(output, files));
  fs::last_write_time(output, fs::last_write_time(output) - 4);
  fs::last_write_time(other, fs::last_write_time(output) - 100);
  fs::rename(other, files.channels[0]);
  EXPECT_FALSE(is_newer(output, files));
}

}  // namespace
}  // namespace voxswap::pipeline
