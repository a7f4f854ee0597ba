// Compares gradients of convolutions in slabs with the same gradients computed at once.
#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"
#include "net/backends/backends.h"
#include "net/backends/onednn/kernels.h"
#include "net/graph/graph.h"

namespace voxswap::net {
namespace {

struct Volume {
  std::unique_ptr<Memory> memory;
  std::int64_t count = 0;
  float* data() { return reinterpret_cast<float*>(memory->data()); }
};

Volume numbers(Backend& backend, const Shape& shape, std::uint64_t seed) {
  Volume volume{backend.allocate(shape.count() * 4), shape.count()};
  const Philox random(seed, 9);
  for (std::int64_t i = 0; i < volume.count; ++i)
    volume.data()[i] = static_cast<float>(random.normal(static_cast<std::uint64_t>(i)));
  return volume;
}

// Runs `kernel` on the node's inputs and returns the outputs, concatenated.
std::vector<float> run(Backend& backend, const Graph& graph, const Node& node, Kernel& kernel) {
  std::vector<Volume> volumes;
  std::vector<void*> inputs, outputs;
  for (const ValueId id : node.inputs) {
    volumes.push_back(numbers(backend, graph.value(id).shape, static_cast<std::uint64_t>(id)));
    inputs.push_back(volumes.back().data());
  }
  for (const ValueId id : node.outputs) {
    volumes.push_back(numbers(backend, graph.value(id).shape, 77));
    outputs.push_back(volumes.back().data());
  }
  const std::unique_ptr<Memory> workspace =
      backend.allocate(std::max<std::int64_t>(kernel.workspace_bytes(), 64));
  const StepContext context;
  kernel.run({inputs, outputs, {}, workspace->data(), &context});
  std::vector<float> result;
  for (std::size_t i = inputs.size(); i < volumes.size(); ++i)
    result.insert(result.end(), volumes[i].data(), volumes[i].data() + volumes[i].count);
  return result;
}

void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(a[i]));
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(difference, 2e-5 * largest);
}

void expect_same_weight_gradients(std::int64_t samples, std::int64_t planes, std::int64_t kernel,
                                  std::int64_t padding, std::int64_t stride) {
  const auto backend = make_backend("onednn");
  const auto out = [&](std::int64_t side) { return (side + 2 * padding - kernel) / stride + 1; };
  for (const std::int64_t count : {1, 2, 3, 5, 6}) {
    Graph graph;
    const ValueId x = graph.add_value("x", {samples, planes, 9, 10, 6}, ElementType::f32, Role::input);
    const ValueId dy =
        graph.add_value("dy", {samples, out(planes), out(9), out(10), 5}, ElementType::f32, Role::input);
    const NodeId id = graph.add(
        "conv3d_weight_gradient", "dw", {x, dy},
        {{"stride", double(stride)}, {"padding", double(padding)}, {"kernel", double(kernel)}, {"bias", 1}});
    const Node& node = graph.node(id);
    const auto whole = backend->compile(graph, node);
    const auto slabs = onednn::weight_gradient_in_slabs(graph, node, count);
    expect_same(run(*backend, graph, node, *whole), run(*backend, graph, node, *slabs));
  }
}

TEST(Slabs, OfAWeightGradientAddUpToTheWhole) {
  for (const auto& [kernel, padding] : {std::pair{3, 1}, std::pair{3, 0}, std::pair{1, 0}})
    for (const std::int64_t samples : {1, 2}) expect_same_weight_gradients(samples, 13, kernel, padding, 1);
  for (const std::int64_t planes : {12, 13}) expect_same_weight_gradients(2, planes, 3, 1, 2);
}

// oneDNN counts its transposed data in 32 bits, which is too few for a whole sample from 512^3 on.
TEST(Slabs, KeepTheLibraryFromVolumesThatItCannotCount) {
  const auto backend = make_backend("onednn");
  for (const std::int64_t side : {512, 656, 1024, 1280})
    for (const std::int64_t stride : {1, 2}) {
      Graph graph;
      const ValueId x = graph.add_value("x", {1, side, side, side, 16}, ElementType::bf16, Role::input);
      const std::int64_t out = side / stride;
      const ValueId dy = graph.add_value("dy", {1, out, out, out, 16}, ElementType::bf16, Role::input);
      const NodeId id = graph.add("conv3d_weight_gradient", "dw", {x, dy},
                                  {{"stride", double(stride)}, {"padding", 1}, {"kernel", 3}, {"bias", 1}});
      const std::int64_t read = graph.value(x).bytes() + graph.value(dy).bytes();
      const std::int64_t workspace = backend->compile(graph, graph.node(id))->workspace_bytes();
      EXPECT_EQ(backend->compile(graph, graph.node(id))->workspace_bytes(), workspace) << side;
      // Both volumes transposed (in f32 if bf16 is not supported), with padded rows.
      EXPECT_LT(workspace, 4 * read) << side;
      EXPECT_GE(workspace, 0) << side;
    }
}

TEST(Slabs, OfAPointwiseDataGradientMakeUpTheWhole) {
  const auto backend = make_backend("onednn");
  for (const std::int64_t count : {1, 2, 7}) {
    Graph graph;
    const ValueId dy = graph.add_value("dy", {2, 7, 9, 10, 5}, ElementType::f32, Role::input);
    const ValueId w = graph.add_value("w", {5, 6, 1, 1, 1}, ElementType::f32, Role::parameter);
    const NodeId id = graph.add("conv3d_data_gradient", "dx", {dy, w},
                                {{"stride", 1}, {"padding", 0}, {"d", 7}, {"h", 9}, {"w", 10}});
    const Node& node = graph.node(id);
    const auto whole = backend->compile(graph, node);
    const auto slabs = onednn::data_gradient_in_slabs(graph, node, count);
    expect_same(run(*backend, graph, node, *whole), run(*backend, graph, node, *slabs));
  }
}

TEST(Slabs, AreTakenWhereTheLibraryWantsLargeTemporariesAndLowerThem) {
  const auto backend = make_backend("onednn");
  Graph graph;
  const ValueId x = graph.add_value("x", {1, 64, 128, 128, 16}, ElementType::bf16, Role::input);
  const ValueId dy = graph.add_value("dy", {1, 64, 128, 128, 16}, ElementType::bf16, Role::input);
  const NodeId id = graph.add("conv3d_weight_gradient", "dw", {x, dy},
                              {{"stride", 1}, {"padding", 1}, {"kernel", 3}, {"bias", 1}});
  if (backend->fastest_type() != ElementType::bf16) GTEST_SKIP() << "this CPU has no bf16 instructions";
  EXPECT_LE(backend->compile(graph, graph.node(id))->workspace_bytes(), 48 << 20);
}

}  // namespace
}  // namespace voxswap::net
