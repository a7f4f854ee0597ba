// Growing grids: a run with training.growth begins with the weights of a run on a coarser grid, which it
// trains first, in its own folder (pipeline::growth_folder()). That run may itself begin with a coarser one.
//
// As progressive growing of patch size (Fischer et al. 2024, "Progressive Growing of Patch Size"), with
// coarser grids in place of smaller patches, so that a step sees as much of the anatomy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/experiment.h"
#include "pipeline/plan/forecast.h"

namespace voxswap::experiments {

// The run whose weights this one begins with: with the epochs of the last stage, on its grid, and with the
// stages before it. nullopt without training.growth. REQUIRES: no automatic spacing or resolution.
std::optional<LoadedExperiment> growth_stage(const LoadedExperiment& experiment);

// Memory, disk and time of such a run, without the stages before it.
struct StageForecast {
  LoadedExperiment experiment;
  std::int64_t memory_bytes = 0, cache_bytes = 0, output_bytes = 0;
  double epoch_seconds = 0;  // without validation
  double seconds() const {   // of all repeats
    return epoch_seconds * static_cast<double>(experiment.training.epochs * experiment.training.repeats);
  }
};
// Forecasts of all stages, the coarsest first.
std::vector<StageForecast> forecast_growth(const LoadedExperiment& experiment,
                                           const pipeline::DataShape& data,
                                           const pipeline::ForecastOptions& how);
double seconds_of(const std::vector<StageForecast>& stages);

}  // namespace voxswap::experiments
