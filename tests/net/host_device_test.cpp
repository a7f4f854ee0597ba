// The CPU as a device: memory that fails in time, streams that keep order, events that order streams.
#include "net/backends/cpu/host_device.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "tests/expect.h"
#include "tests/folder.h"
#include "tests/net/function_kernel.h"

namespace voxswap::net {
namespace {

TEST(HostMemory, IsAlignedZeroedAndOfTheSizeAskedFor) {
  for (const std::int64_t bytes : {0LL, 1LL, 4096LL, 5LL << 20}) {
    const std::unique_ptr<Memory> memory = allocate_host(bytes);
    EXPECT_EQ(memory->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % 64, 0u);
    for (std::int64_t i = 0; i < bytes; i += 4096) ASSERT_EQ(memory->data()[i], std::byte{0});
    if (bytes > 0) memory->data()[bytes - 1] = std::byte{1};
  }
}

TEST(HostMemory, OfTheHostTierLiesAtPagesAndIsReallyTaken) {
  const std::int64_t bytes = (std::int64_t{3} << 20) + 100;
  const std::unique_ptr<Memory> memory = allocate_touched_host(bytes);
  EXPECT_EQ(memory->bytes(), bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % 4096, 0u);
  std::vector<unsigned char> resident(static_cast<std::size_t>(bytes + 4095) / 4096);
  ASSERT_EQ(mincore(memory->data(), static_cast<std::size_t>(bytes), resident.data()), 0);
  for (const unsigned char page : resident) ASSERT_EQ(page & 1, 1);
}

// Simulated proc/ and sys/ folders.
class FreeHostBytes : public test::InAFolder {
 protected:
  FreeHostBytes() { put("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:   1000 kB\nCached: 7 kB\n"); }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    fs::ofstream(folder_ / path) << text;
  }
};

TEST_F(FreeHostBytes, IsWhatTheKernelCallsAvailableWithoutCgroups) {
  EXPECT_EQ(free_host_bytes(folder_), 1000 * 1024);
}

TEST_F(FreeHostBytes, RespectsTheLimitOfTheCgroupAndCountsItsCacheAsFree) {
  put("proc/self/cgroup", "0::/job\n");
  put("sys/fs/cgroup/job/memory.max", "500000\n");
  put("sys/fs/cgroup/job/memory.current", "400000\n");
  put("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 50000\n");
  EXPECT_EQ(free_host_bytes(folder_), 500000 - (400000 - 50000));
}

TEST_F(FreeHostBytes, RespectsTheLimitsOfCgroupsAbove) {
  put("proc/self/cgroup", "0::/slice/job\n");
  put("sys/fs/cgroup/slice/job/memory.max", "max\n");
  put("sys/fs/cgroup/slice/job/memory.current", "400000\n");
  put("sys/fs/cgroup/slice/memory.max", "600000\n");
  put("sys/fs/cgroup/slice/memory.current", "590000\n");
  EXPECT_EQ(free_host_bytes(folder_), 10000);
}

TEST_F(FreeHostBytes, ReadsVersionOneCgroupsAndTheirNoLimit) {
  put("proc/self/cgroup", "5:cpu:/\n4:memory:/docker/abc\n");
  put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "70000\n");
  EXPECT_EQ(free_host_bytes(folder_), 1000 * 1024);
  put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "100000\n");
  put("sys/fs/cgroup/memory/docker/abc/memory.stat", "cache 9\ntotal_inactive_file 20000\n");
  EXPECT_EQ(free_host_bytes(folder_), 50000);
}

TEST_F(FreeHostBytes, IsNothingWhenTheCgroupIsOverItsLimit) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "1000\n");
  put("sys/fs/cgroup/memory.current", "2000\n");
  EXPECT_EQ(free_host_bytes(folder_), 0);
}

TEST_F(FreeHostBytes, AreWhatNobodyUsesWhereTheMachineSaysNothing) {
  fs::remove(folder_ / "proc/meminfo");
  const std::int64_t free = free_host_bytes(folder_);
  EXPECT_GT(free, 0);
  EXPECT_LT(free, sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
}

// --- Memory that is committed by touching it, on machines simulated by these files

class TouchedHostMemory : public FreeHostBytes {
 protected:
  static constexpr std::int64_t mebibyte = 1 << 20;
  void available(std::int64_t bytes) {  // renamed into place: a reader sees the old or the new file
    put("proc/new", "MemAvailable: " + std::to_string(bytes / 1024) + " kB\n");
    fs::rename(folder_ / "proc/new", folder_ / "proc/meminfo");
  }
  TakingHost unbelieving(double patience_seconds) const { return {false, patience_seconds, folder_}; }
  void expect_refusal(std::int64_t bytes, const TakingHost& how, const std::vector<std::string>& parts) {
    test::expect_failure([&] { allocate_touched_host(bytes, how); }, Exit::does_not_fit, parts);
  }
};

TEST_F(TouchedHostMemory, MayBeMoreThanTheEstimateWhereThatIsNotBelieved) {
  available(256 * mebibyte);  // constant, as on a machine that grows with use
  expect_refusal(257 * mebibyte, {true, 0, folder_}, {"257.00 MiB is needed", "256.00 MiB are free"});
  const auto memory = allocate_touched_host(257 * mebibyte, unbelieving(0));
  EXPECT_EQ(memory->bytes(), 257 * mebibyte);
  unsigned char resident = 0;
  ASSERT_EQ(mincore(memory->data() + 256 * mebibyte, 4096, &resident), 0);
  EXPECT_EQ(resident & 1, 1);
}

// In a separate process, limited by `ulimit -v`. The reported cause is lack of memory, even if something else
// failed meanwhile.
TEST_F(TouchedHostMemory, BeyondTheLimitOfTheAddressSpaceSaysSo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space that this test takes away";
#endif
  const auto limited = [&] {
    std::size_t pages = 0;
    fs::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<rlim_t>(getpagesize()) + 64 * mebibyte;
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    try {
      if (free_host_bytes() > 64 * mebibyte) _exit(98);
      allocate_touched_host(256 * mebibyte, unbelieving(0));
    } catch (const Error& error) {
      const bool right =
          test::contains(error.what(), "256.00 MiB cannot be reserved (Cannot allocate memory)");
      _exit(right ? static_cast<int>(error.exit()) : 97);
    }
    _exit(0);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(static_cast<int>(Exit::does_not_fit)), "");
}

TEST_F(TouchedHostMemory, WaitsForAMachineThatGrows) {
  available(0);
  std::thread machine([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    available(mebibyte);
  });
  EXPECT_EQ(allocate_touched_host(mebibyte, unbelieving(600))->bytes(), mebibyte);
  machine.join();
}

TEST_F(TouchedHostMemory, IsRefusedWhereTheMachineGivesNoMore) {
  available(mebibyte);
  expect_refusal(2 * mebibyte, unbelieving(0.01),
                 {"2.00 MiB is needed", "provided 0 B", "then 1.00 MiB were free", "Lower memory.host"});
}

TEST_F(TouchedHostMemory, IsNeverMoreThanTheCgroupLeaves) {
  available(1000 * mebibyte);
  put("proc/self/cgroup", "0::/job\n");
  put("sys/fs/cgroup/job/memory.max", "3145728\n");
  put("sys/fs/cgroup/job/memory.current", "1048576\n");
  expect_refusal(3 * mebibyte, unbelieving(600), {"provided 0 B", "2.00 MiB are free", "cgroup's limit"});
  EXPECT_EQ(allocate_touched_host(2 * mebibyte, unbelieving(600))->bytes(), 2 * mebibyte);
}

TEST(HostStream, RunsMoreCommandsThanItsRingHoldsInOrder) {
  constexpr int count = 5000;
  std::vector<int> seen;
  std::vector<std::unique_ptr<FunctionKernel>> kernels;
  for (int i = 0; i < count; ++i)
    kernels.push_back(std::make_unique<FunctionKernel>([&seen, i] { seen.push_back(i); }));
  const std::unique_ptr<Stream> stream = make_host_stream();
  for (const auto& kernel : kernels) stream->launch(*kernel, {});
  stream->synchronize();
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(HostStream, StreamsRunAtTheSameTime) {
  // Each kernel waits until the other has started: with a single thread this would never end.
  std::atomic<int> started = 0;
  const auto meet = [&] {
    ++started;
    while (started < 2) std::this_thread::yield();
  };
  FunctionKernel a(meet), b(meet);
  const std::unique_ptr<Stream> first = make_host_stream(), second = make_host_stream();
  first->launch(a, {});
  second->launch(b, {});
  first->synchronize();
  second->synchronize();
  EXPECT_EQ(started, 2);
}

TEST(HostStream, FinishesWhatWasEnqueuedBeforeItEnds) {
  int ran = 0;
  FunctionKernel counts([&] {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    ++ran;
  });
  {
    const std::unique_ptr<Stream> stream = make_host_stream();
    for (int i = 0; i < 100; ++i) stream->launch(counts, {});
  }
  EXPECT_EQ(ran, 100);
}

}  // namespace
}  // namespace voxswap::net
