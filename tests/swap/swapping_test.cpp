// Executing plans that swap as much as a plan can: the same bits as without any plan, whatever leaves, to
// wherever, over however slow a link; and an end with a reason when the disk is full.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "swap/execute/executor.h"
#include "swap/execute/slow_link.h"
#include "tests/folder.h"
#include "tests/swap/disk.h"
#include "tests/swap/runs.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::swap {
namespace {

using test::Poisoned;
using test::Results;
using test::SwapOptions;
using test::tiny;
using test::Trained;
using test::without_plan;

struct Variant {
  const char* name;
  SwapOptions options;
};
const std::vector<Variant> variants = {
    {"host", {}},
    {"host, one copy per return, odd chunks", {.copies_stay = false, .chunk = 100}},
    {"host, not in place", {.in_place = false}},
    {"disk", {.host = false, .disk = true}},
    {"host and disk", {.disk = true}},
    {"streams", {.streams = true}},
    {"streams, host and disk, one copy per return", {.disk = true, .streams = true, .copies_stay = false}},
    {"recompute", {.host = false, .recompute = true}},
    {"host, disk and recompute", {.disk = true, .recompute = true, .copies_stay = false}},
};

// A step planned by swap_everything, ready to run.
struct Swapped {
  Swapped(const Trained& run, const SwapOptions& options, const ExecutorOptions& execution = {})
      : backend(net::make_backend("reference")),
        compiled(*backend, run.graph),
        plan(test::swap_everything(run.graph, compiled.workspaces(), run.kept, options)),
        tiers(allocate_tiers(*backend, {&plan}, folder.path())),
        executor(compiled, plan, tiers, execution) {}
  test::TemporaryFolder folder;
  std::unique_ptr<net::Backend> backend;
  CompiledGraph compiled;
  Plan plan;
  Tiers tiers;
  Executor executor;
};

Results swapped(const Trained& run, const SwapOptions& options, int steps,
                const ExecutorOptions& execution = {}) {
  Swapped step(run, options, execution);
  return test::train(step.executor, run.graph, run.inputs, run.kept, steps);
}

std::int64_t moved_bytes(const Plan& plan, Lane lane) {
  std::int64_t sum = 0;
  for (const Instruction& instruction : plan.instructions)
    if (instruction.lane() == lane) sum += instruction.bytes;
  return sum;
}

TEST(Swapping, EqualsARunnerWithSeparateBuffersBitForBit) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const test::SmallStep step = test::random_step(seed, 25);
    const Trained run{step.graph, step.inputs, step.kept};
    const Results expected = without_plan(run, 3);
    for (const Variant& variant : variants)
      for (const bool poisoned : {false, true})
        for (const bool serial : {false, true}) {
          const Poisoned setting(poisoned);
          EXPECT_EQ(swapped(run, variant.options, 3, {.serial = serial}), expected)
              << variant.name << ", seed " << seed << (poisoned ? ", poisoned" : "")
              << (serial ? ", serial" : "");
        }
  }
}

TEST(Swapping, TrainsNetworksToTheSameBits) {
  for (const char* network : {"isensee2017", "unet3d"}) {
    const net::TrainingStep step = net::build_training_step(tiny(network));
    const Trained run{step.graph, {step.input[0], step.target[0]}, {step.loss}};
    const Results expected = without_plan(run, 2);
    for (const Variant& variant : variants)
      for (const bool poisoned : {false, true}) {
        const Poisoned setting(poisoned);
        EXPECT_EQ(swapped(run, variant.options, 2), expected)
            << variant.name << ", " << network << (poisoned ? ", poisoned" : "");
      }
  }
}

TEST(Swapping, ReallyMovesBytesInEveryVariantThatSaysSo) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const Trained run{step.graph, {step.input[0], step.target[0]}, {step.loss}};
  Swapped both(run, {.disk = true}), none_moved(run, {.host = false, .recompute = true});
  for (const Lane lane : {Lane::to_host, Lane::to_device, Lane::to_disk, Lane::from_disk}) {
    EXPECT_GT(moved_bytes(both.plan, lane), 0);
    EXPECT_EQ(moved_bytes(none_moved.plan, lane), 0);
  }
  EXPECT_GT(std::count_if(none_moved.plan.instructions.begin(), none_moved.plan.instructions.end(),
                          [](const Instruction& instruction) { return instruction.again; }),
            0);
}

TEST(Swapping, OverASlowLinkGivesTheSameBitsAndTakesItsTime) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const Trained run{step.graph, {step.input[0], step.target[0]}, {step.loss}};
  const Results expected = without_plan(run, 1);
  constexpr double rate = 2.5e6;
  for (const bool serial : {false, true}) {
    Swapped slow(run, {}, {.to_host_rate = rate, .to_device_rate = rate, .serial = serial});
    EXPECT_EQ(test::train(slow.executor, run.graph, run.inputs, run.kept, 1), expected);
    const StepReport& report = slow.executor.run({5, 1, 0});
    for (const Lane lane : {Lane::to_host, Lane::to_device}) {
      const auto copies = std::count_if(slow.plan.instructions.begin(), slow.plan.instructions.end(),
                                        [&](const Instruction& i) { return i.lane() == lane; });
      const double pauses = std::chrono::duration<double>(SlowLink::at_once).count();  // not noticed
      const double least =
          static_cast<double>(moved_bytes(slow.plan, lane)) / rate - static_cast<double>(copies) * pauses;
      EXPECT_GT(least, 0.05);
      EXPECT_GE(report.busy_seconds[static_cast<std::size_t>(lane)], least);
      EXPECT_GE(report.seconds, least);
    }
  }
}

TEST(Swapping, ReportsWhenEveryInstructionRan) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  Swapped swapping({step.graph, {step.input[0], step.target[0]}, {step.loss}}, {.disk = true});
  for (int repeat = 0; repeat < 2; ++repeat) {
    const StepReport& report = swapping.executor.run({5, 1, 0});
    const std::vector<Instruction>& instructions = swapping.plan.instructions;
    ASSERT_EQ(report.begin.size(), instructions.size());
    ASSERT_EQ(report.end.size(), instructions.size());
    double free_at[lane_count] = {}, busy[lane_count] = {};
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      const auto lane = static_cast<std::size_t>(instructions[i].lane());
      EXPECT_GE(report.begin[i], free_at[lane]);
      for (const std::int32_t earlier : instructions[i].waits)
        EXPECT_GE(report.begin[i], report.end[static_cast<std::size_t>(earlier)]);
      EXPECT_GE(report.end[i], report.begin[i]);
      EXPECT_LE(report.end[i], report.seconds);
      free_at[lane] = report.end[i];
      busy[lane] += report.end[i] - report.begin[i];
    }
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(Lane::exchange); ++lane) {
      EXPECT_GT(busy[lane], 0);
      EXPECT_DOUBLE_EQ(report.busy_seconds[lane], busy[lane]);
    }
    EXPECT_EQ(report.compute_seconds, report.busy_seconds[0]);
    EXPECT_GT(report.stall_seconds, 0);  // everything comes back right before its use
    EXPECT_LE(report.stall_seconds + report.compute_seconds, report.seconds);
  }
}

TEST(Swapping, SerialExecutionDoesOneThingAtATime) {
  const net::TrainingStep step = net::build_training_step(tiny("unet3d"));
  Swapped swapping({step.graph, {step.input[0], step.target[0]}, {step.loss}}, {.disk = true},
                   {.serial = true});
  const StepReport& report = swapping.executor.run({5, 1, 0});
  for (std::size_t i = 1; i < report.begin.size(); ++i) EXPECT_GE(report.begin[i], report.end[i - 1]);
}

TEST(Swapping, LeavesNothingInTheFolderOfTheScratchFile) {
  const net::TrainingStep step = net::build_training_step(tiny("unet3d"));
  Swapped swapping({step.graph, {step.input[0], step.target[0]}, {step.loss}}, {.disk = true});
  swapping.executor.run({5, 1, 0});
  EXPECT_TRUE(fs::is_empty(swapping.folder.path()));
}

TEST(Swapping, AFullDiskStopsTheStepWithTheReasonAndTheExecutorIsOfNoFurtherUse) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const Trained run{step.graph, {step.input[0], step.target[0]}, {step.loss}};
  for (const ExecutorOptions& execution :
       {ExecutorOptions{}, ExecutorOptions{.serial = true}, ExecutorOptions{.to_host_rate = 1e9}}) {
    Swapped swapping(run, {.disk = true}, execution);
    test::train(swapping.executor, run.graph, run.inputs, run.kept, 1);
    const auto expect_failure = [&](const std::function<void()>& action) {
      try {
        action();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::does_not_fit);
        EXPECT_NE(std::string(error.what()).find(swapping.folder.path().string()), std::string::npos);
      }
    };
    {
      const test::FileSizeLimit limit(0);
      expect_failure([&] { swapping.executor.run({5, 2, 0}); });
    }
    float loss = 0;
    expect_failure([&] { swapping.executor.run({5, 2, 0}); });
    expect_failure([&] { swapping.executor.read(step.loss, &loss, sizeof loss); });
    expect_failure([&] { test::train(swapping.executor, run.graph, run.inputs, run.kept, 1); });
  }
}

// --- Poison ---------------------------------------------------------------------------------------------

TEST(Poison, IsEverywhereAfterAStepExceptInWhatOutlivesIt) {
  const Poisoned setting(true);
  for (const Variant& variant : variants)
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const test::SmallStep step = test::random_step(seed, 25);
      Swapped swapping({step.graph, step.inputs, step.kept}, variant.options, {.serial = true});
      test::train(swapping.executor, step.graph, step.inputs, step.kept, 2);
      std::vector<bool> alive(static_cast<std::size_t>(swapping.plan.peak_bytes), false);
      for (const Residency& r : swapping.plan.residencies) {
        if (r.value == net::none || static_cast<std::size_t>(r.last) + 1 != swapping.plan.instructions.size())
          continue;
        const bool kept = std::find(step.kept.begin(), step.kept.end(), r.value) != step.kept.end();
        if (!kept && !step.graph.value(r.value).persistent()) continue;
        std::fill_n(alive.begin() + r.offset, r.bytes, true);
      }
      std::int64_t not_poisoned = 0;
      for (std::size_t i = 0; i < alive.size(); ++i)
        not_poisoned += !alive[i] && swapping.tiers.arena->data()[i] != std::byte{0xff};
      EXPECT_EQ(not_poisoned, 0) << variant.name << ", seed " << seed;
    }
}

// --- Memories -------------------------------------------------------------------------------------------

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

std::string refusal(PoorBackend& backend, const Plan& plan) {
  const test::TemporaryFolder folder;
  try {
    allocate_tiers(backend, {nullptr, &plan}, folder.path());
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::does_not_fit);
    return error.what();
  }
  return "";
}

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
  backend.host = 1 << 20;  // so the system says
  Plan plan;
  plan.peak_bytes = 1 << 20;
  plan.host_bytes = 2 << 20;
  EXPECT_NE(refusal(backend, plan).find("Set memory.host"), std::string::npos);
  const Tiers tiers = allocate_tiers(backend, {&plan}, "", /*host_as_asked=*/true);
  EXPECT_EQ(tiers.host->bytes(), 2 << 20);
  backend.on_host = true;  // where the arena and the pool share what is free
  backend.device = 2 << 20;
  EXPECT_THROW(allocate_tiers(backend, {&plan}, "", true), Error);
}

TEST(Tiers, OnAHostArenaAndPoolHaveToFitTogether) {
  PoorBackend backend;
  backend.device = backend.host = 100 << 20;
  Plan plan;
  plan.peak_bytes = 60 << 20;
  EXPECT_EQ(refusal(backend, plan), "");
  plan.host_bytes = 70 << 20;
  std::string message = refusal(backend, plan);
  for (const char* part :
       {"arena of 60.00 MiB", "host pool of 70.00 MiB", "100.00 MiB are free", "Lower memory.host"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
  plan.host_bytes = 50 << 20;
  message = refusal(backend, plan);
  EXPECT_NE(message.find("Lower memory.budget"), std::string::npos) << message;
  plan.host_bytes = 0;
  plan.peak_bytes = 101 << 20;
  message = refusal(backend, plan);
  EXPECT_NE(message.find("Lower memory.budget"), std::string::npos) << message;
}

TEST(Tiers, ApartFromTheHostEachHasToFitByItself) {
  PoorBackend backend;
  backend.on_host = false;
  backend.device = 10 << 20;
  backend.host = 100 << 20;
  Plan plan;
  plan.peak_bytes = 10 << 20;
  plan.host_bytes = 95 << 20;
  EXPECT_EQ(refusal(backend, plan), "");
  plan.host_bytes = 101 << 20;
  EXPECT_NE(refusal(backend, plan).find("host memory"), std::string::npos);
  plan.peak_bytes = 11 << 20;
  EXPECT_NE(refusal(backend, plan).find("device memory"), std::string::npos);
}

}  // namespace
}  // namespace voxswap::swap
