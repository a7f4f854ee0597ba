// Tests behaviour that only the CUDA backend has, on the emulated GPU: choice of engines and error messages.
#include "net/backends/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "base/error.h"
#include "bench/engine_survey.h"
#include "net/backends/backends.h"
#include "net/backends/cuda/device.h"
#include "net/graph/operation.h"
#include "tests/conformance/agreement.h"
#include "tests/conformance/cases/cases.h"
#include "tests/cuda_emulation/cudnn_faults.h"
#include "tests/cuda_emulation/gpu.h"
#include "tests/expect.h"

namespace voxswap::net {
namespace {

const auto is_one_that_sums_in_order =
    testing::AnyOf("cuDNN engine 25, tensor cores", "cuDNN engine 28, tensor cores");

// The engine that a backend chooses for a convolution among the operations' cases.
std::string engine(Backend& backend, ElementType type, std::string_view name) {
  const Operation& operation = find_operation(name);
  for (const OperationCase& example : cases_of(name)) {
    if (example.inputs[1].shape.rank() != 5 || example.inputs[1].shape[2] != 3) continue;
    const CaseGraph graph = case_graph(operation, example, type);
    return backend.compile(graph.graph, graph.graph.node(graph.node))->implementation();
  }
  return "no case has a window of three";
}
std::string engine(const BackendOptions& options, ElementType type, std::string_view name) {
  return engine(*make_cuda_backend(options), type, name);
}

// Of the engines that cudnn.cpp offers, the first is not supported, the second does not sum in a fixed order,
// the third would be compiled at run time, and the fourth needs a workspace of 1 TiB.
TEST(CudaEngines, AreOfThoseThatAreSupportedSumInOrderAreThereAndFit) {
  for (const ElementType type : {ElementType::bf16, ElementType::f16})
    for (const char* name : {"conv3d", "conv3d_data_gradient"}) {
      EXPECT_THAT(engine({}, type, name), is_one_that_sums_in_order) << element_name(type) << name;
    }
}

// The choice of an engine for a convolution, as one line after a header.
struct Routines {
  explicit Routines(const std::string& text) {
    const std::size_t line = text.find('\n') + 1, tab = text.find('\t');
    EXPECT_NE(tab, std::string::npos) << text;
    header = text.substr(0, line);
    choice = text.substr(line, tab - line);
    rest = text.substr(tab);
  }
  std::string text() const { return header + choice + rest; }
  std::string with(const std::string& other) const { return header + other + rest; }

  std::string header, choice, rest;
};

// What a backend chooses for a convolution in bf16.
Routines chosen_by(Backend& backend) {
  engine(backend, ElementType::bf16, "conv3d");
  return Routines(dynamic_cast<TuningBackend&>(backend).routines());
}
Routines chosen(const BackendOptions& options = {}) {
  return chosen_by(*make_cuda_backend(options));
}

// Either engine may be the faster one, so the test sets each as the former choice.
TEST(CudaEngines, ThatWereChosenBeforeAreReused) {
  const Routines first = chosen();
  for (const auto& [choice, name] : {std::pair{"25 14=2", "cuDNN engine 25, tensor cores"},
                                     std::pair{"28 14=3", "cuDNN engine 28, tensor cores"}}) {
    const auto second = make_cuda_backend({});
    auto& tuning = dynamic_cast<TuningBackend&>(*second);
    tuning.take_routines(first.with(choice));
    tuning.take_routines(first.with("27"));  // the first entry wins
    EXPECT_EQ(engine(*second, ElementType::bf16, "conv3d"), name);
    EXPECT_EQ(tuning.routines(), first.with(choice)) << "and they are handed on";
  }
}

std::string log_of(const std::function<void()>& work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

TEST(CudaEngines, ThatCannotBeReusedAreNamedAndChosenAgain) {
  const Routines first = chosen();
  const auto second = make_cuda_backend({});
  auto& tuning = dynamic_cast<TuningBackend&>(*second);
  const std::string elsewhere = log_of(
      [&] { tuning.take_routines("checked engines of another GPU with cuDNN 9.20.0\n27" + first.rest); });
  EXPECT_TRUE(test::contains(elsewhere, "another GPU with cuDNN 9.20.0"));
  tuning.take_routines(first.with("99 1=2"));
  std::string found;
  const std::string gone = log_of([&] { found = engine(*second, ElementType::bf16, "conv3d"); });
  EXPECT_TRUE(test::contains(gone, "no longer offers engine 99 1=2"));
  EXPECT_THAT(found, is_one_that_sums_in_order);
}

TEST(CudaEngines, ThatSumInAnyOrderAreNotTakenForThoseThatDoNot) {
  const auto same = make_cuda_backend({});
  dynamic_cast<TuningBackend&>(*same).take_routines(chosen({.deterministic = false}).with("22"));
  EXPECT_NE(engine(*same, ElementType::bf16, "conv3d"), "cuDNN engine 22, tensor cores");
}

TEST(CudaEngines, OfACudnnThatIsWrongInBf16AreRefusedThereAlone) {
  emulation::set_cudnn_version(91400);
  test::expect_failure([] { engine({}, ElementType::bf16, "conv3d"); }, Exit::does_not_fit, {"9.15"});
  EXPECT_NO_THROW(engine({}, ElementType::f16, "conv3d"));
  emulation::set_cudnn_version(91500);
  EXPECT_NO_THROW(engine({}, ElementType::bf16, "conv3d"));
  emulation::set_cudnn_version(91900);
}

TEST(CudaEngines, OfF32DoNotRoundUnlessTheyMay) {
  EXPECT_EQ(engine({}, ElementType::f32, "conv3d"), "cuDNN engine 27");
  EXPECT_NE(engine({.tensor_floats = true}, ElementType::f32, "conv3d"), "cuDNN engine 27");
}

// Ranks do this when they exchange their choices after compiling.
TEST(CudaEngines, OfAllRanksReplaceThoseThatWereChosen) {
  const auto backend = make_cuda_backend({});
  auto& tuning = dynamic_cast<TuningBackend&>(*backend);
  const Routines first = chosen_by(*backend);
  EXPECT_FALSE(tuning.replace_routines(first.text() + first.text())) << "nothing else was chosen";
  const bool has_25 = first.choice == "25 14=2";
  const std::string other = first.with(has_25 ? "28 14=3" : "25 14=2"), more = "27\tof another rank's slab\n";
  EXPECT_TRUE(tuning.replace_routines(other + first.text() + first.header + more)) << "the first counts";
  EXPECT_EQ(engine(*backend, ElementType::bf16, "conv3d"),
            format("cuDNN engine {}, tensor cores", has_25 ? 28 : 25));
  EXPECT_EQ(tuning.routines(), other + more) << "and what others know is handed on";
}

// Both engines sum in a fixed order and are timed; only the correct one is chosen, even if it is slower.
TEST(CudaEngines, ThatAreWrongAreNotTaken) {
  for (const auto& [wrong, right] :
       {std::pair{25, "cuDNN engine 28, tensor cores"}, std::pair{28, "cuDNN engine 25, tensor cores"}}) {
    emulation::set_wrong_engine(wrong);
    for (const char* name : {"conv3d", "conv3d_data_gradient"})
      EXPECT_EQ(engine({}, ElementType::bf16, name), right);
    emulation::set_wrong_engine(0);
  }
  emulation::set_wrong_engine(27);  // the only one for f32
  const std::string log = log_of([] {
    test::expect_failure([] { engine({}, ElementType::f32, "conv3d"); }, Exit::failed, {"no engine"});
  });
  EXPECT_TRUE(test::contains(log, "engine 27 is avoided", "its results are off by"));
  emulation::set_wrong_engine(0);
}

// The only error is the rounding of results to bf16 (spacing 2^-8 of their magnitude); few results exceed
// four times the root of the sum of the squares of their terms.
TEST(CudaEngines, OfASurveyAreComparedWithTheConvolutionInDouble) {
  cuda::EngineSurvey survey(0);
  using Problem = cuda::ConvolutionProblem;
  Problem problem;
  problem.type = ElementType::bf16;
  problem.x = {2, 7, 5, 9, 8};
  problem.y = {2, 3, 3, 4, 24};
  problem.axes = {KernelAxis{3, 2, 0, 0, 1}, KernelAxis{2, 2, 1, 1, 1}, KernelAxis{3, 2, 1, 1, 2}};
  for (const auto kind :
       {Problem::Kind::forward, Problem::Kind::data_gradient, Problem::Kind::weight_gradient}) {
    problem.kind = kind;
    int taken = 0, measured = 0;
    const auto look = [&](const cuda::EngineTime& time) {
      taken += time.taken ? 1 : 0;
      if (time.status != "ok") return;
      ++measured;
      EXPECT_GT(time.milliseconds, 0) << time.choice;
      EXPECT_GE(time.error, 0) << time.choice;
      EXPECT_LE(time.error, 4.0 / 256) << time.choice;
    };
    survey.measure(
        problem, false, [] { return true; }, look);
    EXPECT_EQ(taken, 1);
    EXPECT_EQ(measured, 6) << "of cudnn.cpp's eight one is not supported, and one wants a tebibyte";
    measured = 0;
    survey.measure(
        problem, true, [] { return true; }, look);
    EXPECT_EQ(measured, 1) << "the one that training takes";
  }
}

TEST(CudaEngines, AreTimedWhereAnyBitsWillDo) {
  EXPECT_THAT(engine({.deterministic = false}, ElementType::bf16, "conv3d"),
              testing::AnyOf("cuDNN engine 22, tensor cores", is_one_that_sums_in_order));
}

// The gradient of a pointwise kernel.
OperationCase pointwise_gradient(const Shape& x, std::int64_t outputs, bool bias) {
  Shape dy = x;
  dy[4] = outputs;
  const auto volume = [](const Shape& shape) {
    return OperationCase::Input{shape, Fill::normal, OperationCase::Input::Kind::activation, {}};
  };
  return {x.text() + " to " + dy.text(),
          {volume(x), volume(dy)},
          {{"stride", 1}, {"padding", 0}, {"kernel", 1}, {"bias", bias ? 1.0 : 0.0}},
          {}};
}

// A part has at least 256 voxels, a multiple of 8, and there are at most 512 parts: 2574 voxels give ten
// parts and a remainder, 1024 four, 131,328 give 497 of 264 and a remainder.
TEST(CudaProducts, SumWeightGradientsInPartsAndAgreeWithTheReference) {
  const auto backend = make_cuda_backend({});
  const std::tuple<Shape, std::int64_t, const char*> examples[] = {
      {{1, 5, 7, 7, 3}, 5, "cuBLAS"},  // 245 voxels: less than a part
      {{2, 9, 11, 13, 7}, 3, "cuBLAS, in 11 parts"},
      {{1, 16, 8, 8, 16}, 16, "cuBLAS, in 4 parts"},
      {{1, 54, 64, 38, 2}, 1, "cuBLAS, in 498 parts"},
      {{1, 8, 8, 9, 256}, 300, "cuBLAS, in 3 parts"}};
  for (const auto& [shape, outputs, implementation] : examples) {
    const OperationCase example = pointwise_gradient(shape, outputs, shape[0] > 1);
    for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
      const Operation& operation = find_operation("conv3d_weight_gradient");
      const CaseGraph graph = case_graph(operation, example, type);
      EXPECT_EQ(backend->compile(graph.graph, graph.graph.node(graph.node))->implementation(),
                implementation);
      expect_conformance({&operation, &example, backend.get(), type});
    }
  }
}

TEST(CudaBackend, DescribesTheDeviceAndTheLibraries) {
  EXPECT_EQ(make_cuda_backend({})->description(),
            "emulated GPU, compute capability 9.0, 1.00 GiB, driver for CUDA 13.0, CUDA 13.0, cuDNN 9.19.0, "
            "cuBLAS 13.0.0");
}

TEST(CudaBackend, GivesBackAllThatItTook) {
  const auto first = make_cuda_backend({});
  const std::int64_t before = first->free_bytes();
  {
    const auto backend = make_cuda_backend({.deterministic = false});
    const auto memory = backend->allocate(1 << 20), unified = backend->allocate_unified(1 << 20, 1 << 20);
    EXPECT_EQ(first->free_bytes(), before - (1 << 20));  // managed memory is allocated on first touch
    engine({.deterministic = false}, ElementType::bf16, "conv3d");
  }
  EXPECT_EQ(first->free_bytes(), before);
}

TEST(CudaBackend, LeavesTheDriverJustTheRoomThatAPagedArenaMayTake) {
  const auto backend = make_cuda_backend({});
  const std::int64_t before = backend->free_bytes(), arena = 3 << 20, resident = 1 << 20;
  {
    const auto unified = backend->allocate_unified(arena, resident);
    EXPECT_EQ(unified->bytes(), arena);
    EXPECT_EQ(backend->free_bytes(), resident + cuda::reserved_for_driver);
  }
  EXPECT_EQ(backend->free_bytes(), before);
  test::expect_failure([&] { backend->allocate_unified(before + 1, resident); }, Exit::does_not_fit,
                       {"memory.planner: unified", "it can hang the GPU"});
  EXPECT_EQ(backend->free_bytes(), before);
}

// Streams that share a hardware queue could deadlock.
TEST(CudaBackend, AsksForAllQueuesOfTheHardware) {
  make_cuda_backend({});
  EXPECT_STREQ(std::getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
}

TEST(CudaBackend, SaysWhatDoesNotFitAndWhatHelps) {
  const auto backend = make_cuda_backend({});
  test::expect_failure([&] { backend->allocate(emulation::device_bytes + 1); }, Exit::does_not_fit,
                       {"Lower memory.budget"});
}

}  // namespace
}  // namespace voxswap::net
