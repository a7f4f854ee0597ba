#include "net/step.h"

#include <cassert>

#include "base/error.h"
#include "net/autodiff.h"
#include "net/networks/builder.h"
#include "net/passes.h"

namespace voxswap {

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

std::vector<ValueId> add_optimizer_state(Graph& graph) {
  std::vector<ValueId> state;
  for (ValueId parameter : graph.with_role(Role::parameter))
    for (const char* suffix : {".m", ".v"}) {
      const Value value = graph.value(parameter);
      state.push_back(graph.add_value(value.name + suffix, value.shape, value.type, Role::optimizer_state));
    }
  return state;
}

void add_updates(TrainingStep& step, const std::vector<ValueId>& gradients, const OptimizerOptions& options) {
  step.graph.phase = Phase::update;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    assert(gradients[i] != none && "the loss depends on every parameter");
    const std::string name = step.graph.value(step.parameters[i]).name + ".update";
    step.graph.add("adam", name, {gradients[i]},
                   {{"beta1", options.beta1},
                    {"beta2", options.beta2},
                    {"epsilon", options.epsilon},
                    {"weight_decay", options.weight_decay}},
                   {step.parameters[i], step.optimizer_state[2 * i], step.optimizer_state[2 * i + 1]});
  }
}

}  // namespace

LossOptions parse_loss(const std::string& name) {
  if (name == "weighted_dice") return {};
  if (name == "dice_cross_entropy") return {.dice = 1, .cross_entropy = 1};
  fail(Exit::usage, "training.loss: expected weighted_dice or dice_cross_entropy, found '{}'", name);
}

TrainingStep build_training_step(const StepOptions& options) {
  if (options.optimizer.name != "adam")
    fail(Exit::usage, "training.optimizer.name: expected adam, found '{}'", options.optimizer.name);
  TrainingStep step;
  ForwardGraph forward =
      build_network(options.network, options.input, options.outputs, options.activations, /*training=*/true,
                    [&step](Graph& graph) { step.optimizer_state = add_optimizer_state(graph); });
  step.graph = std::move(forward.graph);
  step.parameters = forward.parameters;
  step.input = forward.input;
  step.logits = forward.logits;
  step.target = add_target(step.graph, options.input);
  step.loss = add_loss(step.graph, step.logits, step.target, options.loss);

  step.graph.phase = Phase::backward;
  const double type = static_cast<double>(step.graph.value(step.loss).type);
  const ValueId seed = step.graph.apply("constant", "loss.seed", {}, {{"value", 1}, {"type", type}});
  add_updates(step, differentiate(step.graph, {{step.loss, seed}}, step.parameters), options.optimizer);
  update_early(step.graph);
  return step;
}

// The loss comes before the probabilities, which may then be written over the logits.
InferenceStep build_inference_step(const StepOptions& options, bool with_loss) {
  InferenceStep step;
  ForwardGraph forward = build_network(options.network, options.input, options.outputs, options.activations,
                                       /*training=*/false);
  step.graph = std::move(forward.graph);
  step.parameters = forward.parameters;
  step.input = forward.input;
  if (with_loss) {
    step.target = add_target(step.graph, options.input);
    step.loss = add_loss(step.graph, forward.logits, step.target, options.loss);
  }
  step.graph.phase = Phase::forward;
  step.probabilities = step.graph.apply("sigmoid", "probabilities", {forward.logits});
  return step;
}

}  // namespace voxswap
