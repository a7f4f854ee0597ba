// Executes plans, including those that swap everything: results are identical to the bit to those without a
// plan, for any tier and link speed. Failures of a kernel or the disk end with a message.
#include "swap/execute/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "swap/execute/slow_link.h"
#include "tests/expect.h"
#include "tests/heap.h"
#include "tests/swap/disk.h"
#include "tests/swap/runs.h"

namespace voxswap::swap {
namespace {

using test::of;
using test::Poisoned;
using test::Ready;
using test::Results;
using test::tiny;
using test::without_plan;

std::int64_t moved_bytes(const Plan& plan, Lane lane) {
  std::int64_t sum = 0;
  for (const Instruction& instruction : plan.instructions)
    if (instruction.lane() == lane) sum += instruction.bytes;
  return sum;
}

TEST(Executor, EqualsARunnerWithSeparateBuffersBitForBit) {
  for (const bool large : {false, true})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const test::SmallStep step = test::random_step(seed, 25, test::volume_of({"", {}, large}));
      const Results expected = without_plan(of(step), 3);
      for (const test::PlanVariant& variant : test::plan_variants())
        for (const bool poisoned : {false, true})
          for (const bool serial : {false, true}) {
            if (variant.large != large) continue;
            const Poisoned setting(poisoned);
            EXPECT_EQ(test::trained(of(step), variant.options, 3, {.serial = serial}), expected)
                << variant.name << ", seed " << seed << (poisoned ? ", poisoned" : "")
                << (serial ? ", serial" : "");
          }
    }
}

TEST(Executor, ReallyMovesBytesInEveryVariantThatSaysSo) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  Ready both(of(step), test::SwapOptions{.disk = true}),
      none_moved(of(step), test::SwapOptions{.host = false, .recompute = true});
  for (const Lane lane : {Lane::to_host, Lane::to_device, Lane::to_disk, Lane::from_disk}) {
    EXPECT_GT(moved_bytes(both.plan, lane), 0);
    EXPECT_EQ(moved_bytes(none_moved.plan, lane), 0);
  }
  EXPECT_GT(std::count_if(none_moved.plan.instructions.begin(), none_moved.plan.instructions.end(),
                          [](const Instruction& instruction) { return instruction.recomputed; }),
            0);
}

TEST(Executor, OverASlowLinkGivesTheSameBitsAndTakesItsTime) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const test::Trained run = of(step);
  const Results expected = without_plan(run, 1);
  constexpr double rate = 2.5e6;
  for (const bool serial : {false, true}) {
    Ready slow(run, test::SwapOptions{}, {.to_host_rate = rate, .to_device_rate = rate, .serial = serial});
    EXPECT_EQ(test::train(slow.executor, run.graph, run.inputs, run.kept, 1), expected);
    const StepReport& report = slow.executor.run({5, 1, 0});
    for (const Lane lane : {Lane::to_host, Lane::to_device}) {
      const auto copies = std::count_if(slow.plan.instructions.begin(), slow.plan.instructions.end(),
                                        [&](const Instruction& i) { return i.lane() == lane; });
      const double pauses = std::chrono::duration<double>(SlowLink::at_once).count();  // not detected
      const double least =
          static_cast<double>(moved_bytes(slow.plan, lane)) / rate - static_cast<double>(copies) * pauses;
      EXPECT_GT(least, 0.05);
      EXPECT_GE(report.busy_seconds[static_cast<std::size_t>(lane)], least);
      EXPECT_GE(report.seconds, least);
    }
  }
}

TEST(Executor, ReportsWhenEveryInstructionRan) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  Ready swapping(of(step), test::SwapOptions{.disk = true});
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
    EXPECT_GT(report.stall_seconds, 0);  // every value is swapped in right before its use
    EXPECT_LE(report.stall_seconds + report.compute_seconds, report.seconds);
  }
}

TEST(Executor, DoesOneThingAtATimeWhereThatIsAskedForAndLeavesNothingInTheFolderOfItsScratchFile) {
  const net::TrainingStep step = net::build_training_step(tiny("unet3d"));
  Ready swapping(of(step), test::SwapOptions{.disk = true}, {.serial = true});
  const StepReport& report = swapping.executor.run({5, 1, 0});
  for (std::size_t i = 1; i < report.begin.size(); ++i) EXPECT_GE(report.begin[i], report.end[i - 1]);
  EXPECT_TRUE(fs::is_empty(swapping.folder.path()));
}

TEST(Executor, StopsAtAFullDiskWithTheReasonAndIsOfNoFurtherUse) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const test::Trained run = of(step);
  for (const ExecutorOptions& execution :
       {ExecutorOptions{}, ExecutorOptions{.serial = true}, ExecutorOptions{.to_host_rate = 1e9}}) {
    Ready swapping(run, test::SwapOptions{.disk = true}, execution);
    test::train(swapping.executor, run.graph, run.inputs, run.kept, 1);
    const auto expect_full = [&](const auto& action) {
      test::expect_failure(action, Exit::does_not_fit, {swapping.folder.path().string()});
    };
    {
      const test::FileSizeLimit limit(0);
      expect_full([&] { swapping.executor.run({5, 2, 0}); });
    }
    float loss = 0;
    expect_full([&] { swapping.executor.run({5, 2, 0}); });
    expect_full([&] { swapping.executor.read(step.loss, &loss, sizeof loss); });
    expect_full([&] { test::train(swapping.executor, run.graph, run.inputs, run.kept, 1); });
  }
}

TEST(Executor, PoisonIsEverywhereAfterAStepExceptInWhatOutlivesIt) {
  const Poisoned setting(true);
  for (const test::PlanVariant& variant : test::plan_variants())
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const test::SmallStep step = test::random_step(seed, 25, test::volume_of(variant));
      Ready swapping(of(step), variant.options, {.serial = true});
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

TEST(Executor, PoisonShowsAnInputThatWasNotWrittenAgain) {
  const Poisoned setting(true);
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  Ready kept(of(step), std::nullopt);
  test::train(kept.executor, step.graph, {step.input[0], step.target[0]}, {step.loss}, 1);
  kept.executor.run({5, 2, 0});  // the volume of step 1 was freed
  float loss = 0;
  kept.executor.read(step.loss, &loss, sizeof loss);
  EXPECT_TRUE(std::isnan(loss));
}

// A backend with a kernel that writes one byte beyond its workspace.
class WritesTooFar final : public net::HostBackend {
 public:
  explicit WritesTooFar(std::string node) : node_(std::move(node)) {}
  std::string name() const override { return "writes too far"; }
  std::string description() const override { return name(); }
  bool supports(net::ElementType type) const override { return inner_->supports(type); }
  net::ElementType fastest_type() const override { return inner_->fastest_type(); }
  std::unique_ptr<net::Kernel> compile(const net::Graph& graph, const net::Node& node) override {
    return std::make_unique<Wrapped>(inner_->compile(graph, node), node.name == node_);
  }

 private:
  struct Wrapped final : net::Kernel {
    Wrapped(std::unique_ptr<net::Kernel> kernel, bool wrong) : inner(std::move(kernel)), too_far(wrong) {}
    std::int64_t workspace_bytes() const override { return inner->workspace_bytes() + 64; }
    void run(const net::KernelArguments& arguments) override {
      inner->run(arguments);
      if (too_far) static_cast<std::byte*>(arguments.workspace)[workspace_bytes() + 5] = std::byte{1};
    }
    std::unique_ptr<net::Kernel> inner;
    bool too_far;
  };
  std::unique_ptr<net::Backend> inner_ = net::make_backend("reference");
  std::string node_;
};

TEST(Executor, NamesAKernelThatWritesBehindItsWorkspaceWhenPoisoned) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const std::string guilty = step.graph.nodes()[step.graph.nodes().size() / 2].name;
  for (const bool poisoned : {false, true})
    for (const std::string& node : {guilty, std::string("none")}) {
      const Poisoned setting(poisoned);
      WritesTooFar backend(node);
      CompiledGraph compiled(backend, step.graph);
      const Plan plan = make_plan("keep", {&step.graph, compiled.workspaces(), {}, {step.loss}});
      Executor executor(compiled, plan, allocate_tiers(backend, {&plan}, {}));
      const auto run = [&] { executor.run({5, 1, 0}); };
      if (poisoned && node == guilty)
        test::expect_failure(run, Exit::failed, {guilty, "wrote beyond its workspace, at byte 5"});
      else
        EXPECT_NO_THROW(run()) << poisoned << node;
    }
}

TEST(Executor, AllocatesNothingInsideAStep) {
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  for (const auto& options : {std::optional<test::SwapOptions>(), {test::SwapOptions{.disk = true}}})
    for (const bool poisoned : {false, true}) {
      const Poisoned setting(poisoned);
      Ready ready(of(step), options);
      test::train(ready.executor, step.graph, {step.input[0], step.target[0]}, {step.loss}, 1);
      test::Heap::allocations = 0;
      test::Heap::counted = true;
      ready.executor.run({5, 2, 1e-3});
      test::Heap::counted = false;
      EXPECT_EQ(test::Heap::allocations, 0) << ready.plan.planner << (poisoned ? ", poisoned" : "");
    }
}

TEST(Executor, TrainingAndInferenceSeeTheSameParametersInOneArena) {
  const net::StepOptions options = tiny("isensee2017");
  const net::TrainingStep training = net::build_training_step(options);
  const net::InferenceStep inference = net::build_inference_step(options, true);
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  CompiledGraph training_kernels(*backend, training.graph), inference_kernels(*backend, inference.graph);
  const Plan train_plan =
      make_plan("keep", {&training.graph, training_kernels.workspaces(), {}, {training.loss}});
  const Plan infer_plan = make_plan(
      "keep",
      {&inference.graph, inference_kernels.workspaces(), {}, {inference.loss, inference.probabilities[0]}});
  const std::shared_ptr<net::Memory> arena =
      backend->allocate(std::max(train_plan.peak_bytes, infer_plan.peak_bytes));
  Executor trainer(training_kernels, train_plan, Tiers{arena, nullptr, nullptr}),
      predictor(inference_kernels, infer_plan, Tiers{arena, nullptr, nullptr});

  const auto predict = [&] {
    for (const net::ValueId id : {inference.input[0], inference.target[0]}) {
      const std::vector<std::byte> bytes = test::content(inference.graph, id, 3);
      predictor.write(id, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    }
    predictor.run({5, 1, 0});
    std::vector<float> result(
        static_cast<std::size_t>(inference.graph.value(inference.probabilities[0]).shape.count()));
    predictor.read(inference.probabilities[0], result.data(), static_cast<std::int64_t>(4 * result.size()));
    return result;
  };
  test::train(trainer, training.graph, {training.input[0], training.target[0]}, {training.loss}, 1);
  const std::vector<float> before = predict();
  EXPECT_EQ(predict(), before);
  ASSERT_EQ(training.parameters.size(), inference.parameters.size());
  for (std::size_t i = 0; i < training.parameters.size(); ++i) {
    const std::int64_t size = training.graph.value(training.parameters[i]).bytes();
    std::vector<std::byte> a(static_cast<std::size_t>(size)), b(a.size());
    trainer.read(training.parameters[i], a.data(), size);
    predictor.read(inference.parameters[i], b.data(), size);
    EXPECT_EQ(a, b) << training.graph.value(training.parameters[i]).name;
  }
  // Both executors share one set of parameters: a step of one changes the predictions of the other.
  test::train(trainer, training.graph, {training.input[0], training.target[0]}, {training.loss}, 2);
  EXPECT_NE(predict(), before);
}

TEST(Executor, RefusesAPlanThatDoesNotVerifyOrAnArenaThatIsTooSmall) {
  const test::SmallStep step = test::random_step(1, 10);
  Ready good(of(step), std::nullopt);
  Plan bad = good.plan;
  std::swap(bad.instructions.front(), bad.instructions.back());
  EXPECT_THROW(Executor(good.compiled, bad, good.tiers), Error);
  const Tiers small{good.backend->allocate(good.plan.peak_bytes - 1), nullptr, nullptr};
  EXPECT_THROW(Executor(good.compiled, good.plan, small), Error);
}

TEST(Executor, RefusesWrongSizesWritesToWhatItMakesAndReadsOfWhatIsGone) {
  const test::SmallStep step = test::random_step(2, 10);
  Ready ready(of(step), std::nullopt);
  std::vector<std::byte> bytes(128);
  EXPECT_NO_THROW(ready.executor.write(step.inputs[0], bytes.data(), 128));
  EXPECT_THROW(ready.executor.write(step.inputs[0], bytes.data(), 64), Error);
  EXPECT_THROW(ready.executor.write(step.kept[0], bytes.data(), 128), Error);
  EXPECT_NO_THROW(ready.executor.read(step.kept[0], bytes.data(), 128));
  EXPECT_THROW(ready.executor.read(step.inputs[0], bytes.data(), 128), Error);
}

TEST(Executor, CarriesAFailingKernelToTheCaller) {
  // A reference backend whose kernels fail.
  struct Broken : net::Kernel {
    void run(const net::KernelArguments&) override { fail(Exit::failed, "the kernel {}", "broke"); }
  };
  struct BrokenBackend : net::HostBackend {
    std::unique_ptr<net::Backend> good = net::make_backend("reference");
    std::string name() const override { return "broken"; }
    std::string description() const override { return ""; }
    bool supports(net::ElementType type) const override { return good->supports(type); }
    net::ElementType fastest_type() const override { return good->fastest_type(); }
    std::unique_ptr<net::Kernel> compile(const net::Graph&, const net::Node&) override {
      return std::make_unique<Broken>();
    }
  } backend;
  const test::SmallStep step = test::random_step(3, 5);
  CompiledGraph compiled(backend, step.graph);
  const Plan plan = make_plan("keep", {&step.graph, compiled.workspaces(), {}, step.kept});
  Executor executor(compiled, plan, Tiers{backend.allocate(plan.peak_bytes), nullptr, nullptr});
  EXPECT_THROW(executor.run({}), Error);
  EXPECT_THROW(executor.run({}), Error);
}

}  // namespace
}  // namespace voxswap::swap
