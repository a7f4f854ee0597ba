#include "pipeline/session.h"

#include <algorithm>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/units.h"
#include "swap/planner.h"

namespace voxswap {

std::unique_ptr<Backend> open_device(const std::string& device) {
  if (device == "auto" || device == "cpu") return make_backend("onednn");
  if (device == "reference") return make_backend("reference");
  if (device == "cuda" || device.starts_with("cuda:")) {
    fail(Exit::does_not_fit, "memory.device: {}: this build of voxswap has no CUDA backend; use cpu", device);
  }
  fail(Exit::usage, "memory.device: there is no device '{}'; there are auto, cpu, reference", device);
}

ElementType choose_precision(const Backend& backend, const std::string& precision) {
  if (precision == "auto") return backend.fastest_type();
  const ElementType type = parse_element_type(precision);
  if (!backend.supports(type)) {
    fail(Exit::usage, "training.precision: {} does not run in {} here ({})", backend.name(), precision,
         backend.description());
  }
  return type;
}

std::int64_t choose_budget(const Backend& backend, const MemoryOptions& memory) {
  if (memory.budget_bytes > 0) return memory.budget_bytes;
  // A reserve for prepared volumes, label maps and the libraries: a tenth, at least half a GiB.
  const std::int64_t free = backend.free_bytes();
  return std::max<std::int64_t>(free - std::max<std::int64_t>(free / 10, 512LL << 20), 1);
}

StepOptions step_options(const RunOptions& options, std::int64_t batch, std::int64_t channels,
                         std::int64_t outputs, ElementType precision) {
  StepOptions step;
  step.network = options.network;
  const Size3& side = options.preprocess.resolution;
  step.input = Shape{batch, side[2], side[1], side[0], channels};
  step.outputs = outputs;
  step.activations = precision;
  step.loss = parse_loss(options.training.loss);
  step.optimizer = options.training.optimizer;
  return step;
}

// A step planned and compiled: what an executor needs.
namespace {

struct Prepared {
  std::unique_ptr<CompiledGraph> compiled;
  Plan plan;
  std::unique_ptr<Executor> executor;
};

Prepared prepare_step(Backend& backend, Graph graph, const std::string& planner, std::int64_t budget,
                      std::vector<ValueId> kept) {
  Prepared prepared;
  prepared.compiled = std::make_unique<CompiledGraph>(backend, std::move(graph));
  PlanRequest request;
  request.graph = &prepared.compiled->graph();
  request.workspaces = prepared.compiled->workspaces();
  request.budgets.device = budget;
  request.kept = std::move(kept);
  prepared.plan = make_plan(planner, request);
  return prepared;
}

}  // namespace

struct Session::State {
  std::unique_ptr<Backend> backend;
  ElementType precision = ElementType::f32;
  std::int64_t budget = 0;
  std::optional<TrainingStep> training;
  InferenceStep inference;
  Prepared training_step, inference_step;
  std::vector<std::uint16_t> half;  // an image on its way to a bf16 input
  std::int64_t inference_bytes = 0;
  bool allocated = false;

  Prepared& main() { return training ? training_step : inference_step; }
  const Prepared& main() const { return training ? training_step : inference_step; }

  void write_image(Executor& executor, ValueId input, std::span<const float> image) {
    if (precision != ElementType::bf16) {
      executor.write(input, image.data(), static_cast<std::int64_t>(image.size_bytes()));
      return;
    }
    half.resize(image.size());
    std::transform(image.begin(), image.end(), half.begin(), to_bfloat16);
    executor.write(input, half.data(), static_cast<std::int64_t>(half.size() * sizeof half[0]));
  }

  std::vector<Tensor> read(const std::vector<ValueId>& values) const {
    std::vector<Tensor> tensors;
    for (ValueId id : values) {
      const Value& value = main().compiled->graph().value(id);
      Tensor tensor{value.name, value.shape,
                    std::vector<float>(static_cast<std::size_t>(value.shape.count()))};
      main().executor->read(id, tensor.values.data(), value.bytes());
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  const std::vector<ValueId>& parameters() const {
    return training ? training->parameters : inference.parameters;
  }
};

Session::Session(const RunOptions& options, std::int64_t channels, std::int64_t outputs, Purpose purpose)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.backend = open_device(options.memory.device);
  s.precision = choose_precision(*s.backend, options.training.precision);
  s.budget = choose_budget(*s.backend, options.memory);
  const std::string& planner = options.memory.planner;
  const bool trains = purpose == Purpose::training;
  s.inference = build_inference_step(step_options(options, 1, channels, outputs, s.precision), trains);
  if (trains) {
    s.training = build_training_step(
        step_options(options, options.training.batch_size, channels, outputs, s.precision));
    // Inference runs in the same arena: the optimiser's state must have its place there too, though no node
    // reads it.
    for (ValueId id : s.training->optimizer_state) {
      const Value& value = s.training->graph.value(id);
      s.inference.graph.add_value(value.name, value.shape, value.type, value.role);
    }
    s.training_step = prepare_step(*s.backend, s.training->graph, planner, s.budget, {s.training->loss});
  }
  std::vector<ValueId> kept = {s.inference.probabilities};
  if (s.inference.loss != none) kept.push_back(s.inference.loss);
  s.inference_step = prepare_step(*s.backend, s.inference.graph, planner, s.budget, kept);
}

Session::~Session() = default;

void Session::allocate() {
  State& s = *state_;
  if (s.allocated) return;
  std::shared_ptr<Memory> arena = s.backend->allocate(arena_bytes());
  for (Prepared* step : {&s.training_step, &s.inference_step}) {
    if (step->compiled)
      step->executor =
          std::make_unique<Executor>(*step->compiled, step->plan, Tiers{arena, nullptr, nullptr});
  }
  s.allocated = true;
}

float Session::train(std::span<const float> images, std::span<const std::uint8_t> targets,
                     const StepContext& context, StepReport* report) {
  State& s = *state_;
  allocate();
  Executor& executor = *s.training_step.executor;
  s.write_image(executor, s.training->input, images);
  executor.write(s.training->target, targets.data(), static_cast<std::int64_t>(targets.size()));
  const StepReport made = executor.run(context);
  if (report != nullptr) *report = made;
  float loss = 0;
  executor.read(s.training->loss, &loss, sizeof loss);
  return loss;
}

std::vector<float> Session::predict(std::span<const float> image) {
  State& s = *state_;
  allocate();
  Executor& executor = *s.inference_step.executor;
  s.write_image(executor, s.inference.input, image);
  if (s.inference.target != none) {
    const std::vector<std::uint8_t> nothing(
        static_cast<std::size_t>(s.inference.graph.value(s.inference.target).bytes()));
    executor.write(s.inference.target, nothing.data(), static_cast<std::int64_t>(nothing.size()));
  }
  executor.run({});
  const Value& value = s.inference.graph.value(s.inference.probabilities);
  std::vector<float> probabilities(static_cast<std::size_t>(value.shape.count()));
  executor.read(s.inference.probabilities, probabilities.data(), value.bytes());
  return probabilities;
}

float Session::validation_loss(std::span<const float> image, std::span<const std::uint8_t> target) {
  State& s = *state_;
  allocate();
  Executor& executor = *s.inference_step.executor;
  s.write_image(executor, s.inference.input, image);
  executor.write(s.inference.target, target.data(), static_cast<std::int64_t>(target.size()));
  executor.run({});
  float loss = 0;
  executor.read(s.inference.loss, &loss, sizeof loss);
  return loss;
}

void Session::initialize(std::uint64_t seed) {
  State& s = *state_;
  allocate();
  Executor& executor = *s.main().executor;
  const Graph& g = graph();
  for (std::size_t i = 0; i < s.parameters().size(); ++i) {
    const ValueId id = s.parameters()[i];
    const std::vector<float> values = initial_value(g, id, i, seed);
    executor.write(id, values.data(), g.value(id).bytes());
  }
  if (!s.training) return;
  for (ValueId id : s.training->optimizer_state) {
    const std::vector<float> zeros(static_cast<std::size_t>(g.value(id).shape.count()));
    executor.write(id, zeros.data(), g.value(id).bytes());
  }
}

std::vector<Tensor> Session::weights() const {
  return state_->read(state_->parameters());
}

std::vector<Tensor> Session::optimizer_state() const {
  return state_->read(state_->training->optimizer_state);
}

void Session::load(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state) {
  State& s = *state_;
  allocate();
  std::vector<ValueId> values = s.parameters();
  if (with_optimizer_state) {
    values.insert(values.end(), s.training->optimizer_state.begin(), s.training->optimizer_state.end());
  }
  for (ValueId id : values) {
    const Value& value = graph().value(id);
    const Tensor& tensor = checkpoint.tensor(value.name, where);
    if (tensor.shape != value.shape) {
      fail(Exit::bad_data, "{}: '{}' is {}, the experiment's network needs {}", where, value.name,
           tensor.shape.text(), value.shape.text());
    }
    s.main().executor->write(id, tensor.values.data(), value.bytes());
  }
}

const Plan& Session::plan() const {
  return state_->main().plan;
}
const Graph& Session::graph() const {
  return state_->main().compiled->graph();
}
std::int64_t Session::arena_bytes() const {
  return std::max(state_->training_step.plan.peak_bytes, state_->inference_step.plan.peak_bytes);
}
const Backend& Session::backend() const {
  return *state_->backend;
}
ElementType Session::precision() const {
  return state_->precision;
}
std::int64_t Session::budget_bytes() const {
  return state_->budget;
}

}  // namespace voxswap
