#include "net/steps/step.h"

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "base/keys.h"
#include "base/shape.h"
#include "base/text.h"
#include "net/graph/autodiff.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/networks/networks.h"
#include "net/steps/losses.h"
#include "net/steps/passes.h"
#include "net/steps/rank_slabs.h"
#include "net/steps/samples.h"

namespace voxswap::net {

namespace {

void check_target(const StepOptions& options) {
  const LossOptions& loss = options.loss;
  assert(loss.weights.empty() || static_cast<std::int64_t>(loss.weights.size()) == options.outputs);
  if (static_cast<std::int64_t>(loss.weights.size()) > most_loss_weights)
    fail(Exit::usage, "{}: at most {} may have weights, found {}", key::training_class_weights,
         counted(most_loss_weights, "output"), loss.weights.size());
  if (classifies_images(options.network.name) && (!options.loss.classes || options.loss.dice > 0))
    fail(Exit::usage,
         "{}: {} predicts one class per image, but the loss needs labels per voxel. Set {}: {}, or use "
         "another network",
         key::network_name, options.network.name, key::training_loss,
         choice_name(Loss::softmax_cross_entropy));
}

void check_share(const StepOptions& options, const Graph& graph) {
  const bool mixes = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                 [](const Node& node) { return node.operation->mixes_samples; });
  if (mixes && options.share.batch > 1)
    fail(Exit::usage,
         "{}: {} has batch norm over the whole batch, which ranks cannot divide. Train it on one rank",
         key::network_name, options.network.name);
}

// Optimiser states per parameter.
const std::vector<std::string>& states_of(Optimizer optimizer) {
  static const std::vector<std::string> adam = {".m", ".v"}, sgd = {".momentum"};
  return optimizer == Optimizer::adam ? adam : sgd;
}

std::vector<ValueId> add_optimizer_state(Graph& graph, const std::vector<ValueId>& trained,
                                         Optimizer optimizer, bool scaled) {
  std::vector<ValueId> state;
  for (ValueId parameter : trained)
    for (const std::string& suffix : states_of(optimizer)) {
      const Value value = graph.value(parameter);
      state.push_back(graph.add_value(value.name + suffix, value.shape, value.type, Role::optimizer_state));
    }
  if (scaled) state.push_back(graph.add_value("loss.scale", {3}, ElementType::f32, Role::optimizer_state));
  return state;
}

// The seed of the backward pass: the gradient of the loss with respect to itself, times the loss scale.
ValueId add_seed(TrainingStep& step, bool scaled) {
  if (scaled) return step.graph.apply("loss_scale_seed", "loss.seed", {step.optimizer_state.back()});
  const double type = static_cast<double>(step.graph.value(step.loss).type);
  return step.graph.apply("constant", "loss.seed", {}, {{"value", 1}, {"type", type}});
}

// Accumulates `operation` over all gradients, in the order in which they are made.
ValueId over_gradients(Graph& graph, std::vector<ValueId> gradients, const std::string& operation,
                       const std::string& suffix) {
  std::sort(gradients.begin(), gradients.end(),
            [&](ValueId a, ValueId b) { return graph.value(a).producer < graph.value(b).producer; });
  ValueId so_far = none;
  for (const ValueId gradient : gradients) {
    std::vector<ValueId> inputs = {gradient};
    if (so_far != none) inputs.push_back(so_far);
    so_far = graph.apply(operation, graph.value(gradient).name + suffix, inputs);
  }
  return so_far;
}

// Inputs of updates besides gradients; none if unused.
struct Guards {
  ValueId finite = none;  // with loss scaling: whether all gradients are finite
  ValueId clip = none;    // factor of gradient clipping
};

Guards add_guards(TrainingStep& step, const std::vector<ValueId>& gradients, const OptimizerOptions& options,
                  bool scaled) {
  Guards guards;
  if (scaled) guards.finite = over_gradients(step.graph, gradients, "all_finite", ".finite");
  if (options.clip == 0) return guards;
  std::vector<ValueId> inputs = {over_gradients(step.graph, gradients, "sum_of_squares", ".squares")};
  if (scaled) inputs.push_back(step.optimizer_state.back());
  guards.clip = step.graph.apply("clip_factor", "clip", inputs, {{"most", options.clip}});
  return guards;
}

Attributes constants_of(const OptimizerOptions& options) {
  if (options.name == Optimizer::sgd)
    return {{"momentum", options.momentum}, {"weight_decay", options.weight_decay}};
  return {{"beta1", options.beta1},
          {"beta2", options.beta2},
          {"epsilon", options.epsilon},
          {"weight_decay", options.weight_decay}};
}

// Adds one update node for the trained parameters with these indices.
void add_update(TrainingStep& step, const std::string& name, const std::vector<std::size_t>& indices,
                const std::vector<ValueId>& gradients, const Guards& guards,
                const OptimizerOptions& options) {
  const std::size_t states = states_of(options.name).size();
  std::vector<ValueId> inputs, updates;
  for (const std::size_t i : indices) {
    inputs.push_back(gradients[i]);
    updates.push_back(step.trained[i]);
    for (std::size_t k = 0; k < states; ++k) updates.push_back(step.optimizer_state[states * i + k]);
  }
  if (guards.finite != none) inputs.insert(inputs.end(), {step.optimizer_state.back(), guards.finite});
  if (guards.clip != none) inputs.push_back(guards.clip);
  step.graph.add(choice_name(options.name), name, inputs, constants_of(options), updates);
}

bool is_small(const TrainingStep& step, std::size_t trained, const OptimizerOptions& options) {
  return step.graph.value(step.trained[trained]).shape.count() <= options.small_parameter;
}

void add_updates(TrainingStep& step, const std::vector<ValueId>& gradients, const Guards& guards,
                 const StepOptions& options) {
  step.graph.phase = Phase::update;
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < step.trained.size(); ++i) {
    if (is_small(step, i, options.optimizer)) {
      small.push_back(i);
    } else {
      const std::string& name = step.graph.value(step.trained[i]).name;
      add_update(step, name + ".update", {i}, gradients, guards, options.optimizer);
    }
  }
  if (!small.empty()) add_update(step, "small.update", small, gradients, guards, options.optimizer);
  if (guards.finite == none) return;
  const LossScaleOptions& scale = options.loss_scale;
  step.graph.add("loss_scale_update", "loss.scale.update", {guards.finite},
                 {{"initial", scale.initial},
                  {"interval", static_cast<double>(scale.interval)},
                  {"least", scale.least},
                  {"most", scale.most}},
                 {step.optimizer_state.back()});
}

// Turns the step of one sample into that of the share, with its graph and loss. Returns the gradients of the
// batch. Large gradients are exchanged individually, the small ones in one group with the loss, unless the
// loss is computed from sums over the batch (`together`).
std::vector<ValueId> share(TrainingStep& step, const std::vector<ValueId>& gradients,
                           const StepOptions& options, const std::vector<ValueId>& together,
                           std::vector<std::vector<ValueId>>& copies) {
  std::vector<std::vector<ValueId>> groups(1);
  if (together.empty()) groups.front().push_back(step.loss);
  std::size_t small = groups.front().size(), large = 1;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (is_small(step, i, options.optimizer))
      groups.front().push_back(gradients[i]);
    else
      groups.push_back({gradients[i]});
  }
  if (groups.front().empty()) groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(--large));
  SharedGraph shared = for_share(step.graph, options.share, groups, together);
  step.graph = std::move(shared.graph);
  copies = std::move(shared.copies);
  step.loss = together.empty() ? shared.sums.front().front() : copies[index(step.loss)].front();
  std::vector<ValueId> sums;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    sums.push_back(is_small(step, i, options.optimizer) ? shared.sums.front()[small++]
                                                        : shared.sums[large++].front());
  return sums;
}

std::vector<ValueId> slabs_of(const CutGraph& cut, ValueId id) {
  return cut.slabs[static_cast<std::size_t>(id)];
}
std::vector<ValueId> slabs_of(const CutGraph& cut, const std::vector<ValueId>& ids) {
  std::vector<ValueId> slabs;
  for (const ValueId id : ids) {
    const std::vector<ValueId> more = slabs_of(cut, id);
    slabs.insert(slabs.end(), more.begin(), more.end());
  }
  return slabs;
}

std::optional<Graph> in_fewer_slabs(const Graph& graph, std::int64_t planes_per_slab) {
  const std::optional<std::int64_t> planes = planes_of_fewer_slabs(graph, planes_per_slab);
  if (!planes) return std::nullopt;
  return cut_into_slabs(graph, *planes).graph;
}

// The planes of an input volume on each rank.
std::vector<Planes> planes_of_ranks(const Graph& graph, ValueId input, const StepOptions& options) {
  const std::int64_t depth = graph.value(input).shape[1], ranks = options.slab_ranks.count;
  const std::int64_t each = planes_of_slabs(graph, options.slabs, ranks)[index(input)].rank;
  std::vector<Planes> planes;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t from = std::min(rank * each, depth);
    planes.push_back(each == 0 || ranks == 1 ? Planes{0, depth} : Planes{from, std::min(from + each, depth)});
  }
  return planes;
}

// The slabs of this rank.
CutGraph cut_of_rank(const Graph& graph, const StepOptions& options) {
  CutGraph cut = cut_into_slabs(graph, options.slabs, options.slab_ranks.count);
  return options.slab_ranks.count == 1 ? std::move(cut) : part_of_rank(cut, options.slab_ranks);
}

}  // namespace

TrainingStep build_training_step(const StepOptions& options) {
  assert(options.share.batch == 1 || options.input[0] == 1);
  const bool scaled = options.activations == ElementType::f16;
  check_target(options);
  TrainingStep step;
  ForwardGraph forward = build_network(
      options.network, options.input, options.outputs, options.activations, /*training=*/true,
      options.voxel_alignment, [&](Graph& graph, const std::vector<ValueId>& trained) {
        step.optimizer_state = add_optimizer_state(graph, trained, options.optimizer.name, scaled);
      });
  step.graph = std::move(forward.graph);
  step.parameters = forward.parameters;
  step.trained = forward.trained;
  check_share(options, step.graph);
  const ValueId target = add_target(step.graph, forward.logits, options.loss);
  const Losses losses = add_losses(step.graph, forward, target, options.loss,
                                   options.network.deep_supervision, options.share.batch);
  step.loss = losses.loss;

  step.graph.phase = Phase::backward;
  std::vector<ValueId> gradients =
      differentiate(step.graph, {{step.loss, add_seed(step, scaled)}}, step.trained);
  for (const ValueId gradient : gradients) assert(gradient != none && "the loss depends on what is trained");
  std::vector<std::vector<ValueId>> copies;
  const bool together = options.loss.batch_dice && options.share.batch > 1;
  gradients = share(step, gradients, options, together ? losses.sums : std::vector<ValueId>(), copies);
  step.graph.phase = Phase::backward;
  add_updates(step, gradients, add_guards(step, gradients, options.optimizer, scaled), options);
  update_early(step.graph);

  if (options.sums_in_blocks) sum_in_blocks(step.graph);
  if (options.slab_ranks.count == 1) step.in_fewer_slabs = in_fewer_slabs(step.graph, options.slabs);
  step.planes = planes_of_ranks(step.graph, copies[index(forward.input)].front(), options);
  CutGraph cut = cut_of_rank(step.graph, options);
  step.input = slabs_of(cut, copies[index(forward.input)]);
  step.target = slabs_of(cut, copies[index(target)]);
  step.logits = slabs_of(cut, copies[index(forward.logits)]);
  step.loss = slabs_of(cut, step.loss).front();
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

namespace {

// Adds labels and their confusion matrix to a step that is not cut yet.
void add_labels(InferenceStep& step, ValueId probabilities, const LabelOptions& options) {
  Graph& graph = step.graph;
  const Shape logits = graph.value(probabilities).shape;
  const auto channels = static_cast<std::int64_t>(options.channels.size()) / 2;
  const auto values = static_cast<std::int64_t>(options.values.size());
  step.label_channels = graph.add_value("labels.channels", {channels, 2}, ElementType::f64, Role::input);
  step.label_values = graph.add_value("labels.values", {values}, ElementType::f64, Role::input);
  step.truth = {graph.add_value("truth", {logits[0], logits[1], logits[2], logits[3], 2}, ElementType::u8,
                                Role::input)};
  step.labels = {graph.apply("decode_labels", "labels", {probabilities, step.label_channels},
                             {{"nested", static_cast<double>(options.nested)}, {"least", options.least}})};
  step.confusion =
      graph.apply("confusion_matrix", "confusion", {step.truth[0], step.labels[0], step.label_values});
}

}  // namespace

// The loss comes before the probabilities, which may then overwrite the logits.
InferenceStep build_inference_step(const StepOptions& options, bool with_loss) {
  check_target(options);
  InferenceStep step;
  ForwardGraph forward = build_network(options.network, options.input, options.outputs, options.activations,
                                       /*training=*/false, options.voxel_alignment);
  step.graph = std::move(forward.graph);
  step.parameters = forward.parameters;
  ValueId target = none, loss = none;
  if (with_loss) {
    target = add_target(step.graph, forward.logits, options.loss);
    loss = add_loss(step.graph, forward.logits, target, options.loss).loss;
  }
  step.graph.phase = Phase::forward;
  const ValueId probabilities =
      options.logits && !with_loss
          ? forward.logits
          : step.graph.apply(options.loss.classes ? "softmax" : "sigmoid", "probabilities", {forward.logits});
  const bool with_labels = with_loss && !options.labels.none();
  if (with_labels) add_labels(step, probabilities, options.labels);

  if (options.slab_ranks.count == 1) step.in_fewer_slabs = in_fewer_slabs(step.graph, options.slabs);
  step.planes = planes_of_ranks(step.graph, forward.input, options);
  CutGraph cut = cut_of_rank(step.graph, options);
  step.input = slabs_of(cut, forward.input);
  if (!with_labels || options.labels.probabilities) step.probabilities = slabs_of(cut, probabilities);
  if (with_loss) {
    step.target = slabs_of(cut, target);
    step.loss = slabs_of(cut, loss).front();
  }
  if (with_labels) {
    step.truth = slabs_of(cut, step.truth);
    step.labels = slabs_of(cut, step.labels);
    for (ValueId* const id : {&step.label_channels, &step.label_values, &step.confusion})
      *id = slabs_of(cut, *id).front();
  }
  step.graph = std::move(cut.graph);
  return step;
}

}  // namespace voxswap::net
