// The tree along which a batch is summed: the same for every number of ranks.
#include "net/steps/batch_tree.h"

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

std::vector<std::int64_t> divisors(std::int64_t batch) {
  std::vector<std::int64_t> result;
  for (std::int64_t ranks = 1; ranks <= batch; ++ranks)
    if (batch % ranks == 0) result.push_back(ranks);
  return result;
}

// What a share's parts are as sums, written with their brackets.
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

// What rank 0 ends up with, each rank making its moves as far as it can until all are done.
std::string total(std::int64_t batch, std::int64_t ranks) {
  struct Rank {
    std::vector<std::string> parts;
    std::deque<Move> moves;
  };
  std::vector<Rank> all;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::vector<Move> moves = moves_of(batch, rank, ranks);
    all.push_back({sums_of(share_of(batch, rank, ranks)), {moves.begin(), moves.end()}});
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::deque<std::string>> on_the_way;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      Rank& one = all[static_cast<std::size_t>(rank)];
      if (one.moves.empty()) continue;
      const Move move = one.moves.front();
      std::string& part = one.parts.at(static_cast<std::size_t>(move.part));
      if (move.kind == Move::Kind::send) {
        on_the_way[{rank, move.other}].push_back(part);
      } else if (move.kind == Move::Kind::add) {
        part = "(" + part + "+" + one.parts.at(static_cast<std::size_t>(move.other)) + ")";
      } else {
        std::deque<std::string>& coming = on_the_way[{move.other, rank}];
        if (coming.empty()) continue;
        part = "(" + part + "+" + coming.front() + ")";
        coming.pop_front();
      }
      one.moves.pop_front();
      moved = true;
    }
  }
  for (const Rank& one : all) EXPECT_TRUE(one.moves.empty()) << "a rank waits for ever";
  for (const auto& [way, texts] : on_the_way) EXPECT_TRUE(texts.empty()) << "something was not received";
  return all.front().parts.front();
}

TEST(BatchTree, AddsNeighboursInPairsThenPairsOfPairs) {
  EXPECT_EQ(total(1, 1), "0");
  EXPECT_EQ(total(2, 1), "(0+1)");
  EXPECT_EQ(total(4, 1), "((0+1)+(2+3))");
}

TEST(BatchTree, LetsWhatHasNoNeighbourGoUpAsItIs) {
  EXPECT_EQ(total(3, 1), "((0+1)+2)");
  EXPECT_EQ(total(6, 1), "(((0+1)+(2+3))+(4+5))");
  EXPECT_EQ(total(7, 1), "(((0+1)+(2+3))+((4+5)+6))");
}

TEST(BatchTree, IsTheSameForEveryNumberOfRanks) {
  for (std::int64_t batch = 1; batch <= 48; ++batch) {
    const std::string alone = total(batch, 1);
    for (const std::int64_t ranks : divisors(batch))
      EXPECT_EQ(total(batch, ranks), alone) << batch << " samples on " << ranks << " ranks";
  }
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

// Nobody sends twice what it could have added up first.
TEST(BatchTree, SendsNoMorePartsThanTheTreeHasLevels) {
  for (const std::int64_t ranks : divisors(96))
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      EXPECT_LE(parts_of(share_of(96, rank, ranks)).size(), 12u);
}

}  // namespace
}  // namespace voxswap::net
