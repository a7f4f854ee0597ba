#include "net/backends/cuda/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/keys.h"
#include "base/units.h"
#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net {

int cuda_device_count() {
  cuda::ask_for_queues();
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string why_no_cuda_device() {
  using cuda::version_text;
  cuda::ask_for_queues();
  if (cuda::driver_version() == 0) return "there is no NVIDIA driver on this machine";
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver)
    return format("the NVIDIA driver is for CUDA {}, this program needs one for CUDA {} or later",
                  version_text(cuda::driver_version()), version_text(CUDART_VERSION));
  if (status != cudaSuccess) return format("the NVIDIA driver finds no GPU ({})", cudaGetErrorString(status));
  return count > 0 ? "" : "the NVIDIA driver finds no GPU";
}

namespace cuda {

void ask_for_queues() {
  static const int once = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  static_cast<void>(once);
}

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

namespace {

// Frees with cudaFree, as device memory and managed memory do.
class CudaMemory final : public Memory {
 public:
  CudaMemory(void* data, std::int64_t bytes) : data_(data), bytes_(bytes) {}
  ~CudaMemory() override { cudaFree(data_); }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  std::byte* data() override { return static_cast<std::byte*>(data_); }
  std::int64_t bytes() const override { return bytes_; }

 private:
  void* data_;
  std::int64_t bytes_;
};

// Host memory as the CPU backend allocates it (huge pages, committed, within the cgroup's limit), registered
// with the GPU, whose kernels reach it by the same address. The system's estimate of free memory is checked
// where a plan's memories are allocated (swap/execute/tiers.cpp), unless the user has set the amount.
class PinnedMemory final : public Memory {
 public:
  explicit PinnedMemory(std::int64_t bytes)
      : memory_(allocate_touched_host(bytes, {.believes_estimate = false})) {
    const cudaError_t status =
        cudaHostRegister(memory_->data(), size(), cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (status == cudaSuccess) return;
    cudaGetLastError();  // clears the error
    fail(Exit::does_not_fit,
         "host memory: {} cannot be pinned for the GPU ({}). Lower {}, or raise the limit of locked memory",
         format_bytes(bytes), cudaGetErrorString(status), key::memory_host);
  }
  ~PinnedMemory() override { cudaHostUnregister(memory_->data()); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  std::byte* data() override { return memory_->data(); }
  std::int64_t bytes() const override { return memory_->bytes(); }

 private:
  std::size_t size() const { return static_cast<std::size_t>(std::max<std::int64_t>(memory_->bytes(), 1)); }
  std::unique_ptr<Memory> memory_;
};

std::size_t at_least_one(std::int64_t bytes) {
  return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
}

void use(int ordinal) {
  check(cudaSetDevice(ordinal), "cudaSetDevice");
}

}  // namespace

std::int64_t free_device_bytes(int ordinal) {
  use(ordinal);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return static_cast<std::int64_t>(free);
}

std::unique_ptr<Memory> allocate_device(int ordinal, std::int64_t bytes) {
  use(ordinal);
  void* data = nullptr;
  if (const cudaError_t status = cudaMalloc(&data, at_least_one(bytes)); status != cudaSuccess) {
    cudaGetLastError();  // clears the error
    if (status != cudaErrorMemoryAllocation) check(status, "cudaMalloc");
    fail(
        Exit::does_not_fit,
        "device memory: {} are needed in one block, but {} are free on GPU {}. Lower {}, use smaller volumes "
        "({} or {}) or patches ({}), or end other programs on it",
        format_bytes(bytes), format_bytes(free_device_bytes(ordinal)), ordinal, key::memory_budget,
        key::preprocess_resolution, key::preprocess_spacing, key::training_patch);
  }
  return std::make_unique<CudaMemory>(data, bytes);
}

std::unique_ptr<Memory> allocate_pinned(int ordinal, std::int64_t bytes) {
  use(ordinal);
  return std::make_unique<PinnedMemory>(bytes);
}

namespace {

class PagedMemory final : public Memory {
 public:
  PagedMemory(std::unique_ptr<Memory> managed, std::unique_ptr<Memory> ballast)
      : managed_(std::move(managed)), ballast_(std::move(ballast)) {}
  std::byte* data() override { return managed_->data(); }
  std::int64_t bytes() const override { return managed_->bytes(); }

 private:
  std::unique_ptr<Memory> managed_, ballast_;
};

}  // namespace

std::unique_ptr<Memory> allocate_managed(int ordinal, std::int64_t bytes, std::int64_t resident_bytes) {
  use(ordinal);
  if (const std::int64_t free = free_device_bytes(ordinal); bytes > free)
    fail(Exit::does_not_fit,
         "{}: unified: {} of managed memory are needed, but {} are free on GPU {}. More is refused because "
         "it can hang the GPU. Use another planner, which swaps",
         key::memory_planner, format_bytes(bytes), format_bytes(free), ordinal);
  void* data = nullptr;
  check(cudaMallocManaged(&data, at_least_one(bytes), cudaMemAttachGlobal), "cudaMallocManaged");
  auto managed = std::make_unique<CudaMemory>(data, bytes);
  const std::int64_t ballast = free_device_bytes(ordinal) - resident_bytes - reserved_for_driver;
  if (bytes <= resident_bytes || ballast <= 0) return managed;
  return std::make_unique<PagedMemory>(std::move(managed), allocate_device(ordinal, ballast));
}

}  // namespace cuda

}  // namespace voxswap::net
