#include "voxswap/plan.h"

#include "experiments/training_grid.h"
#include "library/content.h"
#include "pipeline/plan/forecast.h"
#include "swap/plan/plan_report.h"

namespace voxswap {

StepPlan plan(const Experiment& experiment, const PlanOptions& options) {
  experiments::LoadedExperiment resolved = experiment.content().experiment;
  experiments::resolve_grid(resolved);
  const pipeline::DataShape data = pipeline::data_shape(resolved);
  const pipeline::StepForecast step(resolved, data, {.estimate = options.estimate, .as = options.device});
  const pipeline::Forecast found = pipeline::forecast(step, data, resolved);
  const swap::PlanTotals totals = swap::totals(found.plan);
  return {.planner = found.plan.planner,
          .device = found.device,
          .device_bytes = found.plan.peak_bytes,
          .host_bytes = found.plan.host_bytes + found.plan.streamed_bytes,
          .disk_bytes = found.plan.disk_bytes,
          .swapped_bytes = totals.out_bytes,
          .recomputed_kernels = totals.recomputed_nodes,
          .step_seconds = found.plan.predicted_seconds,
          .compute_seconds = step.compute_seconds(),
          .lower_bound_seconds = found.bound.seconds,
          .json = swap::plan_json(step.graph(), found.plan)};
}

}  // namespace voxswap
