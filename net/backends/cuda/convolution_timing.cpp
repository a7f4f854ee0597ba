#include "net/backends/cuda/convolution_timing.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "net/backends/cuda/convolution_trial.h"

namespace voxswap::net::cuda {

std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device) {
  std::int64_t most = 0;
  for (const auto& plan : plans) most = std::max(most, plan->workspace_bytes());
  ConvolutionTrial trial(problem, most, device);
  if (!trial.has_memory()) return plans[0];
  float least = std::numeric_limits<float>::max();
  std::shared_ptr<const ConvolutionPlan> best = plans[0];
  for (const auto& plan : plans) {
    const std::optional<float> time = trial.milliseconds(plan, least);
    if (!time || *time >= least) continue;
    least = *time;
    best = plan;
  }
  return best;
}

}  // namespace voxswap::net::cuda
