// Chooses a cuDNN engine for each convolution: the fastest on this device, each timed once per problem. In
// deterministic mode only engines with a fixed order of summation are considered.
//
// The choices can be saved and reused by a later process. This matters because two deterministic engines need
// not agree with each other to the bit.
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
  // REQUIRES: both are the same device. `device`'s libraries are used only for timing. If it is not tuned, or
  // plans are for a device that is only described, nothing is timed and cuDNN's first plan is taken.
  ConvolutionChoices(const Device& device, PlanDevice plan_device);

  // Reuses choices: the text() of other choices, or several concatenated. The first entry for a problem
  // counts, also over several calls. If all were made on another device or with another cuDNN, warns and
  // reuses none. REQUIRES: nothing was found yet.
  void take(const std::string& earlier);

  // Takes these choices, in the same form, and also replaces existing ones. Returns true if an existing
  // choice changed, so that kernels built with it must be rebuilt.
  bool replace(const std::string& all);

  // Null if cuDNN has no engine for the problem. Warns if an engine to be reused no longer exists.
  std::shared_ptr<const ConvolutionPlan> find(const ConvolutionProblem& problem);

  // The choices so far, and the device; "" if none.
  std::string text() const;

 private:
  using Plans = std::vector<std::shared_ptr<const ConvolutionPlan>>;
  std::shared_ptr<const ConvolutionPlan> choose(const ConvolutionProblem& problem);
  Plans candidates(const ConvolutionProblem& problem) const;
  std::string where() const;

  const Device& device_;
  PlanDevice plan_device_;
  std::map<std::string, std::shared_ptr<const ConvolutionPlan>> chosen_;
  std::map<std::string, std::string> engines_, earlier_;  // per problem: timed here; from before
  bool warned_ = false;
};

// Limit for an engine's temporaries: a quarter of what the convolution reads and writes, at least 64 MiB, and
// copies of volumes whose voxels are not a multiple of 16 bytes, which tensor cores need padded.
std::int64_t workspace_limit(const ConvolutionProblem& problem);

}  // namespace voxswap::net::cuda
