#include "experiments/growth.h"

#include <algorithm>
#include <cmath>

#include "net/networks/networks.h"

namespace voxswap::experiments {

namespace {

// The smallest multiple with at least `side / factor` voxels.
std::int64_t coarser_side(std::int64_t side, double factor, std::int64_t multiple) {
  const double parts = static_cast<double>(side) / factor / static_cast<double>(multiple);
  return multiple * std::max<std::int64_t>(1, std::llround(std::ceil(parts - 1e-9)));
}

// Voxel sizes become multiples of the smallest one; axes with larger voxels keep them, as do those with each
// case's own.
Spacing coarser_spacing(Spacing spacing, double factor) {
  const double finest = std::min({spacing[0], spacing[1], spacing[2] > 0 ? spacing[2] : spacing[0]});
  for (double& side : spacing)
    if (side > 0) side = std::max(side, factor * finest);
  return spacing;
}

}  // namespace

std::optional<LoadedExperiment> growth_stage(const LoadedExperiment& experiment) {
  std::vector<pipeline::GrowthStage> stages = experiment.training.growth;
  if (stages.empty()) return std::nullopt;
  const pipeline::GrowthStage last = stages.back();
  stages.pop_back();
  for (pipeline::GrowthStage& stage : stages) stage.coarser /= last.coarser;  // relative to the new grid

  LoadedExperiment stage = experiment;
  stage.name = experiment.name + "_growth";
  stage.output = pipeline::growth_folder(experiment.output);
  stage.training.epochs = last.epochs;
  stage.training.growth = stages;
  stage.training.averaging.start = 0;
  data::PrepareOptions& preprocess = stage.preprocess;
  if (preprocess.by_spacing()) preprocess.spacing = coarser_spacing(preprocess.spacing, last.coarser);
  const net::Along multiples = net::side_multiples(stage.network);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double finer = experiment.preprocess.spacing[axis];
    const double factor = !preprocess.by_spacing() ? last.coarser
                          : finer > 0              ? preprocess.spacing[axis] / finer
                                                   : 1;
    const auto shrink = [&](std::int64_t& side) { side = coarser_side(side, factor, multiples[axis]); };
    shrink(preprocess.resolution[axis]);
    if (stage.training.patch) shrink((*stage.training.patch)[axis]);
  }
  write_settings(stage);
  return stage;
}

std::vector<StageForecast> forecast_growth(const LoadedExperiment& experiment,
                                           const pipeline::DataShape& data,
                                           const pipeline::ForecastOptions& how) {
  std::vector<StageForecast> stages;
  for (auto stage = growth_stage(experiment); stage; stage = growth_stage(*stage)) {
    const pipeline::StepForecast step(*stage, data, how);
    const pipeline::Forecast forecast = pipeline::forecast(step, data, *stage);
    const double epoch = data.found ? pipeline::epoch_seconds(forecast, *stage) : 0;
    stages.insert(stages.begin(),
                  {*stage, forecast.arena_bytes, forecast.cache_bytes, forecast.output_bytes, epoch});
  }
  return stages;
}

double seconds_of(const std::vector<StageForecast>& stages) {
  double seconds = 0;
  for (const StageForecast& stage : stages) seconds += stage.seconds();
  return seconds;
}

}  // namespace voxswap::experiments
