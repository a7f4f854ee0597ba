// Names of what belongs to the samples of a batch.
#include <gtest/gtest.h>

#include "net/graph/names.h"

namespace voxswap::net {
namespace {

TEST(SampleName, TellsTheSampleAndWhatOneSampleCallsIt) {
  EXPECT_EQ(sample_name("norm", 2), "norm@3");
  EXPECT_EQ(sample_in("norm@3"), 2);
  EXPECT_EQ(name_in_one_sample("norm@3"), "norm");
  EXPECT_EQ(sample_in("norm@12[4].1"), 11);
  EXPECT_EQ(name_in_one_sample("norm@12[4].1"), "norm[4].1");
  EXPECT_EQ(sample_in("norm"), std::nullopt);
  EXPECT_EQ(name_in_one_sample("norm"), "norm");
}

TEST(SampleName, OfASumIsOfNoSample) {
  const std::string sum = sum_name("loss", 0, 2);
  EXPECT_EQ(sum, "loss@1-2");
  EXPECT_EQ(sample_in(sum), std::nullopt);
  EXPECT_EQ(name_in_one_sample(sum), std::nullopt);
}

}  // namespace
}  // namespace voxswap::net
