// Caffe LMS (Le et al. 2018): values above a threshold live in host memory, are swapped in for each use and
// swapped out after it, whatever the budget and the cost.
#include "base/counts.h"
#include "base/text.h"
#include "swap/planners/layout.h"
#include "swap/planners/planners.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {

Plan plan_lms_threshold(const PlanRequest& request) {
  const GraphFacts facts(request);
  Schedule schedule;
  schedule.sequence = *expand(facts, keep_everything(facts));
  for (IdleTime& stretch : idle_stretches(schedule.sequence)) {
    const net::ValueId value = schedule.sequence.lives[static_cast<std::size_t>(stretch.life)].value;
    if (request.graph->value(value).bytes() > request.lms_threshold) schedule.stretches.push_back(stretch);
  }
  const ScheduleOptions options{request.budgets.device, Prefetch::at_use, 0};
  finish_schedule(facts, options, true, schedule);
  Plan plan = lay_out(facts, schedule, "lms-threshold");
  plan.remarks = format("threshold {}", counted(request.lms_threshold, "byte"));
  return plan;
}

}  // namespace voxswap::swap
