// The CPU's kernels give the same bits for any number of threads: in our own, chunks depend only on shapes,
// and sums are added in order of chunks. The library's convolutions do not split sums between threads.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/graph/operation.h"
#include "tests/environment.h"
#include "tests/net/training.h"

namespace voxswap::net {
namespace {

// A node of a step in a graph of its own.
struct Alone {
  Graph graph;
  NodeId node = none;
  Alone(const Graph& step, const Node& of) {
    std::map<ValueId, ValueId> made;
    const auto all = [&](const std::vector<ValueId>& ids) {
      std::vector<ValueId> result;
      for (const ValueId id : ids) {
        const Value& value = step.value(id);
        const auto [place, is_new] = made.try_emplace(id);
        if (is_new) place->second = graph.add_value(value.name, value.shape, value.type, value.role);
        result.push_back(place->second);
      }
      return result;
    };
    const std::vector<ValueId> updates = all(of.updates), inputs = all(of.inputs);
    node = graph.add(of.operation->name, of.name, inputs, of.attributes, updates);
  }
};

// The contents of all values after a run.
std::vector<std::vector<std::byte>> run(const Graph& graph, int threads) {
  const WithThreads with(threads);
  const auto backend = make_backend("onednn");
  GraphRun run(graph, *backend);
  for (ValueId id = 0; static_cast<std::size_t>(id) < graph.values().size(); ++id) {
    const Value& value = graph.value(id);
    if (value.producer != none) continue;
    const Fill fill = value.type == ElementType::u8 ? Fill::bits : Fill::positive;
    run.set(id, fill_values(fill, value.shape.count(), static_cast<std::uint64_t>(id)));
  }
  run.run({.seed = 5, .step = 1, .learning_rate = 1e-3});
  std::vector<std::vector<std::byte>> bytes;
  for (ValueId id = 0; static_cast<std::size_t>(id) < graph.values().size(); ++id)
    bytes.push_back(run.bytes(id));
  return bytes;
}

// Our own convolution kernels, also where the library's are faster.
std::string own_convolutions(ElementType type) {
  return std::string(convolution::instructions_name(convolution::instructions_for(type).back()));
}

StepOptions step_options(const std::string& network, ElementType type, const Shape& input) {
  StepOptions options;
  options.network.name = network;
  options.network.depth = 3;
  options.input = input;
  options.activations = type;
  return options;
}

// Planes of 48^2 voxels with at least 16 channels, up to eight per slab: many chunks.
TEST(Threads, ChangeNoBitOfWhatOurOwnKernelsMake) {
  std::set<std::string> seen, operations;
  for (const std::string network : {"isensee2017", "unet3d"})
    for (const std::int64_t slabs : {whole_volumes, std::int64_t{8}}) {
      const ElementType type = slabs == whole_volumes ? ElementType::f32 : ElementType::bf16;
      const test::Environment own("VOXSWAP_CONVOLUTIONS", own_convolutions(type));
      StepOptions options = step_options(network, type, {1, 16, 48, 48, 4});
      options.slabs = slabs;
      const TrainingStep step = build_training_step(options);
      for (const Node& node : step.graph.nodes()) {
        const Alone alone(step.graph, node);
        std::string shapes(node.operation->name);
        for (const Value& value : alone.graph.values())
          shapes += " " + value.shape.text() + std::string(element_name(value.type));
        if (!seen.insert(shapes).second) continue;
        operations.insert(std::string(node.operation->name));
        const auto by_one = run(alone.graph, 1);
        EXPECT_TRUE(by_one == run(alone.graph, 3)) << node.name << ": " << shapes;
        EXPECT_TRUE(by_one == run(alone.graph, 7)) << node.name << ": " << shapes;
      }
    }
  for (const char* name : {"instance_norm_statistics", "loss_sums", "total", "concat", "conv3d", "conv3d_sum",
                           "conv3d_data_gradient", "conv3d_weight_gradient"})
    EXPECT_TRUE(operations.contains(name)) << name;
}

// Loss and weights after a step.
TEST(Threads, ChangeNoBitOfAStep) {
  for (const std::string network : {"isensee2017", "unet3d", "resnet3d"})
    for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
      const test::Environment own("VOXSWAP_CONVOLUTIONS", own_convolutions(type));
      StepOptions options = step_options(network, type, {1, 16, 24, 16, 2});
      options.network.base_filters = 8;
      const TrainingStep step = build_training_step(options);
      const auto by_one = run(step.graph, 1);
      for (const int threads : {2, 3, 7}) {
        const auto found = run(step.graph, threads);
        for (std::size_t id = 0; id < found.size(); ++id)
          ASSERT_TRUE(found[id] == by_one[id])
              << network << " in " << element_name(type) << ", " << threads
              << " threads: " << step.graph.value(static_cast<ValueId>(id)).name;
      }
    }
}

}  // namespace
}  // namespace voxswap::net
