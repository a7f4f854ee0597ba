// Reports of plans, as JSON and as text.
#include "swap/plan/plan_report.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/units.h"
#include "net/steps/step.h"
#include "swap/planners/planner.h"
#include "tests/swap/graphs.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::swap {
namespace {

// A plan with every kind of instruction.
struct Swapped {
  test::SmallStep step = test::random_step(3, 14, {1, 8, 8, 5, 4});
  std::vector<std::int64_t> workspaces = std::vector<std::int64_t>(step.graph.nodes().size(), 100);
  Plan plan = test::swap_everything(step.graph, workspaces, step.kept, {.disk = true, .recompute = true});
};

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
}

TEST(PlanText, ShowsThePeakItsGapToTheLowerBoundAndItsContents) {
  const test::Small small;
  const std::string text = plan_text(small.graph, make_plan("keep", small.request));
  expect_parts(text, {"1.50 KiB", "unlimited", "0.00 % above", "peak memory at instruction 2: 'c'",
                      "workspace of c", "1x4x4x4x4 f32", "1-2"});
  for (const char* part : {"host", "disk", "scratch", "recomputed", "predicted"})
    EXPECT_EQ(text.find(part), std::string::npos) << part << " has no place in a plan of keep:\n" << text;
}

TEST(PlanJson, HoldsEveryInstructionAndResidency) {
  const test::Small small;
  const Plan plan = make_plan("keep", small.request);
  const nlohmann::json json = nlohmann::json::parse(plan_json(small.graph, plan));
  EXPECT_EQ(json["planner"], "keep");
  EXPECT_EQ(json["peak_bytes"], 1536);
  EXPECT_EQ(json["kept"], nlohmann::json({"c"}));
  ASSERT_EQ(json["instructions"].size(), 3u);
  EXPECT_EQ(json["instructions"][1]["operation"], "leaky_relu");
  EXPECT_EQ(json["instructions"][1]["live_bytes"], 1280);
  ASSERT_EQ(json["residencies"].size(), plan.residencies.size());
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const auto& entry = json["residencies"][i];
    EXPECT_EQ(entry["offset"], plan.residencies[i].offset);
    EXPECT_EQ(entry["bytes"], plan.residencies[i].bytes);
    EXPECT_EQ(entry.contains("workspace_of"), plan.residencies[i].value == net::none);
  }
}

TEST(PlanText, ShowsMemoryAgainstBudgetsAndWhatIsMovedAndRecomputed) {
  Swapped swapped;
  Plan& plan = swapped.plan;
  const PlanTotals sums = totals(plan);
  plan.budget_bytes = 2 * plan.peak_bytes;
  plan.host_budget_bytes = 4 * plan.host_bytes;
  plan.remarks = "swaps whatever it can";
  plan.predicted_seconds = 1.5;
  expect_parts(
      plan_text(swapped.step.graph, plan),
      {"planner swap_everything", "swaps whatever it can", "50.0", "25.0", "100.0",
       format_bytes(plan.host_bytes), format_bytes(plan.disk_bytes), "device to host",
       format_bytes(sums.out_bytes), "host to device", format_bytes(sums.in_bytes), "host to disk",
       format_bytes(sums.disk_out_bytes), "disk to host", format_bytes(sums.disk_in_bytes),
       format("{} values swapped out", sums.values_out), format("{} nodes", sums.recomputed_nodes), "1.5 s"});
}

// Otherwise the list would be full of slabs of one volume.
TEST(PlanText, ShowsTheSlabsOfAVolumeInOneLine) {
  net::StepOptions options;
  options.input = {1, 16, 16, 16, 4};
  options.network.depth = 3;
  options.slabs = 4;
  const net::TrainingStep step = net::build_training_step(options);
  const std::vector<std::int64_t> workspaces(step.graph.nodes().size(), 0);
  const Plan plan = make_plan("keep", {&step.graph, workspaces, {}, {step.loss}});
  const std::string text = plan_text(step.graph, plan);
  expect_parts(text, {", 4 slabs"});
  std::map<std::string, int> lines;
  for (const std::string& line : split(text.substr(text.find("live then:")), '\n'))
    if (const std::size_t end = line.find(", 4 slabs"); end != line.npos) ++lines[line.substr(0, end)];
  EXPECT_GE(lines.size(), 3u);
  for (const auto& [volume, count] : lines) EXPECT_EQ(count, 1) << volume;
}

TEST(PlanText, ShowsTheInstructionOfPeakMemoryEvenIfItIsACopy) {
  Swapped swapped;
  Plan& plan = swapped.plan;
  std::size_t copy = 0;
  while (plan.instructions[copy].kind != Instruction::Kind::copy_in) ++copy;
  plan.live_bytes[copy] = plan.live_peak_bytes + 64;
  const net::ValueId value = plan.instructions[copy].value;
  expect_parts(plan_text(swapped.step.graph, plan),
               {format("peak memory at instruction {}: copy_in of '{}' before '", copy,
                       swapped.step.graph.value(value).name)});
}

TEST(PlanJson, HoldsWhatIsMovedBetweenWhichPlacesAndWhatWaitsForWhat) {
  Swapped swapped;
  const Plan& plan = swapped.plan;
  const nlohmann::json json = nlohmann::json::parse(plan_json(swapped.step.graph, plan));
  EXPECT_EQ(json["host_bytes"], plan.host_bytes);
  EXPECT_EQ(json["disk_budget_bytes"], plan.disk_budget_bytes);
  EXPECT_EQ(json["out_bytes"], totals(plan).out_bytes);
  std::size_t recomputations = 0, on_disk = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const auto& entry = json["instructions"][i];
    const Instruction& instruction = plan.instructions[i];
    EXPECT_EQ(entry["kind"], kind_name(instruction.kind));
    EXPECT_EQ(entry["lane"], lane_name(instruction.lane()));
    EXPECT_EQ(entry["waits"], instruction.waits);
    if (instruction.kind == Instruction::Kind::run) {
      EXPECT_EQ(entry["node"], instruction.node);
      EXPECT_EQ(entry["recomputed"], instruction.recomputed);
      recomputations += instruction.recomputed ? 1 : 0;
      continue;
    }
    EXPECT_EQ(entry["value"], instruction.value);
    EXPECT_EQ(entry["begin"], instruction.begin);
    EXPECT_EQ(entry["bytes"], instruction.bytes);
    EXPECT_EQ(entry["host"], instruction.host);
    EXPECT_EQ(entry.contains("disk"),
              static_cast<int>(instruction.lane()) >= static_cast<int>(Lane::to_disk));
    if (!entry.contains("disk")) continue;
    EXPECT_EQ(entry["disk"], instruction.disk);
    ++on_disk;
  }
  EXPECT_GT(recomputations, 0u);
  EXPECT_GT(on_disk, 0u);
}

TEST(Totals, CountBytesPerDirectionSwappedValuesAndRecomputedNodes) {
  using Kind = Instruction::Kind;
  Plan plan;
  const auto move = [&](Kind kind, net::ValueId value, std::int64_t bytes) {
    plan.instructions.push_back({.kind = kind, .value = value, .bytes = bytes, .waits = {}});
  };
  move(Kind::copy_out, 1, 10);
  move(Kind::copy_out, 1, 20);
  move(Kind::copy_out, 2, 40);
  move(Kind::copy_in, 1, 300);
  move(Kind::write_disk, 1, 5000);
  move(Kind::read_disk, 1, 70000);
  for (const bool recomputed : {false, true, true})
    plan.instructions.push_back({.node = 4, .recomputed = recomputed, .waits = {}});
  const PlanTotals sums = totals(plan);
  EXPECT_EQ(sums.out_bytes, 70);
  EXPECT_EQ(sums.in_bytes, 300);
  EXPECT_EQ(sums.disk_out_bytes, 5000);
  EXPECT_EQ(sums.disk_in_bytes, 70000);
  EXPECT_EQ(sums.values_out, 2);
  EXPECT_EQ(sums.recomputed_nodes, 1);
}

}  // namespace
}  // namespace voxswap::swap
