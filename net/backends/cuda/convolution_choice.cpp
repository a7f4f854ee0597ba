#include "net/backends/cuda/convolution_choice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "net/backends/cuda/convolution_trial.h"
#include "net/backends/cuda/libraries.h"

namespace voxswap::net::cuda {

namespace {

using Plan = std::shared_ptr<const ConvolutionPlan>;

constexpr std::size_t timed_plans = 24;
constexpr int timed_of_an_engine = 5;
// Device of the following lines, up to the next heading. Choices under "engines of" in older files were not
// checked.
constexpr std::string_view heading = "checked engines of ";

std::int64_t padded_copy(const Shape& shape, ElementType type) {
  const std::int64_t channels = shape[4], lanes = voxel_alignment / element_bytes(type);
  return channels % lanes == 0
             ? 0
             : shape.count() / channels * ((channels + lanes - 1) / lanes) * voxel_alignment;
}

// If no engine keeps within the limit: the one that needs least.
std::vector<Plan> least_workspace(const ConvolutionProblem& problem, const PlanDevice& device,
                                  PlanRules rules) {
  rules.workspace_limit = std::numeric_limits<std::int64_t>::max();
  std::vector<Plan> plans =
      convolution_plans(problem, device, rules, std::numeric_limits<std::size_t>::max());
  const auto least = std::min_element(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
    return a->workspace_bytes() < b->workspace_bytes();
  });
  return least == plans.end() ? std::vector<Plan>{} : std::vector<Plan>{*least};
}

// Keeps only plans on tensor cores if there are any: timing the others would take most of the time. False:
// there are none.
bool keep_tensor_cores(std::vector<Plan>& plans) {
  const auto without = [](const auto& plan) { return !plan->tensor_cores; };
  if (std::all_of(plans.begin(), plans.end(), without)) return false;
  std::erase_if(plans, without);
  return true;
}

// Plans on tensor cores if the list so far, which may contain only cuDNN's first, has none. On an A100,
// engines for TF32 copy the volumes, so the limit leaves room for that.
std::vector<Plan> more_plans(const ConvolutionProblem& problem, const PlanDevice& device, PlanRules rules) {
  const bool full = problem.type == ElementType::f32;
  if (full && !rules.tensor_floats) return {};
  const std::int64_t copies = (problem.x.count() + problem.y.count()) * element_bytes(problem.type);
  for (const std::int64_t more : full ? std::vector{std::int64_t{0}, copies} : std::vector{std::int64_t{0}}) {
    rules.workspace_limit += more;
    std::vector<Plan> plans = convolution_plans(problem, device, rules, timed_plans);
    if (keep_tensor_cores(plans)) return plans;
  }
  return {};
}

}  // namespace

std::int64_t workspace_limit(const ConvolutionProblem& problem) {
  const std::int64_t volumes = (problem.x.count() + problem.y.count()) * element_bytes(problem.type);
  return std::max(volumes / 4, std::int64_t{64} << 20) + padded_copy(problem.x, problem.type) +
         padded_copy(problem.y, problem.type);
}

ConvolutionChoices::ConvolutionChoices(const Device& device, PlanDevice plan_device)
    : device_(device), plan_device_(std::move(plan_device)) {}

// Deterministic and unrestricted choices for the same problem are separate.
std::string ConvolutionChoices::where() const {
  return format("{} with cuDNN {}{}", device_.name, cudnn_version_text(),
                device_.deterministic ? "" : ", any order of sums");
}

// Each line is an engine with its knobs, a tab, and the problem.
void ConvolutionChoices::take(const std::string& earlier) {
  bool of_here = false, anything = false;
  std::string elsewhere;
  for (const std::string& line : split(earlier, '\n')) {
    if (line.starts_with(heading)) {
      of_here = line == std::string(heading) + where();
      if (!of_here) elsewhere = line.substr(heading.size());
      anything = anything || of_here;
    } else if (const std::size_t tab = line.find('\t'); of_here && tab != std::string::npos) {
      earlier_.try_emplace(line.substr(tab + 1), line.substr(0, tab));
    }
  }
  if (!anything && !elsewhere.empty())
    log::warn(
        "the convolution engines were chosen on {}, but this is {}. They are chosen again, and results may "
        "differ in the last bits",
        elsewhere, where());
}

bool ConvolutionChoices::replace(const std::string& all) {
  const std::map<std::string, std::string> before = std::exchange(earlier_, {});
  take(all);
  bool differs = false;
  for (const auto& [problem, engine] : engines_)
    differs = differs || earlier_.try_emplace(problem, engine).first->second != engine;
  engines_ = earlier_;
  earlier_.insert(before.begin(), before.end());
  if (differs) chosen_.clear();
  return differs;
}

// Before 9.15, cuDNN silently computed wrong convolutions of large bf16 volumes (cuDNN's release notes).
Plan ConvolutionChoices::find(const ConvolutionProblem& problem) {
  constexpr std::size_t sound_in_bf16 = 91500;
  if (problem.type == ElementType::bf16 && cudnn_library().get_version() < sound_in_bf16)
    fail(Exit::does_not_fit,
         "cuDNN {} silently computes wrong convolutions of large bf16 volumes. Install 9.15 or later, or set "
         "{} to f16, tf32 or f32",
         cudnn_version_text(), key::training_precision);
  const auto [place, is_new] = chosen_.try_emplace(problem.text());
  if (is_new) place->second = choose(problem);
  return place->second;
}

std::string ConvolutionChoices::text() const {
  std::string lines;
  for (const auto& [problem, engine] : engines_) lines += engine + "\t" + problem + "\n";
  return lines.empty() ? "" : std::string(heading) + where() + "\n" + lines;
}

ConvolutionChoices::Plans ConvolutionChoices::candidates(const ConvolutionProblem& problem) const {
  const PlanRules rules = {.deterministic = device_.deterministic,
                           .tensor_floats = device_.tensor_floats,
                           .workspace_limit = workspace_limit(problem),
                           .most_of_an_engine = timed_of_an_engine};
  const bool one_will_do = plan_device_.handle == nullptr || (!device_.tuned && earlier_.empty());
  Plans plans = convolution_plans(problem, plan_device_, rules, one_will_do ? 1 : timed_plans);
  if (keep_tensor_cores(plans)) return plans;
  if (Plans others = more_plans(problem, plan_device_, rules); !others.empty()) return others;
  if (plans.empty()) plans = least_workspace(problem, plan_device_, rules);
  return plans;
}

Plan ConvolutionChoices::choose(const ConvolutionProblem& problem) {
  const Plans plans = candidates(problem);
  if (plans.empty()) return nullptr;
  if (plan_device_.handle == nullptr) return plans[0];
  const std::string key = problem.text();
  if (const auto earlier = earlier_.find(key); earlier != earlier_.end()) {
    const auto same = std::find_if(plans.begin(), plans.end(),
                                   [&](const auto& plan) { return plan->choice == earlier->second; });
    if (same != plans.end()) {
      engines_[key] = earlier->second;
      return *same;
    }
    if (!warned_)
      log::warn(
          "cuDNN no longer offers engine {} for a convolution {}. Another one is chosen, and results may "
          "differ in the last bits",
          earlier->second, key);
    warned_ = true;
  }
  if (!device_.tuned) return plans[0];
  const Plan best = fastest(plans, problem, device_);
  if (best != nullptr) engines_[key] = best->choice;
  return best;
}

}  // namespace voxswap::net::cuda
