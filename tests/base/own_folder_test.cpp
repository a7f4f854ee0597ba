// No command loses a file that somebody else put into a run's folder or edited there.
#include "base/own_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/folder.h"

namespace voxswap {
namespace {

class OwnFolders : public test::InAFolder {
 protected:
  void put(const std::string& name, const std::string& text) { fs::ofstream(folder_ / name) << text; }
  std::string at(const std::string& name) {
    return fs::exists(folder_ / name) ? read_file(folder_ / name) : "none";
  }
};

TEST_F(OwnFolders, ReplaceTheirOwnFilesAndKeepThoseOfOthersAndEditedOnes) {
  put("foreign.csv", "mine");
  {
    const OwnFolder own(folder_, false);
    for (const char* name : {"foreign.csv", "edited.csv", "own.csv"}) write_file(folder_ / name, "first");
    EXPECT_EQ(at("foreign.csv"), "first");
    EXPECT_EQ(at("foreign.csv.kept"), "mine");
  }
  put("edited.csv", "first, and a note");
  const OwnFolder own(folder_, true);  // as another process, which reads the record
  for (const char* name : {"foreign.csv", "edited.csv", "own.csv"}) write_file(folder_ / name, "second");
  EXPECT_EQ(at("edited.csv.kept"), "first, and a note");
  EXPECT_EQ(at("own.csv"), "second");
  EXPECT_FALSE(fs::exists(folder_ / "own.csv.kept"));
  EXPECT_FALSE(fs::exists(folder_ / "foreign.csv.kept2"));
  put("edited.csv", "another note");
  remove_own(folder_ / "edited.csv");
  remove_own(folder_ / "own.csv");
  EXPECT_EQ(at("edited.csv"), "none");
  EXPECT_EQ(at("edited.csv.kept2"), "another note");
  EXPECT_EQ(at("own.csv"), "none");
}

TEST_F(OwnFolders, KnowTheirFilesAfterACopyWithOtherTimes) {
  {
    const OwnFolder own(folder_, false);
    write_file(folder_ / "own.csv", "first");
  }
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "own.csv").c_str(), long_ago, 0), 0);
  const OwnFolder own(folder_, true);
  write_file(folder_ / "own.csv", "second");
  EXPECT_FALSE(fs::exists(folder_ / "own.csv.kept"));
}

TEST_F(OwnFolders, OfVersionsWithoutARecordAreKnownAsTheyAre) {
  fs::create_directories(folder_ / "predictions");
  for (const char* name : {"old.csv", "predictions/case.nii.gz"}) put(name, "old");
  {
    const OwnFolder own(folder_, true);
    write_file(folder_ / "old.csv", "new");
    EXPECT_FALSE(fs::exists(folder_ / "old.csv.kept"));
  }
  put("predictions/case.nii.gz", "edited");
  const OwnFolder own(folder_, true);
  write_file(folder_ / "predictions/case.nii.gz", "new");
  EXPECT_EQ(at("predictions/case.nii.gz.kept"), "edited");
}

// A link is not followed: its target stays.
TEST_F(OwnFolders, KeepLinksInPlaceOfTheirFiles) {
  const test::TemporaryFolder outside;
  const fs::path target = outside / "report.html";
  fs::ofstream(target) << "mine";
  fs::create_symlink(target, folder_ / "report.html");
  const OwnFolder own(folder_, false);
  write_file(folder_ / "report.html", "page");
  EXPECT_EQ(read_file(target), "mine");
  EXPECT_EQ(at("report.html"), "page");
  EXPECT_TRUE(fs::is_symlink(folder_ / "report.html.kept"));
}

TEST_F(OwnFolders, AreNotOtherFolders) {
  const test::TemporaryFolder other;
  const OwnFolder own(folder_, false);
  fs::ofstream(other / "a.csv") << "mine";
  write_file(other / "a.csv", "new");
  EXPECT_FALSE(fs::exists(other.path() / "a.csv.kept"));
  EXPECT_FALSE(fs::exists(folder_ / ".voxswap_written"));
}

}  // namespace
}  // namespace voxswap
