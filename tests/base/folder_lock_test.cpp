// One process at a time writes to a folder, and nothing of the lock is left.
#include "base/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"

namespace voxswap {
namespace {

class Locking : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  // What a second one is told; empty when it may.
  static std::string refusal(const fs::path& folder) {
    try {
      FolderLock second(folder);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::failed);
      return error.what();
    }
  }

  fs::path root_ = fs::path(testing::TempDir()) / ("voxswap_lock_" + std::to_string(::getpid()));
};

TEST_F(Locking, KeepsASecondOutUntilTheFirstIsDone) {
  write_file(root_ / "kept", "");
  {
    FolderLock first(root_);
    EXPECT_NE(refusal(root_).find(format("another voxswap (process {}) is at work there", ::getpid())),
              std::string::npos);
    EXPECT_NE(refusal(root_ / "."), "") << "by another name";
  }
  EXPECT_EQ(refusal(root_), "");
  EXPECT_FALSE(fs::exists(root_ / ".lock"));
  EXPECT_TRUE(fs::exists(root_ / "kept"));
}

TEST_F(Locking, MakesTheFolderAndRemovesItWhereNothingWasPutIntoIt) {
  const fs::path above = root_ / "runs", folder = above / "one";
  { FolderLock lock(folder); }
  EXPECT_FALSE(fs::exists(above));
  EXPECT_TRUE(fs::exists(root_));
  {
    FolderLock lock(folder);
    EXPECT_FALSE(holds_anything(folder)) << "the lock itself is nothing";
    write_file(folder / "result", "");
    EXPECT_TRUE(holds_anything(folder));
  }
  EXPECT_TRUE(fs::exists(folder / "result"));
}

TEST_F(Locking, EndsWithItsProcess) {
  const pid_t child = fork();
  if (child == 0) {
    new FolderLock(root_);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(root_ / ".lock"));
  EXPECT_EQ(refusal(root_), "");
}

}  // namespace
}  // namespace voxswap
