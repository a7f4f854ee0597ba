#include "pipeline/plan/steps.h"

#include <set>

#include "net/backends/backends.h"
#include "net/networks/networks.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/cases/patches.h"
#include "swap/model/simulator.h"
#include "swap/plan/occupancy.h"

namespace voxswap::pipeline {

net::StepOptions step_options(const Experiment& experiment, const StepData& data, const Target& target) {
  net::StepOptions step;
  step.network = experiment.network;
  const Size3 side = input_size(experiment);
  step.input = Shape{1, side[2], side[1], side[0], data.channels};
  step.voxel_alignment = target.voxel_alignment();
  step.sums_in_blocks = target.sums_in_blocks(target.precision);
  step.outputs = data.outputs;
  step.activations = target.precision;
  step.loss = loss_of(experiment.training, data.unknown, data.output_weights);
  step.labels = data.labels;
  step.optimizer = experiment.training.optimizer;
  step.slabs = experiment.memory.slabs;
  return step;
}

namespace {

template <class Step>
void suit(const Target& target, Step& step) {
  if (!target.backend) return;
  net::suit(*target.backend, step.graph);
  if (step.in_fewer_slabs) net::suit(*target.backend, *step.in_fewer_slabs);
}

}  // namespace

Steps build_steps(const Experiment& experiment, const StepData& data, const Target& target, bool trains,
                  const RankGroups& ranks) {
  Steps steps;
  net::StepOptions step = step_options(experiment, data, target);
  step.slab_ranks = ranks.slab_ranks();
  step.logits = !trains && experiment.evaluate.average == Average::nnunet;
  steps.inference = net::build_inference_step(step, trains);
  suit(target, steps.inference);
  if (!trains) return steps;
  if (net::takes_batch_at_once(experiment.network.name) && ranks.replicas() == 1)
    step.input[0] = experiment.training.batch_size;
  else
    step.share = net::share_of(experiment.training.batch_size, ranks.replica(), ranks.replicas());
  steps.training = net::build_training_step(step);
  suit(target, *steps.training);
  // If samples depend on each other, the best plan for one sample is not the best for the batch.
  if (step.share.count > 1 && !step.loss.batch_dice && step.slab_ranks.count == 1) {
    step.share = {};
    steps.one_sample = net::build_training_step(step);
    suit(target, *steps.one_sample);
  }
  for (net::ValueId id : steps.training->optimizer_state) {
    const net::Value& value = steps.training->graph.value(id);
    steps.inference.graph.add_value(value.name, value.shape, value.type, value.role);
    if (steps.inference.in_fewer_slabs)
      steps.inference.in_fewer_slabs->add_value(value.name, value.shape, value.type, value.role);
  }
  return steps;
}

std::int64_t averaged_weights_bytes(const Experiment& experiment, const Steps& steps) {
  if (!steps.training || experiment.training.averaging.name == Averaging::none) return 0;
  std::int64_t bytes = 0, largest = 0;  // of the average, and of the parameter being transferred
  for (const net::ValueId id : steps.training->parameters) {
    bytes += steps.training->graph.value(id).bytes();
    largest = std::max(largest, steps.training->graph.value(id).bytes());
  }
  return bytes + largest;
}

std::vector<net::ValueId> kept_values(const net::InferenceStep& step) {
  std::vector<net::ValueId> kept = step.probabilities;
  kept.insert(kept.end(), step.labels.begin(), step.labels.end());
  for (const net::ValueId id : {step.loss, step.confusion})
    if (id != net::none) kept.push_back(id);
  return kept;
}

namespace {

// Reads occupancy over time, forwards.
class Reader {
 public:
  explicit Reader(const std::vector<swap::BytesFrom>& levels) : levels_(levels) {}
  std::int64_t at(double seconds) {
    while (next_ < levels_.size() && levels_[next_].seconds <= seconds) bytes_ = levels_[next_++].bytes;
    return bytes_;
  }

 private:
  const std::vector<swap::BytesFrom>& levels_;
  std::size_t next_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::vector<MemoryRow> step_memory(const net::Graph& graph, const swap::Plan& plan,
                                   const swap::CostModel& costs, const std::string& run,
                                   const std::string& resolution, std::int64_t host_budget) {
  const swap::Simulation simulation = swap::simulate(plan, costs);
  const swap::Occupancy occupied = swap::occupancy(graph, plan, simulation.begin, simulation.end);
  std::set<double> times;
  for (const auto* levels : {&occupied.device, &occupied.host, &occupied.disk}) {
    for (const swap::BytesFrom& level : *levels) times.insert(level.seconds);
  }
  Reader device(occupied.device), host(occupied.host), disk(occupied.disk);
  std::vector<MemoryRow> rows;
  for (const double seconds : times)
    rows.push_back({run, resolution, plan.planner, seconds, device.at(seconds), host.at(seconds),
                    disk.at(seconds), plan.budget_bytes == swap::unlimited ? 0 : plan.budget_bytes,
                    host_budget});
  return rows;
}

}  // namespace voxswap::pipeline
