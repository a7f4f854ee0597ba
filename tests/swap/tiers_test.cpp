// The memories: the scratch file returns what was written, leaves nothing in its folder, and reports a full
// disk. Arena and pool have the size that plans need and fit into the machine.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "swap/execute/executor.h"
#include "swap/execute/scratch_file.h"
#include "tests/expect.h"
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

using ScratchFiles = test::InAFolder;

// A disk, and a folder in memory if the system has one: file systems differ in the access they support.
TEST_F(ScratchFiles, GiveBackWhatWasWrittenOnAnyFileSystem) {
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

TEST_F(ScratchFiles, ThatAreMappedAreZeroAtFirstAndKeepTheirValuesWhenTheirMemoryIsTakenBack) {
  ScratchFile file(folder_, 8 * block);
  std::byte* const values = file.map();
  EXPECT_EQ(file.map(), values);
  EXPECT_EQ(std::count(values, values + 8 * block, std::byte{0}), 8 * block);
  for (std::int64_t i = 0; i < 8 * block; i += 7) values[i] = static_cast<std::byte>(i % 251);
  for (int turn = 0; turn < 2; ++turn) {
    file.release();
    for (std::int64_t i = 0; i < 8 * block; i += 7) ASSERT_EQ(values[i], static_cast<std::byte>(i % 251));
  }
}

TEST_F(ScratchFiles, AreGoneFromTheFolderAsSoonAsTheyAreOpenAndTakeWholeBlocks) {
  const ScratchFile file(folder_, 100 * block);
  EXPECT_EQ(file.bytes(), 100 * block);
  EXPECT_TRUE(fs::is_empty(folder_));
  for (const auto& [asked, taken] :
       {std::pair{std::int64_t{1}, block}, {block, block}, {block + 1, 2 * block}, {0, 0}})
    EXPECT_EQ(ScratchFile(folder_, asked).bytes(), taken);
}

TEST_F(ScratchFiles, ThatTheDiskOrALimitOnFilesHasNoRoomForDoNotFit) {
  test::expect_failure([&] { ScratchFile(folder_, std::int64_t{1} << 50); }, Exit::does_not_fit,
                       {folder_.string(), "1024.00 TiB", "are free", "memory.disk"});
  EXPECT_TRUE(fs::is_empty(folder_));
  const test::FileSizeLimit limit(16 * block);
  EXPECT_NO_THROW(ScratchFile(folder_, 16 * block));
  test::expect_failure([&] { ScratchFile(folder_, 17 * block); }, Exit::does_not_fit);
}

TEST_F(ScratchFiles, WithoutAFolderTellTheReason) {
  test::expect_failure([&] { ScratchFile(folder_ / "missing", block); }, Exit::failed, {"No such file"});
}

TEST_F(ScratchFiles, OnADiskThatIsFullAfterAllStopTheWriteAndSaySo) {
  ScratchFile file(folder_, 4 * block);
  Blocks blocks(4);
  const test::FileSizeLimit limit(2 * block);
  EXPECT_NO_THROW(file.write(0, blocks.data.get(), 2 * block));
  test::expect_failure(
      [&] { file.write(block, blocks.data.get(), 2 * block); },  // half of it is taken
      Exit::does_not_fit,
      {folder_.string(), "writing 8.00 KiB at 4096", std::strerror(EFBIG), "Free some space"});
}

TEST_F(ScratchFiles, RefuseAccessOutsideThemselvesOrOffTheirBlocks) {
  ScratchFile file(folder_, 4 * block);
  Blocks blocks(8);
  std::byte* data = blocks.data.get();
  for (const auto& access : std::vector<std::function<void()>>{
           [&] { file.write(block, data, 4 * block); }, [&] { file.read(-block, data, block); },
           [&] { file.read(512, data, block); }, [&] { file.write(0, data, 100); },
           [&] { file.read(0, data + 64, block); }})
    test::expect_failure(access, Exit::failed);
  EXPECT_NO_THROW(file.write(4 * block, data, 0));
}

TEST_F(ScratchFiles, AreWrittenAndReadByTwoThreadsAtOnce) {
  constexpr std::int64_t count = 64;
  ScratchFile file(folder_, 2 * count * block);
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

// --- Allocation for plans

// A machine with little memory.
struct PoorBackend : net::HostBackend {
  std::int64_t device = 0, host = 0;
  bool on_host = true;
  std::string name() const override { return "poor"; }
  std::string description() const override { return ""; }
  bool supports(net::ElementType) const override { return true; }
  net::ElementType fastest_type() const override { return net::ElementType::f32; }
  std::unique_ptr<net::Kernel> compile(const net::Graph&, const net::Node&) override { return nullptr; }
  std::int64_t free_bytes() const override { return device; }
  std::int64_t free_host_bytes() const override { return host; }
  bool computes_on_host() const override { return on_host; }
};

TEST(Tiers, AreAsLargeAsTheLargestPlanNeeds) {
  const test::TemporaryFolder folder;
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  Plan first, second;
  first.peak_bytes = 128;
  second.peak_bytes = 64;
  const Tiers only_device = allocate_tiers(*backend, {&first, &second, nullptr}, folder.path());
  EXPECT_EQ(only_device.arena->bytes(), 128);
  EXPECT_EQ(only_device.host, nullptr);
  EXPECT_EQ(only_device.disk, nullptr);
  second.host_bytes = second.disk_bytes = 5000;
  const Tiers all = allocate_tiers(*backend, {&first, &second, nullptr}, folder.path());
  EXPECT_EQ(all.host->bytes(), 8192);
  EXPECT_EQ(all.disk->bytes(), 8192);
}

TEST(Tiers, TakeTheHostMemoryThatWasAskedForWhateverTheEstimateSays) {
  PoorBackend backend;
  backend.on_host = false;
  backend.device = 100 << 20;
  backend.host = 1 << 20;  // as reported by the system
  Plan plan;
  plan.peak_bytes = 1 << 20;
  plan.host_bytes = 2 << 20;
  test::expect_failure([&] { allocate_tiers(backend, {&plan}, ""); }, Exit::does_not_fit,
                       {"Set memory.host"});
  const Tiers tiers = allocate_tiers(backend, {&plan}, "", /*host_as_asked=*/true);
  EXPECT_EQ(tiers.host->bytes(), 2 << 20);
  backend.on_host = true;  // if the arena and the pool share the free memory
  backend.device = 2 << 20;
  EXPECT_THROW(allocate_tiers(backend, {&plan}, "", true), Error);
}

TEST(Tiers, HaveToFitTogetherOnAHostAndEachByItselfApartFromIt) {
  struct Row {
    bool on_host;
    std::int64_t device, host, arena, pool;  // MiB
    std::vector<std::string> says;           // empty: fits
  };
  for (const Row& row : std::vector<Row>{
           {true, 100, 100, 60, 0, {}},
           {true,
            100,
            100,
            60,
            70,
            {"arena of 60.00 MiB", "host pool of 70.00 MiB", "100.00 MiB are free", "Lower memory.host"}},
           {true, 100, 100, 60, 50, {"Lower memory.budget"}},
           {true, 100, 100, 101, 0, {"Lower memory.budget"}},
           {false, 10, 100, 10, 95, {}},
           {false, 10, 100, 10, 101, {"host memory"}},
           {false, 10, 100, 11, 101, {"device memory"}}}) {
    SCOPED_TRACE(format("an arena of {} and a pool of {} MiB", row.arena, row.pool));
    PoorBackend backend;
    backend.on_host = row.on_host;
    backend.device = row.device << 20;
    backend.host = row.host << 20;
    Plan plan;
    plan.peak_bytes = row.arena << 20;
    plan.host_bytes = row.pool << 20;
    const auto allocate = [&] { allocate_tiers(backend, {nullptr, &plan}, ""); };
    if (row.says.empty())
      EXPECT_NO_THROW(allocate());
    else
      test::expect_failure(allocate, Exit::does_not_fit, row.says);
  }
}

}  // namespace
}  // namespace voxswap::swap
