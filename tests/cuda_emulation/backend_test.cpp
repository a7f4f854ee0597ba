// What only the CUDA backend does, on the emulated GPU: choosing engines, and saying what is wrong.
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/backends/cuda/cuda_backend.h"
#include "net/operation.h"
#include "tests/cuda_emulation/gpu.h"
#include "tests/net/run_graph.h"

namespace voxswap {
namespace {

// A convolution of the table by the backend as it was asked for.
std::string engine(const BackendOptions& options, ElementType type, std::string_view name) {
  const auto backend = make_cuda_backend(options);
  const Operation& operation = find_operation(name);
  for (const OperationCase& example : operation.cases) {
    if (example.inputs[1].shape.rank() != 5 || example.inputs[1].shape[2] != 3) continue;
    const CaseGraph graph = case_graph(operation, example, type);
    return backend->compile(graph.graph, graph.graph.node(graph.node))->implementation();
  }
  return "no case has a window of three";
}

// cudnn.cpp has what is offered: the first is not supported, the second sums in any order, the third would be
// compiled, the fourth wants a tebibyte.
TEST(CudaEngines, AreTheFirstThatIsSupportedSumsInOrderIsThereAndFits) {
  for (const ElementType type : {ElementType::bf16, ElementType::f16})
    for (const char* name : {"conv3d", "conv3d_data_gradient"})
      EXPECT_EQ(engine({}, type, name), "cuDNN engine 25, tensor cores") << element_name(type) << name;
}

TEST(CudaEngines, OfF32DoNotRoundUnlessTheyMay) {
  EXPECT_EQ(engine({}, ElementType::f32, "conv3d"), "cuDNN engine 27");
  EXPECT_EQ(engine({.tensor_floats = true}, ElementType::f32, "conv3d"), "cuDNN engine 25, tensor cores");
}

TEST(CudaEngines, AreTimedWhereAnyBitsWillDo) {
  const std::int64_t unpinned = emulation::unpinned_copies();
  const std::string found = engine({.deterministic = false}, ElementType::bf16, "conv3d");
  EXPECT_TRUE(found == "cuDNN engine 22, tensor cores" || found == "cuDNN engine 25, tensor cores") << found;
  EXPECT_EQ(emulation::unpinned_copies(), unpinned);
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
    const auto memory = backend->allocate(1 << 20), unified = backend->allocate_unified(1 << 20);
    EXPECT_EQ(first->free_bytes(), before - (2 << 20));
    engine({.deterministic = false}, ElementType::bf16, "conv3d");
  }
  EXPECT_EQ(first->free_bytes(), before);
}

TEST(CudaBackend, SaysWhatDoesNotFitAndWhatHelps) {
  const auto backend = make_cuda_backend({});
  try {
    backend->allocate(emulation::device_bytes + 1);
    FAIL() << "more than there is";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::does_not_fit);
    EXPECT_NE(std::string(error.what()).find("lower memory.budget"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace voxswap
