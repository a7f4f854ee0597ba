#include "pipeline/device/session.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "net/networks/networks.h"
#include "pipeline/device/batch_inputs.h"
#include "pipeline/device/inference_run.h"
#include "pipeline/device/staging.h"
#include "pipeline/record/routines.h"
#include "swap/measure/copy_rates.h"
#include "swap/planners/planner.h"

namespace voxswap::pipeline {

namespace {

// A planned step, ready to run.
struct Prepared {
  PlannableStep step;
  swap::Plan plan;
  std::unique_ptr<swap::Executor> executor;
};

// Measured by an all-reduce over all ranks.
swap::Network network_of(const RankGroups& ranks, net::Backend& backend) {
  net::Exchange exchange(ranks.all(), &backend);
  exchange.connect();
  swap::Network network = swap::measure_network(exchange);
  network.ranks = static_cast<int>(ranks.replicas());
  network.slabs = static_cast<int>(ranks.slab_ranks().count);
  return network;
}

// If planning needs no costs, plan before measuring, so that a step that does not fit is reported at once.
Prepared prepare(PlannableStep step, const Target& target, const Experiment& experiment) {
  const std::string& planner = experiment.memory.planner;
  if (planner == "keep") plan_step(planner, step.problem, experiment);
  set_costs(step, measure(step, target, experiment));
  swap::Plan plan = plan_step(planner, step.problem, experiment);
  return {std::move(step), std::move(plan), nullptr};
}

// If everything fits on the device, no planner can gain anything and no costs are measured.
Prepared prepare_inference(PlannableStep step, const Target& target, const Experiment& experiment) {
  if (std::optional<swap::Plan> staying = plan_staying(step.problem))
    return {std::move(step), std::move(*staying), nullptr};
  return prepare(std::move(step), target, experiment);
}

}  // namespace

struct Session::State {
  Experiment experiment;
  RankGroups ranks;
  Target target;
  Steps steps;
  std::optional<net::Exchange> exchange;  // with other ranks
  Prepared training_step, inference_step;
  net::StepOptions inference_options;
  std::optional<BatchInputs> batch;  // set once memory is allocated, as is `inference`
  std::optional<InferenceRun> inference;
  bool allocated = false;
  double busy_seconds = 0;

  bool trains() const { return steps.training.has_value(); }
  // Number of samples that a step processes one after the other.
  std::int64_t samples() const {
    if (net::takes_batch_at_once(experiment.network.name)) return 1;
    return experiment.training.batch_size / ranks.replicas();
  }
  Prepared& main() { return trains() ? training_step : inference_step; }
  const Prepared& main() const { return trains() ? training_step : inference_step; }

  std::vector<InputSlab> training_slabs(const std::vector<net::ValueId>& slabs) const {
    const std::vector<net::Planes>& planes = steps.training->planes;
    return input_slabs(*training_step.step.graph, training_step.plan, slabs, samples(),
                       planes[index(ranks.slab_ranks().rank)].from, planes.back().to);
  }

  void read(net::ValueId id, std::span<float> values) const {
    main().executor->read(id, values.data(), main().step.graph->value(id).bytes());
  }
  void write(net::ValueId id, std::span<const float> values) {
    main().executor->write(id, values.data(), main().step.graph->value(id).bytes());
  }
  std::vector<Tensor> read(const std::vector<net::ValueId>& values) const {
    std::vector<Tensor> tensors;
    for (net::ValueId id : values) {
      const net::Value& value = main().step.graph->value(id);
      Tensor tensor{value.name, value.shape,
                    std::vector<float>(static_cast<std::size_t>(value.shape.count()))};
      read(id, tensor.values);
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  void write(const std::vector<net::ValueId>& values, const std::vector<Tensor>& tensors) {
    for (std::size_t i = 0; i < values.size(); ++i) write(values[i], tensors[i].values);
  }

  BatchSlabs batch_slabs() const {
    return {training_slabs(steps.training->input), training_slabs(steps.training->target)};
  }
  // Device memory beside the plans.
  std::int64_t spare_bytes() const {
    return target.budgets.device - std::max(training_step.plan.peak_bytes, inference_step.plan.peak_bytes);
  }

  const std::vector<net::ValueId>& parameters() const {
    return trains() ? steps.training->parameters : steps.inference.parameters;
  }

  std::vector<net::ValueId> checkpointed(bool with_optimizer_state) const {
    std::vector<net::ValueId> values = parameters();
    if (with_optimizer_state)
      values.insert(values.end(), steps.training->optimizer_state.begin(),
                    steps.training->optimizer_state.end());
    return values;
  }
};

Session::Session(const Experiment& experiment, const RunContext& context, const StepData& data,
                 Purpose purpose)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.experiment = experiment;
  s.ranks = context.ranks;
  net::Ranks& ranks = context.ranks.all();
  s.target = open_target(experiment, "", /*tuned=*/true, ranks);
  const bool trains = purpose == Purpose::training;
  const std::int64_t slabs = context.ranks.slab_ranks().count;
  const bool together = !ranks.is_alone() && (trains || slabs > 1);
  take_routines(*s.target.backend, experiment, !trains || context.resume, together ? ranks : net::alone());
  s.steps = build_steps(experiment, data, s.target, trains, context.ranks);
  s.inference_options = step_options(experiment, data, s.target);
  leave_room(s.target, experiment.memory, averaged_weights_bytes(experiment, s.steps));
  if (trains) leave_samples_free(s.target, experiment, data.channels);
  if (trains && !ranks.is_alone()) s.target.network = network_of(context.ranks, *s.target.backend);
  if (trains || slabs > 1) {
    s.exchange.emplace(ranks, s.target.backend.get(), static_cast<int>(slabs));
    s.exchange->connect();
  }
  PlannableStep training, inference;
  const auto compile = [&] {
    if (trains) training = plannable_training(s.target, experiment.memory, s.steps, *s.exchange);
    inference = plannable_inference(s.target, experiment.memory, s.steps.inference,
                                    s.exchange ? &*s.exchange : nullptr);
  };
  compile();
  if (together && agree_on_routines(*s.target.backend, ranks)) compile();
  if (trains) s.training_step = prepare(std::move(training), s.target, experiment);
  s.inference_step = prepare_inference(std::move(inference), s.target, experiment);
  if (ranks.is_first()) remember_routines(*s.target.backend, experiment);
}

Session::~Session() = default;

void Session::allocate() {
  State& s = *state_;
  if (s.allocated) return;
  const MemoryOptions& memory = s.experiment.memory;
  const swap::Plan* training = s.trains() ? &s.training_step.plan : nullptr;
  const swap::Tiers tiers = swap::allocate_tiers(*s.target.backend, {training, &s.inference_step.plan},
                                                 memory.disk_folder, memory.host_bytes.has_value());
  const swap::ExecutorOptions links{.to_host_rate = memory.to_host_rate,
                                    .to_device_rate = memory.to_device_rate};
  for (Prepared* prepared : {&s.training_step, &s.inference_step})
    if (prepared->step.compiled)
      prepared->executor =
          std::make_unique<swap::Executor>(*prepared->step.compiled, prepared->plan, tiers, links);
  if (s.trains() && !s.batch) s.batch.emplace(*s.target.backend, s.batch_slabs(), s.spare_bytes());
  s.inference.emplace(s.steps.inference, s.inference_options, *s.inference_step.executor, *s.target.backend,
                      s.ranks, s.exchange ? &*s.exchange : nullptr);
  s.allocated = true;
}

void Session::remeasure() {
  State& s = *state_;
  const std::vector<Tensor> parameters = weights(), state = optimizer_state();
  s.batch->drop();
  s.inference.reset();
  for (Prepared* prepared : {&s.training_step, &s.inference_step}) prepared->executor.reset();
  s.allocated = false;
  PlannableStep& step = s.training_step.step;
  set_costs(step, measure(step, s.target, s.experiment, /*remember=*/true, /*disproved=*/true));
  step.problem.left_free = std::max(step.problem.left_free, s.batch->device_bytes());
  s.training_step.plan = plan_step(s.experiment.memory.planner, step.problem, s.experiment);
  s.batch->set_slabs(s.batch_slabs(), s.spare_bytes());
  allocate();
  s.write(s.parameters(), parameters);
  s.write(s.steps.training->optimizer_state, state);
}

void Session::forget_costs() {
  pipeline::forget_costs(state_->training_step.step, state_->target, state_->experiment);
}

void Session::hold(Cases& cases, const std::vector<std::size_t>& training) {
  State& s = *state_;
  allocate();
  const SampleShape shape{s.experiment.training.augment, input_size(s.experiment),
                          static_cast<std::int64_t>(cases.dataset().modalities.size()),
                          std::ssize(cases.target_table()) >> 16, s.target.precision};
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  s.batch->hold(cases, training, shape, s.experiment.cases_bytes.value_or(unlimited));
}

void Session::give(const Sample& batch) {
  if (batch.drawn.empty()) return give(batch.image, batch.target);
  state_->batch->give(batch.drawn);
}

void Session::finish_given() {
  state_->batch->wait();
}

void Session::give(std::span<const float> images, std::span<const std::uint8_t> targets) {
  allocate();
  state_->batch->give(images, targets);
}

float Session::train(const net::StepContext& context, swap::StepReport* report, swap::Detail detail,
                     const std::function<void()>& meanwhile) {
  State& s = *state_;
  const net::TrainingStep& step = *s.steps.training;
  swap::Executor& executor = *s.training_step.executor;
  s.batch->lend_to(executor);
  s.exchange->begin();
  const bool may_give = !s.target.backend->computes_on_host();  // a step on a CPU reads the batch in place
  const swap::StepReport made = executor.run(context, detail, may_give ? meanwhile : std::function<void()>());
  s.busy_seconds += made.compute_seconds;
  if (report != nullptr) *report = made;
  float loss = 0;
  executor.read(step.loss, &loss, sizeof loss);
  return loss;
}

float Session::infer(std::span<const float> image, std::span<const std::uint8_t> target,
                     std::span<const std::int16_t> truth) {
  State& s = *state_;
  allocate();
  s.busy_seconds += s.inference->run(image, target, truth);
  return s.trains() ? s.inference->loss() : 0;
}

std::vector<float> Session::predict(std::span<const float> image) {
  infer(image);
  return state_->inference->probabilities();
}

void Session::predict(std::span<const float> image, const TakePlanes& take) {
  infer(image);
  state_->inference->hand_on_probabilities(take);
}

float Session::validation_loss(std::span<const float> image, std::span<const std::uint8_t> target,
                               const TakePlanes& take) {
  const float loss = infer(image, target);
  if (take) state_->inference->hand_on_probabilities(take);
  return loss;
}

bool Session::counts_labels() const {
  return !state_->steps.inference.labels.empty();
}

Session::Score Session::score(std::span<const float> image, std::span<const std::uint8_t> target,
                              std::span<const std::int16_t> truth, const TakeLabels& take) {
  const float loss = infer(image, target, truth);
  if (take) state_->inference->hand_on_labels(take);
  return {loss, state_->inference->confusion()};
}

void Session::initialize(std::uint64_t seed) {
  State& s = *state_;
  allocate();
  for (std::size_t i = 0; i < s.parameters().size(); ++i)
    s.write(s.parameters()[i], net::initial_value(graph(), s.parameters()[i], i, seed));
  if (!s.trains()) return;
  for (net::ValueId id : s.steps.training->optimizer_state) s.write(id, net::initial_state(graph(), id));
}

StartingWeights Session::start_from(const fs::path& file, const std::vector<std::string>& modalities) {
  State& s = *state_;
  StartingWeights begun = starting_weights(file, weights(), modalities);
  s.write(s.parameters(), begun.tensors);
  return begun;
}

std::vector<Tensor> Session::weights() const {
  return state_->read(state_->parameters());
}

std::size_t Session::weight_count() const {
  return state_->parameters().size();
}

const net::Value& Session::weight(std::size_t index) const {
  return graph().value(state_->parameters()[index]);
}

void Session::read_weight(std::size_t index, std::span<float> values) const {
  state_->read(state_->parameters()[index], values);
}

void Session::write_weight(std::size_t index, std::span<const float> values) {
  state_->write(state_->parameters()[index], values);
}

std::vector<Tensor> Session::optimizer_state() const {
  return state_->read(state_->steps.training->optimizer_state);
}

void Session::check(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state) const {
  for (net::ValueId id : state_->checkpointed(with_optimizer_state)) {
    const net::Value& value = graph().value(id);
    const Tensor& tensor = checkpoint.tensor(value.name, where);
    if (tensor.shape != value.shape) {
      fail(Exit::bad_data, "{}: '{}' has shape {}, but the experiment's network needs {}", where, value.name,
           tensor.shape.text(), value.shape.text());
    }
  }
}

void Session::load(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state) {
  State& s = *state_;
  check(checkpoint, where, with_optimizer_state);
  allocate();
  for (net::ValueId id : s.checkpointed(with_optimizer_state))
    s.write(id, checkpoint.tensor(graph().value(id).name, where).values);
}

const swap::Plan& Session::plan() const {
  return state_->main().plan;
}
const net::Graph& Session::graph() const {
  return *state_->main().step.graph;
}
const swap::CostModel& Session::costs() const {
  return *state_->main().step.costs;
}
swap::Bound Session::bound() const {
  return bound_of(state_->main().step.problem);
}
double Session::busy_seconds() const {
  return state_->busy_seconds;
}
std::int64_t Session::arena_bytes() const {
  return std::max(state_->training_step.plan.peak_bytes, state_->inference_step.plan.peak_bytes);
}
std::int64_t Session::host_bytes() const {
  const auto bytes = [](const swap::Plan& plan) { return plan.host_bytes + plan.streamed_bytes; };
  return std::max(bytes(state_->training_step.plan), bytes(state_->inference_step.plan));
}
std::int64_t Session::memory_for_cases() const {
  return pipeline::memory_for_cases(state_->target, state_->experiment, arena_bytes(), host_bytes(),
                                    state_->ranks.all().on_this_machine());
}
const net::Backend& Session::backend() const {
  return *state_->target.backend;
}
net::ElementType Session::precision() const {
  return state_->target.precision;
}
const swap::Budgets& Session::budgets() const {
  return state_->target.budgets;
}

}  // namespace voxswap::pipeline
