// Compares our own convolutions, with every instruction set of this processor, with the reference: the cases
// of the operation, and sizes that no block of any of them divides evenly. The default instruction set
// depends on the processor. `portable` and emulated AMX tiles exist everywhere; AMX instructions also run
// where they can be trapped.
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/backends/convolution/weight_gradient.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/convolutions.h"
#include "tests/expect.h"

namespace voxswap::net {
namespace {

using convolution::Instructions;

// Channels around every width of a register and of a tile, rows longer than a slab, planes split between
// slabs.
std::vector<Sized> sized() {
  std::vector<Sized> all;
  for (const std::int64_t inputs : {2, 7, 8, 9, 15, 17, 31, 33})
    all.push_back({{1, 2, 3, 5, inputs}, inputs % 2 == 0 ? 17 : 33, cube(3, 1, 1)});
  for (const std::int64_t outputs : {4, 15, 31, 47})
    all.push_back({{1, 5, 4, 3, 6}, outputs, cube(outputs % 2 == 0 ? 3 : 2, outputs % 3 == 0 ? 2 : 1, 1)});
  all.push_back({{1, 1, 2, 300, 5}, 3, cube(3, 1, 1)});    // rows longer than a slab
  all.push_back({{1, 1, 1, 531, 17}, 5, cube(3, 2, 1)});   // in steps of two
  all.push_back({{2, 9, 37, 13, 3}, 4, cube(3, 1, 1)});    // slabs that end within a sample
  all.push_back({{1, 2, 300, 1, 4}, 3, cube(1, 1, 0)});    // columns
  all.push_back({{1, 1, 1, 1, 150}, 200, cube(1, 1, 0)});  // many groups of channels, one voxel
  all.push_back({{1, 3, 2, 2, 130}, 70, cube(3, 1, 1)});   // and sums too large for a workspace
  all.push_back({{1, 1, 9, 60, 3}, 16, square(7, 2, 3)});
  all.push_back({{1, 1, 40, 42, 5}, 16, square(3, 1, 18, 18)});  // taps far apart
  return all;
}

// Channels around every width of one and two registers, rows around every length of a tile, rows and planes
// too few for a kernel, slabs with more planes before than behind.
std::vector<Sized> sized_volumes() {
  std::vector<Sized> all;
  for (const std::int64_t inputs : {1, 2, 3, 5, 16, 17, 32})
    all.push_back({{1, 2, 3, 5, inputs}, inputs % 2 == 0 ? 17 : 33, cube(3, 1, 1)});
  for (const std::int64_t outputs : {1, 3, 8, 15, 24, 31, 49})
    all.push_back({{1, 3, 2, 7, outputs % 2 == 0 ? 6 : 5}, outputs, cube(3, outputs % 3 == 0 ? 2 : 1, 1)});
  for (const std::int64_t width : {1, 2, 5, 8, 13, 14, 24, 25, 27, 51}) {
    all.push_back({{1, 1, 2, width, 4}, width % 2 == 0 ? 20 : 16, cube(3, 1, 1)});
    all.push_back({{1, 1, 2, width, 3}, width % 2 == 0 ? 16 : 20, cube(3, 2, 1)});
    all.push_back({{1, 2, 1, width, 4}, width % 2 == 0 ? 16 : 32, cube(2, 1, 1)});
  }
  all.push_back({{2, 1, 1, 1, 17}, 3, cube(3, 1, 1)});
  all.push_back({{1, 2, 2, 301, 2}, 5, cube(3, 1, 1)});
  all.push_back({{1, 2, 6, 8, 130}, 70, cube(3, 2, 1)});
  all.push_back({{1, 2, 3, 38, 40}, 4, cube(3, 2, 1)});
  all.push_back({{1, 4, 6, 8, 3}, 18, cube(2, 2, 0)});
  KernelAxes slab = cube(3, 1, 1);
  slab[0].behind = 0;
  all.push_back({{1, 4, 3, 9, 4}, 16, slab});
  slab[0] = {3, 2, 0, 1, 1};
  all.push_back({{1, 5, 3, 9, 4}, 16, slab});
  return all;
}

// Sizes for minimal filtering: rows around whole tiles of four voxels, channels around whole registers and
// blocks of channels, strips that end within a plane and within a row, images, padding that differs before
// and behind.
std::vector<Sized> sized_filtered() {
  std::vector<Sized> all;
  for (const std::int64_t width : {6, 7, 8, 9, 13, 28, 35})
    all.push_back({{1, 2, 20, width, 16}, width % 2 == 0 ? 16 : 32, cube(3, 1, 1)});
  for (const std::int64_t inputs : {12, 15, 17, 33, 48})
    all.push_back({{1, 3, 9, 9, inputs}, inputs % 2 == 0 ? 49 : 24, cube(3, 1, 1)});
  for (const std::int64_t outputs : {1, 8, 9, 31, 33, 64, 100})
    all.push_back({{1, 2, 9, 10, 12}, outputs, cube(3, 1, 1)});
  all.push_back({{2, 5, 29, 11, 16}, 16, cube(3, 1, 1)});
  all.push_back({{1, 3, 9, 150, 32}, 16, cube(3, 1, 1)});
  all.push_back({{2, 1, 30, 70, 16}, 20, square(3, 1, 1)});
  all.push_back({{1, 4, 1, 40, 16}, 16, of_rows(3, 1, 1)});
  KernelAxes slab = cube(3, 1, 1);
  slab[0].behind = 0;
  all.push_back({{1, 4, 9, 9, 16}, 16, slab});
  return all;
}

class InstructionSets : public testing::TestWithParam<Instructions> {
 protected:
  void SetUp() override {
    if (!by_.is_alone() && !ByInstructions::is_here(GetParam()))
      GTEST_SKIP() << "not on this processor: " << convolution::instructions_name(GetParam());
  }
  // f32 and bf16 of this set; without f32 if the set has none.
  static std::vector<ElementType> types() {
    if (GetParam() == Instructions::avx512_bf16 || is_of_tiles(GetParam())) return {ElementType::bf16};
    return {ElementType::f32, ElementType::bf16};
  }
  const ByInstructions by_{GetParam()};
  Backend& backend_ = by_.backend();
};

constexpr const char* filtered = ":filtered";  // suffix of the implementation's name

std::string named(Instructions instructions) {
  return "own:" + std::string(convolution::instructions_name(instructions));
}

bool is_by(const std::string& implementation, Instructions instructions) {
  return implementation == named(instructions) || implementation == named(instructions) + filtered;
}

// The instructions that compute a weight gradient: tiles support only few taps, close together.
Instructions of_weights(Instructions instructions, const KernelAxes& axes) {
  const bool is_usual = std::all_of(axes.begin(), axes.end(), [](const KernelAxis& axis) {
    return axis.kernel <= 3 && axis.stride <= 2 && axis.dilation == 1;
  });
  if (!is_of_tiles(instructions) || is_usual) return instructions;
  return instructions == Instructions::amx ? Instructions::avx512_bf16 : Instructions::portable;
}

TEST_P(InstructionSets, GiveTheWeightGradientsOfTheReference) {
  const Operation& operation = find_operation("conv3d_weight_gradient");
  std::vector<OperationCase> cases = cases_of(operation.name);
  for (const Sized& size : sized()) cases.push_back(case_of(operation.name, size));
  for (OperationCase& example : cases)
    for (const ElementType type : types()) {
      if (by_.is_alone()) example.attributes.set("bias", 0);
      const CaseGraph graph = case_graph(operation, example, type);
      SCOPED_TRACE(graph.graph.text());
      ASSERT_TRUE(by_.compiles(graph));
      const Check check = {&operation, &example, &backend_, type};
      expect_agreement(check, graph);
      expect_only_outputs_are_written(check, graph);
      const auto kernel = backend_.compile(graph.graph, graph.graph.node(graph.node));
      EXPECT_TRUE(is_by(kernel->implementation(), of_weights(GetParam(), kernel_axes(example.attributes))));
    }
}

// Whether this set computes it, or its substitute for an odd number of channels.
bool is_own(const std::string& implementation, Instructions instructions, std::int64_t channels) {
  if (instructions == Instructions::avx512_bf16 && channels % 2 != 0) instructions = Instructions::avx512;
  return is_by(implementation, instructions);
}

TEST_P(InstructionSets, GiveTheVolumesOfTheReference) {
  for (const char* const name : {"conv3d", "conv3d_sum", "conv3d_data_gradient"}) {
    const Operation& operation = find_operation(name);
    std::vector<OperationCase> cases = cases_of(operation.name);
    for (const Sized& size : sized_volumes()) cases.push_back(case_of(operation.name, size));
    int own = 0;
    for (const OperationCase& example : cases)
      for (const ElementType type : types()) {
        const CaseGraph graph = case_graph(operation, example, type);
        SCOPED_TRACE(graph.graph.text());
        if (example.name != "sized" && !by_.compiles(graph)) continue;
        const Check check = {&operation, &example, &backend_, type};
        const auto kernel = backend_.compile(graph.graph, graph.graph.node(graph.node));
        const bool by_own = is_own(kernel->implementation(), GetParam(), example.inputs[0].shape[4]);
        EXPECT_TRUE(by_own || example.name != "sized") << kernel->implementation();
        own += by_own;
        expect_agreement(check, graph);
        expect_only_outputs_are_written(check, graph);
      }
    EXPECT_GT(own, 0) << name;
  }
}

// Errors are those of f32 sums: up to twice those of direct products.
TEST_P(InstructionSets, FilterRowsToMillionthsOfTheScale) {
  if (types().front() != ElementType::f32) GTEST_SKIP() << "f32 alone is filtered";
  const std::vector<Sized> sizes = sized_filtered();
  for (const char* const name : {"conv3d", "conv3d_sum", "conv3d_data_gradient", "conv3d_weight_gradient"}) {
    const Operation& operation = find_operation(name);
    std::size_t count = 0;
    for (const Sized& size : sizes) {
      const OperationCase example = case_of(operation.name, size);
      const CaseGraph graph = case_graph(operation, example, ElementType::f32);
      SCOPED_TRACE(graph.graph.text());
      const auto kernel = backend_.compile(graph.graph, graph.graph.node(graph.node));
      count += kernel->implementation() == named(GetParam()) + filtered;
      const Check check = {&operation, &example, &backend_, ElementType::f32};
      expect_agreement(check, graph, 5e-6);
      expect_only_outputs_are_written(check, graph);
    }
    EXPECT_GT(count, sizes.size() / 2) << name;
  }
}

// Some planes of a volume.
std::vector<double> planes_of(const std::vector<double>& volume, std::int64_t plane, std::int64_t from,
                              std::int64_t to) {
  return {volume.begin() + from * plane, volume.begin() + to * plane};
}

// Result of a 3^3 convolution, or of its gradient, on planes 0 … of x; with or without zero padding along the
// depth.
std::vector<double> made_of(Backend& backend, ElementType type, const char* operation, const Shape& x,
                            const std::vector<double>& values, std::int64_t outputs, bool is_whole) {
  const bool gradient = std::string_view(operation) == "conv3d_data_gradient";
  KernelAxes axes = cube(3, 1, 1);
  if (!is_whole) axes[0].before = axes[0].behind = gradient ? 2 : 0;
  Attributes attributes = attributes_of(axes);
  if (gradient) {
    attributes.set("d", static_cast<double>(is_whole ? x[1] : x[1] - 2));
    attributes.set("h", static_cast<double>(x[2]));
    attributes.set("w", static_cast<double>(x[3]));
  }
  const Shape w = gradient ? Shape{x[4], outputs, 3, 3, 3} : Shape{outputs, x[4], 3, 3, 3};
  Graph graph;
  const ValueId read = graph.add_value("x", x, type, Role::input),
                weights = graph.add_value("w", w, ElementType::f32, Role::input);
  const ValueId made = graph.apply(operation, "made", {read, weights}, attributes);
  GraphRun run(graph, backend);
  run.set(read, values);
  run.set(weights, fill_values(Fill::normal, w.count(), 1));
  run.run({});
  return run.get(made);
}

TEST_P(InstructionSets, ComputeTheSameBitsInSlabsOfAVolume) {
  for (const char* const operation : {"conv3d", "conv3d_data_gradient"})
    for (const ElementType type : types())
      for (const std::int64_t inputs : {6, 18}) {
        const Shape x = {1, 9, 5, 26, inputs}, slab = {1, 5, 5, 26, inputs};
        const std::vector<double> values = fill_values(Fill::normal, x.count(), 0);
        const std::int64_t outputs = 20, read = 5 * 26 * inputs, made = 5 * 26 * outputs;
        const auto whole = made_of(backend_, type, operation, x, values, outputs, true);
        const auto of_slab =
            made_of(backend_, type, operation, slab, planes_of(values, read, 2, 7), outputs, false);
        EXPECT_EQ(of_slab, planes_of(whole, made, 3, 6)) << operation << " " << element_name(type);
      }
}

INSTANTIATE_TEST_SUITE_P(Every, InstructionSets,
                         testing::Values(Instructions::portable, Instructions::avx2, Instructions::avx512,
                                         Instructions::avx512_bf16, Instructions::amx,
                                         Instructions::emulated_amx),
                         [](const testing::TestParamInfo<Instructions>& parameter) {
                           return std::string(convolution::instructions_name(parameter.param));
                         });

TEST(ForcedInstructions, AreNeverEmulated) {
  const Forced forced("emulated_amx");
  EXPECT_THROW(convolution::chosen_instructions(ElementType::bf16), Error);
}

TEST(ForcedInstructions, ThatAreNoneAreRefusedWithThoseThatThereAre) {
  const Forced forced("sse9");
  test::expect_failure([&] { convolution::chosen_instructions(ElementType::f32); }, Exit::usage,
                       {"VOXSWAP_CONVOLUTIONS=sse9", "library, portable"});
}

TEST(WeightGradients, TakeAtMostAMebibyteOfWorkspaceOrTheSumsOfEachBlock) {
  for (const std::int64_t inputs : {1, 4, 16, 32, 64, 256, 1024})
    for (const std::int64_t outputs : {1, 3, 16, 32, 128, 1024})
      for (const std::int64_t kernel : {1, 2, 3}) {
        const std::int64_t side = inputs + outputs > 300 ? 8 : 128;
        const Shape x = {1, side, side, side, inputs}, dy = {1, side, side, side, outputs};
        const std::int64_t sums = 4 * inputs * convolution::whole_lanes(outputs) * kernel * kernel * kernel;
        for (const ElementType type : {ElementType::f32, ElementType::bf16})
          for (const std::int64_t blocks : {1, 2, 4}) {
            const convolution::WeightGradientNode node = convolution::weight_gradient_node(
                x, dy, cube(kernel, 1, kernel / 2), {side / blocks, blocks, blocks}, type);
            EXPECT_LE(make_weight_gradient(node, type, Instructions::portable)->workspace_bytes(),
                      std::max<std::int64_t>(std::int64_t{1} << 20, blocks == 1 ? 0 : blocks * sums))
                << inputs << " to " << outputs << ", kernel " << kernel << ", blocks " << blocks;
          }
      }
}

}  // namespace
}  // namespace voxswap::net
