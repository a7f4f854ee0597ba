// Reports of plans, as JSON, as text and as a time line.
#include "swap/plan/plan_report.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  const test::StepToPlan small(test::step_of_side_16(/*slabs=*/4));
  const std::string text = plan_text(small.step.graph, small.keep());
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

TEST(PlanJson, HoldsEveryInstructionAndResidencyAndWhatWaitsForWhat) {
  Swapped swapped;
  const Plan& plan = swapped.plan;
  const net::Graph& graph = swapped.step.graph;
  const nlohmann::json json = nlohmann::json::parse(plan_json(graph, plan));
  EXPECT_EQ(json["planner"], plan.planner);
  EXPECT_EQ(json["peak_bytes"], plan.peak_bytes);
  EXPECT_EQ(json["host_bytes"], plan.host_bytes);
  EXPECT_EQ(json["disk_budget_bytes"], plan.disk_budget_bytes);
  EXPECT_EQ(json["out_bytes"], totals(plan).out_bytes);
  EXPECT_EQ(json["kept"], nlohmann::json({graph.value(plan.kept.at(0)).name}));
  ASSERT_EQ(json["instructions"].size(), plan.instructions.size());
  std::size_t recomputations = 0, on_disk = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const auto& entry = json["instructions"][i];
    const Instruction& instruction = plan.instructions[i];
    EXPECT_EQ(entry["kind"], kind_name(instruction.kind));
    EXPECT_EQ(entry["lane"], lane_name(instruction.lane()));
    EXPECT_EQ(entry["waits"], instruction.waits);
    EXPECT_EQ(entry["live_bytes"], plan.live_bytes[i]);
    if (instruction.kind == Instruction::Kind::run) {
      EXPECT_EQ(entry["node"], instruction.node);
      EXPECT_EQ(entry["operation"], graph.node(instruction.node).operation->name);
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
  ASSERT_EQ(json["residencies"].size(), plan.residencies.size());
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const auto& entry = json["residencies"][i];
    EXPECT_EQ(entry["offset"], plan.residencies[i].offset);
    EXPECT_EQ(entry["bytes"], plan.residencies[i].bytes);
    EXPECT_EQ(entry.contains("workspace_of"), plan.residencies[i].value == net::none);
  }
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

// --- The time line, as JSON for Perfetto
using nlohmann::json;

// Every instruction takes a second, one after the other.
struct Traced : Swapped {
  json events;

  Traced() {
    std::vector<double> begin, end;
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
      begin.push_back(static_cast<double>(i));
      end.push_back(static_cast<double>(i + 1));
    }
    const json root = json::parse(timeline_json(step.graph, plan, begin, end));
    EXPECT_EQ(root["displayTimeUnit"], "ms");
    events = root["traceEvents"];
  }
  std::vector<std::int64_t> levels(const std::string& counter) const {
    std::vector<std::int64_t> result;
    for (const json& event : events)
      if (event["ph"] == "C" && event["name"] == counter) result.push_back(event["args"]["bytes"]);
    return result;
  }
};

TEST(Timeline, HasANamedRowPerLane) {
  const Traced traced;
  std::map<int, std::string> rows;
  for (const json& event : traced.events)
    if (event["name"] == "thread_name") rows[event["tid"]] = event["args"]["name"];
  ASSERT_EQ(rows.size(), lane_count);
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    EXPECT_EQ(rows[static_cast<int>(lane) + 1], lane_name(static_cast<Lane>(lane)));
}

TEST(Timeline, HasEveryInstructionInTheRowOfItsLaneWithItsTimesAndWhatItDoes) {
  const Traced traced;
  std::size_t i = 0;
  for (const json& event : traced.events) {
    if (event["ph"] != "X") continue;
    const Instruction& instruction = traced.plan.instructions[i];
    EXPECT_EQ(event["args"]["instruction"], i);
    EXPECT_EQ(event["tid"], static_cast<int>(instruction.lane()) + 1);
    EXPECT_EQ(event["ts"], 1e6 * static_cast<double>(i));
    EXPECT_EQ(event["dur"], 1e6);
    EXPECT_EQ(event["args"]["waits"], instruction.waits);
    if (instruction.kind == Instruction::Kind::run) {
      const net::Node& node = traced.step.graph.node(instruction.node);
      EXPECT_EQ(event["name"], node.name + (instruction.recomputed ? " (recomputed)" : ""));
      EXPECT_EQ(event["args"]["operation"], node.operation->name);
      EXPECT_EQ(event["args"]["bytes"], net::node_bytes(traced.step.graph, node));
    } else {
      EXPECT_EQ(event["name"], traced.step.graph.value(instruction.value).name);
      EXPECT_EQ(event["args"]["bytes"], instruction.bytes);
    }
    ++i;
  }
  EXPECT_EQ(i, traced.plan.instructions.size());
}

// If instructions run one by one, the occupancy of the device equals the plan's live sums.
TEST(Timeline, CountsWhatEachTierHolds) {
  const Traced traced;
  const std::vector<std::int64_t> device = traced.levels("device bytes"), host = traced.levels("host bytes"),
                                  disk = traced.levels("disk bytes");
  ASSERT_FALSE(device.empty() || host.empty() || disk.empty());
  EXPECT_EQ(*std::max_element(device.begin(), device.end()), traced.plan.live_peak_bytes);
  EXPECT_LE(*std::max_element(host.begin(), host.end()), traced.plan.host_bytes);
  EXPECT_LE(*std::max_element(disk.begin(), disk.end()), traced.plan.disk_bytes);
  for (const auto* levels : {&host, &disk}) {
    EXPECT_GT(*std::max_element(levels->begin(), levels->end()), 0);
    EXPECT_EQ(*std::min_element(levels->begin(), levels->end()), 0);
    EXPECT_EQ(levels->back(), 0);
  }
  EXPECT_EQ(device.back(), traced.plan.persistent_bytes);  // stay for the next step
}

}  // namespace
}  // namespace voxswap::swap
