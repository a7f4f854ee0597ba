// Tests steps that are repeated as CUDA graphs on the emulated GPU: they give the bits and the order of steps
// enqueued kernel by kernel, with fewer launches. Also tests operations that cannot be recorded.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "net/backends/cuda/runtime.h"
#include "pipeline/device/session.h"
#include "swap/execute/step_command.h"
#include "swap/planners/planner.h"
#include "tests/cuda_emulation/gpu.h"
#include "tests/folder.h"
#include "tests/swap/runs.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::net {
namespace {

constexpr int steps = 4;

struct Subject {
  explicit Subject(const test::SwapOptions& options, ElementType type = ElementType::f32)
      : step(make_step(type)), backend(make_cuda_backend({})), compiled(*backend, step.graph) {
    plan = test::swap_everything(step.graph, compiled.workspaces(), {step.loss}, options);
  }
  static TrainingStep make_step(ElementType type) {
    StepOptions options = test::tiny("isensee2017");
    options.activations = type;
    return build_training_step(options);
  }
  // Swaps some tensors and keeps others, so that there are copies and also consecutive kernels.
  void plan_within_half() {
    swap::StepProblem request{&step.graph, compiled.workspaces(), {}, {step.loss}};
    const swap::CostModel costs = swap::estimate_costs(step.graph, swap::find_device_rates("v100"));
    request.costs = &costs;
    request.lms_threshold = 2048;
    request.budgets = {swap::make_plan("keep", request).peak_bytes, 1 << 30, 0};
    plan = swap::make_plan("lms-threshold", request);
  }
  // Each group of kernels is recorded in the second step, and launched in this and all later steps.
  std::int64_t expected_launches() const {
    std::int64_t count = 0;
    for (const swap::LaunchGroup& group : swap::launch_groups(step.graph, plan))
      count += group.repeats && group.instructions.size() > 1 ? steps - 1 : 0;
    return count;
  }
  // Losses and weights, and the number of graph launches.
  std::pair<test::Results, std::int64_t> train(swap::Detail detail,
                                               const swap::ExecutorOptions& options = {}) {
    const test::TemporaryFolder folder;
    swap::Executor executor(compiled, plan, swap::allocate_tiers(*backend, {&plan}, folder.path()), options);
    const std::int64_t before = emulation::graph_launches();
    test::InDetail runner(executor, detail);
    test::Results results =
        test::train(runner, step.graph, {step.input[0], step.target[0]}, {step.loss}, steps);
    return {std::move(results), emulation::graph_launches() - before};
  }

  TrainingStep step;
  std::unique_ptr<Backend> backend;
  swap::CompiledGraph compiled;
  swap::Plan plan;
};

void expect_the_same_bits(Subject& subject) {
  const auto [expected, no_graphs] = subject.train(swap::Detail::instructions);
  EXPECT_EQ(no_graphs, 0) << "where every instruction is timed, each is enqueued by itself";
  {
    const test::Graphs off(false);
    const auto [one_by_one, still_none] = subject.train(swap::Detail::lanes);
    EXPECT_EQ(still_none, 0);
    EXPECT_TRUE(one_by_one == expected);
  }
  const auto [in_groups, some] = subject.train(swap::Detail::lanes);
  EXPECT_EQ(some, subject.expected_launches());
  EXPECT_TRUE(in_groups == expected);
  const auto [over_a_slow_link, as_many] =
      subject.train(swap::Detail::lanes, {.to_host_rate = 500e6, .to_device_rate = 500e6});
  EXPECT_EQ(as_many, some);
  EXPECT_TRUE(over_a_slow_link == expected);
}

TEST(CudaGraphs, GiveTheSameBitsWhateverLeavesTheDevice) {
  for (const test::SwapOptions& options :
       {test::SwapOptions{.host = false}, test::SwapOptions{}, test::SwapOptions{.disk = true},
        test::SwapOptions{.streams = true}, test::SwapOptions{.host = false, .recompute = true}}) {
    Subject subject(options);
    expect_the_same_bits(subject);
  }
}

TEST(CudaGraphs, GiveTheSameBitsBetweenCopiesAlsoWithPoisonInFreedPlaces) {
  for (const bool poison : {false, true}) {
    const test::Poisoned poisoned(poison);
    Subject subject({});
    subject.plan_within_half();
    EXPECT_GT(swap::totals(subject.plan).out_bytes, 0);
    EXPECT_GT(subject.expected_launches(), steps);
    expect_the_same_bits(subject);
  }
}

// Losses and weights of a few steps of a session.
std::vector<float> trained(pipeline::Precision precision) {
  pipeline::Experiment experiment;
  experiment.memory.device = "cuda";
  experiment.memory.planner = "checkpoint";
  experiment.memory.host_bytes = 1 << 20;
  experiment.training.precision = precision;
  experiment.network = {.base_filters = 2, .depth = 2};
  experiment.preprocess.resolution = {8, 8, 8};
  pipeline::Session session(experiment, {}, {2, 3}, pipeline::Session::Purpose::training);
  session.initialize(3);
  std::vector<float> images(2 * 512), results;
  std::vector<std::uint8_t> targets(512);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i % 97) / 48 - 1;
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<std::uint8_t>(i / 5 % 8);
  for (std::int64_t step = 1; step <= steps; ++step)
    results.push_back(session.train(images, targets, {3, step, 1e-2}));
  for (const auto& tensors : {session.weights(), session.optimizer_state()})
    for (const pipeline::Tensor& tensor : tensors)
      results.insert(results.end(), tensor.values.begin(), tensor.values.end());
  return results;
}

TEST(CudaGraphs, GiveTheSameBitsInHalfPrecisionAndWithLossScaling) {
  for (const pipeline::Precision precision : {pipeline::Precision::bf16, pipeline::Precision::f16}) {
    const std::int64_t before = emulation::graph_launches();
    const std::vector<float> found = trained(precision);
    EXPECT_GT(emulation::graph_launches(), before) << choice_name(precision);
    EXPECT_NE(found[0], found[steps - 1]) << choice_name(precision);
    const test::Graphs off(false);
    EXPECT_TRUE(trained(precision) == found) << choice_name(precision);
  }
}

TEST(CudaGraphs, ThatAGpuRefusesAreReplacedBySingleLaunchesWithOneWarning) {
  Subject subject({.host = false});
  ASSERT_GT(subject.expected_launches(), steps);
  const auto [expected, none] = subject.train(swap::Detail::instructions);
  const emulation::GraphsRefused refused;
  testing::internal::CaptureStderr();
  const auto [found, launched] = subject.train(swap::Detail::lanes);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(found == expected);
  EXPECT_EQ(launched, none);
  const std::size_t first = said.find("launched individually");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("launched individually", first + 1), std::string::npos) << said;
  EXPECT_NE(said.find("cudaGraphUpload"), std::string::npos) << said;
}

TEST(CudaGraphs, LeaveTimesOfLanesButNoneOfInstructions) {
  Subject subject({});
  const test::TemporaryFolder folder;
  swap::Executor executor(subject.compiled, subject.plan,
                          swap::allocate_tiers(*subject.backend, {&subject.plan}, folder.path()));
  for (int step = 1; step <= 3; ++step) {
    const swap::StepReport report = executor.run({1, step, 1e-3}, swap::Detail::lanes);
    EXPECT_TRUE(report.begin.empty() && report.end.empty());
    EXPECT_GT(report.compute_seconds, 0);
    EXPECT_GT(report.busy_seconds[static_cast<std::size_t>(swap::Lane::to_host)], 0);
    EXPECT_LE(report.compute_seconds + report.stall_seconds, report.seconds);
  }
  EXPECT_EQ(executor.run({1, 4, 1e-3}).begin.size(), subject.plan.instructions.size());
}

// A stream with its own memory on device and host.
struct Copies {
  std::unique_ptr<Backend> backend = make_cuda_backend({});
  std::unique_ptr<Memory> device = backend->allocate(256), other = backend->allocate(256),
                          host = backend->allocate_host(256);
  std::unique_ptr<Stream> stream = backend->make_stream();
  Recorder& recorder = dynamic_cast<Recorder&>(*stream);
};

TEST(CudaGraphs, RepeatWhatWasRecordedWithWhatLiesThereThen) {
  Copies copies;
  const auto recording = copies.recorder.make_recording([&] {
    copies.stream->copy(copies.other->data(), copies.device->data(), 256);
    copies.stream->copy(copies.host->data(), copies.other->data(), 256);
  });
  EXPECT_EQ(copies.host->data()[255], std::byte{0}) << "nothing was done yet";
  for (const int value : {7, 9}) {
    const std::vector<std::byte> bytes(256, std::byte(value));
    copies.stream->copy(copies.device->data(), bytes.data(), 256);
    copies.recorder.replay(*recording);
    copies.stream->synchronize();
    EXPECT_EQ(copies.host->data()[255], std::byte(value));
  }
}

void never_launched(float* to) {
  *to = 1;
}

class LaunchesANewKernel : public Kernel {
 public:
  void run(const KernelArguments& arguments) override {
    cudaLaunchConfig_t once;
    once.stream = cuda::current_stream();
    cuda::check(cudaLaunchKernelEx(&once, never_launched, static_cast<float*>(arguments.outputs[0])),
                "never_launched");
  }
};

// Operations that the documentation of stream capture forbids, or that the backend does not rely on.
TEST(CudaGraphs, AreNotMadeOfWhatCannotBeRecordedAndTheStreamGoesOn) {
  Copies copies;
  std::vector<std::byte> unpinned(256, std::byte{5});
  const std::unique_ptr<Event> outside = copies.backend->make_event();
  copies.stream->record(*outside);
  const auto earlier = copies.recorder.make_recording(
      [&] { copies.stream->copy(copies.other->data(), copies.device->data(), 256); });
  LaunchesANewKernel kernel;
  void* const outputs[] = {copies.device->data()};
  const KernelArguments arguments = {{}, outputs, {}, nullptr, nullptr};
  const std::vector<std::pair<const char*, std::function<void()>>> forbidden = {
      {"unpinned memory", [&] { copies.stream->copy(copies.device->data(), unpinned.data(), 256); }},
      {"device memory", [&] { EXPECT_THROW(copies.backend->allocate(64), Error); }},
      {"pinned memory", [&] { EXPECT_THROW(copies.backend->allocate_host(64), Error); }},
      {"waiting", [&] { EXPECT_THROW(copies.stream->synchronize(), Error); }},
      {"an event", [&] { copies.stream->record(*outside); }},
      {"an event of outside", [&] { copies.stream->wait(*outside); }},
      {"a graph", [&] { copies.recorder.replay(*earlier); }},
      {"a kernel whose code is not there", [&] { copies.stream->launch(kernel, arguments); }}};
  for (const auto& [what, enqueue] : forbidden) {
    EXPECT_THROW(copies.recorder.make_recording(enqueue), Error) << what;
    copies.stream->copy(copies.device->data(), unpinned.data(), 256);
    copies.stream->copy(copies.host->data(), copies.device->data(), 256);
    copies.stream->synchronize();
    EXPECT_EQ(copies.host->data()[0], std::byte{5}) << what;
  }
  copies.stream->launch(kernel, arguments);
  EXPECT_NE(copies.recorder.make_recording([&] { copies.stream->launch(kernel, arguments); }), nullptr)
      << "once it was launched";
}

TEST(CudaGraphs, AreNotRecordedOnAStreamThatHasFailed) {
  Copies copies;
  class Fails : public Kernel {
    void run(const KernelArguments&) override { fail(Exit::failed, "on purpose"); }
  } fails;
  copies.stream->launch(fails, {});
  EXPECT_EQ(copies.recorder.make_recording([] {}), nullptr);
  EXPECT_THROW(copies.stream->synchronize(), Error);
}

TEST(CudaEvents, ForOrderAloneHaveNoTime) {
  Copies copies;
  const auto started = copies.backend->make_event();
  const auto order = dynamic_cast<OrderEventMaker&>(*copies.backend).make_order_event();
  copies.stream->record(*started);
  copies.stream->record(*order);
  copies.stream->synchronize();
  EXPECT_THROW(copies.backend->elapsed(*started, *order), Error);
}

}  // namespace
}  // namespace voxswap::net
