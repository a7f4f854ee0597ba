// Ranks with one emulated GPU each give the bytes of a single rank, with and without NCCL.
#include "tests/cli/ranks.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/text.h"
#include "tests/environment.h"

namespace voxswap::cli {
namespace {

class RanksOnGpus : public RanksOfMpi {
 protected:
  static constexpr const char* through_the_host = "are exchanged through host memory";
  const Words small_batch_ = {"training.batch_size=4", "training.epochs=2", "memory.host=64MiB"};
};

TEST_F(RanksOnGpus, TrainToTheBytesOfOneByItself) {
  const Outcome alone = succeeded(program(into("alone", small_batch_)));
  EXPECT_TRUE(contains(alone.output, "emulated GPU"));
  for (const int ranks : {2, 4}) {
    const std::string out = "on_" + std::to_string(ranks);
    const Outcome outcome = succeeded(on(ranks, into(out, small_batch_)));
    EXPECT_FALSE(contains(outcome.output, through_the_host));
    EXPECT_EQ(results(out), results("alone")) << ranks << " ranks";
  }
  const test::Environment without("VOXSWAP_EMULATED_WITHOUT", "libnccl.so.2");
  const Outcome staged = succeeded(on(2, into("staged", small_batch_)));
  EXPECT_TRUE(contains(staged.output, through_the_host, "libnccl.so.2"));
  EXPECT_EQ(results("staged"), results("alone"));
}

// Halos and partial sums are exchanged by NCCL. A GPU sums weight gradients by slab, so the single rank uses
// slabs with the same planes at every resolution.
TEST_F(RanksOnGpus, ShareVolumesToTheBytesOfOneInTheSameSlabs) {
  const Words slabs_alike =
      small_batch_ + Words{"preprocess.resolution=[4,4,32]", "memory.slabs=2", "training.epochs=1"};
  const Outcome alone = succeeded(program(into("alone", slabs_alike)));
  const Outcome outcome = succeeded(on(4, into("on_4", slabs_alike + Words{"ranks.slabs=2"})));
  EXPECT_TRUE(contains(outcome.output, "emulated GPU"));
  EXPECT_FALSE(contains(outcome.output, through_the_host));
  EXPECT_EQ(results("on_4"), results("alone"));
  const test::Environment without("VOXSWAP_EMULATED_WITHOUT", "libnccl.so.2");
  const Outcome staged = succeeded(on(2, into("staged", slabs_alike + Words{"ranks.slabs=2"})));
  EXPECT_TRUE(contains(staged.output, through_the_host));
  EXPECT_EQ(results("staged"), results("alone"));
}

// With three ranks, one reads no planes of the volume and makes no samples.
TEST_F(RanksOnGpus, ShareVolumesOfWhichSomeReadNothing) {
  const Words unevenly = small_batch_ + Words{"training.augment=nnunet", "ranks.slabs=3"};
  succeeded(on(3, into("held", unevenly)));
  succeeded(on(3, into("copied", unevenly + Words{"data.memory=none"})));
  EXPECT_EQ(results("copied"), results("held"));
}

TEST_F(RanksOnGpus, AllEndWhenOneIsKilled) {
  const pid_t launcher =
      begin_on(2, into("killed", {"training.batch_size=4", "training.epochs=100000", "memory.host=64MiB"}));
  while (waitpid(launcher, nullptr, WNOHANG) == 0 && !fs::exists(folder_ / "killed/epochs.csv"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::vector<pid_t> ranks = ranks_here();
  ASSERT_EQ(ranks.size(), 2u) << read_file(log_);
  kill(ranks.back(), SIGKILL);
  const Outcome outcome = finish(launcher, {.log = log_});
  EXPECT_NE(outcome.code, 0) << outcome.output;
  EXPECT_THAT(ranks_here(), testing::IsEmpty());
}

// Without the watch, the ranks would wait for the network forever.
TEST_F(RanksOnGpus, AllEndWhenTheNetworkBreaks) {
  const test::Environment breaks("VOXSWAP_EMULATED_NCCL_BREAKS", "20");
  const Outcome outcome = on(2, into("broken", small_batch_));
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.output, testing::HasSubstr("network error"));
  EXPECT_THAT(outcome.output, testing::HasSubstr("--resume"));
  EXPECT_THAT(ranks_here(), testing::IsEmpty());
}

}  // namespace
}  // namespace voxswap::cli
