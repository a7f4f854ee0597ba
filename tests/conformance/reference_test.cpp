// Tests the reference itself, which no other backend can verify: rounding against the definitions of the
// formats, and operations on numbers small enough to compute by hand.
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

// The outputs and then the updates of one node, computed by the reference backend.
std::vector<std::vector<double>> run_once(std::string_view operation, const std::vector<Shape>& shapes,
                                          const std::vector<std::vector<double>>& inputs,
                                          const Attributes& attributes = {},
                                          const std::vector<std::vector<double>>& updates = {}) {
  Graph graph;
  std::vector<ValueId> ids, update_ids;
  for (const Shape& shape : shapes)
    ids.push_back(graph.add_value("in", shape, ElementType::f64, Role::input));
  for (const auto& values : updates) {
    const Shape shape = {static_cast<std::int64_t>(values.size())};
    update_ids.push_back(graph.add_value("update", shape, ElementType::f64, Role::parameter));
  }
  const NodeId node = graph.add(operation, "node", ids, attributes, update_ids);
  const auto backend = make_backend("reference");
  GraphRun run(graph, *backend);
  for (std::size_t i = 0; i < ids.size(); ++i) run.set(ids[i], inputs[i]);
  for (std::size_t i = 0; i < updates.size(); ++i) run.set(update_ids[i], updates[i]);
  run.run({.seed = 9, .step = 1, .learning_rate = 0.1});
  std::vector<std::vector<double>> results;
  for (ValueId id : graph.node(node).outputs) results.push_back(run.get(id));
  for (ValueId id : update_ids) results.push_back(run.get(id));
  return results;
}

using Values = std::vector<double>;

TEST(Reference, ConvolutionCorrelatesWithoutFlippingTheKernel) {
  Values kernel(27, 0.0);
  kernel[0 * 9 + 1 * 3 + 2] = 10;  // the neighbour one plane up (z - 1), same row, one to the right (x + 1)
  const Values x = {1, 2, 3, 4, 5, 6, 7, 8};  // 2 x 2 x 2, x fastest
  const auto y = run_once("conv3d", {{1, 2, 2, 2, 1}, {1, 1, 3, 3, 3}, {1}}, {x, kernel, {0.5}},
                          {{"stride", 1}, {"padding", 1}});
  EXPECT_EQ(y[0], (Values{0.5, 0.5, 0.5, 0.5, 20.5, 0.5, 40.5, 0.5}));
}

TEST(Reference, TransposedConvolutionSpreadsEveryVoxelOverItsBlock) {
  const auto y = run_once("conv3d_data_gradient", {{1, 1, 1, 2, 1}, {1, 1, 2, 2, 2}, {1}},
                          {{1, 10}, {1, 2, 3, 4, 5, 6, 7, 8}, {0.5}},
                          {{"stride", 2}, {"padding", 0}, {"d", 2}, {"h", 2}, {"w", 4}});
  EXPECT_EQ(y[0], (Values{1.5, 2.5, 10.5, 20.5, 3.5, 4.5, 30.5, 40.5,  //
                          5.5, 6.5, 50.5, 60.5, 7.5, 8.5, 70.5, 80.5}));
}

TEST(Reference, MaxPoolGradientGoesToTheFirstOfEqualMaxima) {
  const auto dx =
      run_once("max_pool_gradient", {{1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}}, {{1, 7, 2, 7, 7, 3, 4, 5}, {2.5}});
  EXPECT_EQ(dx[0], (Values{0, 2.5, 0, 0, 0, 0, 0, 0}));
}

TEST(Reference, StatisticsAreMeanAndInverseDeviationPerChannel) {  // variances 1 and 4
  const auto statistics =
      run_once("instance_norm_statistics", {{1, 1, 1, 2, 2}}, {{1, 10, 3, 14}}, {{"epsilon", 0}});
  EXPECT_EQ(statistics[0], (Values{2, 1, 12, 0.5}));
}

// Kingma & Ba 2015: with m = v = 0 the first step is the learning rate times the gradient's sign (up to
// epsilon), whatever the gradient's size.
TEST(Reference, FirstStepOfAdamHasTheLengthOfTheLearningRate) {
  const auto after = run_once("adam", {{3}}, {{4, -0.01, 0}},
                              {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-12}, {"weight_decay", 0}},
                              {{1, 1, 1}, {0, 0, 0}, {0, 0, 0}});
  const Values parameter = {0.9, 1.1, 1}, m = {0.4, -0.001, 0}, v = {0.016, 1e-7, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(after[0][i], parameter[i], 1e-9);
    EXPECT_NEAR(after[1][i], m[i], 1e-12);
    EXPECT_NEAR(after[2][i], v[i], 1e-12);
  }
}

TEST(Reference, WeightDecayIsDecoupledFromTheGradient) {  // rate 0.1 * decay 0.5: a twentieth is lost
  const auto after =
      run_once("adam", {{1}}, {{0}},
               {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}, {"weight_decay", 0.5}}, {{2}, {0}, {0}});
  EXPECT_DOUBLE_EQ(after[0][0], 1.9);
}

TEST(Reference, DropoutDropsWholeChannelsAtItsRateAndKeepsTheMean) {
  const auto scale =
      run_once("spatial_dropout_scale", {}, {}, {{"n", 40}, {"c", 250}, {"rate", 0.3}, {"key", 5}})[0];
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
