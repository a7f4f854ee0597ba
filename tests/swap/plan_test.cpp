// The planner keep, and reports of its plans.
#include "swap/plan/plan.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/error.h"
#include "net/steps/step.h"
#include "swap/plan/places.h"
#include "swap/planners/planner.h"
#include "swap/verify/verify.h"
#include "tests/expect.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

net::StepOptions isensee(std::int64_t side, net::ElementType type) {
  net::StepOptions options;
  options.input = {1, side, side, side, 4};
  options.activations = type;
  return options;
}

const Residency& place(const Plan& plan, net::ValueId value) {
  for (const Residency& r : plan.residencies)
    if (r.value == value) return r;
  throw std::logic_error("no place");
}

TEST(Keep, PutsPersistentValuesAtTheBottomInOrderOfIdWhetherReadOrNot) {
  const test::Small small;
  const Plan plan = make_plan("keep", small.request);
  EXPECT_EQ(place(plan, small.p).offset, 0);
  EXPECT_EQ(place(plan, small.q).offset, 64);
  EXPECT_EQ(plan.persistent_bytes, 64 + 192);  // 20 and 132 bytes in lines of 64
}

TEST(Keep, WritesInPlaceAndCountsTheSharedPlaceOnce) {
  const test::Small small;
  const Plan plan = make_plan("keep", small.request);
  EXPECT_EQ(place(plan, small.a).offset, place(plan, small.b).offset);
  // 256 persistent; x 128 + a 1024; b overwrites a in place, 1024; b 1024 + c 128 + workspace 128.
  EXPECT_EQ(plan.live_bytes, (std::vector<std::int64_t>{1408, 1280, 1536}));
  EXPECT_EQ(plan.live_peak_bytes, 1536);
  EXPECT_EQ(plan.peak_bytes, 1536);
}

TEST(Keep, BelowItsPeakDoesNotFitAndSaysWhatIsNeededWhereAndWhatHelps) {
  test::Small small;
  small.request.budgets.device = 1536;
  EXPECT_EQ(make_plan("keep", small.request).budget_bytes, 1536);
  small.request.budgets.device = 1535;
  test::expect_failure(
      [&] { make_plan("keep", small.request); }, Exit::does_not_fit,
      {"1535 bytes", "1536 bytes", "'c'", "Set a memory.budget of at least", "a host pool (memory.host)"});
}

TEST(Planners, UnknownNamesAreUsageErrorsWithTheNearestName) {
  const test::Small small;
  test::expect_failure([&] { make_plan("kep", small.request); }, Exit::usage, {"Did you mean 'keep'?"});
}

// Without kernels: packing depends on sizes and lifetimes only.
TEST(Keep, PacksWholeNetworksWithinAFewPerCentOfTheLargestLiveSum) {
  for (const net::ElementType type : {net::ElementType::f32, net::ElementType::bf16}) {
    const net::TrainingStep step = net::build_training_step(isensee(128, type));
    const std::vector<std::int64_t> workspaces(step.graph.nodes().size(), 0);
    const Plan plan = make_plan("keep", {&step.graph, workspaces, {}, {step.loss}});
    EXPECT_EQ(verify(step.graph, workspaces, plan), std::vector<std::string>());
    const double ratio = static_cast<double>(plan.peak_bytes) / static_cast<double>(plan.live_peak_bytes);
    EXPECT_LE(ratio, 1.03) << net::element_name(type);
  }
}

// Which outputs may overwrite which inputs.
TEST(InPlace, AreOutputsOfOneSizeInTheOrderInWhichInputsAreReadOnceAndNotNeededAnyMore) {
  const Shape volume = {1, 2, 2, 2, 4};
  net::Graph graph;
  const auto apply = [&](const char* operation, const std::vector<net::ValueId>& of,
                         const net::Attributes& attributes = {}) {
    return graph.apply(operation, operation, of, attributes);
  };
  const auto relu = [&](net::ValueId of) { return apply("leaky_relu", {of}, {{"slope", 0.5}}); };
  const auto may = [&](net::ValueId output, net::ValueId over) {
    return may_take_over(graph, graph.nodes().back(), output, over);
  };
  const net::ValueId x = graph.add_value("x", volume, net::ElementType::f32, net::Role::input),
                     p = graph.add_value("p", volume, net::ElementType::f32, net::Role::parameter);
  EXPECT_FALSE(may(relu(x), x)) << "an input";
  EXPECT_FALSE(may(relu(p), p)) << "a parameter";
  const net::ValueId a = apply("upsample_nearest", {x}), b = apply("upsample_nearest", {x});
  EXPECT_TRUE(may(relu(a), a)) << "an activation";
  const net::ValueId sum = apply("add", {a, b});
  EXPECT_TRUE(may(sum, a) && may(sum, b)) << "either summand";
  EXPECT_FALSE(may(apply("add", {a, a}), a)) << "read twice by one node";
  EXPECT_FALSE(may(apply("upsample_nearest", {a}), a)) << "read in another order";
  const net::Attributes bf16 = {{"type", static_cast<double>(net::ElementType::bf16)}};
  EXPECT_FALSE(may(apply("cast", {a}, bf16), a)) << "another element type";
}

}  // namespace
}  // namespace voxswap::swap
