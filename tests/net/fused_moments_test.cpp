// Norm statistics computed by convolutions: the graph pass, and that a step's result changes only in the last
// digits.
#include "net/graph/fused_moments.h"

#include <gtest/gtest.h>

#include "tests/net/cut_run.h"

namespace voxswap::net {
namespace {

bool always(const Graph&, const Node&) {
  return true;
}

int count_nodes(const Graph& graph, std::string_view operation) {
  return static_cast<int>(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                        [&](const Node& node) { return node.operation->name == operation; }));
}

// A 3^3 convolution of x, and the norm statistics of its output.
struct Small {
  Graph graph;
  ValueId x, w, y, statistics;
  explicit Small(const Shape& shape = {1, 4, 2, 3, 4}, std::int64_t outputs = 16)
      : w(graph.add_value("w", {outputs, shape[4], 3, 3, 3}, ElementType::f32, Role::parameter)) {
    x = graph.add_value("x", shape, ElementType::f32, Role::input);
    y = graph.apply("conv3d", "y", {x, w}, {{"stride", 1}, {"padding", 1}});
    statistics = graph.apply("instance_norm_statistics", "s", {y}, {{"epsilon", 1}});
  }
};

TEST(FusedMoments, OfAWholeVolumeBecomeItsStatistics) {
  Small small;
  fuse_moments(small.graph, always);
  EXPECT_EQ(small.graph.text(),
            "forward y = conv3d(x, w) moments=1 padding=1 stride=1 -> 1x4x2x3x16 f32 -> 1x4x16x2 f64\n"
            "forward s = statistics_of_planes(s.planes) epsilon=1 plane_voxels=6 type=1 -> 1x16x2 f32\n");
  EXPECT_EQ(small.graph.value(small.statistics).producer, 1);
}

TEST(FusedMoments, OfSlabsTakeThePlaceOfTheirSums) {
  Small small({1, 8, 2, 3, 4});
  CutGraph cut = cut_into_slabs(small.graph, 2);
  const int nodes = static_cast<int>(cut.graph.nodes().size());
  ASSERT_EQ(count_nodes(cut.graph, "plane_moments"), 4);
  const std::vector<ValueId> planes = cut.graph.nodes().back().inputs;
  fuse_moments(cut.graph, always);
  EXPECT_EQ(count_nodes(cut.graph, "plane_moments"), 0);
  EXPECT_EQ(static_cast<int>(cut.graph.nodes().size()), nodes - 4);
  EXPECT_EQ(cut.graph.nodes().back().inputs, planes);
  for (const ValueId id : planes) {
    const Node& maker = cut.graph.node(cut.graph.value(id).producer);
    EXPECT_EQ(maker.operation->name, "windowed_conv3d");
    EXPECT_EQ(maker.outputs.back(), id);
  }
}

TEST(FusedMoments, AreLeftAloneWhereNoConvolutionIsToGiveThem) {
  Small small;
  const ValueId other = small.graph.apply("leaky_relu", "other", {small.y}, {{"slope", 0.1}});
  small.graph.apply("instance_norm_statistics", "of_other", {other}, {{"epsilon", 1}});
  const std::string before = small.graph.text();
  fuse_moments(small.graph, [](const Graph&, const Node&) { return false; });
  EXPECT_EQ(small.graph.text(), before);
  fuse_moments(small.graph, always);
  EXPECT_EQ(count_nodes(small.graph, "instance_norm_statistics"), 1);
}

// For networks trained on the CPU: convolutions with more than one tap and channels in multiples of sixteen.
TEST(FusedMoments, AreMadeByOwnConvolutionsOfTheCpu) {
  StepOptions options;
  options.network.depth = 3;
  options.input = {1, 8, 8, 8, 4};
  Graph graph = build_training_step(options).graph;
  const int all = count_nodes(graph, "instance_norm_statistics");
  suit(*make_backend("reference"), graph);
  EXPECT_EQ(count_nodes(graph, "statistics_of_planes"), 0);
  suit(*make_backend("onednn"), graph);
  EXPECT_EQ(count_nodes(graph, "statistics_of_planes"), 11);
  EXPECT_EQ(count_nodes(graph, "instance_norm_statistics"), all - 11);
}

struct Found {
  std::vector<std::byte> y, statistics;
  bool operator==(const Found&) const = default;
};

Found found(const Shape& shape, std::int64_t outputs, std::int64_t planes, int threads) {
  const WithThreads with(threads);
  const auto backend = make_backend("onednn");
  const Small small(shape, outputs);
  CutGraph cut = cut_into_slabs(small.graph, planes);
  suit(*backend, cut.graph);
  EXPECT_EQ(count_nodes(cut.graph, "plane_moments") + count_nodes(cut.graph, "instance_norm_statistics"), 0);
  const auto slabs = [&](ValueId id) { return cut.slabs[static_cast<std::size_t>(id)]; };
  GraphRun run(cut.graph, *backend);
  set(run, cut, small.graph, small.x, filled(small.graph, small.x, Fill::normal, 1));
  set(run, cut, small.graph, small.w, filled(small.graph, small.w, Fill::normal, 2));
  run.run({});
  Found result{{}, run.bytes(slabs(small.statistics)[0])};
  for (const ValueId slab : slabs(small.y)) {
    const std::vector<std::byte> bytes = run.bytes(slab);
    result.y.insert(result.y.end(), bytes.begin(), bytes.end());
  }
  return result;
}

// With and without minimal filtering, for planes in one part and in several.
TEST(FusedMoments, HaveTheSameBitsInSlabsAndForAnyNumberOfThreads) {
  for (const auto& [shape, outputs] : {std::pair{Shape{1, 10, 40, 36, 16}, 16},
                                       {Shape{1, 10, 20, 90, 4}, 48},
                                       {Shape{1, 6, 9, 130, 32}, 32}}) {
    const Found whole = found(shape, outputs, whole_volumes, 1);
    for (const int threads : {2, 3, 7, 16})
      EXPECT_TRUE(found(shape, outputs, whole_volumes, threads) == whole) << threads << " threads";
    for (const std::int64_t planes : {2, 4})
      EXPECT_TRUE(found(shape, outputs, planes, 2) == whole) << "slabs of " << planes << " planes";
  }
}

Trained trained(Backend& backend, const StepOptions& options, const MakesMoments& makes_moments) {
  TrainingStep step = build_training_step(options);
  fuse_moments(step.graph, makes_moments);
  GraphRun run(step.graph, backend);
  begin(run, step, 3);
  std::uint64_t stream = 1;
  for (const ValueId id : step.input) run.set(id, filled(step.graph, id, Fill::normal, stream++));
  for (const ValueId id : step.target) run.set(id, filled(step.graph, id, Fill::bits, stream++));
  return train(run, step, 2);
}

TEST(FusedMoments, TrainAsThePlainStepDoesInDouble) {
  const auto backend = make_backend("reference");
  for (const std::int64_t slabs : {whole_volumes, std::int64_t{2}}) {
    StepOptions options;
    options.network.depth = 3;
    options.network.base_filters = 4;
    options.input = {1, 12, 8, 8, 2};
    options.activations = ElementType::f64;
    options.slabs = slabs;
    const Trained plain = trained(*backend, options, [](const Graph&, const Node&) { return false; });
    expect_near(trained(*backend, options, always), plain, 1e-9, 1e-9);
  }
}

}  // namespace
}  // namespace voxswap::net
