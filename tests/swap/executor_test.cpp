// The executor against a runner that knows no plan: the same bits, whatever the arena does.
#include "swap/execute/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "swap/planners/planner.h"
#include "tests/folder.h"
#include "tests/heap.h"
#include "tests/swap/runs.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::swap {
namespace {

using test::Poisoned;
using test::Results;
using test::tiny;
using test::Trained;
using test::without_plan;

Results with_executor(const Trained& run, bool poisoned, int steps) {
  const Poisoned setting(poisoned);
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  CompiledGraph compiled(*backend, run.graph);
  const Plan plan = make_plan("keep", {&run.graph, compiled.workspaces(), {}, run.kept});
  const std::shared_ptr<net::Memory> arena = backend->allocate(plan.peak_bytes);
  Executor executor(compiled, plan, Tiers{arena, nullptr, nullptr});
  return test::train(executor, run.graph, run.inputs, run.kept, steps);
}

TEST(Executor, EqualsARunnerWithSeparateBuffersBitForBit) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const test::SmallStep step = test::random_step(seed, 25);
    const Trained run{step.graph, step.inputs, step.kept};
    const Results expected = without_plan(run, 3);
    EXPECT_EQ(with_executor(run, false, 3), expected) << "seed " << seed;
    EXPECT_EQ(with_executor(run, true, 3), expected) << "seed " << seed << ", poisoned";
  }
}

TEST(Executor, TrainsNetworksToTheSameBitsAsSeparateBuffersWithAndWithoutPoison) {
  for (const char* network : {"isensee2017", "unet3d", "resnet3d"}) {
    const net::TrainingStep step = net::build_training_step(tiny(network));
    const Trained run{step.graph, {step.input[0], step.target[0]}, {step.loss}};
    const Results expected = without_plan(run, 3);
    for (int i = 0; i < 3; ++i) {
      float loss = 0;
      std::memcpy(&loss, expected[static_cast<std::size_t>(i)].data(), sizeof loss);
      EXPECT_TRUE(std::isfinite(loss)) << network;
    }
    EXPECT_NE(expected[0], expected[2]) << "nothing is learnt: " << network;
    EXPECT_EQ(with_executor(run, false, 3), expected) << network;
    EXPECT_EQ(with_executor(run, true, 3), expected) << network << ", poisoned";
  }
}

TEST(Executor, PoisonShowsAnInputThatWasNotWrittenAgain) {
  const Poisoned setting(true);
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  CompiledGraph compiled(*backend, step.graph);
  const Plan plan = make_plan("keep", {&step.graph, compiled.workspaces(), {}, {step.loss}});
  Executor executor(compiled, plan, Tiers{backend->allocate(plan.peak_bytes), nullptr, nullptr});
  test::train(executor, step.graph, {step.input[0], step.target[0]}, {step.loss}, 1);
  executor.run({5, 2, 0});  // the volume of step 1 is gone
  float loss = 0;
  executor.read(step.loss, &loss, sizeof loss);
  EXPECT_TRUE(std::isnan(loss));
}

TEST(Executor, AllocatesNothingInsideAStep) {
  const test::TemporaryFolder folder;
  const net::TrainingStep step = net::build_training_step(tiny("isensee2017"));
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  CompiledGraph compiled(*backend, step.graph);
  const Plan keeping = make_plan("keep", {&step.graph, compiled.workspaces(), {}, {step.loss}});
  const Plan swapping = test::swap_everything(step.graph, compiled.workspaces(), {step.loss}, {.disk = true});
  for (const Plan& plan : {keeping, swapping})
    for (const bool poisoned : {false, true}) {
      const Poisoned setting(poisoned);
      Executor executor(compiled, plan, allocate_tiers(*backend, {&plan}, folder.path()));
      test::train(executor, step.graph, {step.input[0], step.target[0]}, {step.loss}, 1);
      test::Heap::allocations = 0;
      test::Heap::counted = true;
      executor.run({5, 2, 1e-3});
      test::Heap::counted = false;
      EXPECT_EQ(test::Heap::allocations, 0) << plan.planner << (poisoned ? ", poisoned" : "");
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
  // Another step from the same start changes what the other executor predicts: one set of parameters.
  test::train(trainer, training.graph, {training.input[0], training.target[0]}, {training.loss}, 2);
  EXPECT_NE(predict(), before);
}

TEST(Executor, RefusesAPlanThatDoesNotVerifyOrAnArenaThatIsTooSmall) {
  const test::SmallStep step = test::random_step(1, 10);
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  CompiledGraph compiled(*backend, step.graph);
  const Plan plan = make_plan("keep", {&step.graph, compiled.workspaces(), {}, step.kept});
  const std::shared_ptr<net::Memory> arena = backend->allocate(plan.peak_bytes);
  EXPECT_NO_THROW(Executor(compiled, plan, Tiers{arena, nullptr, nullptr}));
  Plan bad = plan;
  std::swap(bad.instructions.front(), bad.instructions.back());
  EXPECT_THROW(Executor(compiled, bad, Tiers{arena, nullptr, nullptr}), Error);
  EXPECT_THROW(Executor(compiled, plan, Tiers{backend->allocate(plan.peak_bytes - 1), nullptr, nullptr}),
               Error);
}

TEST(Executor, RefusesWrongSizesWritesToWhatItMakesAndReadsOfWhatIsGone) {
  const test::SmallStep step = test::random_step(2, 10);
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  CompiledGraph compiled(*backend, step.graph);
  const Plan plan = make_plan("keep", {&step.graph, compiled.workspaces(), {}, step.kept});
  Executor executor(compiled, plan, Tiers{backend->allocate(plan.peak_bytes), nullptr, nullptr});
  std::vector<std::byte> bytes(128);
  EXPECT_NO_THROW(executor.write(step.inputs[0], bytes.data(), 128));
  EXPECT_THROW(executor.write(step.inputs[0], bytes.data(), 64), Error);
  EXPECT_THROW(executor.write(step.kept[0], bytes.data(), 128), Error);
  EXPECT_NO_THROW(executor.read(step.kept[0], bytes.data(), 128));
  EXPECT_THROW(executor.read(step.inputs[0], bytes.data(), 128), Error);
}

TEST(Executor, CarriesAFailingKernelToTheCaller) {
  // A backend whose kernels break: everything else is the reference's.
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
