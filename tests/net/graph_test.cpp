// The graph as data, and completeness of the table of operations.
#include "net/graph/graph.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "net/graph/names.h"
#include "net/graph/operation.h"

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

TEST(PieceNames, TellTheVolumeAndThePiece) {
  const std::string name = piece_name("encoder.0", 12);
  EXPECT_EQ(name, "encoder.0[12]");
  EXPECT_EQ(split_piece_name(name).volume, "encoder.0");
  EXPECT_EQ(split_piece_name(name).piece, "[12]");
  EXPECT_EQ(split_piece_name(name).number(), 12U);
  EXPECT_EQ(split_piece_name("encoder.0.norm[3].1").volume, "encoder.0.norm.1");
  EXPECT_EQ(split_piece_name("encoder.0.norm[3].1").piece, "[3]");
  for (const char* whole : {"encoder.0", "", "x[]", "x[1", "x]", "x[y]"}) {
    EXPECT_EQ(split_piece_name(whole).volume, whole);
    EXPECT_EQ(split_piece_name(whole).piece, "");
    EXPECT_EQ(split_piece_name(whole).number(), 0U);
  }
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
  EXPECT_DEATH(graph.replace_nodes(swapped), "made before");
}

TEST(Operations, HaveNamesOfTheirOwnAndCasesThatTheyAccept) {
  std::set<std::string_view> names;
  for (const Operation* operation : operations()) {
    EXPECT_TRUE(names.insert(operation->name).second) << operation->name;
    EXPECT_FALSE(operation->cases.empty()) << operation->name << ": nothing would test it on a backend";
    std::set<std::string> case_names;
    for (const OperationCase& example : operation->cases) {
      EXPECT_TRUE(case_names.insert(example.name).second) << operation->name << ": " << example.name;
      for (ElementType type : {ElementType::f64, ElementType::bf16}) {
        Graph graph;
        const ElementType full = type == ElementType::f64 ? type : ElementType::f32;
        std::vector<ValueId> inputs, updates;
        for (const OperationCase::Input& input : example.inputs) {
          using Kind = OperationCase::Input::Kind;
          const std::map<Kind, ElementType> types = {{Kind::activation, type},
                                                     {Kind::full, full},
                                                     {Kind::twice, ElementType::f64},
                                                     {Kind::bits, ElementType::u8}};
          inputs.push_back(add_input(graph, input.shape, types.at(input.kind)));
        }
        for (const OperationCase::Input& input : example.updates)
          updates.push_back(graph.add_value("state", input.shape, full, Role::parameter));
        const NodeId id =
            graph.add(operation->name, std::string(operation->name), inputs, example.attributes, updates);
        const Node& node = graph.node(id);
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

TEST(SampleName, TellsTheSampleAndWhatOneSampleCallsIt) {
  EXPECT_EQ(sample_name("norm", 2), "norm@3");
  EXPECT_EQ(sample_in("norm@3"), 2);
  EXPECT_EQ(name_in_one_sample("norm@3"), "norm");
  EXPECT_EQ(sample_in("norm@12[4].1"), 11);
  EXPECT_EQ(name_in_one_sample("norm@12[4].1"), "norm[4].1");
  EXPECT_EQ(sample_in("norm"), std::nullopt);
  EXPECT_EQ(name_in_one_sample("norm"), "norm");
}

TEST(SampleName, OfASumIsOfNoSample) {
  const std::string sum = sum_name("loss", 0, 2);
  EXPECT_EQ(sum, "loss@1-2");
  EXPECT_EQ(sample_in(sum), std::nullopt);
  EXPECT_EQ(name_in_one_sample(sum), std::nullopt);
}

}  // namespace
}  // namespace voxswap::net
