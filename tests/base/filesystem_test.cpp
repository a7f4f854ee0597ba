// What the house relies on in Boost.Filesystem where it differs from std::filesystem, and what makes up for
// it.
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "tests/folder.h"

namespace voxswap {
namespace {

TEST(FileSystem, SeesAbsolutePathsAsTheyStand) {
  EXPECT_EQ(seen_from("/study", "scans/a.nii"), fs::path("/study/scans/a.nii"));
  EXPECT_EQ(seen_from("/study", "/scans/a.nii"), fs::path("/scans/a.nii"));
  EXPECT_EQ(seen_from("", "a.nii"), fs::path("a.nii"));
}

TEST(FileSystem, KnowsOnePathHoweverItIsSpelt) {
  for (const char* path : {"runs/a", "runs/a/", "runs//a", "runs/./a/.", "runs/b/../a", "./runs/a"})
    EXPECT_EQ(plain(path), fs::path("runs/a")) << path;
  EXPECT_EQ(plain("/"), fs::path("/"));
  EXPECT_EQ(plain("."), fs::path("."));
  EXPECT_EQ(plain("./"), fs::path("."));
  EXPECT_EQ(plain("../a/"), fs::path("../a"));
  EXPECT_EQ(plain("a/../../b"), fs::path("../b"));
  EXPECT_EQ(plain("/../a"), fs::path("/a"));
  EXPECT_EQ(plain("a/.."), fs::path("."));
  EXPECT_EQ(plain(""), fs::path());
  EXPECT_EQ(plain("/runs/a/").filename(), fs::path("a"));
}

TEST(FileSystem, MakesFoldersWhoseNamesEndInASeparator) {
  const test::TemporaryFolder own;
  const fs::path folder = own.path(), inner = folder / "a" / "b" / "";
  fs::create_directories(inner);
  EXPECT_TRUE(fs::is_directory(folder / "a/b"));
  error_code error;
  EXPECT_EQ(plain(fs::weakly_canonical(inner, error)), fs::canonical(folder / "a/b"));
  EXPECT_EQ(plain(fs::weakly_canonical(folder / "missing" / "", error)), fs::canonical(folder) / "missing");
  EXPECT_FALSE(fs::exists(folder / "missing", error));
}

}  // namespace
}  // namespace voxswap
