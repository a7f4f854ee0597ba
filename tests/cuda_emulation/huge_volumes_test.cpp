// Volumes with more than 2^31 and 2^32 elements: kernels must compute indices in 64 bits. The memory is only
// reserved: few blocks of each grid run, and they touch few pages.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <span>
#include <vector>

#include "net/backends/cuda/kernels.h"
#include "net/backends/reference/elements.h"
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

 private:
  std::size_t bytes_;
  void* data_;
};

// An element of one of a node's values: inputs are counted first, then outputs.
struct Element {
  std::size_t value;
  std::int64_t index;
  float number;
};

ValueId volume(Graph& graph, const Shape& shape) {
  return graph.add_value("x", shape, ElementType::bf16, Role::input);
}
ValueId numbers(Graph& graph, const Shape& shape) {
  return graph.add_value("numbers", shape, ElementType::f32, Role::input);
}

// 2^32 + 2^29 elements; last: of the volume, of the head's outputs, of uneven channels, of their upsampling.
const Shape large = {1, 1024, 768, 384, 16}, uneven = {1, 700, 1000, 890, 7},
            three_wide = {1, 1024, 1024, 1025, 3}, two_wide = {1, 1024, 1024, 1025, 2};
const std::int64_t last = large.count() - 1, last_of_head = large.count() / 16 * 3 - 1,
                   last_uneven = uneven.count() - 1, last_fine = 8 * uneven.count() - 1,
                   last_joined = three_wide.count() + two_wide.count() - 1,
                   beyond = ((large[2] + 1) * large[3] + 1) * large[4];  // the diagonal neighbour

struct HugeVolume {
  const char* name;
  void (*build)(Graph&);
  std::vector<Element> written, expected;  // elements that are not written are 0
};

void PrintTo(const HugeVolume& row, std::ostream* out) {
  *out << row.name;
}

std::vector<Element> ones_for_a_norm() {
  std::vector<Element> elements = {{0, last, 1}};
  for (std::int64_t i = 0; i < 16; ++i) {
    elements.push_back({1, 2 * i + 1, 1});
    elements.push_back({2, i, 1});
    elements.push_back({3, i, 1});
  }
  return elements;
}

std::vector<HugeVolume> huge_volumes() {
  return {{"ElementsAreFoundBeyondTwoToTheThirtySecond",
           [](Graph& graph) {
             graph.apply("leaky_relu", "y", {volume(graph, large)}, {{"slope", 0.5}});
           },
           {{0, last, 2}},
           {{1, last, 2}, {1, last & 0xffffffff, 0}, {1, last & 0x7fffffff, 0}}},
          {"NormsFindTheirLastVoxel",
           [](Graph& graph) {
             const ValueId x = volume(graph, large), statistics = numbers(graph, {1, 16, 2}),
                           gamma = numbers(graph, {16}), beta = numbers(graph, {16});
             graph.apply("norm_activation", "y", {x, statistics, gamma, beta}, {{"slope", 0.5}});
           },
           ones_for_a_norm(),
           {{4, last, 2}, {4, last - 1, 1}, {4, 0, 1}}},
          // The second stage of a sum has one block per channel: those of the first and the last channel run.
          {"SumsReachTheirLastVoxel",
           [](Graph& graph) { graph.apply("channel_sum", "sums", {volume(graph, large)}); },
           {{0, 0, 3}, {0, last, 2}},
           {{1, 0, 3}, {1, 15, 2}}},
          // The first tap maps the first voxel to its diagonal neighbour, and the last tap maps the last
          // voxel back.
          {"NarrowConvolutionsFindTheirFirstAndLastVoxel",
           [](Graph& graph) {
             const ValueId x = volume(graph, large), w = numbers(graph, {16, 16, 3, 3, 3});
             graph.apply("conv3d", "y", {x, w}, {{"stride", 1}, {"padding", 1}});
           },
           {{0, 0, 3}, {0, last, 2}, {1, 0, 1}, {1, 16 * 16 * 27 - 1, 1}},
           {{2, beyond, 3}, {2, last - beyond, 2}, {2, last, 0}}},
          {"HeadsFindTheirLastVoxel",
           [](Graph& graph) {
             const ValueId x = volume(graph, large), w = numbers(graph, {3, 16, 1, 1, 1});
             graph.apply("conv3d", "y", {x, w}, {{"stride", 1}, {"padding", 0}});
           },
           {{0, last, 2}, {1, 2 * 16 + 15, 1}},
           {{2, last_of_head, 2}, {2, last_of_head - 1, 0}}},
          // More than 2^32 slabs of two bytes: indices exceed 32 bits. The adjacent voxel, and the one a row
          // before.
          {"BlocksOfUnevenChannelsAreCountedInSixtyFourBits",
           [](Graph& graph) { graph.apply("upsample_nearest", "y", {volume(graph, uneven)}); },
           {{0, last_uneven, 2}},
           {{1, last_fine, 2}, {1, last_fine - 7, 2}, {1, last_fine - 7 * 1780, 2}, {1, last_fine - 1, 0}}},
          {"ConcatenationsAreCountedInSixtyFourBits",
           [](Graph& graph) {
             const ValueId first = volume(graph, three_wide), second = volume(graph, two_wide);
             graph.apply("concat", "y", {first, second}, {{"axis", 4}});
           },
           {{0, three_wide.count() - 1, 3}, {1, two_wide.count() - 1, 2}},
           {{2, last_joined, 2}, {2, last_joined - 1, 0}, {2, last_joined - 2, 3}}}};
}

// Runs only the first and the last block of every grid.
class EndsOfGrids : public testing::TestWithParam<HugeVolume> {
 protected:
  EndsOfGrids() {
    emulation::set_blocks_that_run([](const emulation::Extent& block, const emulation::Extent& grid) {
      return block.x == 0 || block.x == grid.x - 1;
    });
  }
  ~EndsOfGrids() override { emulation::set_blocks_that_run(nullptr); }
};

TEST_P(EndsOfGrids, FindTheirVoxels) {
  Graph graph;
  GetParam().build(graph);
  const Node& node = graph.nodes().back();
  std::vector<ValueId> ids = node.inputs;
  ids.insert(ids.end(), node.outputs.begin(), node.outputs.end());
  std::vector<std::unique_ptr<Reserved>> values;
  std::vector<void*> places;
  for (const ValueId id : ids)
    places.push_back(values.emplace_back(std::make_unique<Reserved>(graph.value(id).bytes()))->data());
  const auto place = [&](const Element& element) {
    const std::int64_t bytes = element_bytes(graph.value(ids[element.value]).type);
    return static_cast<std::byte*>(places[element.value]) + element.index * bytes;
  };
  for (const Element& element : GetParam().written) {
    const double number = element.number;
    store_elements(place(element), &number, graph.value(ids[element.value]).type, 1);
  }
  cuda::Device device;
  device.major = 9;
  const auto kernel = cuda::find_maker(*node.operation)(graph, node, device);
  Reserved workspace(kernel->workspace_bytes() + 64);
  const StepContext context;
  const std::span all(places);
  const std::size_t inputs = node.inputs.size();
  kernel->run({all.first(inputs), all.subspan(inputs), {}, workspace.data(), &context});
  for (const Element& element : GetParam().expected) {
    double found = -1;
    load_elements(&found, place(element), graph.value(ids[element.value]).type, 1);
    EXPECT_EQ(found, element.number) << "value " << element.value << ", element " << element.index;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EndsOfGrids, testing::ValuesIn(huge_volumes()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace voxswap::net
