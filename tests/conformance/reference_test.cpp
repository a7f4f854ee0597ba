// Tests the reference itself, which no other backend can verify: rounding against the definitions of the
// formats, and what comparisons with PyTorch (tests/net) do not show.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/agreement.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net {
namespace {

constexpr StepContext some_step{.seed = 7, .step = 3, .learning_rate = 1e-2};
constexpr double infinity = std::numeric_limits<double>::infinity();

double through_bf16(double x) {
  return bf16_to_double(double_to_bf16(x));
}
double through_f16(double x) {
  return f16_to_double(double_to_f16(x));
}

TEST(BF16, RoundsToNearestEven) {  // 8 bits of significand: neighbours of 1 are 2^-7 apart
  EXPECT_EQ(through_bf16(1 + 0x1p-8), 1);
  EXPECT_EQ(through_bf16(1 + 0x3p-8), 1 + 0x1p-6);
  EXPECT_EQ(through_bf16(-1 - 0x3p-8), -1 - 0x1p-6);
  EXPECT_EQ(through_bf16(3e-39), bf16_to_double(0x21));  // subnormal: 32.67 units of 2^-133 round to 33
}

TEST(BF16, IsRoundedOnce) {  // via float, the last bit would be lost and the tie would round down to even
  EXPECT_EQ(through_bf16(1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(through_bf16(1 + 0x3p-8 - 0x1p-40), 1 + 0x1p-7);
}

TEST(BF16, KeepsInfinityAndNaN) {
  EXPECT_EQ(through_bf16(infinity), infinity);
  EXPECT_EQ(through_bf16(-infinity), -infinity);
  EXPECT_EQ(through_bf16(3.4e38), infinity);  // above the middle between the largest, 3.3895e38, and 2^128
  EXPECT_TRUE(std::isnan(through_bf16(std::nan(""))));
}

TEST(F16, RoundsToNearestEven) {  // 11 bits of significand
  EXPECT_EQ(through_f16(1 + 0x1p-11), 1);
  EXPECT_EQ(through_f16(1 + 0x3p-11), 1 + 0x1p-9);
  EXPECT_EQ(through_f16(2 - 0x1p-12), 2);  // carries into the exponent
  EXPECT_EQ(through_f16(65519), 65504);
  EXPECT_EQ(through_f16(65520), infinity);
  EXPECT_EQ(through_f16(0x1p-25), 0);        // half the smallest subnormal
  EXPECT_EQ(through_f16(0x3p-25), 0x1p-23);  // 1.5 times the smallest subnormal
  EXPECT_EQ(through_f16(0x1p-14 - 0x1p-26), 0x1p-14);
  EXPECT_TRUE(std::isnan(through_f16(std::nan(""))));
}

TEST(HalfPrecision, EveryBitPatternComesBack) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    EXPECT_TRUE(std::isnan(bf16_to_double(bits)) || double_to_bf16(bf16_to_double(bits)) == bits) << bits;
    EXPECT_TRUE(std::isnan(f16_to_double(bits)) || double_to_f16(f16_to_double(bits)) == bits) << bits;
  }
}

// The output of one node, computed by the reference backend.
std::vector<double> run_once(std::string_view operation, const std::vector<Shape>& shapes,
                             const std::vector<std::vector<double>>& inputs,
                             const Attributes& attributes = {}) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Shape& shape : shapes)
    ids.push_back(graph.add_value("in", shape, ElementType::f64, Role::input));
  const ValueId output = graph.apply(operation, "node", ids, attributes);
  const auto backend = make_backend("reference");
  GraphRun run(graph, *backend);
  for (std::size_t i = 0; i < ids.size(); ++i) run.set(ids[i], inputs[i]);
  run.run({.seed = 9, .step = 1, .learning_rate = 0.1});
  return run.get(output);
}

TEST(Reference, MaxPoolGradientGoesToTheFirstOfEqualMaxima) {
  const auto dx =
      run_once("max_pool_gradient", {{1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}}, {{1, 7, 2, 7, 7, 3, 4, 5}, {2.5}});
  EXPECT_EQ(dx, (std::vector<double>{0, 2.5, 0, 0, 0, 0, 0, 0}));
}

TEST(Reference, DropoutDropsWholeChannelsAtItsRateAndKeepsTheMean) {
  const auto scale =
      run_once("spatial_dropout_scale", {}, {}, {{"n", 40}, {"c", 250}, {"rate", 0.3}, {"key", 5}});
  double dropped = 0;
  for (double s : scale) {
    EXPECT_TRUE(s == 0 || std::abs(s - 1 / 0.7) < 1e-6) << s;
    dropped += s == 0;
  }
  EXPECT_NEAR(dropped / 10000, 0.3, 5 * std::sqrt(0.3 * 0.7 / 10000));  // five standard deviations
}

// Kernels of other operations are recorded once and replayed in every step (swap/execute/step_command.h).
TEST(Operations, ThatDependOnTheStepSayThatTheyDo) {
  const StepContext first{.seed = 7, .step = 3, .learning_rate = 1e-2},
      second{.seed = 8, .step = 4, .learning_rate = 2e-2};
  const auto backend = make_backend("reference");
  for (const Operation* operation : operations()) {
    bool depends = false;
    for (const OperationCase& example : cases_of(operation->name)) {
      const CaseGraph graph = case_graph(*operation, example, ElementType::f32);
      std::vector<std::vector<std::byte>> found[2];
      for (const bool other_step : {false, true}) {
        Trial trial(*backend, graph, example);
        trial.graph.run(other_step ? second : first);
        for (const ValueId id : results(graph)) found[other_step ? 1 : 0].push_back(trial.graph.bytes(id));
      }
      depends = depends || found[0] != found[1];
    }
    EXPECT_EQ(depends, operation->depends_on_step) << operation->name;
  }
}

// Whether an operation's result for the first sample of a batch changes if the others do.
bool first_sample_depends_on_others(const Operation& operation, const OperationCase& example,
                                    Backend& backend) {
  const CaseGraph graph = case_graph(operation, example, ElementType::f32);
  const std::int64_t samples = example.inputs[0].shape[0];
  std::vector<std::vector<double>> found[2];
  for (const bool changed : {false, true}) {
    GraphRun run(graph.graph, backend);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const Shape& shape = example.inputs[i].shape;
      std::vector<double> values = contents(example.inputs[i], i);
      const bool of_samples = shape.rank() > 1 && shape[0] == samples;
      if (changed && of_samples) std::reverse(values.begin() + shape.count() / samples, values.end());
      run.set(graph.inputs[i], values);
    }
    run.run(some_step);
    for (const ValueId id : graph.graph.node(graph.node).outputs) {
      const Shape& shape = graph.graph.value(id).shape;
      if (shape.rank() == 1 || shape[0] != samples) continue;
      std::vector<double> values = run.get(id);
      values.resize(static_cast<std::size_t>(shape.count() / samples));
      found[changed ? 1 : 0].push_back(std::move(values));
    }
  }
  return found[0] != found[1];
}

// A step may process the samples of a batch one at a time if no operation mixes them.
TEST(Operations, ThatMixTheSamplesOfABatchSayThatTheyDo) {
  const auto backend = make_backend("reference");
  for (const Operation* operation : operations()) {
    bool mixes = false, asked = false;
    for (const OperationCase& example : cases_of(operation->name)) {
      using Kind = OperationCase::Input::Kind;
      if (example.inputs.empty() || example.inputs[0].shape[0] < 2 || example.updates.size() > 0) continue;
      const bool weights = std::any_of(example.inputs.begin(), example.inputs.end(), [](const auto& input) {
        return input.kind == Kind::full && input.shape.rank() == 5;
      });
      const Cut& cut = (operation->inner != nullptr ? operation->inner() : *operation).cut;
      if (cut.kind == Cut::Kind::windowed_sum) continue;  // its first input has no samples
      if (weights || example.inputs[0].shape.rank() < 3 || example.attributes.values().contains("axis"))
        continue;
      asked = true;
      mixes = mixes || first_sample_depends_on_others(*operation, example, *backend);
    }
    EXPECT_EQ(mixes, operation->mixes_samples) << operation->name;
    EXPECT_TRUE(asked || !operation->mixes_samples) << operation->name;
  }
}

}  // namespace
}  // namespace voxswap::net
