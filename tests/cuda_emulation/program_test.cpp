// Tests the program on the emulated GPU as a user would run it: the GPU is found, all commands work, and less
// memory gives the same bytes.
#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace voxswap::net {
namespace {

class ProgramOnGpu : public cli::ProgramInAFolder {
 protected:
  void SetUp() override {
    phantoms("4", "20");
    write("experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce]}
preprocess: {resolution: 16}
network: {base_filters: 2, depth: 3}
training: {epochs: 1}
memory: {host: 64MiB}
)");
  }

  cli::Outcome run(const std::string& name, const cli::Words& keys) { return done(into(name, keys)); }
};

TEST_F(ProgramOnGpu, FindsItAndListsIt) {
  const cli::Outcome info = program({"info"});
  EXPECT_EQ(info.code, 0);
  EXPECT_TRUE(cli::contains(info.output, "backend cuda          emulated GPU, compute capability 9.0"));
}

TEST_F(ProgramOnGpu, DoesTheWholeJobAndGivesTheSameBytesInLessMemory) {
  const cli::Outcome kept = run("kept", {"memory.planner=keep"});
  EXPECT_TRUE(cli::contains(kept.output, "emulated GPU, ")) << "memory.device: auto takes it";
  const cli::Outcome swapped = run("swapped", {"memory.budget=400KiB"});
  for (const char* file : {"dice.csv", "checkpoints/best.safetensors"})
    EXPECT_TRUE(read_file(folder_ / "kept" / file) == read_file(folder_ / "swapped" / file)) << file;
  const Csv timing = read_csv(folder_ / "swapped" / "timing.csv");
  for (const char* column : {"swapped_out_bytes", "swapped_in_bytes", "to_host_gbps", "utilization"})
    EXPECT_GT(std::stod(timing.rows.at(0)[timing.column(column, "timing.csv")]), 0) << column;
}

// A batch is uploaded during the previous step; in every epoch it must be used by its own step.
TEST_F(ProgramOnGpu, TrainsOnTheBatchesThatTheCpuTrainsOn) {
  const cli::Words keys = {"training.epochs=3", "training.precision=f32",
                           "training.optimizer.learning_rate=0.01"};
  cli::Words on_gpu = keys, on_cpu = keys;
  on_gpu.insert(on_gpu.end(), {"--log-level", "debug"});
  on_cpu.push_back("memory.device=reference");
  const cli::Outcome gpu_run = run("gpu", on_gpu);
  EXPECT_TRUE(cli::contains(gpu_run.output, "batch uploaded during the previous step"));
  run("cpu", on_cpu);
  const Csv gpu = read_csv(folder_ / "gpu/epochs.csv"), cpu = read_csv(folder_ / "cpu/epochs.csv");
  ASSERT_EQ(gpu.rows.size(), 3u);
  for (const char* column : {"train_loss", "validation_loss"})
    for (std::size_t epoch = 0; epoch < 3; ++epoch)
      EXPECT_NEAR(std::stod(gpu.rows[epoch][gpu.column(column, "gpu")]),
                  std::stod(cpu.rows[epoch][cpu.column(column, "cpu")]), 1e-4)
          << column << epoch;
}

// Samples are made on the GPU, of cases that it holds or that are copied to it, beside steps in much or
// little memory, and when a run goes on in the middle of an epoch.
TEST_F(ProgramOnGpu, TrainsToTheSameBytesWhereverCasesAreAndHoweverManyThreadsLoad) {
  const cli::Words keys = {"training.augment=nnunet", "training.patch=12", "training.epochs=2",
                           "training.foreground=0.5"};
  const auto train = [&](const std::string& name, const cli::Words& more) {
    run(name, cli::operator+(keys, more));
    return read_file(folder_ / name / "checkpoints/best.safetensors");
  };
  const std::string expected = train("held", {});
  EXPECT_NE(train("plain", {"training.augment=none"}), expected);
  EXPECT_TRUE(train("copied", {"data.memory=none"}) == expected);
  EXPECT_TRUE(train("part", {"data.memory=50KiB", "training.loader_threads=1"}) == expected);
  EXPECT_TRUE(train("loaders", {"training.loader_threads=8"}) == expected);
  EXPECT_TRUE(train("tight", {"memory.budget=300KiB"}) == expected);
  const auto peak = [&](const char* name) {
    const Csv timing = read_csv(folder_ / name / "timing.csv");
    return std::stol(timing.rows.at(0)[timing.column("device_peak_bytes", "timing.csv")]);
  };
  EXPECT_LT(peak("tight"), peak("held"));
}

// Each size tried by a search has its own convolutions; timing all of them would take minutes.
TEST_F(ProgramOnGpu, TimesEnginesOfWhatASearchFoundAlone) {
  const auto plan = [&](const cli::Words& words) {
    cli::Words arguments = {"plan", path("experiment.yaml"), "--json", "data.cache=" + cache_.string(),
                            "memory.budget=1MiB"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return program(arguments);
  };
  succeeded(plan({"--estimate"}));
  EXPECT_FALSE(fs::exists(cache_ / "routines"));
  const cli::Outcome search = plan({"--max-resolution"});
  ASSERT_EQ(search.code, 0) << search.output;
  const std::size_t begin = search.output.find("\"largest\": \"");
  ASSERT_NE(begin, std::string::npos) << search.output;
  const int side = std::stoi(search.output.substr(begin + 12));
  EXPECT_GT(side, 16);
  std::string timed;
  for (const auto& file : fs::directory_iterator(cache_ / "routines")) timed += read_file(file.path());
  for (int other = 8; other <= 128; other += 4) {
    if (side % other == 0) continue;  // its own levels
    const std::string cube = format("{}x{}x{}", other, other, other);
    EXPECT_FALSE(cli::contains(timed, "x" + cube + "x")) << cube;
  }
  EXPECT_TRUE(cli::contains(timed, format("{}x{}x{}", side, side, side)));
  const std::string found = format("preprocess.resolution={}", side);
  succeeded(plan({"--estimate", found}));
}

// Two engines take the same time here: if the former choices were lost, each of a dozen convolutions would be
// timed again.
TEST_F(ProgramOnGpu, TakesTheSameEnginesWhenARunIsResumed) {
  run("first", {});
  const std::string routines = bytes("first/routines.txt");
  EXPECT_TRUE(routines.starts_with("checked engines of emulated GPU with cuDNN 9.19.0\n")) << routines;
  EXPECT_TRUE(cli::contains(bytes("first/checkpoints/last.safetensors"), "engines of emulated GPU"));
  fs::remove_all(cache_);
  fs::remove(folder_ / "first/routines.txt");  // the checkpoint has them as well
  const cli::Outcome resumed = run("first", {"--resume", "training.epochs=2"});
  EXPECT_EQ(bytes("first/routines.txt"), routines);
  run("second", {});
  EXPECT_EQ(bytes("second/routines.txt"), routines) << "by way of the cache that they share";
}

}  // namespace
}  // namespace voxswap::net
