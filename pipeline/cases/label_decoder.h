// Label maps from probabilities: the rules, and what a validation counts on the device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/voxel_grid.h"
#include "data/layouts/dataset.h"
#include "metrics/overlap.h"
#include "net/steps/step.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

// Rules for writing output channels into a label map. Labels: the channel with the largest probability wins
// if it is at least 0.5 (no minimum if the background is a channel); ties go to the first. Regions: written
// from the largest to the smallest; each writes the label that remains without its subregions (whole tumour:
// oedema; core: necrosis; enhancing: enhancing). With both, labels overwrite regions. NaN counts as 0.
struct LabelDecoder {
  std::size_t nested = 0;             // number of leading channels that are regions
  float least = 0.5F;                 // probability threshold
  std::vector<std::int16_t> values;   // label value per channel
  std::vector<std::size_t> sequence;  // processing order of channels
  // Average::nnunet: values are logits, kept in half precision; they become probabilities by soft-max, or by
  // the sigmoid.
  bool logits = false, softmax = false;
  float lowest = 0;  // below or equal to all values
  // Recipe nnunet: the spacing of the training grid, which decides along which axis values are not
  // interpolated (data/prepare/nnunet_recipe.h). 0: along all axes.
  Spacing spacing{0, 0, 0};

  std::vector<std::int16_t> decode(std::span<const float> probabilities) const;  // D,H,W,channels -> D,H,W
  // The same on this thread alone.
  void decode_voxels(std::span<const float> probabilities, std::span<std::int16_t> labels) const;
};
LabelDecoder make_decoder(const data::Dataset& dataset, const TrainingOptions& training);
// The same for predictions of new and validation cases, by evaluate.average and preprocess.recipe.
LabelDecoder make_decoder(const data::Dataset& dataset, const Experiment& experiment);
// Probabilities from the values that a network of this decoder predicts, ...,channels.
std::vector<float> probabilities_of(std::span<const float> values, const LabelDecoder& decoder);

// Receives the planes of a label map in order, several per call.
using TakeLabels = std::function<void(std::span<const std::int16_t>)>;

// The labels of a validation step, for whole volumes of a data set with a label per voxel. Cases at a spacing
// may be larger than the network's input, and then need probabilities too.
net::LabelOptions label_options(const Experiment& experiment, const data::Dataset& dataset);

// Counts label pairs by the confusion matrix of a step with these labels.
class LabelCounts {
 public:
  LabelCounts(const net::LabelOptions& labels, int ignore_label);

  // The ground truth of a case (D,H,W of `size`) in a box around it. Voxels that do not count, which are
  // padding or ignored, have the label -1.
  std::vector<std::int16_t> truth(const std::vector<std::int16_t>& truth, const Size3& size,
                                  const VoxelBox& box) const;
  // As metrics::label_pairs(), without boxes.
  std::vector<metrics::LabelPair> pairs(std::span<const double> confusion) const;

 private:
  std::vector<std::int16_t> values_;   // of the rows and columns
  std::vector<std::int16_t> counted_;  // the label counted for each label, as an unsigned 16-bit number
};

}  // namespace voxswap::pipeline
