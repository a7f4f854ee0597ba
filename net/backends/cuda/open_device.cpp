#include "net/backends/cuda/open_device.h"

#include <cuda_runtime_api.h>

#include "base/error.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net {

namespace cuda {

std::string version_text(int version) {
  return format("{}.{}", version / 1000, version % 1000 / 10);
}

int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

Device open_device(const BackendOptions& options) {
  if (const std::string why = why_no_cuda_device(); !why.empty()) fail(Exit::does_not_fit, "{}", why);
  if (options.device >= cuda_device_count())
    fail(Exit::does_not_fit, "GPU {} does not exist: this machine has {}, counted from 0", options.device,
         cuda_device_count());
  check(cudaSetDevice(options.device), "cudaSetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, options.device), "cudaGetDeviceProperties");
  Device device;
  device.name = properties.name;
  device.ordinal = options.device;
  device.major = properties.major;
  device.minor = properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device.deterministic = options.deterministic;
  device.tensor_floats = options.tensor_floats;
  device.tuned = options.tuned;
  return device;
}

}  // namespace cuda

int cuda_device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string why_no_cuda_device() {
  using cuda::version_text;
  if (cuda::driver_version() == 0) return "there is no NVIDIA driver on this machine";
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver)
    return format("the NVIDIA driver is for CUDA {}, this program needs one for CUDA {} or later",
                  version_text(cuda::driver_version()), version_text(CUDART_VERSION));
  if (status != cudaSuccess) return format("the NVIDIA driver finds no GPU ({})", cudaGetErrorString(status));
  return count > 0 ? "" : "the NVIDIA driver finds no GPU";
}

}  // namespace voxswap::net
