// The step of a share of a batch: samples one at a time, and their results summed.
#include "net/steps/samples.h"

#include <gtest/gtest.h>

#include <set>

#include "net/collective/exchange.h"
#include "net/graph/operation.h"
#include "tests/net/training.h"

namespace voxswap::net {
namespace {

StepOptions small_batch(ElementType type = ElementType::f64) {
  StepOptions options;
  options.network = {.base_filters = 2, .depth = 2, .dropout = 0};
  options.input = {1, 4, 4, 6, 2};
  options.activations = type;
  options.optimizer.small_parameter = 40;
  return options;
}
StepOptions with_share(StepOptions options, const Share& share) {
  options.share = share;
  return options;
}

std::vector<std::string> names_of(const Graph& graph, std::string_view operation) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (node.operation->name == operation) names.push_back(node.name);
  return names;
}

// After one update, from a batch of four.
Trained trained(const TrainingStep& step, const StepOptions& options) {
  const std::unique_ptr<Backend> backend = make_backend("reference");
  GraphRun run(step.graph, *backend);
  begin(run, step, 11);
  const std::int64_t voxels = options.input[1] * options.input[2] * options.input[3];
  const auto write = [&](const std::vector<ValueId>& ids, const Doubles& all) {
    auto from = all.begin();
    for (const ValueId id : ids) {
      const auto count = static_cast<std::ptrdiff_t>(step.graph.value(id).shape.count());
      run.set(id, {from, from + count});
      from += count;
    }
    EXPECT_EQ(from, all.end());
  };
  write(step.input, fill_values(Fill::normal, 4 * voxels * options.input[4], 1));
  write(step.target, fill_values(Fill::bits, 4 * voxels, 2));
  return train(run, step, 1, 0.01);
}

// The loss is the mean over the batch, so each sample gives its part.
TEST(Samples, OneAfterTheOtherTrainAsABatchDoes) {
  const auto expect_same = [](const StepOptions& options) {
    StepOptions batch = options;
    batch.input = {4, 4, 4, 6, 2};
    expect_near(trained(build_training_step(with_share(options, {0, 4, 4})), options),
                trained(build_training_step(batch), options), 1e-10, 1e-10);
  };
  StepOptions options = small_batch();
  for (const std::string& network : network_names()) {
    if (takes_images(network)) continue;  // batch norm needs the whole batch at once
    SCOPED_TRACE(network);
    options.network.name = network;
    expect_same(options);
  }
  options = small_batch();
  options.loss = loss_options(Loss::softmax_cross_entropy);
  expect_same(options);
}

TEST(Samples, OfOneAreTheStepThatItAlwaysWasAndThoseThatOneRankHasNeedNoExchange) {
  const Graph graph = build_training_step(small_batch()).graph;
  for (const Node& node : graph.nodes()) EXPECT_EQ(node.name.find('@'), std::string::npos) << node.name;
  EXPECT_TRUE(names_of(graph, "exchange").empty());
  EXPECT_TRUE(names_of(build_training_step(with_share(small_batch(), {0, 6, 6})).graph, "exchange").empty());
}

TEST(Samples, AreExchangedInTheSameOrderOnAllRanks) {
  for (const std::int64_t slabs : {whole_volumes, std::int64_t{2}}) {
    std::set<std::string> orders;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      StepOptions options = with_share(small_batch(), share_of(12, rank, 4));
      options.slabs = slabs;
      const TrainingStep step = build_training_step(options);
      orders.insert(order_of_exchanges(step.graph));
      EXPECT_EQ(step.input.size() % 3, 0u);
    }
    EXPECT_EQ(orders.size(), 1u);
    EXPECT_NE(orders.begin()->find(", "), std::string::npos)
        << "large ones go by themselves: " << *orders.begin();
  }
}

// As early as one rank alone would use them.
TEST(Samples, HaveLargeGradientsExchangedWhileOthersAreStillMade) {
  const Graph graph = build_training_step(with_share(small_batch(), {0, 1, 2})).graph;
  std::size_t first = graph.nodes().size(), last_gradient = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const std::string_view name = graph.nodes()[i].operation->name;
    if (name == "exchange") first = std::min(first, i);
    if (name == "conv3d_weight_gradient") last_gradient = i;
  }
  EXPECT_LT(first, last_gradient);
}

// For dropout: random numbers depend on the sample's index in the batch, whichever rank has it.
TEST(Samples, DrawNumbersOfTheirOwn) {
  StepOptions options = small_batch();
  options.network.dropout = 0.3;
  const auto keys = [&](const Share& share) {
    std::vector<std::int64_t> result;
    const Graph graph = build_training_step(with_share(options, share)).graph;
    for (const Node& node : graph.nodes())
      if (node.operation->name == "spatial_dropout_scale") result.push_back(node.attributes.integer("key"));
    return result;
  };
  const std::vector<std::int64_t> all = keys({0, 4, 4});
  EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), all.size());
  std::vector<std::int64_t> shared;
  for (std::int64_t rank = 0; rank < 4; ++rank)
    for (const std::int64_t key : keys(share_of(4, rank, 4))) shared.push_back(key);
  EXPECT_EQ(shared, all);
}

}  // namespace
}  // namespace voxswap::net
