#include "net/backends/cuda/convolution_timing.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/error.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::cuda {

namespace {

class Block {  // of device memory, zeroed
 public:
  explicit Block(std::int64_t bytes) {
    if (cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))) != cudaSuccess) {
      data_ = nullptr;
      cudaGetLastError();  // so that no later call reports it
      return;
    }
    check(cudaMemset(data_, 0, static_cast<std::size_t>(bytes)), "cudaMemset");
  }
  ~Block() { cudaFree(data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

class Timer {
 public:
  Timer() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (cudaEvent_t& event : events_) check(cudaEventCreate(&event), "cudaEventCreate");
  }
  ~Timer() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
    cudaStreamDestroy(stream_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  template <class Work>
  float milliseconds(Work work) {
    const CurrentStream current(stream_);
    check(cudaEventRecord(events_[0], stream_), "cudaEventRecord");
    work();
    check(cudaEventRecord(events_[1], stream_), "cudaEventRecord");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    float result = 0;
    check(cudaEventElapsedTime(&result, events_[0], events_[1]), "cudaEventElapsedTime");
    return result;
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> events_{};
};

constexpr float much_slower = 1.3F;

std::optional<float> time_of(ConvolutionRunner& runner, const ConvolutionRunner::Places& places, Timer& timer,
                             const Device& device, float least) {
  const auto run = [&] { runner.run(device.libraries->cudnn(), places); };
  try {
    timer.milliseconds(run);  // the first run loads code
    std::array<float, 3> times{};
    for (float& time : times) {
      time = timer.milliseconds(run);
      if (time > much_slower * least) return time;
    }
    std::sort(times.begin(), times.end());
    return times[1];
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device) {
  std::int64_t most = 0;
  for (const auto& plan : plans) most = std::max(most, plan->workspace_bytes());
  const std::int64_t k = problem.kernel, size = element_bytes(problem.type);
  const Block x(problem.x.count() * size), y(problem.y.count() * size),
      w(problem.x[4] * problem.y[4] * k * k * k * size), bias(problem.y[4] * size), workspace(most);
  for (const Block* block : {&x, &y, &w, &bias, &workspace})
    if (block->data() == nullptr) return plans[0];
  const bool with_bias = problem.start == ConvolutionProblem::Start::bias;
  const ConvolutionRunner::Places places = {x.data(), w.data(), y.data(), with_bias ? bias.data() : nullptr,
                                            workspace.data()};
  Timer timer;
  float least = std::numeric_limits<float>::max();
  std::shared_ptr<const ConvolutionPlan> best = plans[0];
  for (const auto& plan : plans) {
    ConvolutionRunner runner(plan);
    const std::optional<float> time = time_of(runner, places, timer, device, least);
    if (!time || *time >= least) continue;
    least = *time;
    best = plan;
  }
  return best;
}

}  // namespace voxswap::cuda
