#include "net/graph/block_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace voxswap::net {
namespace {

using testing::ElementsAre;

TEST(BlockSums, AreAddedTwoByTwo) {
  EXPECT_THAT(total_of_blocks(0, 4, false).additions, ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(total_of_blocks(0, 6, false).additions, ElementsAre(0, 1, 0, 2, 0, 2)) << "and what is left";
}

TEST(BlockSums, OfARankAreTheNodesOfTheTreeThatLieInItsBlocks) {
  EXPECT_THAT(tree_nodes({0, 8}), ElementsAre(Blocks{0, 8}));
  EXPECT_THAT(tree_nodes({6, 7}), ElementsAre(Blocks{6, 2}, Blocks{8, 4}, Blocks{12, 1}));
}

TEST(BlockSums, OfRanksAreAddedAlongTheSameTree) {
  const Total total = total_of({2, 2, 1}, {{"nodes", 1}, {"each", 6}, {"end", 13}});
  EXPECT_THAT(total.rows, ElementsAre(Blocks{0, 4}, Blocks{4, 2}, Blocks{6, 2}, Blocks{8, 4}, Blocks{12, 1}));
  EXPECT_THAT(total.additions, ElementsAre(0, 0, 2, 0, 2));
}

}  // namespace
}  // namespace voxswap::net
