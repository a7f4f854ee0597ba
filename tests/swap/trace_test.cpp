// The time line of a step: readable JSON with everything that Perfetto needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "swap/plan/plan_report.h"
#include "tests/swap/runs.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::swap {
namespace {

using nlohmann::json;

struct Traced {
  net::TrainingStep step = net::build_training_step(test::tiny("isensee2017"));
  std::vector<std::int64_t> workspaces = std::vector<std::int64_t>(step.graph.nodes().size(), 640);
  Plan plan = test::swap_everything(step.graph, workspaces, {step.loss}, {.disk = true, .recompute = true});
  json events;

  // Every instruction takes a second, one after the other.
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
