// A convolution by itself on the device: volumes and weights of random numbers, runs that are timed, and a
// sample of the result.
//
// All that is done to its memory is enqueued on one stream, so that nothing is timed, or read, before what it
// works on is there. The numbers are multiples of 1/128 from -1 to 1, which bf16, f16 and f32 all hold
// exactly: engines of different types can be held against each other. Zeros would not do: a GPU needs less
// power for them, and runs faster.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <optional>
#include <vector>

#include "net/backends/cuda/convolution_plan.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

class ConvolutionTrial {
 public:
  // Takes memory for plans of up to so many bytes of workspace.
  ConvolutionTrial(const ConvolutionProblem& problem, std::int64_t workspace_bytes, const Device& device);
  ~ConvolutionTrial();
  ConvolutionTrial(const ConvolutionTrial&) = delete;
  ConvolutionTrial& operator=(const ConvolutionTrial&) = delete;

  bool has_memory() const;  // false: the device had not enough, and nothing below may be called

  // The middle of three runs after one that is not counted; of one that is much slower than `least`, the
  // first. Nothing where the engine fails.
  std::optional<float> milliseconds(const std::shared_ptr<const ConvolutionPlan>& plan, float least);

  // The plan's result on the numbers that a trial of this problem starts with: all of it, or `most` elements
  // in pieces from the first to the last. `places`: which elements those are. Throws what the engine says.
  std::vector<float> result(const std::shared_ptr<const ConvolutionPlan>& plan, std::size_t most);
  std::vector<std::int64_t> places(std::size_t most) const;

 private:
  struct Block {
    void* data = nullptr;
    std::int64_t elements = 0;
  };
  Block take(std::int64_t elements, std::int64_t element_bytes);
  void fill(const Block& block, std::int64_t first);
  void fill_all();
  ConvolutionRunner::Places run_places() const;
  const Block& result_block() const;

  ConvolutionProblem problem_;
  const Device& device_;
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> events_{};
  Block x_, w_, y_, bias_, workspace_, pattern_;
};

}  // namespace voxswap::net::cuda
