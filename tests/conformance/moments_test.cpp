// Compares convolutions that also output the moments of their planes with the reference: with every
// instruction set of this processor, with emulated or trapped tiles, and by the library. Covers the cases of
// the operations, also on windows, and sizes whose planes are made in several parts.
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "tests/conformance/cases/cases.h"
#include "tests/conformance/convolutions.h"

namespace voxswap::net {
namespace {

using convolution::Instructions;

OperationCase with_moments(OperationCase example) {
  example.attributes.set("moments", 1);
  return example;
}

// Planes in parts along and across rows, and in blocks of channels; batches; strides.
std::vector<OperationCase> in_parts() {
  std::vector<OperationCase> result;
  for (const Sized& size : std::vector<Sized>{{{1, 2, 20, 9, 16}, 32, cube(3, 1, 1)},
                                              {{2, 5, 29, 11, 16}, 48, cube(3, 1, 1)},
                                              {{1, 3, 9, 150, 32}, 16, cube(3, 1, 1)},
                                              {{1, 2, 31, 300, 4}, 16, cube(3, 1, 1)},
                                              {{1, 2, 43, 90, 2}, 64, cube(3, 2, 1)},
                                              {{1, 2, 6, 8, 130}, 80, cube(3, 2, 1)}})
    result.push_back(with_moments(case_of("conv3d", size)));
  return result;
}

// nullopt: the library.
std::vector<std::optional<Instructions>> choices() {
  std::vector<std::optional<Instructions>> all = {std::nullopt, Instructions::emulated_amx};
  if (TrappedTiles::work_here()) all.emplace_back(Instructions::amx);
  for (const Instructions each : convolution::instructions_for(ElementType::bf16)) all.emplace_back(each);
  return all;
}

class Moments : public testing::TestWithParam<std::optional<Instructions>> {};

TEST_P(Moments, AreThoseOfTheReference) {
  std::optional<ByInstructions> own;
  std::optional<Forced> forced;
  std::unique_ptr<Backend> library;
  if (GetParam()) {
    own.emplace(*GetParam());
  } else {
    forced.emplace("library");
    library = make_backend("onednn");
  }
  Backend& backend = own ? own->backend() : *library;
  const bool is_alone = own && own->is_alone();
  std::set<std::string> passes;  // how moments are summed: while parts are in cache, or in a separate pass
  for (const char* name : {"conv3d", "conv3d_sum", "windowed_conv3d", "windowed_conv3d_sum"}) {
    const Operation& operation = find_operation(name);
    if (operation.inner != nullptr && GetParam() != choices().back()) continue;  // windows take any kernel
    std::vector<OperationCase> cases;
    for (const OperationCase& example : cases_of(name)) cases.push_back(with_moments(example));
    if (operation.name == "conv3d")
      for (const OperationCase& example : in_parts()) cases.push_back(example);
    for (const OperationCase& example : cases)
      for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
        if (!backend.supports(type)) continue;
        const Check check = {&operation, &example, &backend, type};
        const CaseGraph graph = case_graph(operation, example, type);
        if (own && !own->compiles(graph)) continue;
        SCOPED_TRACE(graph.graph.text());
        ASSERT_EQ(results(graph).size(), 2u);
        expect_agreement(check, graph);
        expect_only_outputs_are_written(check, graph);
        expect_the_same_bits_in_place(check, graph);
        const auto kernel = backend.compile(graph.graph, graph.graph.node(graph.node));
        passes.insert(kernel->implementation().ends_with("then moments") ? "then" : "near");
      }
  }
  EXPECT_EQ(passes.contains("then"), !is_alone);  // by the library, for kernels with one tap
  EXPECT_EQ(passes.contains("near"), own.has_value());
}

INSTANTIATE_TEST_SUITE_P(Every, Moments, testing::ValuesIn(choices()), [](const auto& choice) {
  return std::string(choice.param ? convolution::instructions_name(*choice.param) : "library");
});

// Squares of numbers around 1000 leave few digits for their differences.
TEST(MomentsOfPlanes, AreExactFarFromZero) {
  const auto backend = make_backend("onednn");
  for (const Shape& x : {Shape{1, 2, 24, 36, 16}, Shape{1, 2, 24, 36, 4}}) {
    Graph graph;
    std::vector<ValueId> inputs;
    for (const Shape& shape : {x, Shape{16, x[4], 3, 3, 3}, Shape{16}})
      inputs.push_back(graph.add_value("input", shape, ElementType::f32, Role::input));
    const Node node =
        graph.node(graph.add("conv3d", "y", inputs, {{"stride", 1}, {"padding", 1}, {"moments", 1}}));
    GraphRun run(graph, *backend);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      run.set(inputs[i], fill_values(Fill::normal, graph.value(inputs[i]).shape.count(), i));
    run.set(inputs[2], std::vector<double>(16, 1000));
    run.run({});
    const std::vector<double> y = run.get(node.outputs[0]), found = run.get(node.outputs[1]);
    const std::int64_t voxels = x[2] * x[3];
    for (std::int64_t i = 0; i < 2 * 16; ++i) {
      const double* const first = y.data() + i / 16 * voxels * 16 + i % 16;
      double mean = 0, squares = 0;
      for (std::int64_t v = 0; v < voxels; ++v) mean += first[16 * v] / static_cast<double>(voxels);
      for (std::int64_t v = 0; v < voxels; ++v) squares += std::pow(first[16 * v] - mean, 2);
      EXPECT_NEAR(found[static_cast<std::size_t>(2 * i)], mean, 1e-6 * mean);
      EXPECT_NEAR(found[static_cast<std::size_t>(2 * i + 1)], squares, 1e-5 * squares);
    }
  }
}

}  // namespace
}  // namespace voxswap::net
