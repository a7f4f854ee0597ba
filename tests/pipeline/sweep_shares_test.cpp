// Tests dividing a machine into shares: the share of each, and that their sum does not exceed the machine.
#include "pipeline/sweep/sweep_shares.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "base/text.h"
#include "tests/environment.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

constexpr std::int64_t mib = 1 << 20;

std::vector<int> range(int first, int count) {
  std::vector<int> cores;
  for (int i = 0; i < count; ++i) cores.push_back(first + i);
  return cores;
}

TEST(MachineShares, AreDisjointAndTogetherTheWholeMachine) {
  for (const int cores : {2, 3, 7, 64}) {
    for (std::int64_t jobs = 2; jobs <= cores; ++jobs) {
      const Machine machine{1000 * mib, range(4, cores), {}};
      const auto shares = share_out(machine, jobs, false);
      ASSERT_EQ(shares.size(), static_cast<std::size_t>(jobs));
      std::set<int> all;
      std::size_t sum = 0;
      std::int64_t bytes = 0;
      for (const MachineShare& share : shares) {
        EXPECT_FALSE(share.cores.empty());
        all.insert(share.cores.begin(), share.cores.end());
        sum += share.cores.size();
        bytes += share.host_bytes;
      }
      EXPECT_EQ(all.size(), static_cast<std::size_t>(cores));
      EXPECT_EQ(sum, static_cast<std::size_t>(cores));
      EXPECT_LE(bytes, machine.host_bytes);
    }
  }
}

TEST(MachineShares, AreNoMoreThanThereAreCoresOrGpusAndOneAloneIsBoundToNothing) {
  const Machine machine{mib, range(0, 2), {{"0", {0}}, {"1", {1}}, {"2", {}}}};
  EXPECT_EQ(share_out(machine, 5, false).size(), 2u);
  EXPECT_EQ(share_out(machine, 5, true).size(), 3u);
  const auto one = share_out(machine, 1, true);
  EXPECT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].gpu, "");
  EXPECT_EQ(one[0].cores, machine.cores);
}

TEST(MachineShares, OfGpusAreOnTheirOwnNodesAndSpreadOverThem) {
  Machine machine{800 * mib, range(0, 16), {}};
  for (int gpu = 0; gpu < 4; ++gpu) machine.gpus.push_back({std::to_string(gpu), range(gpu < 2 ? 0 : 8, 8)});
  const auto all = share_out(machine, 4, true);
  EXPECT_EQ(all[1].gpu, "1");
  EXPECT_EQ(all[0].cores, range(0, 4));
  EXPECT_EQ(all[1].cores, range(4, 4));
  EXPECT_EQ(all[3].cores, range(12, 4));
  EXPECT_EQ(all[3].host_bytes, 200 * mib);
  const auto two = share_out(machine, 2, true);
  EXPECT_EQ(two[1].gpu, "2");
  EXPECT_EQ(two[1].cores, range(8, 8));
}

TEST(MachineShares, SettleWhatTheExperimentLeavesOpenAndKeepWhatItSays) {
  const MachineShare share{100 * mib, {0}, ""};
  MemoryOptions open;
  EXPECT_EQ(claimed_bytes(within_share(open, share, false), false), 100 * mib);
  EXPECT_EQ(*within_share(open, share, true).host_bytes, 100 * mib);
  MemoryOptions budget;
  budget.budget_bytes = 30 * mib;
  EXPECT_EQ(*within_share(budget, share, false).host_bytes, 70 * mib);
  budget.budget_bytes = 300 * mib;  // more than its share: it must wait for the others
  EXPECT_EQ(claimed_bytes(within_share(budget, share, false), false), 300 * mib);
  MemoryOptions disk;
  disk.disk_bytes = 500 * mib;
  EXPECT_EQ(claimed_bytes(within_share(disk, share, false), false), 100 * mib);
}

// Two sockets whose cores the firmware numbers alternately, as on many servers.
TEST(MachineShares, AreOfOneNodeWhereTheyCanBe) {
  const test::TemporaryFolder folder;
  const fs::path nodes = folder.path() / "sys/devices/system/node";
  for (const auto& [node, cores] : {std::pair("node0", "0,2,4,6\n"), std::pair("node1", "1,3,5,7\n")}) {
    fs::create_directories(nodes / node);
    write_file(nodes / node / "cpulist", cores);
  }
  const Machine machine{800 * mib, by_node(range(0, 8), folder.path()), {}};
  const auto shares = share_out(machine, 2, false);
  EXPECT_EQ(core_text(shares[0].cores), "0,2,4,6");
  EXPECT_EQ(core_text(shares[1].cores), "1,3,5,7");
  EXPECT_EQ(by_node({3, 1, 2}, folder.path() / "none"), (std::vector{3, 1, 2}));  // unknown topology
}

TEST(MachineShares, OfRanksAreDisjointUnlessTheyAreMoreThanTheCores) {
  const Machine machine{mib, range(4, 8), {}};
  EXPECT_EQ(core_text(cores_of_rank(machine, 0, 3)), "4-5");
  EXPECT_EQ(core_text(cores_of_rank(machine, 1, 3)), "6-8");
  EXPECT_EQ(core_text(cores_of_rank(machine, 2, 3)), "9-11");
  EXPECT_EQ(core_text(cores_of_rank(machine, 0, 9)), "");
  EXPECT_EQ(core_text({8, 1, 0, 3}), "0-1,3,8");
}

// A file system with four GPUs, two of them visible in the container.
TEST(MachineShares, FindTheGpusThatMayBeUsedAndTheirNodes) {
  const test::TemporaryFolder folder;
  const fs::path root = folder.path();
  for (int gpu = 0; gpu < 4; ++gpu) {
    const std::string id = format("0000:0{}:00.0", gpu + 1);
    fs::create_directories(root / "proc/driver/nvidia/gpus" / id);
    fs::create_directories(root / "sys/bus/pci/devices" / id);
    write_file(root / "proc/driver/nvidia/gpus" / id / "information",
               format("Model: \t\t V100\nDevice Minor: \t {}\n", 3 - gpu));
    write_file(root / "sys/bus/pci/devices" / id / "local_cpulist", gpu < 2 ? "0-3,16\n" : "4-7\n");
  }
  fs::create_directories(root / "dev");
  for (const char* minor : {"dev/nvidia0", "dev/nvidia2"}) write_file(root / minor, "");  // buses 4 and 2
  write_file(root / "proc/meminfo", "MemAvailable: 10485760 kB\n");
  test::Environment environment;
  environment.set("CUDA_VISIBLE_DEVICES", std::nullopt);
  const Machine machine = this_machine(root);
  EXPECT_EQ(machine.host_bytes, 9 * std::int64_t{1024} * mib);  // 10 GiB less a tenth
  ASSERT_EQ(machine.gpus.size(), 2u);
  EXPECT_EQ(machine.gpus[0].id, "0");
  EXPECT_EQ(machine.gpus[0].cores, (std::vector<int>{0, 1, 2, 3, 16}));
  EXPECT_EQ(machine.gpus[1].cores, range(4, 4));
  environment.set("CUDA_VISIBLE_DEVICES", "1,GPU-5f,-1,0");
  const Machine left = this_machine(root);
  ASSERT_EQ(left.gpus.size(), 2u);
  EXPECT_EQ(left.gpus[0].cores, range(4, 4));
  EXPECT_EQ(left.gpus[1].id, "GPU-5f");
}

}  // namespace
}  // namespace voxswap::pipeline
