// The graph as data, and completeness of the table of operations.
#include "net/graph/graph.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "net/graph/operation.h"
#include "net/graph/origin.h"
#include "tests/conformance/cases/cases.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {
namespace {

ValueId add_input(Graph& graph, const Shape& shape, ElementType type = ElementType::f32) {
  return graph.add_value("x", shape, type, Role::input);
}

TEST(ElementTypes, AreFoundByTheirNames) {
  for (ElementType type :
       {ElementType::f64, ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::u8})
    EXPECT_EQ(parse_element_type(element_name(type)), type);
  EXPECT_EQ(element_bytes(ElementType::bf16), 2);
  EXPECT_THROW(parse_element_type("float"), Error);
}

TEST(Graphs, CountBytesBeyond32Bits) {
  Graph graph;
  const ValueId x = add_input(graph, {1, 512, 512, 512, 16});
  EXPECT_EQ(graph.value(x).bytes(), std::int64_t{1} << 33);
}

TEST(Origins, AreShownInNames) {
  EXPECT_EQ(Origin("norm").text(), "norm");
  EXPECT_EQ(Origin("norm", 4).text(), "norm[4]");
  EXPECT_EQ(Origin("norm", none, 2).text(), "norm@3");
  EXPECT_EQ(Origin("norm", 4, 2).with_suffix(".planes").text(), "norm.planes@3[4]");
  EXPECT_EQ(Origin("norm", 4, 2).with_slab(none).with_sample(none).text(), "norm");
}

// Two slabs of a volume, in one sample and in two.
Graph split(std::int32_t samples) {
  Graph graph;
  for (std::int32_t sample = 0; sample < samples; ++sample)
    for (std::int32_t slab = 0; slab < 2; ++slab) {
      const Origin x("x", slab, samples == 1 ? none : sample);
      const ValueId id = graph.add_value(x, {1, 2, 2, 2, 4}, ElementType::f32, Role::input);
      graph.add("sigmoid", {"y", slab, x.sample}, {id});
    }
  graph.add("add", "sum", {0, 1});
  return graph;
}

TEST(Origins, NumberVolumesAndOperationsWhateverTheirSlab) {
  const Graph graph = split(2);
  const VolumeNumbers volumes = number_volumes(graph);
  // x[0], y[0], x[1], y[1] of both samples, then the sum
  EXPECT_EQ(volumes.values, (std::vector<std::int32_t>{0, 1, 0, 1, 2, 3, 2, 3, 4}));
  EXPECT_EQ(volumes.nodes, (std::vector<std::int32_t>{0, 0, 1, 1, 2}));
  const auto [first, second] = number_volumes(split(1), graph);
  EXPECT_EQ(first.values, (std::vector<std::int32_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(second.values, (std::vector<std::int32_t>{3, 4, 3, 4, 5, 6, 5, 6, 2}))
      << "other samples, the same sum";
}

TEST(Origins, FindCounterpartsInTheStepOfOneSample) {
  const Counterparts found = counterparts(split(2), split(1));
  EXPECT_EQ(found.values, (std::vector<ValueId>{0, 1, 2, 3, 0, 1, 2, 3, 4}));
  EXPECT_EQ(found.nodes, (std::vector<NodeId>{0, 1, 0, 1, 2}));
}

TEST(Graphs, PrintALinePerNode) {
  Graph graph;
  const ValueId w = graph.add_value("w", {2, 1, 3, 3, 3}, ElementType::f32, Role::parameter);
  const ValueId b = graph.add_value("b", {2}, ElementType::f32, Role::parameter);
  const ValueId x = add_input(graph, {1, 4, 6, 8, 1}, ElementType::bf16);
  const ValueId y = graph.apply("conv3d", "y", {x, w, b}, {{"stride", 2}, {"padding", 1}});
  graph.phase = Phase::backward;
  graph.add("conv3d_weight_gradient", "dw", {x, y},
            {{"stride", 2}, {"padding", 1}, {"kernel", 3}, {"bias", 1}});
  EXPECT_EQ(graph.text(),
            "forward y = conv3d(x, w, b) padding=1 stride=2 -> 1x2x3x4x2 bf16\n"
            "backward dw = conv3d_weight_gradient(x, y) bias=1 kernel=3 padding=1 stride=2 "
            "-> 2x1x3x3x3 f32 -> 2 f32\n");
  EXPECT_EQ(graph.value(y).role, Role::activation);
  EXPECT_EQ(graph.value(graph.node(1).outputs[1]).name, "dw.1");
  EXPECT_EQ(graph.value(graph.node(1).outputs[0]).role, Role::gradient);
}

TEST(GraphsDeathTest, RefuseAnOrderInWhichANodeReadsWhatIsMadeLater) {
  Graph graph;
  const ValueId x = add_input(graph, {1, 2, 2, 2, 1});
  const ValueId y = graph.apply("sigmoid", "y", {x});
  graph.apply("sigmoid", "z", {y});
  std::vector<Node> swapped = {graph.node(1), graph.node(0)};
  EXPECT_DEATH(graph.replace_nodes(swapped), "earlier nodes");
}

TEST(Operations, HaveNamesOfTheirOwnAndCasesThatTheyAccept) {
  std::set<std::string_view> names;
  for (const Operation* operation : operations()) {
    EXPECT_TRUE(names.insert(operation->name).second) << operation->name;
    EXPECT_FALSE(cases_of(operation->name).empty())
        << operation->name << ": nothing would test it on a backend";
    std::set<std::string> case_names;
    for (const OperationCase& example : cases_of(operation->name)) {
      EXPECT_TRUE(case_names.insert(example.name).second) << operation->name << ": " << example.name;
      for (ElementType type : {ElementType::f64, ElementType::bf16}) {
        const CaseGraph made = case_graph(*operation, example, type);
        const Graph& graph = made.graph;
        const Node& node = graph.node(made.node);
        EXPECT_GE(node_flops(graph, node), 0);
        EXPECT_GT(node_bytes(graph, node), 0);
        for (const auto& [output, input] : operation->in_place)
          EXPECT_EQ(graph.value(node.outputs[static_cast<std::size_t>(output)]).bytes(),
                    graph.value(node.inputs[static_cast<std::size_t>(input)]).bytes())
              << operation->name << " writes over an input of another size";
      }
    }
  }
}

}  // namespace
}  // namespace voxswap::net
