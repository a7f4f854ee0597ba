// Communication of ranks and the exchange, tested with ranks that are threads.
#include "net/collective/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "net/backends/backends.h"
#include "net/collective/exchange.h"
#include "net/collective/launched.h"
#include "net/graph/operation.h"
#include "net/graph/send_receive.h"
#include "net/steps/batch_tree.h"
#include "tests/environment.h"
#include "tests/expect.h"
#include "tests/net/rank_threads.h"

namespace voxswap::net {
namespace {

using test::on_ranks;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Ranks, OneByItselfAgreesWithEverything) {
  EXPECT_TRUE(alone().is_first());
  EXPECT_TRUE(alone().is_alone());
  EXPECT_EQ(broadcast(alone(), "text"), "text");
  EXPECT_THAT(gather(alone(), "text"), ElementsAre("text"));
  EXPECT_FALSE(any(alone(), false));
  EXPECT_TRUE(any(alone(), true));
  EXPECT_NO_THROW(agree(alone(), "experiment", "this"));
}

TEST(Ranks, HandOnWhatTheFirstHas) {
  for (const int count : {2, 3, 4, 5, 8})
    EXPECT_THAT(
        on_ranks<std::string>(
            count, [](Ranks& ranks) { return broadcast(ranks, "of rank " + std::to_string(ranks.rank())); }),
        Each("of rank 0"));
}

TEST(Ranks, GatherWhatAllHaveInOrder) {
  for (const int count : {2, 3, 5}) {
    std::vector<std::string> expected;
    for (int rank = 0; rank < count; ++rank)
      expected.push_back(std::string(static_cast<std::size_t>(rank), 'x'));
    const auto found = on_ranks<std::vector<std::string>>(count, [](Ranks& ranks) {
      return gather(ranks, std::string(static_cast<std::size_t>(ranks.rank()), 'x'));
    });
    EXPECT_THAT(found, Each(expected));
  }
}

TEST(Ranks, KnowWhetherAnotherHasSentThemSomething) {
  on_ranks<int>(2, [](Ranks& ranks) {
    char letter = 'a';
    if (!ranks.is_first()) {
      ranks.receive(0, &letter, 1);
      letter = 'b';
      ranks.send(0, &letter, 1);
      return 0;
    }
    EXPECT_FALSE(ranks.has_sent(1));
    ranks.send(1, &letter, 1);
    while (!ranks.has_sent(1)) std::this_thread::yield();
    ranks.receive(1, &letter, 1);
    EXPECT_EQ(letter, 'b');
    EXPECT_FALSE(ranks.has_sent(1));
    return 0;
  });
  EXPECT_FALSE(alone().has_sent(0));
}

TEST(Ranks, KnowWhatIsSoOnAnyOfThem) {
  for (const int count : {2, 3, 4, 7})
    for (int which = -1; which < count; ++which)
      EXPECT_THAT(
          on_ranks<int>(count, [which](Ranks& ranks) { return any(ranks, ranks.rank() == which) ? 1 : 0; }),
          Each(which >= 0 ? 1 : 0))
          << count << " ranks, so on " << which;
}

TEST(Ranks, TellAllOfThemWhoDiffers) {
  const auto messages = on_ranks<std::string>(3, [](Ranks& ranks) {
    const std::string experiment = ranks.rank() == 2 ? "a: 1\nb: 3" : "a: 1\nb: 2";
    return test::error_of([&] { agree(ranks, "experiment", experiment); }, Exit::usage);
  });
  EXPECT_THAT(messages, Each(HasSubstr("rank 2 has another experiment than rank 0: 'b: 3', not 'b: 2'")));
}

// Two values for which only this order of additions gives exactly these sums.
struct Sums {
  std::vector<float> small, large;
  bool operator==(const Sums&) const = default;
};
constexpr std::int64_t large_count = 150'000;  // several swaps of halves
float number_of(std::int64_t sample, std::int64_t element) {
  return 1.0f / static_cast<float>(3 + 7 * sample + element % 101) * (sample % 2 == 0 ? 1.0f : -1e4f);
}

// A share's part, added up as its graph would.
std::vector<float> part(const Samples& samples, std::int64_t count) {
  std::vector<float> result(static_cast<std::size_t>(count));
  if (samples.count() == 1) {
    for (std::int64_t i = 0; i < count; ++i)
      result[static_cast<std::size_t>(i)] = number_of(samples.first, i);
    return result;
  }
  std::int64_t width = 1;
  while (2 * width < samples.count()) width *= 2;
  const std::vector<float> left = part({samples.first, samples.first + width}, count),
                           right = part({samples.first + width, samples.last}, count);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = left[i] + right[i];
  return result;
}

Sums exchanged(Ranks& ranks, std::int64_t batch, bool begun) {
  const std::vector<Samples> parts = parts_of(share_of(batch, ranks.rank(), ranks.count()));
  Graph graph;
  std::vector<ValueId> inputs;
  std::vector<std::vector<float>> values;
  for (const std::int64_t count : {std::int64_t{3}, large_count})
    for (const Samples& samples : parts) {
      inputs.push_back(graph.add_value("part", {count}, ElementType::f32, Role::input));
      values.push_back(part(samples, count));
    }
  const NodeId node =
      graph.add("exchange", "sums", inputs,
                {{"parts", static_cast<double>(parts.size())}, {"batch", static_cast<double>(batch)}});
  Exchange exchange(ranks);
  if (begun) exchange.begin();
  const std::unique_ptr<Kernel> kernel = exchange.make_kernel(graph, graph.node(node));
  std::vector<std::byte> workspace(static_cast<std::size_t>(kernel->workspace_bytes()));
  Sums sums{std::vector<float>(3), std::vector<float>(large_count)};
  std::vector<void*> in, out = {sums.small.data(), sums.large.data()};
  for (std::vector<float>& one : values) in.push_back(one.data());
  const StepContext context;
  kernel->run({in, out, {}, workspace.data(), &context});
  return sums;
}

TEST(Exchange, GivesTheSameBitsOnAnyNumberOfRanks) {
  for (const std::int64_t batch : {8, 12, 24}) {
    const Sums expected = {part({0, batch}, 3), part({0, batch}, large_count)};
    for (const int count : {2, 3, 4, 6, 8})
      if (batch % count == 0) {
        EXPECT_THAT(on_ranks<Sums>(count, [&](Ranks& ranks) { return exchanged(ranks, batch, true); }),
                    Each(expected))
            << batch << " samples on " << count << " ranks";
      }
  }
}

TEST(Exchange, NeedsNobodyBeforeItHasBegun) {
  Sums found;
  on_ranks<int>(4, [&](Ranks& ranks) {
    if (ranks.rank() == 2) found = exchanged(ranks, 4, false);  // the other ranks do not take part
    return 0;
  });
  EXPECT_EQ(found.small, part({2, 3}, 3));
}

TEST(Exchange, HasNoMoreThanAFewChunksOnHand) {
  Graph graph;
  const ValueId part = graph.add_value("part", {64, 64, 27, 27, 27}, ElementType::f32, Role::input);
  const NodeId node = graph.add("exchange", "sum", {part}, {{"parts", 1}, {"batch", 1}});
  Exchange exchange(alone());
  EXPECT_EQ(exchange.make_kernel(graph, graph.node(node))->workspace_bytes(), 0);
  EXPECT_LE(exchange.carrier().bytes(), 1 << 20);
}

// Rank 0 sends a large plane of each of two samples, and both ranks send a few sums.
TEST(SendReceive, GivesLargePartsAndSmallOnesToTheOtherRank) {
  const Shape volume = {2, 4, 64, 64, 8}, received = {2, 1, 64, 64, 8}, sums = {1, 3};
  const std::int64_t plane = volume.count_from(2);
  on_ranks<int>(2, [&](Ranks& ranks) {
    Graph graph;
    const ValueId planes = graph.add_value("volume", volume, ElementType::f32, Role::input);
    const ValueId few = graph.add_value("sums", sums, ElementType::f32, Role::input);
    std::vector<float> of_volume(static_cast<std::size_t>(volume.count())), of_sums(3),
        got_planes(static_cast<std::size_t>(received.count())), got_sums(3);
    for (std::size_t i = 0; i < of_volume.size(); ++i) of_volume[i] = static_cast<float>(i);
    for (std::size_t i = 0; i < 3; ++i)
      of_sums[i] = static_cast<float>(10 * (ranks.rank() + 1)) + static_cast<float>(i);

    SendReceive node{1 - ranks.rank(), {}, {}};
    std::vector<ValueId> inputs;
    std::vector<void*> in, out;
    if (ranks.is_first()) {
      inputs.push_back(planes), in.push_back(of_volume.data());
      node.sent.push_back({1, 2});
    } else {
      node.received.push_back({received, ElementType::f32});
      out.push_back(got_planes.data());
    }
    inputs.push_back(few), in.push_back(of_sums.data());
    node.sent.push_back({0, 3});
    node.received.push_back({sums, ElementType::f32});
    out.push_back(got_sums.data());
    const NodeId added = graph.add("send_receive", "both", inputs, attributes_of(node));

    Exchange exchange(ranks, nullptr, 2);
    exchange.begin();
    const StepContext context;
    exchange.make_kernel(graph, graph.node(added))->run({in, out, {}, nullptr, &context});
    const float other = ranks.is_first() ? 20 : 10;
    EXPECT_THAT(got_sums, ElementsAre(other, other + 1, other + 2));
    if (!ranks.is_first())
      for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t i = 0; i < plane; ++i)
          if (got_planes[static_cast<std::size_t>(n * plane + i)] !=
              static_cast<float>((4 * n + 1) * plane + i)) {
            ADD_FAILURE() << "sample " << n << ", element " << i;
            return 0;
          }
    return 0;
  });
}

// --- Ranks from the launcher's environment

struct Launched : testing::Test, test::Environment {};

TEST_F(Launched, AreOneByItselfWithoutALauncher) {
  EXPECT_EQ(launched_rank(), 0);
  EXPECT_EQ(launched_count(), 1);
  EXPECT_EQ(launched_place().count, 1u);
  EXPECT_TRUE(launched_ranks().is_alone());
}

TEST_F(Launched, ByMpirunKnowTheirPlaceOnTheirMachine) {
  set("OMPI_COMM_WORLD_RANK", "5");
  set("OMPI_COMM_WORLD_SIZE", "8");
  set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  EXPECT_EQ(launched_rank(), 5);
  EXPECT_EQ(launched_count(), 8);
  EXPECT_EQ(launched_place().index, 1u);
  EXPECT_EQ(launched_place().count, 4u);
}

TEST_F(Launched, BySlurmCountTheTasksOfTheirNode) {
  set("PMIX_RANK", "6");
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_STEP_TASKS_PER_NODE", "2(x3),1,1");
  set("SLURM_LOCALID", "0");
  for (const auto& [node, tasks] :
       {std::pair("0", 2u), std::pair("2", 2u), std::pair("3", 1u), std::pair("4", 1u)}) {
    set("SLURM_NODEID", node);
    EXPECT_EQ(launched_place().count, tasks) << node;
  }
  set("SLURM_NODEID", "1");
  set("SLURM_LOCALID", "1");
  EXPECT_EQ(launched_place().index, 1u);
}

TEST_F(Launched, BySlurmWithoutAnMpiAreProgramsByThemselves) {
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_STEP_TASKS_PER_NODE", "8");
  set("SLURM_LOCALID", "3");
  set("SLURM_NODEID", "0");
  EXPECT_EQ(launched_count(), 1);
  EXPECT_EQ(launched_place().count, 1u);
}

TEST_F(Launched, TakeNothingAbsurdForAPlace) {
  set("OMPI_COMM_WORLD_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "2");
  for (const auto& [rank, size] : {std::pair("2", "2"), std::pair("-1", "2"), std::pair("0", "3")}) {
    set("OMPI_COMM_WORLD_LOCAL_RANK", rank);
    set("OMPI_COMM_WORLD_LOCAL_SIZE", size);
    EXPECT_EQ(launched_place().count, 1u) << rank << " of " << size;
  }
}

}  // namespace
}  // namespace voxswap::net
