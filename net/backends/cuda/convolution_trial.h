// Runs a single convolution on the device, and finds the fastest engine with a correct result: random volumes
// and weights, timed runs, and a sample of the result, which is compared with the convolution's definition.
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

  // Deviation of the plan's result from the convolution's definition (convolution_check.h): the largest
  // difference of a checked element, relative to its size. Infinite if a result is not finite. Throws the
  // engine's error.
  double error(const std::shared_ptr<const ConvolutionPlan>& plan);

 private:
  struct Block {
    void* data = nullptr;
    std::int64_t elements = 0;
    std::int64_t first = 0;  // index in the pattern
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
  std::vector<CheckedElement> checked_;  // computed on first use
};

// A larger error means a wrong engine. Rounding results to bf16 gives 0.01, sums on tensor cores over 64^3
// voxels 0.03, and a wrong engine 4.
constexpr double largest_error = 0.2;

// Returns the fastest of the plans with a correct result, by the median of three runs; warns about plans that
// are faster but wrong. If none is correct, returns the most accurate, because errors of sums on tensor cores
// grow with the number of voxels; null if all errors are as large as the results. Plans that fail are
// skipped; plans much slower than the best so far run only once. Memory for one run is allocated meanwhile;
// if there is not enough, the first plan is returned untested. REQUIRES: not empty.
std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device);

}  // namespace voxswap::net::cuda
