#include "net/steps/step.h"

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "net/graph/autodiff.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/networks/networks.h"
#include "net/steps/passes.h"

namespace voxswap::net {

namespace {

ValueId add_target(Graph& graph, const Shape& input) {
  return graph.add_value("target", {input[0], input[1], input[2], input[3]}, ElementType::u8, Role::input);
}

ValueId add_loss(Graph& graph, ValueId logits, ValueId target, const LossOptions& options) {
  graph.phase = Phase::loss;
  const Shape shape = graph.value(logits).shape;
  const ValueId sums = graph.apply("loss_sums", "loss.sums", {logits, target});
  return graph.apply("loss_value", "loss", {sums},
                     {{"dice", options.dice},
                      {"cross_entropy", options.cross_entropy},
                      {"epsilon", options.epsilon},
                      {"voxels", static_cast<double>(shape[1] * shape[2] * shape[3])}});
}

std::vector<ValueId> add_optimizer_state(Graph& graph, const std::vector<ValueId>& trained, bool scaled) {
  std::vector<ValueId> state;
  for (ValueId parameter : trained)
    for (const char* suffix : {".m", ".v"}) {
      const Value value = graph.value(parameter);
      state.push_back(graph.add_value(value.name + suffix, value.shape, value.type, Role::optimizer_state));
    }
  if (scaled) state.push_back(graph.add_value("loss.scale", {3}, ElementType::f32, Role::optimizer_state));
  return state;
}

// Where the backward pass starts: the gradient of the loss with respect to itself, times the scale.
ValueId add_seed(TrainingStep& step, bool scaled) {
  if (scaled) return step.graph.apply("loss_scale_seed", "loss.seed", {step.optimizer_state.back()});
  const double type = static_cast<double>(step.graph.value(step.loss).type);
  return step.graph.apply("constant", "loss.seed", {}, {{"value", 1}, {"type", type}});
}

// Whether all gradients are finite, found out one after the other in the order in which they are made.
ValueId add_check(Graph& graph, std::vector<ValueId> gradients) {
  std::sort(gradients.begin(), gradients.end(),
            [&](ValueId a, ValueId b) { return graph.value(a).producer < graph.value(b).producer; });
  ValueId finite = none;
  for (const ValueId gradient : gradients) {
    std::vector<ValueId> inputs = {gradient};
    if (finite != none) inputs.push_back(finite);
    finite = graph.apply("all_finite", graph.value(gradient).name + ".finite", inputs);
  }
  return finite;
}

// One node for the trained parameters of these indices. `finite`: none where the loss is not scaled.
void add_update(TrainingStep& step, const std::string& name, const std::vector<std::size_t>& indices,
                const std::vector<ValueId>& gradients, ValueId finite, const OptimizerOptions& options) {
  std::vector<ValueId> inputs, updates;
  for (const std::size_t i : indices) {
    inputs.push_back(gradients[i]);
    updates.insert(updates.end(),
                   {step.trained[i], step.optimizer_state[2 * i], step.optimizer_state[2 * i + 1]});
  }
  if (finite != none) inputs.insert(inputs.end(), {step.optimizer_state.back(), finite});
  step.graph.add("adam", name, inputs,
                 {{"beta1", options.beta1},
                  {"beta2", options.beta2},
                  {"epsilon", options.epsilon},
                  {"weight_decay", options.weight_decay}},
                 updates);
}

void add_updates(TrainingStep& step, const std::vector<ValueId>& gradients, ValueId finite,
                 const StepOptions& options) {
  step.graph.phase = Phase::update;
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < step.trained.size(); ++i) {
    const Value& parameter = step.graph.value(step.trained[i]);
    if (parameter.shape.count() <= options.optimizer.small_parameter) {
      small.push_back(i);
    } else {
      add_update(step, parameter.name + ".update", {i}, gradients, finite, options.optimizer);
    }
  }
  if (!small.empty()) add_update(step, "small.update", small, gradients, finite, options.optimizer);
  if (finite == none) return;
  const LossScaleOptions& scale = options.loss_scale;
  step.graph.add("loss_scale_update", "loss.scale.update", {finite},
                 {{"initial", scale.initial},
                  {"interval", static_cast<double>(scale.interval)},
                  {"least", scale.least},
                  {"most", scale.most}},
                 {step.optimizer_state.back()});
}

std::vector<ValueId> pieces_of(const CutGraph& cut, ValueId id) {
  return cut.pieces[static_cast<std::size_t>(id)];
}

}  // namespace

LossOptions loss_options(Loss loss) {
  if (loss == Loss::weighted_dice) return {};
  return {.dice = 1, .cross_entropy = 1};
}

TrainingStep build_training_step(const StepOptions& options) {
  const bool scaled = options.activations == ElementType::f16;
  TrainingStep step;
  ForwardGraph forward =
      build_network(options.network, options.input, options.outputs, options.activations, /*training=*/true,
                    options.voxel_alignment, [&](Graph& graph, const std::vector<ValueId>& trained) {
                      step.optimizer_state = add_optimizer_state(graph, trained, scaled);
                    });
  step.graph = std::move(forward.graph);
  step.parameters = forward.parameters;
  step.trained = forward.trained;
  const ValueId target = add_target(step.graph, options.input);
  step.loss = add_loss(step.graph, forward.logits, target, options.loss);

  step.graph.phase = Phase::backward;
  const std::vector<ValueId> gradients =
      differentiate(step.graph, {{step.loss, add_seed(step, scaled)}}, step.trained);
  for (const ValueId gradient : gradients) assert(gradient != none && "the loss depends on what is trained");
  const ValueId finite = scaled ? add_check(step.graph, gradients) : none;
  add_updates(step, gradients, finite, options);
  update_early(step.graph);

  CutGraph cut = cut_into_pieces(step.graph, options.pieces);
  step.input = pieces_of(cut, forward.input);
  step.target = pieces_of(cut, target);
  step.logits = pieces_of(cut, forward.logits);
  step.loss = pieces_of(cut, step.loss).front();
  step.graph = std::move(cut.graph);
  return step;
}

std::vector<float> initial_state(const Graph& graph, ValueId state) {
  std::vector<float> values(static_cast<std::size_t>(graph.value(state).shape.count()));
  for (const Node& node : graph.nodes()) {
    if (node.operation->name == "loss_scale_update" && node.updates[0] == state)
      values[0] = static_cast<float>(node.attributes.real("initial"));
  }
  return values;
}

// The loss comes before the probabilities, which may then be written over the logits.
InferenceStep build_inference_step(const StepOptions& options, bool with_loss) {
  InferenceStep step;
  ForwardGraph forward = build_network(options.network, options.input, options.outputs, options.activations,
                                       /*training=*/false, options.voxel_alignment);
  step.graph = std::move(forward.graph);
  step.parameters = forward.parameters;
  ValueId target = none, loss = none;
  if (with_loss) {
    target = add_target(step.graph, options.input);
    loss = add_loss(step.graph, forward.logits, target, options.loss);
  }
  step.graph.phase = Phase::forward;
  const ValueId probabilities = step.graph.apply("sigmoid", "probabilities", {forward.logits});

  CutGraph cut = cut_into_pieces(step.graph, options.pieces);
  step.input = pieces_of(cut, forward.input);
  step.probabilities = pieces_of(cut, probabilities);
  if (with_loss) {
    step.target = pieces_of(cut, target);
    step.loss = pieces_of(cut, loss).front();
  }
  step.graph = std::move(cut.graph);
  return step;
}

}  // namespace voxswap::net
