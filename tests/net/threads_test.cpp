// The CPU's own kernels give the same bits for any number of threads: chunks follow from shapes alone, and
// sums are added in the chunks' order. Convolutions are a library's, which divides the sums of a weight
// gradient among its threads.
#include <gtest/gtest.h>
#include <omp.h>

#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "net/backends/backends.h"
#include "net/graph/operation.h"
#include "net/steps/step.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {
namespace {

class WithThreads {
 public:
  explicit WithThreads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~WithThreads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

// A node of a step by itself.
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

// All that is there after it has run.
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

bool is_library(const Node& node) {
  return node.operation->name.find("conv3d") != std::string_view::npos;
}

// Planes of 48^2 voxels of 16 channels and more, up to eight of a piece: many chunks.
TEST(Threads, ChangeNoBitOfWhatOurOwnKernelsMake) {
  std::set<std::string> seen, operations;
  for (const std::string network : {"isensee2017", "unet3d"})
    for (const std::int64_t pieces : {whole_volumes, std::int64_t{8}}) {
      StepOptions options;
      options.network.name = network;
      options.network.depth = 3;
      options.input = {1, 16, 48, 48, 4};
      options.activations = pieces == whole_volumes ? ElementType::f32 : ElementType::bf16;
      options.pieces = pieces;
      const TrainingStep step = build_training_step(options);
      for (const Node& node : step.graph.nodes()) {
        if (is_library(node)) continue;
        const Alone alone(step.graph, node);
        std::string shapes(node.operation->name);
        for (const Value& value : alone.graph.values())
          shapes += " " + value.shape.text() + std::string(element_name(value.type));
        if (!seen.insert(shapes).second) continue;
        operations.insert(std::string(node.operation->name));
        EXPECT_TRUE(run(alone.graph, 1) == run(alone.graph, 3)) << node.name << ": " << shapes;
      }
    }
  for (const char* name : {"instance_norm_statistics", "loss_sums", "total", "concat"})
    EXPECT_TRUE(operations.contains(name)) << name;
}

}  // namespace
}  // namespace voxswap::net
