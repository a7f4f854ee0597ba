// Converts probabilities to label maps on the case's own grid.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/label_decoder.h"
#include "pipeline/predict/predictor.h"
#include "pipeline/predict/probability_store.h"

namespace voxswap::pipeline {

// "CASE.nii.gz", or "CASE.png" for 2D images.
std::string label_map_name(const data::Dataset& dataset, const std::string& id);

struct Prediction {
  data::LabelMap
      native;  // on the case's own grid: decided after linear resampling of probabilities to the crop
  data::LabelMap on_training_grid;  // decided on the training grid
};

// Decides labels in a stream: receives probabilities a few planes at a time and passes on labels as soon as
// they are decided, on all cores. No whole volume is held in memory, neither on the training grid nor on the
// larger grid of the case.
class Decision {
 public:
  // `prepared` and `decoder` must outlive it. The results equal those of a Prediction. on_training_grid may
  // be empty. `store`: also gets the probabilities of all outputs on the case's own grid.
  Decision(const data::PreparedCase& prepared, const LabelDecoder& decoder, TakeLabels native,
           TakeLabels on_training_grid, ProbabilityStore* store = nullptr);

  void add(std::span<const float> planes);  // the next planes of the training grid, D,H,W,channels
  void finish();                            // REQUIRES: all planes were added

 private:
  void take_planes(std::span<const float> planes);
  void decide_planes(std::int64_t first, std::int64_t count);  // of the crop
  void decide_rows(std::int64_t begin, std::int64_t end, std::int64_t first, std::span<std::int16_t> planes);
  void hand_on_background(std::int64_t planes);  // of the case's own grid

  const data::PreparedCase& prepared_;
  const LabelDecoder& decoder_;
  TakeLabels native_, on_training_grid_;
  ProbabilityStore* store_;
  // Interpolation of the crop's voxels between those of the training grid, along x, y, z.
  std::array<data::LinearAxis, 3> axes_;
  std::vector<float> slab_;                // planes of the training grid that are still needed
  std::int64_t slab_first_ = 0, end_ = 0;  // range of these planes, end_ exclusive
  std::int64_t decided_ = 0;               // planes of the crop
};
TakeLabels append_to(std::vector<std::int16_t>& labels);
Prediction decide(std::span<const float> probabilities, const data::PreparedCase& prepared,
                  const LabelDecoder& decoder);

// Ensembles: several runs predict together, such as the folds of a cross-validation or models with different
// seeds.

// All repeats of all runs.
std::vector<Member> members_of(const std::vector<TrainedRun>& runs);

// True if probabilities of all members are averaged; otherwise each gets its own folder.
bool predict_together(const std::vector<TrainedRun>& runs, const PredictOptions& how);

// Runs whose files were verified, with the data set that each was trained on.
struct VerifiedRuns {
  std::vector<TrainedRun> runs;
  std::vector<data::Dataset> trained;
};
// Verifies the files of each run, and that the runs are alike.
VerifiedRuns verified(const std::vector<TrainedRun>& given, const PredictOptions& how);

// Checks that probabilities can be averaged: same preprocessing, channels and outputs; networks and patches
// may differ. Throws Exit::usage that names the difference. `trained`: the data set of each run.
void check_alike(const std::vector<TrainedRun>& runs, const std::vector<data::Dataset>& trained,
                 const PredictOptions& how);

}  // namespace voxswap::pipeline
