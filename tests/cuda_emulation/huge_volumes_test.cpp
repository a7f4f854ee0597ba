// Volumes with more than 2^31 and 2^32 elements: kernels must compute indices in 64 bits. The memory is only
// reserved: few blocks of each grid run, and they touch few pages.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "net/backends/cuda/kernels.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "tests/cuda_emulation/emulation.h"

namespace voxswap::net {
namespace {

// Zero-filled memory; pages are allocated on first write.
class Reserved {
 public:
  explicit Reserved(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Reserved() { munmap(data_, bytes_); }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  void* data() { return data_; }
  std::uint16_t& half(std::int64_t i) { return static_cast<std::uint16_t*>(data_)[i]; }
  float& full(std::int64_t i) { return static_cast<float*>(data_)[i]; }

 private:
  std::size_t bytes_;
  void* data_;
};

constexpr std::uint16_t one = 0x3f80, two = 0x4000, three = 0x4040;  // bf16

// Runs only the first and the last block of every grid.
class EndsOfGrids : public testing::Test {
 protected:
  EndsOfGrids() {
    emulation::set_blocks_that_run([](const emulation::Extent& block, const emulation::Extent& grid) {
      return block.x == 0 || block.x == grid.x - 1;
    });
  }
  ~EndsOfGrids() override { emulation::set_blocks_that_run(nullptr); }

  // Runs the last node of the graph on reserved memory that `write` has filled.
  template <class Write, class Check>
  void run(const Graph& graph, Write write, Check check) {
    const Node& node = graph.nodes().back();
    std::vector<std::unique_ptr<Reserved>> values;
    std::vector<void*> inputs, outputs;
    for (ValueId id : node.inputs)
      inputs.push_back(values.emplace_back(std::make_unique<Reserved>(graph.value(id).bytes()))->data());
    for (ValueId id : node.outputs)
      outputs.push_back(values.emplace_back(std::make_unique<Reserved>(graph.value(id).bytes()))->data());
    cuda::Device device;
    device.major = 9;
    const auto kernel = cuda::find_maker(*node.operation)(graph, node, device);
    Reserved workspace(kernel->workspace_bytes() + 64);
    write(values);
    const StepContext context;
    kernel->run({inputs, outputs, {}, workspace.data(), &context});
    check(values);
  }
};

ValueId volume(Graph& graph, const Shape& shape) {
  return graph.add_value("x", shape, ElementType::bf16, Role::input);
}

// 2^32 + 2^29 elements.
const Shape large = {1, 1024, 768, 384, 16};

TEST_F(EndsOfGrids, ElementsAreFoundBeyondTwoToTheThirtySecond) {
  Graph graph;
  const ValueId x = volume(graph, large);
  graph.apply("leaky_relu", "y", {x}, {{"slope", 0.5}});
  const std::int64_t last = large.count() - 1;
  run(
      graph, [&](auto& values) { values[0]->half(last) = two; },
      [&](auto& values) {
        EXPECT_EQ(values[1]->half(last), two);
        EXPECT_EQ(values[1]->half(last & 0xffffffff), 0);
        EXPECT_EQ(values[1]->half(last & 0x7fffffff), 0);
      });
}

TEST_F(EndsOfGrids, NormsFindTheirLastVoxel) {
  Graph graph;
  const ValueId x = volume(graph, large);
  const ValueId statistics = graph.add_value("s", {1, 16, 2}, ElementType::f32, Role::input);
  const ValueId gamma = graph.add_value("gamma", {16}, ElementType::f32, Role::parameter);
  const ValueId beta = graph.add_value("beta", {16}, ElementType::f32, Role::parameter);
  graph.apply("norm_activation", "y", {x, statistics, gamma, beta}, {{"slope", 0.5}});
  const std::int64_t last = large.count() - 1;
  run(
      graph,
      [&](auto& values) {
        values[0]->half(last) = one;
        for (std::int64_t i = 0; i < 16; ++i) {
          values[1]->full(2 * i + 1) = 1;
          values[2]->full(i) = 1;
          values[3]->full(i) = 1;
        }
      },
      [&](auto& values) {
        EXPECT_EQ(values[4]->half(last), two);
        EXPECT_EQ(values[4]->half(last - 1), one);
        EXPECT_EQ(values[4]->half(0), one);
      });
}

TEST_F(EndsOfGrids, SumsReachTheirLastVoxel) {
  Graph graph;
  const ValueId x = volume(graph, large);
  graph.apply("channel_sum", "sums", {x});
  const std::int64_t last = large.count() - 1;
  // The second stage of a sum has one block per channel: those of the first and the last channel run.
  run(
      graph,
      [&](auto& values) {
        values[0]->half(0) = three;
        values[0]->half(last) = two;
      },
      [&](auto& values) {
        EXPECT_EQ(values[1]->full(0), 3);
        EXPECT_EQ(values[1]->full(15), 2);
      });
}

// The first tap maps the first voxel to its diagonal neighbour, and the last tap maps the last voxel back.
TEST_F(EndsOfGrids, NarrowConvolutionsFindTheirFirstAndLastVoxel) {
  Graph graph;
  const ValueId x = volume(graph, large);
  const ValueId w = graph.add_value("w", {16, 16, 3, 3, 3}, ElementType::f32, Role::parameter);
  graph.apply("conv3d", "y", {x, w}, {{"stride", 1}, {"padding", 1}});
  const std::int64_t last = large.count() - 1, beyond = ((large[2] + 1) * large[3] + 1) * large[4];
  run(
      graph,
      [&](auto& values) {
        values[0]->half(0) = three;
        values[0]->half(last) = two;
        values[1]->full(0) = 1;
        values[1]->full(16 * 16 * 27 - 1) = 1;
      },
      [&](auto& values) {
        EXPECT_EQ(values[2]->half(beyond), three);
        EXPECT_EQ(values[2]->half(last - beyond), two);
        EXPECT_EQ(values[2]->half(last), 0);
      });
}

TEST_F(EndsOfGrids, HeadsFindTheirLastVoxel) {
  Graph graph;
  const ValueId x = volume(graph, large);
  const ValueId w = graph.add_value("w", {3, 16, 1, 1, 1}, ElementType::f32, Role::parameter);
  graph.apply("conv3d", "y", {x, w}, {{"stride", 1}, {"padding", 0}});
  const std::int64_t last = large.count() - 1;
  run(
      graph,
      [&](auto& values) {
        values[0]->half(last) = two;
        values[1]->full(2 * 16 + 15) = 1;
      },
      [&](auto& values) {
        EXPECT_EQ(values[2]->half(large.count() / 16 * 3 - 1), two);
        EXPECT_EQ(values[2]->half(large.count() / 16 * 3 - 2), 0);
      });
}

// More than 2^32 slabs of two bytes: indices exceed 32 bits.
TEST_F(EndsOfGrids, BlocksOfUnevenChannelsAreCountedInSixtyFourBits) {
  const Shape coarse = {1, 700, 1000, 890, 7};
  ASSERT_GT(coarse.count(), std::int64_t{1} << 32);
  Graph graph;
  const ValueId x = volume(graph, coarse);
  graph.apply("upsample_nearest", "y", {x});
  const std::int64_t last = coarse.count() - 1, fine = 8 * coarse.count() - 1;
  run(
      graph, [&](auto& values) { values[0]->half(last) = two; },
      [&](auto& values) {
        EXPECT_EQ(values[1]->half(fine), two);
        EXPECT_EQ(values[1]->half(fine - 7), two);         // the adjacent voxel
        EXPECT_EQ(values[1]->half(fine - 7 * 1780), two);  // the one a row before
        EXPECT_EQ(values[1]->half(fine - 1), 0);
      });
}

TEST_F(EndsOfGrids, ConcatenationsAreCountedInSixtyFourBits) {
  const Shape a = {1, 1024, 1024, 1025, 3}, b = {1, 1024, 1024, 1025, 2};
  ASSERT_GT(a.count() + b.count(), std::int64_t{1} << 32);
  Graph graph;
  const ValueId first = volume(graph, a), second = volume(graph, b);
  graph.apply("concat", "y", {first, second}, {{"axis", 4}});
  const std::int64_t last = a.count() + b.count() - 1;
  run(
      graph,
      [&](auto& values) {
        values[0]->half(a.count() - 1) = three;
        values[1]->half(b.count() - 1) = two;
      },
      [&](auto& values) {
        EXPECT_EQ(values[2]->half(last), two);
        EXPECT_EQ(values[2]->half(last - 1), 0);
        EXPECT_EQ(values[2]->half(last - 2), three);
      });
}

}  // namespace
}  // namespace voxswap::net
