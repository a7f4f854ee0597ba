// The loss of a step: its options, its target, and its nodes on top of a network's logits.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "net/graph/loss_terms.h"
#include "net/networks/network.h"

namespace voxswap::net {

struct LossOptions {
  double dice = 1;           // weight of the soft Dice term
  double cross_entropy = 0;  // weight of the binary cross entropy term
  double epsilon = 1e-5;
  bool classes = false;  // soft-max over exclusive classes instead of labels; class 0 is the background
  double smoothing = 0;  // label smoothing in the cross entropy (net/ops/loss.cpp)
  double focus = 0;      // gamma of the focal loss; 0: plain cross entropy
  std::vector<double> weights{};       // relative weights of the outputs; empty: equal
  bool batch_dice = false;             // Dice over all samples of a batch as one volume
  Unknown unknown = Unknown::nothing;  // what may lack annotation (net/graph/loss_terms.h)
};
enum class Loss {
  weighted_dice,
  cross_entropy,
  dice_cross_entropy,
  softmax_cross_entropy,
  softmax_dice_cross_entropy
};
constexpr std::array<std::string_view, 5> names_of(Loss) {
  return {"weighted_dice", "cross_entropy", "dice_cross_entropy", "softmax_cross_entropy",
          "softmax_dice_cross_entropy"};
}
LossOptions loss_options(Loss loss);
// Bytes of a voxel's target. For labels: one bit per output, then one bit for an ignored voxel or one per
// output for missing annotation. For classes: the class number, low byte first; the largest number means no
// class.
std::int64_t target_bytes(std::int64_t outputs, const LossOptions& loss);

// Adds the target for these logits.
ValueId add_target(Graph& graph, ValueId logits, const LossOptions& loss);

// A loss, and the sums from which it is computed.
struct Losses {
  ValueId loss = none;
  std::vector<ValueId> sums;
};

// The loss is scaled to the mean over `batch` samples that take such a step each.
Losses add_loss(Graph& graph, ValueId logits, ValueId target, const LossOptions& options,
                const std::string& name = "loss", double weight = 1, std::int64_t batch = 1);

// Weighted sum of the losses of all levels, finest first (deep supervision: Lee et al., "Deeply-Supervised
// Nets", 2015).
Losses add_losses(Graph& graph, const ForwardGraph& forward, ValueId target, const LossOptions& options,
                  const std::vector<double>& weights, std::int64_t batch);

}  // namespace voxswap::net
