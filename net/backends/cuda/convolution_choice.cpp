#include "net/backends/cuda/convolution_choice.h"

#include <algorithm>
#include <limits>

#include "net/backends/cuda/convolution_timing.h"

namespace voxswap::cuda {

namespace {

using Plans = std::vector<std::shared_ptr<const ConvolutionPlan>>;

constexpr std::size_t timed_plans = 24;
constexpr int timed_of_an_engine = 5;

std::int64_t padded_copy(const Shape& shape, ElementType type) {
  const std::int64_t channels = shape[4], lanes = 16 / element_bytes(type);
  return channels % lanes == 0 ? 0 : shape.count() / channels * ((channels + lanes - 1) / lanes) * 16;
}

// Where no engine keeps to the limit: the one that needs the least.
Plans least_workspace(const ConvolutionProblem& problem, const PlanDevice& device, PlanRules rules) {
  rules.workspace_limit = std::numeric_limits<std::int64_t>::max();
  Plans plans = convolution_plans(problem, device, rules, std::numeric_limits<std::size_t>::max());
  const auto least = std::min_element(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
    return a->workspace_bytes() < b->workspace_bytes();
  });
  return least == plans.end() ? Plans{} : Plans{*least};
}

}  // namespace

std::int64_t workspace_limit(const ConvolutionProblem& problem) {
  const std::int64_t volumes = (problem.x.count() + problem.y.count()) * element_bytes(problem.type);
  return std::max(volumes / 4, std::int64_t{64} << 20) + padded_copy(problem.x, problem.type) +
         padded_copy(problem.y, problem.type);
}

ConvolutionChoices::ConvolutionChoices(const Device& device, PlanDevice plan_device)
    : device_(device), plan_device_(std::move(plan_device)) {}

std::shared_ptr<const ConvolutionPlan> ConvolutionChoices::find(const ConvolutionProblem& problem) {
  const auto [place, is_new] = chosen_.try_emplace(problem.text());
  if (is_new) place->second = choose(problem);
  return place->second;
}

std::shared_ptr<const ConvolutionPlan> ConvolutionChoices::choose(const ConvolutionProblem& problem) {
  PlanRules rules = {.deterministic = device_.deterministic,
                     .tensor_floats = device_.tensor_floats,
                     .workspace_limit = workspace_limit(problem)};
  if (!device_.deterministic) rules.most_of_an_engine = timed_of_an_engine;
  Plans plans = convolution_plans(problem, plan_device_, rules, device_.deterministic ? 1 : timed_plans);
  if (plans.empty()) plans = least_workspace(problem, plan_device_, rules);
  if (plans.empty()) return nullptr;
  if (plans.size() == 1) return plans[0];
  const auto without = [](const auto& plan) { return !plan->tensor_cores; };
  // Beside those that use tensor cores the others would take most of the time that timing takes.
  if (!std::all_of(plans.begin(), plans.end(), without)) std::erase_if(plans, without);
  return fastest(plans, problem, device_);
}

}  // namespace voxswap::cuda
