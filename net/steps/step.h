// Builds whole steps as one flat graph, which the planner schedules and the executor runs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "net/graph/operation.h"
#include "net/networks/network.h"
#include "net/steps/batch_tree.h"
#include "net/steps/losses.h"
#include "net/steps/slabs.h"

namespace voxswap::net {

enum class Optimizer { adam, sgd };
constexpr std::array<std::string_view, 2> names_of(Optimizer) {
  return {"adam", "sgd"};
}

struct OptimizerOptions {
  Optimizer name = Optimizer::adam;
  double learning_rate = 5e-4;
  double weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;  // Adam
  double momentum = 0.99;                             // Nesterov, SGD only
  double clip = 0;  // largest norm of all gradients together; 0: no clipping
  // Parameters of up to this many elements are updated together. These are four in five parameters (biases,
  // gammas, betas); on a GPU each would cost a launch for next to no work. Their gradients stay live until
  // the last of them: 55 KiB in isensee2017.
  std::int64_t small_parameter = 4096;
  bool operator==(const OptimizerOptions&) const = default;
};

// Dynamic loss scaling, used for f16 (net/ops/updates.cpp).
struct LossScaleOptions {
  double initial = 65536, least = 1, most = 16777216;  // powers of 2, so that scaling is exact
  std::int64_t interval = 2000;                        // good updates in a row before the scale doubles
};

// For validation: labels decided from the probabilities and compared with the ground truth
// (net/ops/label_maps.cpp).
struct LabelOptions {
  std::vector<double> channels;  // of decode_labels: label and order of each output
  std::int64_t nested = 0;
  double least = 0;
  std::vector<double> values;  // of confusion_matrix
  bool probabilities = false;  // the step also returns probabilities
  bool none() const { return channels.empty(); }
};

struct StepOptions {
  NetworkOptions network;
  Shape input;  // N,D,H,W,C of the images
  // Convolutions read image voxels padded with zero channels to a multiple of this many bytes.
  std::int64_t voxel_alignment = 1;
  bool sums_in_blocks = true;  // Backend::sums_in_blocks
  std::int64_t outputs = 3;    // channels of the logits
  ElementType activations = ElementType::f32;
  LossOptions loss;
  OptimizerOptions optimizer;
  LossScaleOptions loss_scale;
  LabelOptions labels;                 // of an inference step with loss
  bool logits = false;                 // an inference step without loss returns logits, not probabilities
  std::int64_t slabs = whole_volumes;  // slab size in planes of the largest volume (slabs.h)
  SlabRanks slab_ranks;                // that share each sample's volumes (rank_slabs.h)
  // Training: samples of the step, run one after the other (samples.h); `input` is the shape of one sample. A
  // network with batch norm takes the batch at once: it has one share, and `input` is the shape of the batch.
  Share share;
};

// Persistent values come first and in the same order in both steps: parameters, then (training only) the
// optimiser state of each trained parameter. Volumes read or written from outside are lists of slabs in order
// of depth, with one entry if not split, and of the rank's own planes. With a share of samples, the lists of
// the samples follow one another.
struct TrainingStep {
  Graph graph;
  std::vector<ValueId> input, target, logits;
  std::vector<Planes> planes;  // of the volumes, per rank that shares them
  ValueId loss = none;
  std::vector<ValueId> parameters;
  std::vector<ValueId>
      trained;  // parameters that some node reads and that are not frozen; the others never change
  // For each trained parameter: "<parameter>.m" and ".v" for Adam, ".momentum" for SGD. In f16 "loss.scale"
  // follows.
  std::vector<ValueId> optimizer_state;
  std::optional<Graph> in_fewer_slabs;  // for steps with many slabs: the same step with fewer
};
TrainingStep build_training_step(const StepOptions& options);
// Initial value of an optimiser state: zeros, except for the loss scale.
std::vector<float> initial_state(const Graph& graph, ValueId state);

struct InferenceStep {
  Graph graph;
  std::vector<ValueId> input, target;  // target and loss: none unless with_loss
  ValueId loss = none;
  // Shaped like the logits, f32; with labels only if wanted. With StepOptions::logits, the logits.
  std::vector<ValueId> probabilities;
  // With StepOptions::labels: label maps, of which the ground truth is an input, the tables of LabelOptions,
  // which are inputs too, and the confusion matrix.
  std::vector<ValueId> truth, labels;
  ValueId label_channels = none, label_values = none, confusion = none;
  std::vector<Planes> planes;  // as in TrainingStep
  std::vector<ValueId> parameters;
  std::optional<Graph> in_fewer_slabs;  // as in TrainingStep
};
InferenceStep build_inference_step(const StepOptions& options, bool with_loss);

}  // namespace voxswap::net
