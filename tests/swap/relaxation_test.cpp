// The bound against a linear program solved elsewhere (tests/fixtures/step_relaxation.py, with SciPy's
// HiGHS), and what it adds to the bound of one moment.
#include "swap/model/relaxation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/csv.h"
#include "base/text.h"
#include "swap/model/bound.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t unit = 1024;  // bytes of a volume

struct Step {
  net::Graph graph;
  CostModel costs;
  std::vector<net::ValueId> volumes{
      graph.add_value("x", {1, 4, 4, 4, 4}, net::ElementType::f32, net::Role::input)};

  net::ValueId add(const char* operation, const std::vector<net::ValueId>& inputs, double seconds) {
    net::Attributes attributes;
    if (std::string(operation) == "cast") attributes = {{"type", static_cast<double>(net::ElementType::f32)}};
    volumes.push_back(graph.apply(operation, "n" + std::to_string(volumes.size()), inputs, attributes));
    costs.node_seconds.push_back(seconds);
    return volumes.back();
  }
  // As the fixture writes it: a letter, what is read, seconds.
  void add(const std::string& text) {
    const std::size_t colon = text.find(':');
    std::vector<net::ValueId> inputs;
    for (const std::string& read : split(text.substr(1, colon - 1), '+'))
      inputs.push_back(volumes.at(std::stoul(read)));
    add(text.front() == 'c'   ? "cast"
        : text.front() == 's' ? "sigmoid"
                              : "add",
        inputs, std::stod(text.substr(colon + 1)));
  }
  Bound bound(const Budgets& budgets) const {
    const std::vector<std::int64_t> none_needed(graph.nodes().size(), 0);
    return lower_bound(graph, none_needed, {volumes.back()}, costs, budgets);
  }
  // Without what the program over volumes adds (volume_program_test.cpp).
  double relaxed(const Budgets& budgets) const {
    const Needs needs =
        find_needs(graph, std::vector<std::int64_t>(graph.nodes().size(), 0), {volumes.back()});
    const Bound at_moments = bound(budgets);
    return std::max(at_moments.moment_seconds,
                    relaxed_seconds(graph, needs, costs.node_seconds, costs, budgets, at_moments.node));
  }
};

// The program has borders around every node and the bound only some of them, and no end to the search for
// multipliers finds the best: so the bound is below it, but mostly not by much.
TEST(Relaxation, IsNotAboveTheLinearProgramAndMostlyNear) {
  const Csv table = read_csv(VOXSWAP_SOURCE_DIR "/tests/fixtures/step_relaxation.csv");
  ASSERT_GE(table.rows.size(), 50u);
  int above_compute = 0, near = 0;
  for (const auto& row : table.rows) {
    const auto value = [&](const char* name) { return std::stod(row[table.column(name, "fixture")]); };
    Step step;
    for (const std::string& node : split(row[table.column("nodes", "fixture")], ' ')) step.add(node);
    const double rate = value("rate") * unit;
    step.costs.to_host = step.costs.to_device = {rate, rate};
    step.costs.interference = value("delay") / rate;
    const Budgets budgets{static_cast<std::int64_t>(value("room")) * unit,
                          value("movable") == 1 ? std::int64_t{1} << 40 : 0, 0};
    const double compute = step.bound(budgets).compute_seconds, relaxed = step.relaxed(budgets);
    const double exact = value("seconds");
    EXPECT_LE(relaxed, exact * (1 + 1e-8)) << row[table.column("nodes", "fixture")];
    if (exact < compute * (1 + 1e-6)) continue;
    ++above_compute;
    near += relaxed - compute > 0.9 * (exact - compute);
  }
  EXPECT_GE(above_compute, 40);
  EXPECT_GE(near, above_compute / 3);
}

// In every round a volume of a second is in the way of two others and comes back in 4 s or is made again. One
// moment asks for one of them, the step for all: what moves and what is made again share the rounds.
TEST(Relaxation, AddsUpWhatLeavesAgainAndAgain) {
  Step step;
  step.costs.to_host = step.costs.to_device = {unit / 4, unit / 4};
  net::ValueId chain = step.add("cast", {step.volumes.front()}, 1);
  constexpr int rounds = 8;
  for (int i = 0; i < rounds; ++i) {
    const net::ValueId a = step.add("cast", {chain}, 1), b = step.add("cast", {a}, 0.01);
    chain = step.add("add", {step.add("cast", {b}, 0.01), a}, 0.01);
  }
  const Bound bound = step.bound({2 * unit, 1 << 20, 0});
  const double moved = (bound.compute_seconds + rounds) / 5;  // so that 4 moved = compute + rounds - moved
  EXPECT_GT(bound.seconds, 0.95 * 4 * moved);
  EXPECT_LE(bound.seconds, (1 + 1e-9) * (bound.compute_seconds + rounds));
}

}  // namespace
}  // namespace voxswap::swap
