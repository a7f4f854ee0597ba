// Scores the prediction of a validation case on the grids of evaluate.at.
#pragma once

#include <cstdint>
#include <vector>

#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/predict/predict.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// One row per grid and region. Regions that are not annotated in this case get a row without scores.
std::vector<DiceRow> case_scores(const Experiment& experiment, std::int64_t repeat,
                                 const data::Dataset& dataset, const data::CaseFiles& files,
                                 const data::Volume& volume, const data::PreparedCase& prepared,
                                 const Prediction& prediction);

}  // namespace voxswap::pipeline
