// `voxswap predict`: predicts new cases, without ground truth, with the weights of a finished run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "pipeline/cases/options.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

// Label maps for the cases of `input` (a data set, or one case: a folder or a 4D file), on their own grids,
// with the weights of finished runs.
// Of one run with several repeats a folder for each, or one mean, with how.ensemble or evaluate.ensemble; of
// several runs, which are alike (predict.h), one mean of all. Probabilities go to
// OUT/probabilities/CASE_OUTPUT.nii.gz.
void predict(const std::vector<RunOptions>& runs, const fs::path& input, const fs::path& out,
             const PredictOptions& how);

// The same of scans in memory, with networks that are loaded once. The repeats of all runs are averaged.
class MemoryPredictor {
 public:
  MemoryPredictor(const std::vector<RunOptions>& runs, const PredictOptions& how);
  ~MemoryPredictor();

  struct Result {
    data::LabelMap labels;                   // in the orientation of volume.stored()
    std::vector<data::Image> probabilities;  // of each output, likewise; empty unless how.probabilities
  };
  // `volume`: in the canonical frame. Throws Exit::bad_data for voxels that are no numbers.
  Result predict(const data::Volume& volume);
  const data::Dataset& dataset() const;             // that it was trained on
  const std::vector<std::string>& outputs() const;  // names

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::pipeline
