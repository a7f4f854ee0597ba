// Tests that a wait for data of other ranks ends when the data cannot come.
#include "net/backends/cuda/transfer_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/cuda_emulation/gpu.h"

namespace voxswap::net::cuda {
namespace {

constexpr std::chrono::milliseconds soon(40);
constexpr std::chrono::hours never(1);

std::string no_error() {
  return "";
}

class TransferWatches : public testing::Test {
 protected:
  TransferWatches() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  ~TransferWatches() override {
    test_ended_ = true;
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }
  // A transfer that lasts until the end of the test.
  void begin(TransferWatch& watch) {
    emulation::enqueue(stream_, [this] {
      while (!test_ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    watch.enqueued(stream_);
  }
  auto keep() {
    return [this](const std::string& message) { told_.set_value(message); };
  }
  std::string told() { return told_.get_future().get(); }

  cudaStream_t stream_ = nullptr;

 private:
  std::atomic<bool> test_ended_ = false;
  std::promise<std::string> told_;
};

TEST_F(TransferWatches, ReportAnErrorOfTheNetwork) {
  std::atomic<bool> broken = false;
  TransferWatch watch(
      0, never, [&] { return broken ? "it broke" : ""; }, keep());
  begin(watch);
  broken = true;
  EXPECT_EQ(told(), "it broke");
}

TEST_F(TransferWatches, ReportARankThatSendsNothing) {
  TransferWatch watch(0, soon, no_error, keep());
  begin(watch);
  EXPECT_EQ(told(), "no data from other ranks for 0 s");
}

TEST_F(TransferWatches, AreSilentWhileNoTransferRuns) {
  const TransferWatch watch(0, soon, no_error, [](const std::string& message) { FAIL() << message; });
  std::this_thread::sleep_for(4 * soon);
}

}  // namespace
}  // namespace voxswap::net::cuda
