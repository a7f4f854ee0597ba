// Runs a single convolution on the device, and finds the fastest engine whose result is right: random volumes
// and weights, timed runs, and a sample of the result, which is held against the convolution's definition.
//
// All accesses to its memory are enqueued on one stream, so nothing is timed or read before its inputs are
// ready. The numbers are multiples of 1/128 from -1 to 1, which are exact in bf16, f16 and f32, so engines of
// different types can be compared. Zeros would not do: a GPU needs less power for them and runs faster.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "net/backends/cuda/convolution_check.h"
#include "net/backends/cuda/convolution_plan.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

class ConvolutionTrial {
 public:
  // Allocates memory for plans with at most `workspace_bytes` of workspace.
  ConvolutionTrial(const ConvolutionProblem& problem, std::int64_t workspace_bytes, const Device& device);
  ~ConvolutionTrial();
  ConvolutionTrial(const ConvolutionTrial&) = delete;
  ConvolutionTrial& operator=(const ConvolutionTrial&) = delete;

  bool has_memory() const;  // false: not enough device memory; nothing below may be called

  // Median of three runs after a warm-up. If it is much slower than `least`, the time of the first run.
  // Nullopt if the engine fails.
  std::optional<float> milliseconds(const std::shared_ptr<const ConvolutionPlan>& plan, float least);

  // How far the plan's result is from the convolution's definition (convolution_check.h): the largest
  // distance of a checked element, relative to its size. Infinite for what is no number. Throws the engine's
  // error.
  double error(const std::shared_ptr<const ConvolutionPlan>& plan);

 private:
  struct Block {
    void* data = nullptr;
    std::int64_t elements = 0;
    std::int64_t first = 0;  // of the pattern
  };
  Block take(std::int64_t elements, std::int64_t element_bytes);
  void fill(const Block& block);
  void fill_all();
  ConvolutionRunner::Places run_places() const;
  const Block& result_block() const;

  ConvolutionProblem problem_;
  const Device& device_;
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> events_{};
  Block x_, w_, y_, bias_, workspace_, pattern_;
  std::vector<CheckedElement> checked_;  // made when first wanted
};

// Larger errors are those of a wrong engine. Rounding the results to bf16 leaves 0.01, the sums of tensor
// cores over 64^3 voxels 0.03, and a wrong engine 4.
constexpr double largest_error = 0.2;

// Returns the fastest of the plans whose result is right, by the median of three runs; warns of those that
// are faster and wrong. If none is right, the most exact, because sums on tensor cores lose more the more
// voxels they are over; null if all are off by their own size. Plans that fail are skipped; plans much slower
// than the best so far run only once. Memory for one run is allocated meanwhile; if there is not enough, the
// first plan is returned untried. REQUIRES: not empty.
std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device);

}  // namespace voxswap::net::cuda
