// Training in f16 with dynamic loss scaling on the reference backend: the scale does not change results,
// overflowing gradients change only the scale, and the scale grows again.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "base/float16.h"
#include "tests/net/training.h"

namespace voxswap::net {
namespace {

StepOptions small_scaled(ElementType activations) {
  StepOptions options;
  options.network = {.base_filters = 4, .depth = 3, .dropout = 0};
  options.input = {1, 8, 8, 8, 2};
  options.activations = activations;
  return options;
}

// A training that always starts from the same weights and uses the same volume in every step.
struct Training {
  TrainingStep step;
  std::unique_ptr<Backend> backend = make_backend("reference");
  GraphRun run;

  explicit Training(const StepOptions& options)
      : step(build_training_step(options)), run(step.graph, *backend) {
    begin(run, step, 3);
  }
  double train(std::int64_t number) {
    run.set(step.input[0], filled(step.graph, step.input[0], Fill::normal, 1));
    run.set(step.target[0], filled(step.graph, step.target[0], Fill::bits, 2));
    run.run({.seed = 5, .step = number, .learning_rate = 1e-2});
    return run.get(step.loss)[0];
  }
  std::vector<double> scale() { return run.get(step.optimizer_state.back()); }
  // Parameters and moments, without the scale.
  std::vector<std::vector<double>> state() {
    std::vector<std::vector<double>> values;
    for (const ValueId id : step.parameters) values.push_back(run.get(id));
    for (std::size_t i = 0; i < 2 * step.trained.size(); ++i)
      values.push_back(run.get(step.optimizer_state[i]));
    return values;
  }
};

StepOptions scaled(double initial, std::int64_t interval = 2000) {
  StepOptions options = small_scaled(ElementType::f16);
  options.loss_scale.initial = initial;
  options.loss_scale.interval = interval;
  return options;
}

double norm(const std::vector<double>& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

TEST(LossScale, IsThereInF16Only) {
  const auto has_scale = [](ElementType type) {
    const TrainingStep step = build_training_step(small_scaled(type));
    return step.graph.value(step.optimizer_state.back()).name == "loss.scale";
  };
  EXPECT_TRUE(has_scale(ElementType::f16));
  EXPECT_FALSE(has_scale(ElementType::bf16));
  EXPECT_FALSE(has_scale(ElementType::f32));
}

// Relative difference between the gradients of two trainings after their first step. The first moments are
// then a tenth of the gradients.
double apart(Training& one, Training& other) {
  one.train(1);
  other.train(1);
  double error = 0, length = 0;
  for (std::size_t i = 0; i < one.step.trained.size(); ++i) {
    const std::vector<double> expected = one.run.get(one.step.optimizer_state[2 * i]);
    std::vector<double> difference = other.run.get(other.step.optimizer_state[2 * i]);
    for (std::size_t j = 0; j < expected.size(); ++j) difference[j] -= expected[j];
    error = std::hypot(error, norm(difference));
    length = std::hypot(length, norm(expected));
  }
  return error / length;
}

TEST(LossScale, LeavesTheGradientsWhatTheyAre) {
  Training exact(small_scaled(ElementType::f32)), half(scaled(4096)), smaller(scaled(4096)),
      larger(scaled(16384));
  EXPECT_LT(apart(exact, half), 0.1);        // rounding to f16 in the forward and backward pass
  EXPECT_LT(apart(smaller, larger), 0.005);  // powers of 2 cause no rounding, but less underflow
}

TEST(LossScale, GradientsThatOverflowChangeNothingButTheScale) {
  Training training(scaled(std::ldexp(1, 100)));
  const auto before = training.state();
  training.train(1);
  EXPECT_TRUE(training.state() == before);
  EXPECT_EQ(training.scale(), (std::vector<double>{std::ldexp(1, 99), 0, 0}));
}

TEST(LossScale, ComesDownUntilGradientsAreFiniteAndNoFurtherThanNeeded) {
  Training training(scaled(std::ldexp(1, 40)));
  std::int64_t number = 1;
  while (training.scale()[2] == 0 && number < 60) training.train(number++);
  EXPECT_EQ(training.scale()[2], 1);
  EXPECT_GT(number, 3);
  EXPECT_GT(training.scale()[0], 16);
}

TEST(LossScale, DoublesAfterAnIntervalOfGoodUpdatesUpToTheMost) {
  StepOptions options = scaled(64, 2);
  options.loss_scale.most = 256;
  Training training(options);
  std::vector<double> scales;
  for (std::int64_t number = 1; number <= 7; ++number) {
    training.train(number);
    scales.push_back(training.scale()[0]);
  }
  EXPECT_EQ(scales, (std::vector<double>{64, 128, 128, 256, 256, 256, 256}));
  EXPECT_EQ(training.scale()[2], 7);
}

// Adam's bias correction counts updates, and a skipped step is not an update.
TEST(LossScale, AStepWithoutAnUpdateIsAsIfItHadNotBeen) {
  Training late(scaled(std::ldexp(1, 100))), direct(scaled(4096));
  late.train(1);
  late.run.set(late.step.optimizer_state.back(), {4096, 0, 0});
  late.train(2);
  direct.train(1);
  EXPECT_TRUE(late.state() == direct.state());
}

TEST(LossScale, TrainsLikeF32) {
  Training exact(small_scaled(ElementType::f32)), half(scaled(65536));
  double first = 0, expected = 0, found = 0;
  for (std::int64_t number = 1; number <= 8; ++number) {
    expected = exact.train(number);
    found = half.train(number);
    if (number == 1) first = expected;
  }
  EXPECT_LT(expected, first - 0.02);
  EXPECT_NEAR(found, expected, 0.2 * (first - expected));
}

TEST(Float16, RoundsLikeTheReferenceBackend) {
  const Philox random(11, 0);
  for (std::uint64_t i = 0; i < 200000; ++i) {
    // Any sign and mantissa, exponents from below the smallest to above the largest.
    const auto word = static_cast<std::uint32_t>(random.word(i));
    const std::uint32_t exponent = 127 - 27 + (word >> 23) % 46;
    const auto value = std::bit_cast<float>((word & 0x807fffffu) | (exponent << 23));
    ASSERT_EQ(to_float16(value), double_to_f16(value)) << value;
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {0.0F, -0.0F, 65504.0F, 65519.9F, 65520.0F, 1e30F, -infinity, 5.96e-8F, 2.98e-8F,
                            2.9802322e-8F, 6.1035156e-05F, 6.09e-05F, 1.0F, 1.00048828125F, 1.00146484375F})
    EXPECT_EQ(to_float16(value), double_to_f16(value)) << value;
  EXPECT_EQ(to_float16(std::numeric_limits<float>::quiet_NaN()) & 0x7fff, 0x7e00);
}

TEST(Float16, EveryBitPatternIsReadAsTheReferenceBackendReadsIt) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double expected = f16_to_double(half), found = from_float16(half);
    EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << bits;
  }
}

}  // namespace
}  // namespace voxswap::net
