#include "net/steps/losses.h"

#include <numeric>

#include "base/text.h"
#include "net/graph/graph.h"

namespace voxswap::net {

namespace {

LossTerms terms_of(const LossOptions& options) {
  LossTerms terms;
  terms.smoothing = options.smoothing;
  terms.focus = options.focus;
  if (!options.classes) terms.unknown = options.unknown;  // a class target has one number that means no class
  return terms;
}

// The column of the sums that holds the count of the voxels that contribute; 0 if all contribute equally.
int counting_column(const LossOptions& options) {
  const bool all_known = options.unknown == Unknown::nothing;
  if (options.classes) return all_known && options.weights.empty() ? 0 : 1;
  return all_known ? 0 : 4;
}

// Weights for the loss of one sample's sums (the losses of a batch are then added) or of the whole batch's
// sums.
LossWeights weights_of(const LossOptions& options, const Shape& logits, double weight, std::int64_t batch) {
  const std::int64_t voxels = logits[1] * logits[2] * logits[3];
  const double shared = options.batch_dice ? 1 : static_cast<double>(batch);
  LossWeights weights;
  weights.dice = options.dice * weight / shared;
  weights.cross_entropy = options.cross_entropy * weight / shared;
  weights.epsilon = options.epsilon;
  weights.first = options.classes ? 1 : 0;
  weights.count = static_cast<double>(options.classes ? voxels : voxels * logits[4]);
  if (options.batch_dice) weights.count *= static_cast<double>(batch);
  weights.counted_by = counting_column(options);
  weights.of_output = options.weights;
  return weights;
}

// The target at the resolution of logits of a lower level.
ValueId target_like(Graph& graph, const std::string& name, ValueId target, ValueId logits) {
  graph.phase = Phase::loss;
  const Shape large = graph.value(target).shape, small = graph.value(logits).shape;
  return graph.apply("subsample", name, {target},
                     {{"d", static_cast<double>(large[1] / small[1])},
                      {"h", static_cast<double>(large[2] / small[2])},
                      {"w", static_cast<double>(large[3] / small[3])}});
}

}  // namespace

LossOptions loss_options(Loss loss) {
  LossOptions options;
  if (loss == Loss::weighted_dice) return options;
  options.cross_entropy = 1;
  if (loss == Loss::cross_entropy || loss == Loss::softmax_cross_entropy) options.dice = 0;
  options.classes = loss == Loss::softmax_cross_entropy || loss == Loss::softmax_dice_cross_entropy;
  return options;
}

std::int64_t target_bytes(std::int64_t outputs, const LossOptions& loss) {
  if (!loss.classes) return terms_of(loss).target_bytes(outputs);
  return outputs <= 255 ? 1 : 2;
}

ValueId add_target(Graph& graph, ValueId logits, const LossOptions& loss) {
  const Shape shape = graph.value(logits).shape;
  const std::int64_t bytes = target_bytes(shape[4], loss);
  Shape target = {shape[0], shape[1], shape[2], shape[3]};
  if (bytes > 1) target = {shape[0], shape[1], shape[2], shape[3], bytes};
  return graph.add_value("target", target, ElementType::u8, Role::input);
}

Losses add_loss(Graph& graph, ValueId logits, ValueId target, const LossOptions& options,
                const std::string& name, double weight, std::int64_t batch) {
  graph.phase = Phase::loss;
  Attributes terms;
  terms_of(options).add_to(terms);
  const ValueId sums = graph.apply(options.classes ? "softmax_loss_sums" : "loss_sums", name + ".sums",
                                   {logits, target}, terms);
  const Shape shape = graph.value(logits).shape;
  return {graph.apply("loss_value", name, {sums}, weights_of(options, shape, weight, batch).attributes()),
          {sums}};
}

Losses add_losses(Graph& graph, const ForwardGraph& forward, ValueId target, const LossOptions& options,
                  const std::vector<double>& weights, std::int64_t batch) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (forward.lower_logits.empty()) return add_loss(graph, forward.logits, target, options, "loss", 1, batch);
  Losses losses = add_loss(graph, forward.logits, target, options, "loss.0", weights[0] / all, batch);
  for (std::size_t level = 1; level <= forward.lower_logits.size(); ++level) {
    const ValueId logits = forward.lower_logits[level - 1];
    const std::string name = format("loss.{}", level);
    const Losses lower = add_loss(graph, logits, target_like(graph, name + ".target", target, logits),
                                  options, name, weights[level] / all, batch);
    const bool is_last = level == forward.lower_logits.size();
    losses.loss = graph.apply("add", is_last ? "loss" : name + ".sum", {losses.loss, lower.loss});
    losses.sums.push_back(lower.sums.front());
  }
  return losses;
}

}  // namespace voxswap::net
