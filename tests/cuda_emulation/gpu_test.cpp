// Tests the emulated GPU: it detects errors that would fail on a GPU, and behaves in all ways that CUDA
// permits.
#include "tests/cuda_emulation/gpu.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

namespace voxswap::net {
namespace {

struct Device {
  explicit Device(std::size_t bytes) { EXPECT_EQ(cudaMalloc(&data, bytes), cudaSuccess); }
  ~Device() { EXPECT_EQ(cudaFree(data), cudaSuccess); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  char* bytes() const { return static_cast<char*>(data); }
  void* data = nullptr;
};

struct Stream {
  Stream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess); }
  ~Stream() { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t stream = nullptr;
};

// Blocks a stream until it is opened.
class Gate {
 public:
  explicit Gate(const Stream& stream) {
    emulation::enqueue(stream.stream, [this] {
      while (!open_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  void open_later() {
    opener_ = std::jthread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      open_ = true;
    });
  }
  bool open() const { return open_; }

 private:
  std::atomic<bool> open_ = false;
  std::jthread opener_;
};

TEST(EmulatedGpu, HasMemoryThatHoldsNoNumberUntilItIsWritten) {
  const Device memory(8);
  EXPECT_TRUE(std::isnan(*reinterpret_cast<float*>(memory.data)));
}

TEST(EmulatedGpu, RunsOutOfMemory) {
  void* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, emulation::device_bytes + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(EmulatedGpu, RefusesCopiesThatEndBesideTheirBlock) {
  const Device memory(1000), other(1000);
  const Stream stream;
  EXPECT_EQ(cudaMemcpyAsync(memory.data, other.data, 1000, cudaMemcpyDefault, stream.stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(memory.data, other.data, 1001, cudaMemcpyDefault, stream.stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(memory.bytes() + 1, other.data, 1000, cudaMemcpyDefault, stream.stream),
            cudaErrorInvalidValue);
  std::vector<char> host(1000);
  EXPECT_EQ(cudaMemcpyAsync(memory.data, host.data(), 1000, cudaMemcpyDeviceToDevice, stream.stream),
            cudaErrorInvalidValue);
}

TEST(EmulatedGpuDeathTest, StopsWhatWritesBehindABlock) {
  const Device memory(1024);
  EXPECT_DEATH(memory.bytes()[1024] = 1, "");
}

TEST(EmulatedGpu, CopiesFromPinnedMemoryLaterAndFromOtherMemoryAtOnce) {
  const Device memory(64);
  const Stream stream;
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 64, cudaHostAllocPortable), cudaSuccess);
  std::vector<char> unpinned(64);
  const std::int64_t before = emulation::counts().unpinned_copies;
  {
    Gate gate(stream);
    EXPECT_EQ(cudaMemcpyAsync(memory.data, pinned, 64, cudaMemcpyDefault, stream.stream), cudaSuccess);
    EXPECT_FALSE(gate.open());  // the call has returned nevertheless
    EXPECT_EQ(emulation::counts().unpinned_copies, before);
    gate.open_later();
    EXPECT_EQ(cudaMemcpyAsync(memory.data, unpinned.data(), 64, cudaMemcpyDefault, stream.stream),
              cudaSuccess);
    EXPECT_TRUE(gate.open());
    EXPECT_EQ(emulation::counts().unpinned_copies, before + 1);
  }
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(EmulatedGpu, WaitsForEverythingWhereMemoryIsTakenOrGivenBack) {
  const Stream stream;
  Gate gate(stream);
  gate.open_later();
  { const Device memory(64); }
  EXPECT_TRUE(gate.open());
}

TEST(EmulatedGpu, RefusesWhatItDidNotHandOut) {
  const Device memory(64);
  std::vector<char> host(64);
  EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory.bytes() + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaErrorInvalidValue);
  void* on_device = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&on_device, host.data(), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
}

TEST(EmulatedGpu, MeasuresNoTimeBetweenEventsThatHaveNotHappened) {
  const Stream stream;
  cudaEvent_t first = nullptr, second = nullptr;
  ASSERT_EQ(cudaEventCreate(&first), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&second), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, second), cudaErrorInvalidValue);
  {
    Gate gate(stream);
    ASSERT_EQ(cudaEventRecord(first, stream.stream), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(second, stream.stream), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, second), cudaErrorNotReady);
    gate.open_later();
    EXPECT_EQ(cudaEventSynchronize(second), cudaSuccess);
  }
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, second), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(second), cudaSuccess);
}

__global__ void wait_for_nobody(char* data) {
  if (threadIdx.x == 0) __syncthreads();  // the others never reach it
  data[0] = 1;
}

// Runs in its own process, because nothing works afterwards, as on a GPU.
TEST(EmulatedGpuDeathTest, IsBrokenForAllCallsAfterAKernelThatFailed) {
  const auto breaks = [] {
    const Stream stream;
    void* data = nullptr;
    cudaMalloc(&data, 64);
    cudaLaunchConfig_t configuration;
    configuration.gridDim = dim3(1);
    configuration.blockDim = dim3(32);
    configuration.stream = stream.stream;
    cudaLaunchKernelEx(&configuration, wait_for_nobody, static_cast<char*>(data));
    const bool failed = cudaStreamSynchronize(stream.stream) == cudaErrorLaunchFailure &&
                        cudaFree(data) == cudaErrorLaunchFailure;
    std::_Exit(failed ? 7 : 0);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // streams are threads, which do not survive a fork
  EXPECT_EXIT(breaks(), testing::ExitedWithCode(7), "__syncthreads");
}

}  // namespace
}  // namespace voxswap::net
