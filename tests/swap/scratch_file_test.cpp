// The scratch file: what is written comes back, nothing is left in the folder, and a full disk says so.
#include "swap/execute/scratch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "swap/plan/plan.h"
#include "tests/folder.h"
#include "tests/swap/disk.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t block = disk_block;

struct Blocks {  // at a block's boundary
  explicit Blocks(std::int64_t count)
      : bytes(count * block),
        data(static_cast<std::byte*>(std::aligned_alloc(block, static_cast<std::size_t>(bytes))), std::free) {
    std::memset(data.get(), 0, static_cast<std::size_t>(bytes));
  }
  std::int64_t bytes;
  std::unique_ptr<std::byte, void (*)(void*)> data;
};

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(Exit::done, "");
}

// A disk, and memory where the system has such a folder: file systems differ in what access they take.
TEST(ScratchFile, GivesBackWhatWasWrittenOnAnyFileSystem) {
  for (const fs::path& place : {fs::path(testing::TempDir()), fs::path("/dev/shm")}) {
    if (!fs::is_directory(place)) continue;
    ScratchFile file(place, 8 * block);
    Blocks out(3), in(8);
    for (std::int64_t i = 0; i < out.bytes; ++i) out.data.get()[i] = static_cast<std::byte>(i * 7 + i / 256);
    file.write(2 * block, out.data.get(), out.bytes);
    file.read(0, in.data.get(), in.bytes);
    EXPECT_EQ(std::memcmp(in.data.get() + 2 * block, out.data.get(), static_cast<std::size_t>(out.bytes)), 0);
    file.read(4 * block, in.data.get(), block);
    EXPECT_EQ(std::memcmp(in.data.get(), out.data.get() + 2 * block, block), 0);
  }
}

TEST(ScratchFile, IsGoneFromTheFolderAsSoonAsItIsOpen) {
  const test::TemporaryFolder folder;
  const ScratchFile file(folder.path(), 100 * block);
  EXPECT_EQ(file.bytes(), 100 * block);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ScratchFile, TakesWholeBlocks) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(ScratchFile(folder.path(), 1).bytes(), block);
  EXPECT_EQ(ScratchFile(folder.path(), block).bytes(), block);
  EXPECT_EQ(ScratchFile(folder.path(), block + 1).bytes(), 2 * block);
  EXPECT_EQ(ScratchFile(folder.path(), 0).bytes(), 0);
}

TEST(ScratchFile, BeyondTheDiskDoesNotFitAndSaysWhatIsNeededAndWhatIsFree) {
  const test::TemporaryFolder folder;
  const Error error = error_of([&] { ScratchFile(folder.path(), std::int64_t{1} << 50); });
  EXPECT_EQ(error.exit(), Exit::does_not_fit);
  for (const std::string& part : {folder.path().string(), std::string("1024.00 TiB"), std::string("are free"),
                                  std::string("memory.disk")})
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << part << " is not in: " << error.what();
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ScratchFile, ALimitOnTheSizeOfFilesCountsAsAFullDisk) {
  const test::TemporaryFolder folder;
  const test::FileSizeLimit limit(16 * block);
  EXPECT_NO_THROW(ScratchFile(folder.path(), 16 * block));
  EXPECT_EQ(error_of([&] { ScratchFile(folder.path(), 17 * block); }).exit(), Exit::does_not_fit);
}

TEST(ScratchFile, AFolderThatIsNotThereIsToldWithTheReason) {
  const test::TemporaryFolder folder;
  const Error error = error_of([&] { ScratchFile(folder.path() / "missing", block); });
  EXPECT_EQ(error.exit(), Exit::failed);
  EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
}

TEST(ScratchFile, ADiskThatIsFullAfterAllStopsTheWriteAndSaysSo) {
  const test::TemporaryFolder folder;
  ScratchFile file(folder.path(), 4 * block);
  Blocks blocks(4);
  const test::FileSizeLimit limit(2 * block);
  EXPECT_NO_THROW(file.write(0, blocks.data.get(), 2 * block));
  const Error error =
      error_of([&] { file.write(block, blocks.data.get(), 2 * block); });  // half of it is taken
  EXPECT_EQ(error.exit(), Exit::does_not_fit);
  for (const std::string& part : {folder.path().string(), std::string("writing 8.00 KiB at 4096"),
                                  std::string(std::strerror(EFBIG)), std::string("Free some space")})
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << part << " is not in: " << error.what();
}

TEST(ScratchFile, RefusesAccessOutsideItselfOrOffItsBlocks) {
  const test::TemporaryFolder folder;
  ScratchFile file(folder.path(), 4 * block);
  Blocks blocks(8);
  std::byte* data = blocks.data.get();
  for (const auto& access : std::vector<std::function<void()>>{
           [&] { file.write(block, data, 4 * block); }, [&] { file.read(-block, data, block); },
           [&] { file.read(512, data, block); }, [&] { file.write(0, data, 100); },
           [&] { file.read(0, data + 64, block); }})
    EXPECT_EQ(error_of(access).exit(), Exit::failed);
  EXPECT_NO_THROW(file.write(4 * block, data, 0));
}

TEST(ScratchFile, IsWrittenAndReadByTwoThreadsAtOnce) {
  const test::TemporaryFolder folder;
  constexpr std::int64_t count = 64;
  ScratchFile file(folder.path(), 2 * count * block);
  Blocks first(count), second(count), back(count);
  std::memset(first.data.get(), 1, static_cast<std::size_t>(first.bytes));
  std::memset(second.data.get(), 2, static_cast<std::size_t>(second.bytes));
  file.write(0, first.data.get(), first.bytes);
  std::thread writer([&] {
    for (std::int64_t i = 0; i < count; ++i)
      file.write((count + i) * block, second.data.get() + i * block, block);
  });
  for (std::int64_t i = 0; i < count; ++i) file.read(i * block, back.data.get() + i * block, block);
  writer.join();
  EXPECT_EQ(std::memcmp(back.data.get(), first.data.get(), static_cast<std::size_t>(first.bytes)), 0);
  file.read(count * block, back.data.get(), back.bytes);
  EXPECT_EQ(std::memcmp(back.data.get(), second.data.get(), static_cast<std::size_t>(second.bytes)), 0);
}

}  // namespace
}  // namespace voxswap::swap
