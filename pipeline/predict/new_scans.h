// `voxswap predict`: predicts new cases, without ground truth, with the weights of a finished run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

// Predicts label maps for the cases of `input` (a data set, or one case: a folder or a 4D file) on their own
// grids. A run with several repeats gets a folder for each, or with how.ensemble or evaluate.ensemble one
// averaged prediction; several runs, which must be compatible (predict.h), are always averaged. Probabilities
// are written to OUT/probabilities/CASE_OUTPUT.nii.gz.
void predict(const std::vector<TrainedRun>& runs, const fs::path& input, const fs::path& out,
             const PredictOptions& how);

// Predicts scans in memory, with networks that are loaded once. Averages the repeats of all runs.
class MemoryPredictor {
 public:
  MemoryPredictor(const std::vector<TrainedRun>& runs, const PredictOptions& how);
  ~MemoryPredictor();

  struct Result {
    data::LabelMap labels;  // in the orientation of volume.stored()
    std::vector<data::Image>
        probabilities;  // of each output, also in that orientation; empty unless how.probabilities
  };
  // `volume`: in canonical orientation. Throws Exit::bad_data for voxels that are not finite numbers.
  Result predict(const data::Volume& volume);
  const data::Dataset& dataset() const;             // the training data set
  const std::vector<std::string>& outputs() const;  // names

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::pipeline
