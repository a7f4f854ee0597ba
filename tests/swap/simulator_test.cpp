// Time lines computed by hand.
#include "swap/model/simulator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace voxswap::swap {
namespace {

using Kind = Instruction::Kind;

// Node i of the graph takes the i-th of `node_seconds`; links are in bytes per second.
struct Simulator : testing::Test {
  Plan plan;
  CostModel costs;

  Simulator() {
    costs.to_host = {10, 10};
    costs.to_device = {20, 20};
    costs.to_disk = {5, 5};
    costs.from_disk = {4, 4};
  }
  std::int32_t add(const Instruction& instruction) {
    plan.instructions.push_back(instruction);
    return static_cast<std::int32_t>(plan.instructions.size()) - 1;
  }
  std::int32_t run(double seconds, std::vector<std::int32_t> waits = {}) {
    costs.node_seconds.push_back(seconds);
    Instruction instruction;
    instruction.node = static_cast<net::NodeId>(costs.node_seconds.size()) - 1;
    instruction.waits = std::move(waits);
    return add(instruction);
  }
  std::int32_t move(Kind kind, std::int64_t bytes, std::vector<std::int32_t> waits = {}) {
    Instruction instruction;
    instruction.kind = kind;
    instruction.value = 0;
    instruction.bytes = bytes;
    instruction.waits = std::move(waits);
    return add(instruction);
  }
};

constexpr double tolerance = 1e-9;

#define EXPECT_SPAN(simulation, instruction, from, to)                                     \
  EXPECT_NEAR((simulation).begin[static_cast<std::size_t>(instruction)], from, tolerance); \
  EXPECT_NEAR((simulation).end[static_cast<std::size_t>(instruction)], to, tolerance)

TEST_F(Simulator, TakesNoTimeForAnEmptyPlan) {
  const Simulation simulation = simulate(plan, costs);
  EXPECT_EQ(simulation.seconds, 0);
  EXPECT_EQ(simulation.utilization(), 1);
}

TEST_F(Simulator, RunsKernelsOneAfterTheOther) {
  const auto a = run(1), b = run(0), c = run(2.5);
  const Simulation simulation = simulate(plan, costs);
  EXPECT_SPAN(simulation, a, 0, 1);
  EXPECT_SPAN(simulation, b, 1, 1);
  EXPECT_SPAN(simulation, c, 1, 3.5);
  EXPECT_NEAR(simulation.seconds, 3.5, tolerance);
  EXPECT_NEAR(simulation.compute_seconds, 3.5, tolerance);
  EXPECT_EQ(simulation.stall_seconds, 0);
  EXPECT_NEAR(simulation.utilization(), 1, tolerance);
}

TEST_F(Simulator, CopiesWhileItComputes) {
  const auto a = run(1);
  const auto out = move(Kind::copy_out, 20, {a});
  const auto b = run(3);
  const Simulation simulation = simulate(plan, costs);
  EXPECT_SPAN(simulation, out, 1, 3);
  EXPECT_SPAN(simulation, b, 1, 4);
  EXPECT_NEAR(simulation.seconds, 4, tolerance);
}

TEST_F(Simulator, LetsAKernelWaitForItsCopyAndCountsTheStall) {
  const auto a = run(1);
  const auto in = move(Kind::copy_in, 60, {a});  // 3 s
  const auto b = run(2);
  const auto c = run(1, {in});
  const Simulation simulation = simulate(plan, costs);
  EXPECT_SPAN(simulation, in, 1, 4);
  EXPECT_SPAN(simulation, b, 1, 3);
  EXPECT_SPAN(simulation, c, 4, 5);
  EXPECT_NEAR(simulation.seconds, 5, tolerance);
  EXPECT_NEAR(simulation.stall_seconds, 1, tolerance);
  EXPECT_NEAR(simulation.compute_seconds, 4, tolerance);
  EXPECT_NEAR(simulation.utilization(), 0.8, tolerance);
  EXPECT_NEAR(simulation.busy_seconds[static_cast<std::size_t>(Lane::to_device)], 3, tolerance);
}

TEST_F(Simulator, EndsWithTheLastCopyAndCallsThatNoStall) {
  const auto a = run(1);
  move(Kind::copy_out, 50, {a});
  const Simulation simulation = simulate(plan, costs);
  EXPECT_NEAR(simulation.seconds, 6, tolerance);
  EXPECT_EQ(simulation.stall_seconds, 0);
  EXPECT_NEAR(simulation.utilization(), 1.0 / 6, tolerance);
}

TEST_F(Simulator, BlocksALaneBehindItsFirstInstruction) {
  const auto slow = run(5);
  const auto first = move(Kind::copy_out, 10, {slow});
  const auto second = move(Kind::copy_out, 10);  // waits for its lane only
  const Simulation simulation = simulate(plan, costs);
  EXPECT_SPAN(simulation, first, 5, 6);
  EXPECT_SPAN(simulation, second, 6, 7);
}

TEST_F(Simulator, PipelinesChunksFromTheDeviceOverTheHostToDiskAndBack) {
  const auto a = run(1);
  const auto out0 = move(Kind::copy_out, 10, {a}), out1 = move(Kind::copy_out, 10);
  const auto write0 = move(Kind::write_disk, 10, {out0}), write1 = move(Kind::write_disk, 10, {out1});
  const auto read0 = move(Kind::read_disk, 10, {write0}), read1 = move(Kind::read_disk, 10, {write1});
  const auto in0 = move(Kind::copy_in, 10, {read0}), in1 = move(Kind::copy_in, 10, {read1});
  const auto b = run(1, {in0, in1});
  const Simulation simulation = simulate(plan, costs);
  EXPECT_SPAN(simulation, out0, 1, 2);  // 10 bytes/s
  EXPECT_SPAN(simulation, out1, 2, 3);
  EXPECT_SPAN(simulation, write0, 2, 4);  // 5 bytes/s
  EXPECT_SPAN(simulation, write1, 4, 6);
  EXPECT_SPAN(simulation, read0, 4, 6.5);  // 4 bytes/s
  EXPECT_SPAN(simulation, read1, 6.5, 9);
  EXPECT_SPAN(simulation, in0, 6.5, 7);  // 20 bytes/s
  EXPECT_SPAN(simulation, in1, 9, 9.5);
  EXPECT_SPAN(simulation, b, 9.5, 10.5);
  EXPECT_NEAR(simulation.stall_seconds, 8.5, tolerance);
  const double busy[lane_count] = {2, 2, 1, 4, 5};
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    EXPECT_NEAR(simulation.busy_seconds[lane], busy[lane], tolerance) << lane;
}

TEST_F(Simulator, CopiesAtTheBusyRateWhileAKernelRuns) {
  costs.to_host = {10, 5};
  run(2);
  const auto out = move(Kind::copy_out, 30);  // 10 bytes until 2 s, the other 20 in 2 s
  const Simulation simulation = simulate(plan, costs);
  EXPECT_SPAN(simulation, out, 0, 4);
}

TEST_F(Simulator, SlowsKernelsByWhatIsCopied) {
  costs.interference =
      0.02;  // a kernel loses 0.2 s per second of copying out, 0.4 s per second of copying in
  const auto a = run(2);
  const auto out = move(Kind::copy_out, 10);
  const Simulation one = simulate(plan, costs);
  EXPECT_SPAN(one, out, 0, 1);
  EXPECT_SPAN(one, a, 0, 2.2);  // 10 bytes * 0.02 s lost

  move(Kind::copy_in, 20);
  const Simulation both = simulate(plan, costs);
  EXPECT_SPAN(both, a, 0, 2.6);  // 30 bytes * 0.02 s lost
  EXPECT_NEAR(both.compute_seconds, 2.6, tolerance);
}

TEST_F(Simulator, NeverSlowsAKernelBelowATwentieth) {
  costs.interference = 10;
  const auto a = run(1);
  move(Kind::copy_out, 100);  // 10 s, in which half a second of the kernel is done
  EXPECT_SPAN(simulate(plan, costs), a, 0, 10.5);
}

TEST_F(Simulator, AddsTheFixedCostsOfCopiesAndOfTheDisk) {
  costs.copy_seconds = 0.5;
  costs.disk_seconds = 0.25;
  costs.interference = 0.02;
  const auto out = move(Kind::copy_out, 10);
  const auto write = move(Kind::write_disk, 10, {out});
  const auto a = run(2);
  const Simulation simulation = simulate(plan, costs);
  EXPECT_SPAN(simulation, out, 0, 1.5);
  EXPECT_SPAN(simulation, write, 1.5, 3.75);
  EXPECT_SPAN(simulation, a, 0, 2.2);  // neither the fixed cost nor the disk slows it
}

TEST_F(Simulator, SharesALinkBetweenTheDevicesOnIt) {
  const auto a = run(1);
  const auto out = move(Kind::copy_out, 10, {a});
  const auto in = move(Kind::copy_in, 20, {out});
  const auto b = run(1, {in});
  EXPECT_SPAN(simulate(plan, costs, {2, 1}), b, 3, 4);
  const Simulation shared = simulate(plan, costs, {2, 2});
  EXPECT_SPAN(shared, out, 1, 3);
  EXPECT_SPAN(shared, in, 3, 5);
  EXPECT_NEAR(shared.seconds, 6, tolerance);
  EXPECT_NEAR(simulate(plan, costs, {4, 2}).seconds, 6, tolerance);
  EXPECT_NEAR(simulate(plan, costs, {3, 2}).seconds, 6, tolerance);  // the first shares with the second
  EXPECT_NEAR(simulate(plan, costs, {1, 2}).seconds, 4, tolerance);  // alone on a link for two
}

TEST_F(Simulator, SharesOneDiskBetweenAllDevicesThatUseItAtOnce) {
  const auto a = run(1);
  const auto write = move(Kind::write_disk, 10, {a});
  EXPECT_SPAN(simulate(plan, costs, {4, 1}), write, 1, 9);

  // Two devices share a link, and one has its own. That one reaches the disk at 1 s and has it alone until
  // the others arrive at 2 s, with 5 of its 10 bytes written. Then each gets a third of 5 bytes/s.
  plan = {};
  costs.node_seconds.clear();
  const auto out = move(Kind::copy_out, 10);
  const auto write_shared = move(Kind::write_disk, 10, {out});
  const Simulation simulation = simulate(plan, costs, {3, 2});
  EXPECT_SPAN(simulation, out, 0, 2);
  // The single device ends at 5 s, when the others have 5 bytes left, at half the rate each.
  EXPECT_SPAN(simulation, write_shared, 2, 7);
}

TEST_F(Simulator, NeverEndsWithoutALinkThatThePlanNeeds) {
  costs.to_disk = {};
  const auto a = run(1);
  const auto write = move(Kind::write_disk, 10, {a});
  const Simulation simulation = simulate(plan, costs);
  EXPECT_TRUE(std::isinf(simulation.seconds));
  EXPECT_TRUE(std::isinf(simulation.end[static_cast<std::size_t>(write)]));
}

// Every value is swapped out and in, in four chunks, as in planners.
TEST_F(Simulator, TakesLessThanAMillisecondForAThousandInstructions) {
  costs.interference = 1e-3;
  costs.copy_seconds = 1e-3;
  std::vector<std::int32_t> chunks;
  while (plan.instructions.size() < 1000) {
    std::vector<std::int32_t> waits;
    for (const auto chunk : chunks) waits.push_back(move(Kind::copy_in, 3, {chunk}));
    const auto node = run(0.5, waits);
    chunks.clear();
    for (int i = 0; i < 4; ++i) chunks.push_back(move(Kind::copy_out, 3, {node}));
  }
  double least = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_GT(simulate(plan, costs).seconds, 0);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  EXPECT_LT(least, 1e-3);
}

}  // namespace
}  // namespace voxswap::swap
