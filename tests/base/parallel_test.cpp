// Work items on several threads: each is done once, and errors are reported.
#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "tests/folder.h"

namespace voxswap {
namespace {

TEST(ParallelFor, RunsEveryTaskOnceForAnyNumberOfThreads) {
  for (unsigned threads : {0U, 1U, 3U, 50U}) {
    std::vector<std::atomic<int>> done(20);
    parallel_for(
        done.size(), [&](std::size_t i) { ++done[i]; }, threads);
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
  parallel_for(0, [](std::size_t) { FAIL() << "there is nothing to do"; });
}

#ifdef __x86_64__
TEST(Subnormals, CountAsZeroOnAThreadThatSaysSoAndThoseThatItStarts) {
  volatile float smallest = 1.2e-38F;
  float here = 0, below = 0;
  std::thread([&] {
    take_subnormals_for_zero();
    here = smallest * 0.5F;
    std::thread([&] { below = smallest * 0.5F; }).join();
  }).join();
  EXPECT_EQ(here, 0);
  EXPECT_EQ(below, 0);
  EXPECT_GT(smallest * 0.5F, 0);
}
#endif

TEST(ParallelFor, ThrowsTheErrorOfTheFirstFailedTaskAndStartsNoneAfterIt) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> begun{0};
    try {
      parallel_for(
          1000,
          [&](std::size_t i) {
            ++begun;
            if (i >= 3) throw std::runtime_error(std::to_string(i));
          },
          4);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
    EXPECT_LE(begun, 8);
  }
}

TEST(UsableCores, AreThoseThatTheThreadIsBoundTo) {
  unsigned found = 0;
  std::thread bound([&] {  // a separate thread, so that the rest of the program is not bound
    cpu_set_t mine, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    int core = 0;
    while (!CPU_ISSET(core, &mine)) ++core;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    found = usable_core_count();
  });
  bound.join();
  EXPECT_EQ(found, 1u);
}

TEST(CoreQuota, IsTheSmallestOfTheCgroupAndItsAncestorsRoundedUp) {
  const test::TemporaryFolder root;
  const auto put = [&](const std::string& path, const std::string& text) {
    fs::create_directories((root.path() / path).parent_path());
    write_file(root.path() / path, text);
  };
  EXPECT_EQ(core_quota(root.path()), std::nullopt);
  put("proc/self/cgroup", "0::/jobs/mine\n");
  put("sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
  EXPECT_EQ(core_quota(root.path()), std::nullopt);
  put("sys/fs/cgroup/jobs/mine/cpu.max", "350000 100000\n");
  EXPECT_EQ(core_quota(root.path()), 4U);
  put("sys/fs/cgroup/jobs/cpu.max", "50000 100000\n");
  EXPECT_EQ(core_quota(root.path()), 1U);
}

}  // namespace
}  // namespace voxswap
