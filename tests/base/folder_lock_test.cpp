// Only one process at a time writes to a folder, and the lock leaves no files behind.
#include "base/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <iterator>

#include "base/error.h"
#include "base/file.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap {
namespace {

class Locking : public test::InAFolder {
 protected:
  // The message that a second process gets; empty if it gets the lock.
  static std::string refusal(const fs::path& folder) {
    return test::error_of([&] { FolderLock second(folder); }, Exit::failed);
  }
};

TEST_F(Locking, KeepsASecondOutUntilTheFirstIsDone) {
  write_file(folder_ / "kept", "");
  {
    FolderLock first(folder_);
    EXPECT_TRUE(test::contains(refusal(folder_),
                               format("another voxswap (process {}) is writing there", ::getpid())));
    EXPECT_NE(refusal(folder_ / "."), "") << "by another name";
  }
  EXPECT_EQ(refusal(folder_), "");
  EXPECT_FALSE(fs::exists(folder_ / ".lock"));
  EXPECT_TRUE(fs::exists(folder_ / "kept"));
}

TEST_F(Locking, MakesTheFolderAndRemovesItWhereNothingWasPutIntoIt) {
  const fs::path above = folder_ / "runs", folder = above / "one";
  { FolderLock lock(folder); }
  EXPECT_FALSE(fs::exists(above));
  EXPECT_TRUE(fs::exists(folder_));
  {
    FolderLock lock(folder);
    EXPECT_FALSE(holds_anything(folder)) << "the lock itself is nothing";
    write_file(folder / "result", "");
    EXPECT_TRUE(holds_anything(folder));
  }
  EXPECT_TRUE(fs::exists(folder / "result"));
}

TEST_F(Locking, PreventsThatARemovedFolderIsRecreated) {
  const fs::path folder = folder_ / "run";
  {
    FolderLock lock(folder);
    make_directories(folder / "checkpoints");
    fs::remove_all(folder);
    for (const fs::path& inner : {folder, folder / "checkpoints"})
      test::expect_failure([&] { make_directories(inner); }, Exit::failed,
                           {folder.string(), "was removed while voxswap wrote to it"});
  }
  EXPECT_FALSE(fs::exists(folder));
  make_directories(folder);
}

TEST_F(Locking, EndsWithItsProcess) {
  const pid_t child = fork();
  if (child == 0) {
    new FolderLock(folder_);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(folder_ / ".lock"));
  EXPECT_EQ(refusal(folder_), "");
}

TEST_F(Locking, FilledFoldersAreCompleteOrEmptyAlsoAfterAKill) {
  const fs::path folder = folder_ / "imported";
  const auto fill = [&](const std::function<void(const fs::path&)>& end) {
    FolderLock lock(folder);
    fill_folder(folder, [&](const fs::path& part) {
      make_directories(part / "checkpoints");
      write_file(part / "checkpoints/best", "weights");
      end(part);
    });
  };
  const pid_t child = fork();
  if (child == 0) fill([](const fs::path&) { raise(SIGKILL); });
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(fs::is_empty(folder));
  EXPECT_FALSE(holds_anything(folder));

  const auto stop = [](const fs::path& part) {
    fail(Exit::bad_data, "{}: broken", (part / "best").string());
  };
  test::expect_failure([&] { fill(stop); }, Exit::bad_data, {(folder / "best").string() + ": broken"});
  EXPECT_TRUE(fs::is_empty(folder)) << "without what the killed process left";

  fill([](const fs::path&) {});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  EXPECT_EQ(read_file(folder / "checkpoints/best"), "weights");
  test::expect_failure([&] { fill([](const fs::path&) {}); }, Exit::usage, {"is not empty"});
}

}  // namespace
}  // namespace voxswap
