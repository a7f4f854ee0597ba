// From probabilities to label maps on the case's own grid.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/cases/cases.h"

namespace voxswap::pipeline {

// What each output channel writes into a label map. targets labels: the channel with the largest probability
// of at least 0.5, of equal ones the first; where the background is a channel, of any size. targets regions:
// nested, from the largest to the smallest; each writes the label that its subregions leave over (whole
// tumour: oedema; core: necrosis; enhancing: enhancing). Channels are taken one after the other, so that
// nobody needs to hold all of them.
struct LabelDecoder {
  bool exclusive = true;
  float least = 0.5F;                 // probability that writes anything
  std::vector<std::int16_t> values;   // per channel
  std::vector<std::size_t> sequence;  // in which channels are taken

  // What the next channel of the sequence adds to `labels`, which begin as 0. `largest`: the largest
  // probability so far, which begins as 0 too.
  void take(std::size_t channel, std::span<const float> probabilities, std::span<float> largest,
            std::span<std::int16_t> labels) const;
  std::vector<std::int16_t> decode(std::span<const float> probabilities) const;  // D,H,W,channels -> D,H,W
};
LabelDecoder make_decoder(const data::Dataset& dataset, const TrainingOptions& training);

// "CASE.nii.gz"; of pictures, "CASE.png".
std::string label_map_name(const data::Dataset& dataset, const std::string& id);

// A prepared case's probabilities, a channel after the other, on the training grid.
struct ProbabilityMaps {
  std::vector<data::Image> channels;
};
ProbabilityMaps probability_maps(const data::PreparedCase& prepared, std::span<const float> probabilities);

struct Prediction {
  data::LabelMap
      native;  // on the case's own grid: probabilities resampled linearly onto the crop, then decided
  data::LabelMap on_training_grid;  // decided where the network computes
};
// Beside its result and what it is given, it takes the memory of a few planes of the crop.
Prediction decide(const ProbabilityMaps& maps, const data::PreparedCase& prepared,
                  const LabelDecoder& decoder);

// A channel on the case's own grid; 0 outside the crop.
data::Image native_probability(const data::Image& channel, const data::PreparedCase& prepared);

}  // namespace voxswap::pipeline
