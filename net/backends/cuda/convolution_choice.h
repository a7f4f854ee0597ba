// Which of cuDNN's engines convolves what: the fastest on the device at hand, each timed once per problem;
// where the same bits are wanted every time, of those alone that promise a fixed order.
//
// What was chosen can be written down and given to the choices of a later process, which then takes the same:
// two engines that each give the same bits every time need not give the bits of each other.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "net/backends/cuda/convolution_plan.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

class ConvolutionChoices {
 public:
  // REQUIRES: both are the same device. The libraries of `device` are used for timing only; where it is not
  // to be tuned, or the plans are for a device that is not here, nothing is timed and cuDNN's first is taken.
  ConvolutionChoices(const Device& device, PlanDevice plan_device);

  // What is to be taken again: the text() of other choices, or several, one after the other; of a problem the
  // first counts, of several calls as well. Warns where all were chosen on another device or by another
  // cuDNN, and takes none then.
  // REQUIRES: nothing was found yet.
  void take(const std::string& earlier);

  // Null where cuDNN has no engine for the problem. Warns where an engine that is to be taken is there no
  // more.
  std::shared_ptr<const ConvolutionPlan> find(const ConvolutionProblem& problem);

  // What was found, and on what device; "" for nothing.
  std::string text() const;

 private:
  using Plans = std::vector<std::shared_ptr<const ConvolutionPlan>>;
  std::shared_ptr<const ConvolutionPlan> choose(const ConvolutionProblem& problem);
  Plans candidates(const ConvolutionProblem& problem) const;
  std::string where() const;

  const Device& device_;
  PlanDevice plan_device_;
  std::map<std::string, std::shared_ptr<const ConvolutionPlan>> chosen_;
  std::map<std::string, std::string> engines_, earlier_;  // of each problem: by their time here, and before
  bool warned_ = false;
};

// A temporary that an engine may need: a quarter of what the convolution reads and writes, at least 64 MiB;
// and copies of volumes whose voxels are no multiple of 16 bytes, which the tensor cores take padded only.
std::int64_t workspace_limit(const ConvolutionProblem& problem);

}  // namespace voxswap::net::cuda
