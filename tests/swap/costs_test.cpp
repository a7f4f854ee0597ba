// Estimates from published rates, and cost models as text.
#include "swap/model/costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "net/graph/graph.h"
#include "net/steps/step.h"
#include "tests/expect.h"

namespace voxswap::swap {
namespace {

DeviceRates simple_device() {
  DeviceRates device;
  device.flops_f32 = 1e9;
  device.flops_half = 1e10;
  device.memory_rate = 1e6;
  device.launch_seconds = 0.25;
  device.link_rate = 5e5;
  return device;
}

TEST(Estimates, ANodeTakesTheSlowerOfItsArithmeticAndItsTraffic) {
  net::Graph graph;
  const net::ValueId x = graph.add_value("x", {1, 10, 10, 10, 8}, net::ElementType::f32, net::Role::input);
  const net::ValueId w = graph.add_value("w", {8, 8, 3, 3, 3}, net::ElementType::f32, net::Role::parameter);
  graph.apply("conv3d", "conv", {x, w}, {{"stride", 1}, {"padding", 1}});
  graph.apply("sigmoid", "sigmoid", {x});
  DeviceRates device = simple_device();
  device.flops_f32 = 1e6;
  const CostModel costs = estimate_costs(graph, device);
  ASSERT_EQ(costs.node_seconds.size(), 2u);
  // 1000 voxels * 8 * 8 * 27 multiply-adds; x and y have 32,000 bytes, w has 6,912.
  EXPECT_DOUBLE_EQ(costs.node_seconds[0], 2.0 * 1000 * 8 * 8 * 27 / 1e6 + 0.25);
  EXPECT_DOUBLE_EQ(costs.node_seconds[1], 64000 / 1e6 + 0.25);
  // The two nodes use memory for 0.070912 s + 0.064 s.
  const double part = (0.070912 + 0.064) / (costs.node_seconds[0] + costs.node_seconds[1]);
  EXPECT_NEAR(costs.interference, part / 1e6, 1e-15);
  EXPECT_EQ(costs.to_host.alone, 5e5);
  EXPECT_EQ(costs.to_device.busy, 5e5);
}

TEST(Estimates, ConvolutionsOfSixteenBitsTakeTheHalfRate) {
  for (const net::ElementType type : {net::ElementType::bf16, net::ElementType::f16}) {
    net::Graph graph;
    const net::ValueId x = graph.add_value("x", {1, 10, 10, 10, 8}, type, net::Role::input);
    const net::ValueId w = graph.add_value("w", {8, 8, 3, 3, 3}, net::ElementType::f32, net::Role::parameter);
    graph.apply("conv3d", "conv", {x, w}, {{"stride", 1}, {"padding", 1}});
    DeviceRates device = simple_device();
    device.memory_rate = 1e12;
    EXPECT_DOUBLE_EQ(estimate_costs(graph, device).node_seconds[0], 2.0 * 1000 * 8 * 8 * 27 / 1e10 + 0.25);
  }
}

// The study (docs/results/study.md): 228 subjects in 197 s, with convolutions of upsampled volumes, which
// take 0.82 of the arithmetic here.
TEST(Estimates, OfTheStudysV100GiveTheStudysEpoch) {
  net::StepOptions options;
  options.input = {1, 144, 144, 144, 4};
  const CostModel costs =
      estimate_costs(net::build_training_step(options).graph, find_device_rates("v100-study"));
  double step = 0;
  for (const double seconds : costs.node_seconds) step += seconds;
  EXPECT_NEAR(228 * step / 0.82, 197, 197 * 0.05);
}

TEST(Devices, AreFoundByNameAndSlipsAreAnswered) {
  for (const DeviceRates& device : known_devices()) {
    EXPECT_EQ(&find_device_rates(device.name), &device);
    for (const double rate : {device.flops_f32, device.flops_half, device.memory_rate, device.link_rate})
      EXPECT_GT(rate, 0) << device.name;
    EXPECT_GE(device.flops_half, device.flops_f32) << device.name;
    EXPECT_GT(device.memory_bytes, 0) << device.name;
    EXPECT_FALSE(device.details.empty()) << device.name;
  }
  test::expect_failure([&] { find_device_rates("h20"); }, Exit::usage, {"'h200'"});
}

TEST(Devices, AreFoundHoweverTheirNamesAreWritten) {
  for (const auto& [written, name] : {std::pair{"H100", "h100"},
                                      {"RTX 4090", "rtx4090"},
                                      {"4090", "rtx4090"},
                                      {"GeForce-RTX-3090", "rtx3090"},
                                      {"NVIDIA RTX A6000", "a6000"},
                                      {"Tesla V100", "v100"},
                                      {"V100-Study", "v100-study"}})
    EXPECT_EQ(find_device_rates(written).name, name);
  ASSERT_NE(device_in("NVIDIA GeForce RTX 5090 (compute capability 12.0)"), nullptr);
  EXPECT_EQ(device_in("NVIDIA GeForce RTX 5090 (compute capability 12.0)")->name, "rtx5090");
  EXPECT_EQ(device_in("NVIDIA L40S")->name, "l40s");
  EXPECT_EQ(device_in("NVIDIA T4"), nullptr);
}

TEST(CostModels, ComeBackFromTheirJson) {
  CostModel costs;
  costs.source = "measured on \"a\" device";
  costs.node_seconds = {0.1, 1e-7, 3};
  costs.to_host = {1, 2};
  costs.to_device = {3, 4};
  costs.to_disk = {5, 6};
  costs.from_disk = {7, 8};
  costs.copy_seconds = 9;
  costs.disk_seconds = 10;
  costs.interference = 1.0 / 3;
  costs.noise = 0.25;
  const CostModel read = parse_costs(costs_json(costs));
  EXPECT_EQ(read.source, costs.source);
  EXPECT_EQ(read.node_seconds, costs.node_seconds);
  for (const auto link :
       {&CostModel::to_host, &CostModel::to_device, &CostModel::to_disk, &CostModel::from_disk}) {
    EXPECT_EQ((read.*link).alone, (costs.*link).alone);
    EXPECT_EQ((read.*link).busy, (costs.*link).busy);
  }
  EXPECT_EQ(read.copy_seconds, costs.copy_seconds);
  EXPECT_EQ(read.disk_seconds, costs.disk_seconds);
  EXPECT_EQ(read.interference, costs.interference);
  EXPECT_EQ(read.noise, costs.noise);
}

TEST(CostModels, ThatAreDamagedAreBadData) {
  const std::string good = costs_json({});
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("{}"), replaced("\"alone\"", "\"lone\""),
        replaced("\"busy\": 0.0", "\"busy\": \"fast\""),
        replaced("\"copy_seconds\": 0.0", "\"copy_seconds\": -1"),
        replaced("\"node_seconds\": []", "\"node_seconds\": [-1]"),
        replaced("\"node_seconds\": []", "\"node_seconds\": 3"), good.substr(0, good.size() / 2)}) {
    SCOPED_TRACE(text);
    test::expect_failure([&] { parse_costs(text); }, Exit::bad_data);
  }
}

// --- Costs of exchanges between ranks

constexpr std::int64_t chunk = 4 << 20;  // number of ranks that exchange at a time

TEST(Network, HasNothingToExchangeForOneRank) {
  EXPECT_EQ(exchange_seconds(chunk, {.ranks = 1}), 0);
}

// Reduce-scatter and all-gather: half of the row, a quarter, and so on down to the rank's own segment.
TEST(Network, CarriesARowLessOneStretchThereAndBack) {
  for (const int ranks : {64, 256}) {
    const Network network = {.ranks = ranks, .local_rate = 1e9, .message_seconds = 1e-5};
    const double expected =
        2 * (std::log2(ranks) * 1e-5 + (1 - 1.0 / ranks) * static_cast<double>(chunk) / 1e9);
    EXPECT_NEAR(exchange_seconds(chunk, network), expected, 1e-9) << ranks;
    EXPECT_NEAR(exchange_seconds(10 * chunk, network), 10 * expected, 1e-8) << ranks;
  }
}

// Eight ranks of a machine share its link, and each sends an eighth of the row.
TEST(Network, CarriesTheRowOfAMachineThereAndBackWhateverTheirNumber) {
  for (const int machines : {8, 32}) {
    const Network network = {.ranks = 8 * machines, .machines = machines, .rate = 1e9, .local_rate = 1e12};
    EXPECT_NEAR(exchange_seconds(chunk, network),
                2 * static_cast<double>(chunk) * ((1 - 1.0 / machines) / 1e9 + (7.0 / 8) / 1e12), 1e-9)
        << machines;
  }
}

TEST(Network, TakesAsManyMessagesThereAndBackAsTheTreeHasLevels) {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto messages = [&](int ranks) {
    return exchange_seconds(64, {.ranks = ranks, .local_rate = infinite, .message_seconds = 1});
  };
  EXPECT_EQ(messages(2), 2);
  EXPECT_EQ(messages(3), 4);
  EXPECT_EQ(messages(16), 8);
  EXPECT_EQ(messages(1024), 20);
}

}  // namespace
}  // namespace voxswap::swap
