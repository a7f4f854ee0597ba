// Descriptions of GPUs that are not present, as the input of cuDNN's planning. The figures are from NVIDIA's
// data sheets and the CUDA programming guide's table of technical specifications per compute capability.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "base/text.h"
#include "net/backends/cuda/convolution_choice.h"
#include "net/backends/cuda/libraries.h"

namespace voxswap::net::cuda {

struct PaperDevice {
  std::string name;
  int capability;                        // 90: 9.0
  int multiprocessors, blocks, threads;  // the latter two per multiprocessor
  std::int64_t shared_bytes;             // per block, opted in
  std::int64_t memory_bytes, cache_bytes;
  int clock_kilohertz;
};

inline const PaperDevice t4 = {"Tesla T4", 75, 40, 16, 1024, 65536, 16LL << 30, 4 << 20, 1590000};
inline const PaperDevice a100 = {"NVIDIA A100", 80, 108, 32, 2048, 166912, 80LL << 30, 40 << 20, 1410000};
inline const PaperDevice h200 = {"NVIDIA H200", 90, 132, 32, 2048, 232448, 141LL << 30, 60 << 20, 1980000};
inline const PaperDevice b200 = {"NVIDIA B200", 100, 148, 32, 2048, 232448, 180LL << 30, 126 << 20, 1965000};

inline std::string properties_json(const PaperDevice& device) {
  return format(
      R"({{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
      R"("multiProcessorCount":{},"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
      R"("maxSharedMemoryPerBlockOptin":{},"reservedSharedMemoryPerBlock":{},"maxRegistersPerSM":65536,)"
      R"("maxCtasPerSM":{},"maxThreadsPerBlock":1024,"maxThreadsPerSM":{},"pciDeviceId":0,"isTccDriver":0,)"
      R"("supportCoopLaunch":1,"totalGlobalMem":{},"smClockRateKHz":{},"memClockRateKHz":2619000,)"
      R"("l2CacheSize":{},"cudaDeviceId":0,"deviceVer":{},"driverVer":13000,"deviceName":"{}"}})",
      device.multiprocessors, device.shared_bytes, device.capability >= 80 ? 1024 : 0, device.blocks,
      device.threads, device.memory_bytes, device.clock_kilohertz, device.cache_bytes, device.capability * 10,
      device.name);
}

// A described device with the structures that the backend's factories need.
struct OnPaper {
  Device device;
  ConvolutionChoices choices;
  explicit OnPaper(const PaperDevice& paper, bool deterministic = true, bool tensor_floats = false)
      : device(described(paper, deterministic, tensor_floats)),
        choices(device, described_device(properties_json(paper))) {
    device.convolutions = &choices;
  }

 private:
  static Device described(const PaperDevice& paper, bool deterministic, bool tensor_floats) {
    Device device;
    device.name = paper.name;
    device.major = paper.capability / 10;
    device.minor = paper.capability % 10;
    device.multiprocessors = paper.multiprocessors;
    device.memory_bytes = paper.memory_bytes;
    device.deterministic = deterministic;
    device.tensor_floats = tensor_floats;
    return device;
  }
};

// Skips the test if cuDNN is not installed.
class WithCudnn : public testing::Test {
 protected:
  void SetUp() override {
    try {
      cudnn_library();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

}  // namespace voxswap::net::cuda
