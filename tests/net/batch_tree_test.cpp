// The summation tree of a batch: the part that a share can sum alone, and the communication of ranks for the
// rest. The additions are the same for any number of ranks, there is no deadlock, and no rank sends much more
// than its row.
#include "net/steps/batch_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>

#include "base/text.h"

namespace voxswap::net {

std::ostream& operator<<(std::ostream& out, const Samples& samples) {
  return out << samples.first << ".." << samples.last;
}

namespace {

using testing::Each;

constexpr std::int64_t length = 5000;

std::vector<std::int64_t> divisors(std::int64_t batch) {
  std::vector<std::int64_t> result;
  for (std::int64_t ranks = 1; ranks <= batch; ++ranks)
    if (batch % ranks == 0) result.push_back(ranks);
  return result;
}

// The parts of a share as sums, written with brackets.
std::vector<std::string> sums_of(const Share& share) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> sums;
  std::map<std::int64_t, std::string> latest;
  for (std::int64_t sample = share.first; sample < share.first + share.count; ++sample) {
    Samples node = {sample, sample + 1};
    std::string sum = std::to_string(sample);
    for (const Sum& next : sums_ending_with(share, sample)) {
      EXPECT_EQ(next.right.first, node.first);
      EXPECT_EQ(next.right.last, node.last);
      sum = "(" + sums.at({next.left.first, next.left.last}) + "+" + sum + ")";
      node = {next.left.first, next.right.last};
    }
    sums[{node.first, node.last}] = latest[node.first] = sum;
  }
  std::vector<std::string> parts;
  for (const Samples& part : parts_of(share)) parts.push_back(latest.at(part.first));
  return parts;
}

std::string total(std::int64_t batch) {
  return sums_of({0, batch, batch}).front();
}

TEST(BatchTree, AddsNeighboursInPairsThenPairsOfPairs) {
  EXPECT_EQ(total(1), "0");
  EXPECT_EQ(total(2), "(0+1)");
  EXPECT_EQ(total(4), "((0+1)+(2+3))");
}

TEST(BatchTree, LetsWhatHasNoNeighbourGoUpAsItIs) {
  EXPECT_EQ(total(3), "((0+1)+2)");
  EXPECT_EQ(total(6), "(((0+1)+(2+3))+(4+5))");
  EXPECT_EQ(total(7), "(((0+1)+(2+3))+((4+5)+6))");
}

TEST(BatchTree, GivesAShareItsPartsInOrderAndNothingElse) {
  EXPECT_EQ(parts_of({3, 3, 12}), (std::vector<Samples>{{3, 4}, {4, 6}}));
  EXPECT_EQ(parts_of({12, 12, 24}), (std::vector<Samples>{{12, 16}, {16, 24}}));
  for (const std::int64_t ranks : divisors(24))
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const Share share = share_of(24, rank, ranks);
      std::int64_t reached = share.first;
      for (const Samples& part : parts_of(share)) {
        EXPECT_EQ(part.first, reached);
        reached = part.last;
      }
      EXPECT_EQ(reached, share.first + share.count);
    }
}

// No rank sends values that it could have added first.
TEST(BatchTree, SendsNoMorePartsThanTheTreeHasLevels) {
  for (const std::int64_t ranks : divisors(96))
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      EXPECT_LE(parts_of(share_of(96, rank, ranks)).size(), 12u);
}

// A node of the tree, written with brackets.
std::string sum_of(const Samples& samples) {
  if (samples.count() == 1) return std::to_string(samples.first);
  std::int64_t width = 1;
  while (2 * width < samples.count()) width *= 2;
  return "(" + sum_of({samples.first, samples.first + width}) + "+" +
         sum_of({samples.first + width, samples.last}) + ")";
}

// Some elements of a row, which are sums written with brackets.
using SumRow = std::map<std::int64_t, std::string>;
SumRow row_of(const std::string& sum) {
  SumRow row;
  for (std::int64_t i = 0; i < length; i += 101) row[i] = sum;
  row[length - 1] = sum;
  return row;
}
void copy(SumRow& to, const SumRow& from, std::int64_t begin, std::int64_t end) {
  for (auto at = from.lower_bound(begin); at != from.end() && at->first < end; ++at)
    to[at->first] = at->second;
}
void add(SumRow& to, const SumRow& left, const SumRow& right, std::int64_t begin, std::int64_t end) {
  for (auto at = left.lower_bound(begin); at != left.end() && at->first < end; ++at)
    to[at->first] = "(" + at->second + "+" + right.at(at->first) + ")";
}

struct Rank {
  std::vector<SumRow> parts;
  std::deque<Swap> swaps;
};

// Performs the swaps of all ranks, each one when it is next on both sides.
void make_swaps(std::vector<Rank>& ranks, const std::function<void(const Swap&)>& make) {
  for (bool moved = true; moved;) {
    moved = false;
    for (Rank& rank : ranks) {
      if (rank.swaps.empty()) continue;
      const Swap swap = rank.swaps.front();
      Rank &left = ranks[static_cast<std::size_t>(swap.left.rank)],
           &right = ranks[static_cast<std::size_t>(swap.right.rank)];
      if (left.swaps.empty() || right.swaps.empty()) continue;
      if (left.swaps.front() != swap || right.swaps.front() != swap) continue;
      make(swap);
      left.swaps.pop_front();
      if (!swap.is_local()) right.swaps.pop_front();
      moved = true;
    }
  }
  for (const Rank& rank : ranks) ASSERT_TRUE(rank.swaps.empty()) << "a rank waits for ever";
}

// The result on every rank.
std::vector<SumRow> summed(std::int64_t batch, std::int64_t count) {
  const SumByHalves all = sum_by_halves(batch, count, length);
  std::vector<Rank> ranks(static_cast<std::size_t>(count));
  for (std::int64_t rank = 0; rank < count; ++rank) {
    Rank& one = ranks[static_cast<std::size_t>(rank)];
    for (const Samples& part : parts_of(share_of(batch, rank, count)))
      one.parts.push_back(row_of(sum_of(part)));
    const std::vector<Swap> swaps = of_rank(all, rank).swaps;
    one.swaps = {swaps.begin(), swaps.end()};
  }
  const auto row = [&](const Swap::Side& side) -> SumRow& {
    return ranks[static_cast<std::size_t>(side.rank)].parts[static_cast<std::size_t>(side.part)];
  };
  make_swaps(ranks, [&](const Swap& swap) {
    const SumRow left = row(swap.left), right = row(swap.right);
    add(row(swap.left), left, right, swap.begin, swap.middle);
    add(row(swap.right), left, right, swap.middle, swap.end);
  });
  std::vector<SumRow> sums(ranks.size());
  for (const RowRange& range : all.ranges)
    copy(sums[static_cast<std::size_t>(range.at.rank)], row(range.at), range.begin, range.end);
  for (std::int64_t rank = 0; rank < count; ++rank) {
    const std::vector<Swap> swaps = of_rank(all, rank).swaps;
    ranks[static_cast<std::size_t>(rank)].swaps = {swaps.rbegin(), swaps.rend()};
  }
  make_swaps(ranks, [&](const Swap& swap) {
    if (swap.is_local()) return;
    SumRow &left = sums[static_cast<std::size_t>(swap.left.rank)],
           &right = sums[static_cast<std::size_t>(swap.right.rank)];
    copy(right, SumRow(left), swap.begin, swap.middle);
    copy(left, SumRow(right), swap.middle, swap.end);
  });
  return sums;
}

TEST(SumByHalves, GivesAllRanksTheSumOfTheTreeWhateverTheirNumber) {
  for (std::int64_t batch = 1; batch <= 28; ++batch)
    for (const std::int64_t ranks : divisors(batch))
      EXPECT_THAT(summed(batch, ranks), Each(row_of(sum_of({0, batch}))))
          << batch << " samples on " << ranks << " ranks";
}

// Elements that each rank sends, in both directions.
std::vector<std::int64_t> sent(const SumByHalves& sum, std::int64_t ranks) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(ranks), 0);
  for (const Swap& swap : sum.swaps) {
    if (swap.is_local()) continue;
    for (const Swap::Side& side : {swap.left, swap.right})
      result[static_cast<std::size_t>(side.rank)] += swap.end - swap.begin;
  }
  return result;
}

TEST(SumByHalves, LetsEveryRankSendItsRowLessTheStretchThatItSumsUpThereAndBack) {
  for (const std::int64_t ranks : {2, 4, 64})
    EXPECT_THAT(sent(sum_by_halves(ranks, ranks, 1 << 20), ranks), Each(2 * ((1 << 20) - (1 << 20) / ranks)));
}

TEST(SumByHalves, LetsNobodySendMoreThanItsRowThereAndBackWhereTheTreeIsLopsided) {
  for (std::int64_t ranks = 2; ranks <= 40; ++ranks)
    EXPECT_THAT(sent(sum_by_halves(ranks, ranks, 1 << 20), ranks), Each(testing::Le(2 << 20))) << ranks;
}

// For machines of eight ranks each.
TEST(SumByHalves, LetsAMachineSendTheOthersItsRowThereAndBack) {
  for (const std::int64_t machines : {2, 16, 64}) {
    std::vector<std::int64_t> sent_outside(static_cast<std::size_t>(machines), 0);
    for (const Swap& swap : sum_by_halves(8 * machines, 8 * machines, 1 << 20).swaps) {
      if (swap.left.rank / 8 == swap.right.rank / 8) continue;
      for (const Swap::Side& side : {swap.left, swap.right})
        sent_outside[static_cast<std::size_t>(side.rank / 8)] += swap.end - swap.begin;
    }
    EXPECT_THAT(sent_outside, Each(2 * ((1 << 20) - (1 << 20) / machines)));
  }
}

TEST(SumByHalves, LeavesShortRowsWhole) {
  for (const Swap& swap : sum_by_halves(16, 16, 100).swaps) EXPECT_EQ(swap.middle, swap.end);
}

}  // namespace
}  // namespace voxswap::net
