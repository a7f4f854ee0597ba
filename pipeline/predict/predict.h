// From probabilities to label maps on the case's own grid.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/options.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

// What each output channel writes into a label map. Labels: the channel with the largest probability
// of at least 0.5, of equal ones the first; where the background is a channel, of any size. Regions:
// nested, from the largest to the smallest; each writes the label that its subregions leave over (whole
// tumour: oedema; core: necrosis; enhancing: enhancing). Of both, labels are written over regions. Channels
// are taken one after the other, so that nobody needs to hold all of them.
struct LabelDecoder {
  std::size_t nested = 0;             // channels that are regions: the first ones
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

struct Prediction {
  data::LabelMap
      native;  // on the case's own grid: probabilities resampled linearly onto the crop, then decided
  data::LabelMap on_training_grid;  // decided where the network computes
};

// What takes the planes of a label map, one after the other in order, some at a time.
using TakeLabels = std::function<void(std::span<const std::int16_t>)>;

// Decides as probabilities come, a few planes at a time, and hands labels on as soon as they are decided:
// nobody needs to hold those of a whole volume, neither where the network computes nor, times as many, on the
// case's own grid.
class Decision {
 public:
  // `prepared` and `decoder` outlive it. The labels are those of a Prediction.
  Decision(const data::PreparedCase& prepared, const LabelDecoder& decoder, TakeLabels native,
           TakeLabels on_training_grid);

  void add(std::span<const float> planes);  // the next of the training grid, D,H,W,channels
  void finish();                            // REQUIRES: all were added

 private:
  void take_planes(std::span<const float> planes);
  void decide_planes(std::int64_t first, std::int64_t count);  // of the crop
  void hand_on_background(std::int64_t planes);                // of the case's own grid

  const data::PreparedCase& prepared_;
  const LabelDecoder& decoder_;
  TakeLabels native_, on_training_grid_;
  data::LinearAxis depth_;                 // of the crop's planes between those of the training grid
  std::vector<std::vector<float>> slab_;   // of each channel, planes of the training grid that are needed yet
  std::int64_t slab_first_ = 0, end_ = 0;  // those are slab_first_ to end_, without end_
  std::int64_t decided_ = 0;               // planes of the crop
};
TakeLabels append_to(std::vector<std::int16_t>& labels);
Prediction decide(std::span<const float> probabilities, const data::PreparedCase& prepared,
                  const LabelDecoder& decoder);

// A channel of D,H,W,`channels` on the case's own grid; 0 outside the crop.
data::Image native_probability(std::span<const float> probabilities, std::size_t channel,
                               std::size_t channels, const data::PreparedCase& prepared);

// Ensembles: several runs that predict together, as the folds of a cross-validation or models with other
// seeds.

// Every repeat of every run.
std::vector<Member> members_of(const std::vector<RunOptions>& runs);

// Whether the probabilities of all of them are averaged, instead of a folder for each.
bool predict_together(const std::vector<RunOptions>& runs, const PredictOptions& how);

// Their probabilities can be averaged where they prepare cases alike and their channels and outputs have one
// meaning; their networks and patches may differ. Throws Exit::usage naming what differs. `trained`: what
// each was trained on.
void check_alike(const std::vector<RunOptions>& runs, const std::vector<data::Dataset>& trained,
                 const PredictOptions& how);

}  // namespace voxswap::pipeline
