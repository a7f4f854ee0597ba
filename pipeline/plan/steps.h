// Builds the graphs of an experiment's steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/steps/step.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/rank_groups.h"
#include "pipeline/plan/target.h"
#include "pipeline/report/tables.h"
#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// The properties of the data that a step depends on.
struct StepData {
  std::int64_t channels = 0, outputs = 0;        // of the images, and of the logits
  net::Unknown unknown = net::Unknown::nothing;  // what the ground truth may leave unannotated
  std::vector<double> output_weights{};          // in the loss; empty: all 1
  net::LabelOptions labels{};                    // of validation; none: it returns probabilities
};

// For one sample. A training step takes this rank's share of a batch, or the whole batch at once. The
// inference graph also contains the optimiser state, although no node reads it, so that persistent values
// have the same offsets in both.
net::StepOptions step_options(const Experiment& experiment, const StepData& data, const Target& target);
struct Steps {
  std::optional<net::TrainingStep> training;
  std::optional<net::TrainingStep> one_sample;  // if training takes several samples
  net::InferenceStep inference;                 // of one case; includes the loss if there is a training step
};
Steps build_steps(const Experiment& experiment, const StepData& data, const Target& target, bool trains,
                  const RankGroups& ranks = {});
// Host memory that training needs outside all plans: the average of the weights, if enabled.
std::int64_t averaged_weights_bytes(const Experiment& experiment, const Steps& steps);
std::vector<net::ValueId> kept_values(const net::InferenceStep& step);

// Rows of memory.csv: planned contents of each memory over the predicted time of a step. `host_budget`: limit
// of the host pool; 0: unknown.
std::vector<MemoryRow> step_memory(const net::Graph& graph, const swap::Plan& plan,
                                   const swap::CostModel& costs, const std::string& run,
                                   const std::string& resolution, std::int64_t host_budget = 0);

}  // namespace voxswap::pipeline
