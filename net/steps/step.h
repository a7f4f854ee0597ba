// Whole steps as one flat graph: what the planner plans and the executor runs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "net/graph/loss_terms.h"
#include "net/networks/network.h"
#include "net/steps/batch_tree.h"
#include "net/steps/pieces.h"

namespace voxswap::net {

struct LossOptions {
  double dice = 1;           // weight of the soft Dice term
  double cross_entropy = 0;  // weight of the binary cross entropy term
  double epsilon = 1e-5;
  bool classes = false;  // of the soft-max instead: a target is one of the classes, the first the background
  double smoothing = 0;  // of what cross entropy wants (net/ops/loss.cpp, softmax_loss.cpp)
  double focus = 0;      // gamma of the focal loss, which cross entropy becomes
  std::vector<double> weights{};       // of the outputs, beside one another; empty: all have the same
  bool batch_dice = false;             // Dice of all samples of a batch as one
  Unknown unknown = Unknown::nothing;  // of what nobody says anything (net/graph/loss_terms.h)
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
// Bytes of a voxel's target, which lie side by side: a bit for each output, and behind them one where voxels
// may be ignored, or one for each output where some may be unknown; or the number of a class, the low byte
// first, where the largest number that they hold stands for none of them.
std::int64_t target_bytes(std::int64_t outputs, const LossOptions& loss);

enum class Optimizer { adam, sgd };
constexpr std::array<std::string_view, 2> names_of(Optimizer) {
  return {"adam", "sgd"};
}

struct OptimizerOptions {
  Optimizer name = Optimizer::adam;
  double learning_rate = 5e-4;
  double weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;  // of Adam
  double momentum = 0.99;                             // Nesterov's, of SGD
  double clip = 0;  // the largest norm that all gradients together may have; 0: they are left alone
  // Elements of a parameter up to which it is updated together with all others that are as small. Four in
  // five are (biases, gammas, betas): on a GPU each would cost a launch and next to no work. Their gradients
  // wait for the last of them, and are 55 KiB in isensee2017.
  std::int64_t small_parameter = 4096;
};

// In f16 the loss is scaled (net/ops/loss_scale.cpp).
struct LossScaleOptions {
  double initial = 65536, least = 1, most = 16777216;  // powers of 2: scaling rounds nothing
  std::int64_t interval = 2000;                        // updates in a row after which it is doubled
};

struct StepOptions {
  NetworkOptions network;
  Shape input;  // N,D,H,W,C of the images
  // Bytes of which their voxels take a multiple where convolutions read them, by zeros behind the channels.
  std::int64_t voxel_alignment = 1;
  bool sums_in_blocks = true;  // Backend::sums_in_blocks
  std::int64_t outputs = 3;    // channels of the logits
  ElementType activations = ElementType::f32;
  LossOptions loss;
  OptimizerOptions optimizer;
  LossScaleOptions loss_scale;
  std::int64_t pieces = whole_volumes;  // planes of a piece of the largest volume (pieces.h)
  // Training: the samples that the step takes, one after the other (samples.h); `input` is then of one. Of a
  // network with batch norm, which takes a batch at once, there is one such share, and `input` is of all.
  Share share;
};

// Persistent values come first and in the same order in both: parameters, then (training only) the
// optimiser's states of each that is trained. Volumes that are written or read from outside are lists of
// their pieces, in order of depth; of one where they are not cut; of a share of samples, one sample's after
// the other's.
struct TrainingStep {
  Graph graph;
  std::vector<ValueId> input, target, logits;
  ValueId loss = none;
  std::vector<ValueId> parameters;
  std::vector<ValueId>
      trained;  // the parameters that any node reads and that are not frozen; the others stay as they are
  // Of those one after the other, Adam's named "<parameter>.m" and ".v", SGD's ".momentum"; in f16 then
  // "loss.scale".
  std::vector<ValueId> optimizer_state;
  std::optional<Graph> coarser;  // of a step in many pieces: the same in fewer
};
TrainingStep build_training_step(const StepOptions& options);
// What a value of the optimiser's state holds before the first step: zeros, but for the loss scale.
std::vector<float> initial_state(const Graph& graph, ValueId state);

struct InferenceStep {
  Graph graph;
  std::vector<ValueId> input, target;  // target and loss: none unless with_loss
  ValueId loss = none;
  std::vector<ValueId> probabilities;  // like the logits, f32
  std::vector<ValueId> parameters;
  std::optional<Graph> coarser;  // as a training step has it
};
InferenceStep build_inference_step(const StepOptions& options, bool with_loss);

}  // namespace voxswap::net
