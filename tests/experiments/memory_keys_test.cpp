// The keys of memory: tiers, links and the knobs of planners.
#include "base/file.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

TEST_F(Experiments, NameTheDeviceThatAGpuIsHere) {
  for (const char* name : {"gpu", "GPU", "gpu:0", "nvidia", "cuda1"})
    EXPECT_TRUE(contains(refusal("", {format("memory.device={}", name)}), "cuda for a GPU")) << name;
  EXPECT_EQ(load("", {"memory.device=cuda:1"}).memory.device, "cuda:1");
  EXPECT_TRUE(contains(refusal("", {"memory.budget=4GB"}), "Did you mean 4GiB?"));
}

TEST_F(Experiments, TakeTiersLinksAndKnobsOfPlanners) {
  const pipeline::MemoryOptions memory =
      load(
          "memory:\n  host: none\n  disk: {path: scratch, budget: 200GiB}\n"
          "  link: {to_host: 12GB/s, to_device: 500MB/s}\n",
          {"memory.disk.budget=1GiB",
           "memory.tflms={swapout_threshold: 7, swapin_ahead: auto, swapin_groupby: -1}"})
          .memory;
  EXPECT_EQ(memory.host_bytes, 0);
  EXPECT_EQ(memory.disk_folder, fs::weakly_canonical(folder_ / "scratch"));  // beside the file
  EXPECT_EQ(memory.disk_bytes, 1 << 30);
  EXPECT_EQ(memory.to_host_rate, 12e9);
  EXPECT_EQ(memory.to_device_rate, 5e8);
  EXPECT_EQ(memory.tflms, (swap::TflmsOptions{7, {}, {}, 0}));
  EXPECT_TRUE(load("", {"memory.disk=none"}).memory.disk_folder.empty());
  EXPECT_EQ(load("memory: {host: 1GiB}", {"memory.host=auto"}).memory.host_bytes, std::nullopt);
}

TEST_F(Experiments, OfASweepsCellsAreReadWithTheMemoryThatWasAskedFor) {
  const std::string asked = load("memory: {planner: keep}\n").resolved;
  const std::string got =
      load("training: {epochs: 7}\nmemory: {planner: keep, budget: 3GiB, host: none}\n").resolved;
  const fs::path file = write(got, "experiment.yaml");
  const auto value = [&](const std::string& key) {
    for (const pipeline::Setting& setting : read_settings_of_run(file))
      if (setting.key == key) return setting.value;
    return std::string("not there");
  };
  EXPECT_EQ(value("memory.budget"), "3GiB");
  write("# voxswap run cell.yaml\n" + asked, cell_file);
  EXPECT_EQ(value("memory.budget"), "auto");
  EXPECT_EQ(value("memory.host"), "auto");
  EXPECT_EQ(value("training.epochs"), "7");
}

TEST_F(Experiments, SayWhereAndWhatIsWrongWithTiersAndLinks) {
  EXPECT_EQ(refusal("memory:\n  host: 12 potatoes\n").substr(0, 40),
            "study.yaml:2: memory.host: '12 potatoes'");
  EXPECT_TRUE(
      contains(refusal("", {"memory.host=0B"}), "memory.host: expected auto, none or a size above 0B"));
  EXPECT_TRUE(contains(refusal("", {"memory.host=[1GiB]"}), "found the list"));
  EXPECT_TRUE(contains(refusal("", {"memory.disk=somewhere"}), "expected none or {path: DIR, budget:"));
  EXPECT_TRUE(contains(refusal("", {"memory.disk={path: x}"}), "expected none or {path: DIR, budget:"));
  EXPECT_TRUE(contains(refusal("memory:\n  disk:\n    path: x\n    budgte: 1GiB\n"),
                       "study.yaml:4: unknown key 'memory.disk.budgte'. Did you mean 'memory.disk.budget'?"));
  EXPECT_TRUE(contains(refusal("", {"memory.link={to_host: 12GB}"}), "'12GB' is not a rate"));
  EXPECT_TRUE(contains(refusal("", {"memory.link={to_host: 0GB/s}"}), "expected a rate above 0"));
  EXPECT_TRUE(contains(refusal("", {"memory.link={to_hots: 1GB/s}"}), "Did you mean 'memory.link.to_host'?"));
  EXPECT_TRUE(contains(refusal("", {"memory.link=fast"}), "expected measured or {to_host:"));
  EXPECT_TRUE(contains(refusal("", {"memory.tflms.sync_mode=4"}), "of at least 0 and at most 3"));
  EXPECT_TRUE(
      contains(refusal("", {"memory.tflms.swapin_ahead=soon"}), "memory.tflms.swapin_ahead: expected"));
  EXPECT_TRUE(
      contains(refusal("", {"memory.lms_threshold=auto"}), "memory.lms_threshold: 'auto' is not a size"));
  EXPECT_TRUE(contains(refusal("", {"memory.planner=kep"}), "Did you mean 'keep'?"));
  EXPECT_TRUE(
      contains(refusal("", {"memory.pieces=some"}), "memory.pieces: expected auto, none, or a whole number"));
  EXPECT_TRUE(
      contains(refusal("", {"memory.pieces=0"}), "memory.pieces: expected auto, none, or a whole number"));
  EXPECT_TRUE(
      contains(refusal("", {"memory.pieces=[4]"}), "expected auto, none, or a whole number of planes"));
}

}  // namespace
}  // namespace voxswap::experiments
