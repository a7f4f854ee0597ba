#include "pipeline/plan/steps.h"

#include "net/backends/backends.h"
#include "net/networks/networks.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/cases/patches.h"

namespace voxswap::pipeline {

net::StepOptions step_options(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                              const Target& target) {
  net::StepOptions step;
  step.network = options.network;
  const data::Size3 side = input_size(options);
  step.input = Shape{1, side[2], side[1], side[0], channels};
  step.voxel_alignment = target.voxel_alignment();
  step.sums_in_blocks = target.sums_in_blocks(target.precision);
  step.outputs = outputs;
  step.activations = target.precision;
  step.loss = loss_of(options.training);
  step.optimizer = options.training.optimizer;
  step.pieces = options.memory.pieces;
  return step;
}

namespace {

template <class Step>
void suit(const Target& target, Step& step) {
  if (!target.backend) return;
  net::suit(*target.backend, step.graph);
  if (step.coarser) net::suit(*target.backend, *step.coarser);
}

}  // namespace

Steps build_steps(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                  const Target& target, bool trains) {
  Steps steps;
  net::StepOptions step = step_options(options, channels, outputs, target);
  steps.inference = net::build_inference_step(step, trains);
  suit(target, steps.inference);
  if (!trains) return steps;
  if (net::takes_batch_at_once(options.network.name) && options.ranks->is_alone())
    step.input[0] = options.training.batch_size;
  else
    step.share = net::share_of(options.training.batch_size, options.ranks->rank(), options.ranks->count());
  steps.training = net::build_training_step(step);
  suit(target, *steps.training);
  // Where samples wait for one another, what is best for one is not for the batch.
  if (step.share.count > 1 && !step.loss.batch_dice) {
    step.share = {};
    steps.one_sample = net::build_training_step(step);
    suit(target, *steps.one_sample);
  }
  for (net::ValueId id : steps.training->optimizer_state) {
    const net::Value& value = steps.training->graph.value(id);
    steps.inference.graph.add_value(value.name, value.shape, value.type, value.role);
    if (steps.inference.coarser)
      steps.inference.coarser->add_value(value.name, value.shape, value.type, value.role);
  }
  return steps;
}

std::int64_t held_beside(const RunOptions& options, const Steps& steps) {
  if (!steps.training || options.training.averaging.name == Averaging::none) return 0;
  std::int64_t bytes = 0, largest = 0;  // of the mean, and of what is on its way
  for (const net::ValueId id : steps.training->parameters) {
    bytes += steps.training->graph.value(id).bytes();
    largest = std::max(largest, steps.training->graph.value(id).bytes());
  }
  return bytes + largest;
}

std::vector<net::ValueId> kept_values(const net::InferenceStep& step) {
  std::vector<net::ValueId> kept = step.probabilities;
  if (step.loss != net::none) kept.push_back(step.loss);
  return kept;
}

}  // namespace voxswap::pipeline
