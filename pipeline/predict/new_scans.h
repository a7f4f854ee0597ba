// `voxswap predict`: predicts new cases, without ground truth, with the weights of a finished run.
#pragma once

#include <chrono>
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

// Predicts the cases that are in the folder `watched` and those that arrive there, until it is interrupted;
// the networks stay in memory. A case is predicted when its files did not change for the time `settle`, and
// again when they change. Cases that an earlier call with the same options predicted are left out, so a call
// that was killed can be repeated.
void predict_arriving(const std::vector<TrainedRun>& runs, const fs::path& watched, const fs::path& out,
                      const PredictOptions& how, std::chrono::milliseconds settle);

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
