// The network's steps for an experiment, as graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/steps/step.h"
#include "pipeline/cases/options.h"
#include "pipeline/plan/target.h"
#include "pipeline/report/tables.h"
#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// Of one sample; a training step takes this rank's share of a batch, or the batch at once. The graph of
// inference holds the optimiser's state too, which no node of it reads, so that persistent values lie at the
// same places in both.
net::StepOptions step_options(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                              const Target& target);
struct Steps {
  std::optional<net::TrainingStep> training;
  std::optional<net::TrainingStep> one_sample;  // where training takes several
  net::InferenceStep inference;                 // of one case; with the loss where there is training
};
Steps build_steps(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                  const Target& target, bool trains);
// What training keeps in the host's memory beside all plans: a mean of the weights, where it makes one.
std::int64_t held_beside(const RunOptions& options, const Steps& steps);
std::vector<net::ValueId> kept_values(const net::InferenceStep& step);

// memory.csv: planned contents of each memory over the predicted time of a step.
// `host_budget`: what the host pool may take; 0: nobody said.
std::vector<MemoryRow> step_memory(const net::Graph& graph, const swap::Plan& plan,
                                   const swap::CostModel& costs, const std::string& run,
                                   const std::string& resolution, std::int64_t host_budget = 0);

}  // namespace voxswap::pipeline
