// A GPU: its properties, for which kernels are built, and its types of memory behind the backend's interface:
// device memory, pinned host memory for copies at full speed, and managed memory, which the driver migrates.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/backends/backend.h"

namespace voxswap::net::cuda {

class Libraries;           // libraries.h: cuDNN and cuBLAS on this device
class ConvolutionChoices;  // convolution_choice.h: chosen cuDNN engines

struct Device {
  std::string name;
  int ordinal = 0;           // of cudaSetDevice
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 1;
  std::int64_t memory_bytes = 0;
  // Number of blocks that keeps any device busy. Independent of the device, so that sums are divided in the
  // same way on all devices.
  std::int64_t enough_blocks = 2048;
  bool tensor_floats = false;  // f32 convolutions may round their factors to TF32
  bool deterministic = true;   // same inputs, same bits
  bool tuned = true;           // engines are chosen by timing
  // Used only by convolutions.
  Libraries* libraries = nullptr;
  ConvolutionChoices* convolutions = nullptr;
};

// Makes the device the thread's current one, without loading libraries. Throws Exit::does_not_fit with the
// reason if it is not available.
Device open_device(const BackendOptions& options);

// Call before the first call of CUDA: sets the maximal number of hardware queues
// (CUDA_DEVICE_MAX_CONNECTIONS, by default 8), unless the user has set it. Streams that share a queue wait
// for one another, and deadlock if one waits for a value (stream.cpp) that work behind it in the queue would
// set.
void ask_for_queues();
int driver_version();                   // of CUDA, 13000 for 13.0; 0 without a driver
std::string version_text(int version);  // "13.0" of 13000

std::unique_ptr<Memory> allocate_device(int ordinal, std::int64_t bytes);  // throws Exit::does_not_fit
std::unique_ptr<Memory> allocate_pinned(int ordinal, std::int64_t bytes);  // likewise
// Managed memory of which `resident_bytes` fit on the device. The rest of its free memory, except
// `reserved_for_driver` for kernels and graphs, is reserved by a ballast block of the same lifetime. Never
// exceeds the device memory that was free before: a GPU can hang if it does.
std::unique_ptr<Memory> allocate_managed(int ordinal, std::int64_t bytes, std::int64_t resident_bytes);
constexpr std::int64_t reserved_for_driver = std::int64_t{64} << 20;
std::int64_t free_device_bytes(int ordinal);

}  // namespace voxswap::net::cuda
