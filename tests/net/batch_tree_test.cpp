// The tree along which a batch is summed, and what of it a share can sum by itself.
#include "net/steps/batch_tree.h"

#include <gtest/gtest.h>

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

// Nobody sends twice what it could have added up first.
TEST(BatchTree, SendsNoMorePartsThanTheTreeHasLevels) {
  for (const std::int64_t ranks : divisors(96))
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      EXPECT_LE(parts_of(share_of(96, rank, ranks)).size(), 12u);
}

}  // namespace
}  // namespace voxswap::net
