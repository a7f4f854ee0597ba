// Lists the plans of a convolution, then measures each that the device supports.
#include "bench/engine_survey.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "net/backends/cuda/convolution_choice.h"
#include "net/backends/cuda/convolution_trial.h"
#include "net/backends/cuda/device.h"
#include "net/backends/cuda/libraries.h"

namespace voxswap::net::cuda {

namespace {

using Plan = std::shared_ptr<const ConvolutionPlan>;

constexpr std::int64_t most_workspace = std::int64_t{4} << 30;  // engines that need more are not tried

}  // namespace

struct EngineSurvey::State {
  explicit State(int ordinal)
      : device(open_device({.device = ordinal})), choices(device, {libraries.cudnn(), {}}) {
    device.libraries = &libraries;
    plan_device.handle = libraries.cudnn();
  }

  static void measure_one(const Plan& plan, ConvolutionTrial& trial, EngineTime& time) {
    if (!trial.has_memory()) {
      time.status = "not enough device memory";
      return;
    }
    const std::optional<float> milliseconds = trial.milliseconds(plan, std::numeric_limits<float>::max());
    if (!milliseconds) {
      time.status = "failed when it ran";
      return;
    }
    time.milliseconds = *milliseconds;
    time.error = trial.error(plan);
  }

  Device device;
  Libraries libraries;
  PlanDevice plan_device;
  ConvolutionChoices choices;
};

EngineSurvey::EngineSurvey(int ordinal) : state_(std::make_unique<State>(ordinal)) {}
EngineSurvey::~EngineSurvey() = default;

std::string EngineSurvey::device() const {
  return format("{}, cuDNN {}", state_->device.name, cudnn_version_text());
}

void EngineSurvey::measure(const ConvolutionProblem& problem, bool only_taken,
                           const std::function<bool()>& more,
                           const std::function<void(const EngineTime&)>& tell) {
  State& state = *state_;
  const Plan taken = state.choices.find(problem);
  std::vector<std::pair<EngineTime, Plan>> plans;
  std::int64_t workspace = 0;
  for (const EngineOffer& offer : engine_offers(problem, state.plan_device)) {
    EngineTime time;
    time.choice = offer.choice();
    time.notes = offer.notes_text();
    time.in_order = !offer.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    time.taken = taken != nullptr && taken->choice == time.choice;
    if (only_taken && !time.taken) continue;
    if (!more()) return;
    auto plan = std::make_shared<ConvolutionPlan>(offer, state.plan_device);
    time.workspace_bytes = plan->workspace_bytes();
    if (!plan->supported())
      time.status = "not supported";
    else if (misreads_uneven_padding(offer, problem))
      time.status = "wrong for uneven padding";
    else if (time.workspace_bytes > most_workspace)
      time.status = format("wants {} of workspace", format_bytes(time.workspace_bytes));
    else
      workspace = std::max(workspace, time.workspace_bytes);
    plans.emplace_back(std::move(time), std::move(plan));
  }
  ConvolutionTrial trial(problem, workspace, state.device);
  for (auto& [time, plan] : plans) {
    if (!more()) return;
    if (time.status == "ok") State::measure_one(plan, trial, time);
    tell(time);
  }
}

}  // namespace voxswap::net::cuda
