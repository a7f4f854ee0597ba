#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/cuda/convolution_choice.h"
#include "net/backends/cuda/device.h"
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/peers.h"
#include "net/backends/cuda/runtime.h"
#include "net/backends/cuda/stream.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

using cuda::check;
using cuda::CudaEvent;

// Shows a kernel under its node's name in NVIDIA's profilers.
class NamedKernel final : public Kernel {
 public:
  NamedKernel(std::unique_ptr<Kernel> kernel, std::string name)
      : kernel_(std::move(kernel)), name_(std::move(name)) {}
  std::int64_t workspace_bytes() const override { return kernel_->workspace_bytes(); }
  std::string implementation() const override { return kernel_->implementation(); }
  void run(const KernelArguments& arguments) override {
    nvtxRangePushA(name_.c_str());
    try {
      kernel_->run(arguments);
    } catch (...) {
      nvtxRangePop();
      throw;
    }
    nvtxRangePop();
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::string name_;
};

// Relates the device's clock to the host's: an event recorded on an empty stream, between two readings of the
// host's clock. On a busy host the readings may be far apart, so the closest of several pairs counts. Event
// times lose precision with their age, so this is repeated now and then.
class Clocks {
 public:
  explicit Clocks(int ordinal) : ordinal_(ordinal) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreate(&moment_), "cudaEventCreate");
    check(cudaEventCreate(&candidate_), "cudaEventCreate");
  }
  ~Clocks() {
    cudaEventDestroy(candidate_);
    cudaEventDestroy(moment_);
    cudaStreamDestroy(stream_);
  }
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;

  HostEvent::Clock::time_point host_time(const CudaEvent& event) {
    if (event.of_host()) return event.time();
    const std::lock_guard lock(mutex_);
    check(cudaSetDevice(ordinal_), "cudaSetDevice");
    if (HostEvent::Clock::now() - time_ > std::chrono::milliseconds(100)) take_moment();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, moment_, event.device_event()), "cudaEventElapsedTime");
    return time_ + std::chrono::duration_cast<HostEvent::Clock::duration>(
                       std::chrono::duration<double, std::milli>(milliseconds));
  }

 private:
  void take_moment() {
    constexpr int most_pairs = 10;
    constexpr auto close_enough = std::chrono::microseconds(100);
    auto closest = HostEvent::Clock::duration::max();
    for (int pair = 0; pair < most_pairs && closest > close_enough; ++pair) {
      const auto before = HostEvent::Clock::now();
      check(cudaEventRecord(candidate_, stream_), "cudaEventRecord");
      check(cudaEventSynchronize(candidate_), "cudaEventSynchronize");
      const auto apart = HostEvent::Clock::now() - before;
      if (apart >= closest) continue;
      closest = apart;
      time_ = before + apart / 2;
      std::swap(moment_, candidate_);
    }
  }

  int ordinal_;
  std::mutex mutex_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t moment_ = nullptr, candidate_ = nullptr;  // the current one, and the next candidate
  HostEvent::Clock::time_point time_;                   // of moment_; initially long ago
};

class CudaBackend final : public TuningBackend, public OrderEventMaker, public PeerBackend {
 public:
  explicit CudaBackend(const BackendOptions& options)
      : device_(cuda::open_device(options)),
        convolutions_(device_, {libraries_.cudnn(), {}}),
        flags_(std::make_shared<cuda::Flags>(device_.ordinal)),
        clocks_(device_.ordinal) {
    device_.libraries = &libraries_;
    device_.convolutions = &convolutions_;
  }

  std::string name() const override { return "cuda"; }
  std::string description() const override {
    int blas = 0;
    check(cuda::cublas_library().get_version(libraries_.cublas(), &blas), "cublasGetVersion");
    return format(
        "{}, compute capability {}.{}, {}, driver for CUDA {}, CUDA {}, cuDNN {}, cuBLAS {}.{}.{}{}{}",
        device_.name, device_.major, device_.minor, format_bytes(device_.memory_bytes),
        cuda::version_text(cuda::driver_version()), cuda::version_text(CUDART_VERSION),
        cuda::cudnn_version_text(), blas / 10000, blas / 100 % 100, blas % 100,
        device_.deterministic ? "" : ", engines that sum in any order",
        device_.tensor_floats ? ", f32 rounded to TF32" : "");
  }
  bool supports(ElementType type) const override {
    return type == ElementType::f32 || type == ElementType::f16 ||
           (type == ElementType::bf16 && device_.major >= 8);
  }
  ElementType fastest_type() const override {
    return device_.major >= 8 ? ElementType::bf16 : ElementType::f16;
  }

  std::int64_t voxel_alignment() const override { return cuda::voxel_alignment; }
  bool sums_in_blocks(ElementType) const override { return cuda::sums_in_blocks; }
  std::unique_ptr<Kernel> compile(const Graph& graph, const Node& node) override {
    check(cudaSetDevice(device_.ordinal), "cudaSetDevice");
    return std::make_unique<NamedKernel>(cuda::find_maker(*node.operation)(graph, node, device_), node.name);
  }
  std::unique_ptr<Memory> allocate(std::int64_t bytes) override {
    return cuda::allocate_device(device_.ordinal, bytes);
  }
  std::unique_ptr<Memory> allocate_host(std::int64_t bytes) override {
    return cuda::allocate_pinned(device_.ordinal, bytes);
  }
  std::unique_ptr<Memory> allocate_unified(std::int64_t bytes, std::int64_t resident_bytes) override {
    return cuda::allocate_managed(device_.ordinal, bytes, resident_bytes);
  }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<cuda::CudaStream>(device_.ordinal);
  }
  std::unique_ptr<Stream> make_host_stream() override { return voxswap::net::make_host_stream(); }
  std::unique_ptr<Event> make_event() override {
    return std::make_unique<CudaEvent>(device_.ordinal, flags_);
  }
  std::unique_ptr<Event> make_order_event() override {
    return std::make_unique<CudaEvent>(device_.ordinal, flags_, /*timed=*/false);
  }
  std::string why_no_peers() const override { return cuda::why_no_peers(); }
  std::string create_rendezvous() override { return cuda::create_rendezvous(); }
  std::unique_ptr<Peers> join(const std::string& rendezvous, int rank, int count,
                              const TransferFailed& failed) override {
    return cuda::join_rendezvous(rendezvous, rank, count, device_.ordinal, failed);
  }
  std::string routines() const override { return convolutions_.text(); }
  void take_routines(const std::string& earlier) override { convolutions_.take(earlier); }
  bool replace_routines(const std::string& all) override { return convolutions_.replace(all); }
  double elapsed(const Event& from, const Event& to) const override {
    const auto &begin = static_cast<const CudaEvent&>(from), &end = static_cast<const CudaEvent&>(to);
    if (begin.of_host() || end.of_host())
      return std::chrono::duration<double>(clocks_.host_time(end) - clocks_.host_time(begin)).count();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.device_event(), end.device_event()),
          "cudaEventElapsedTime");
    return milliseconds / 1e3;
  }
  std::int64_t free_bytes() const override { return cuda::free_device_bytes(device_.ordinal); }
  std::int64_t free_host_bytes() const override { return voxswap::net::free_host_bytes(); }
  bool computes_on_host() const override { return false; }

 private:
  cuda::Device device_;  // first: makes the device the current one
  cuda::Libraries libraries_;
  cuda::ConvolutionChoices convolutions_;
  std::shared_ptr<cuda::Flags> flags_;
  mutable Clocks clocks_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace voxswap::net
