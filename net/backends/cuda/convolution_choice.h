// Which of cuDNN's engines convolves what. Where the same bits are wanted every time it is the one that
// cuDNN's heuristics put first, which is the same in every run; otherwise the fastest of the first few, each
// of which is timed once per shape. Remembered as long as the backend lives.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "net/backends/cuda/convolution_plan.h"
#include "net/backends/cuda/device.h"

namespace voxswap::cuda {

class ConvolutionChoices {
 public:
  // REQUIRES: both are the same device. The libraries of `device` are used for timing only.
  ConvolutionChoices(const Device& device, PlanDevice plan_device);

  // Null where cuDNN has no engine for the problem.
  std::shared_ptr<const ConvolutionPlan> find(const ConvolutionProblem& problem);

 private:
  std::shared_ptr<const ConvolutionPlan> choose(const ConvolutionProblem& problem);

  const Device& device_;
  PlanDevice plan_device_;
  std::map<std::string, std::shared_ptr<const ConvolutionPlan>> chosen_;
};

// A temporary that an engine may need: a quarter of what the convolution reads and writes, at least 64 MiB;
// and copies of volumes whose voxels are no multiple of 16 bytes, which the tensor cores take padded only.
std::int64_t workspace_limit(const ConvolutionProblem& problem);

}  // namespace voxswap::cuda
