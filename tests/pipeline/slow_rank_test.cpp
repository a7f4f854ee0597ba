#include "pipeline/train/slow_rank.h"

#include <gtest/gtest.h>

namespace voxswap::pipeline {
namespace {

TEST(SlowRank, IsOneThatTakesOneAndAHalfTimesAsLongAsTheOthers) {
  EXPECT_EQ(slow_rank({1.0, 1.1, 1.7, 1.0}), 2);
  EXPECT_EQ(slow_rank({3.0, 1.0}), 0);
  EXPECT_EQ(slow_rank({1.0, 2.0, 2.1}), std::nullopt) << "one that is fast makes no other slow";
  EXPECT_EQ(slow_rank({1.0, 1.4}), std::nullopt) << "slabs may be uneven";
  EXPECT_EQ(slow_rank({2.0}), std::nullopt);
}

}  // namespace
}  // namespace voxswap::pipeline
