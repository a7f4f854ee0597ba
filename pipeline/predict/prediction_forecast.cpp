#include "pipeline/predict/prediction_forecast.h"

#include <algorithm>

#include "data/formats/image_io.h"
#include "data/layouts/prediction_input.h"
#include "data/prepare/nnunet_recipe.h"
#include "data/volumes/orientation.h"
#include "data/volumes/spline.h"
#include "pipeline/cases/cases.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/probability_store.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

namespace {

struct CaseBytes {
  std::int64_t while_read, prepared, probabilities;
};

// A case that is read: its files, the crop and the resampled image. One that is predicted: that image, and
// label maps before and after they are turned.
CaseBytes case_bytes(const data::Geometry& native, const Size3& size, std::int64_t channels,
                     std::int64_t outputs) {
  constexpr auto value = static_cast<std::int64_t>(sizeof(float)), label = std::int64_t{sizeof(std::int16_t)};
  return {(2 * native.count() + voxels_in(size)) * channels * value,
          voxels_in(size) * channels * value + 2 * label * native.count(), native.count() * outputs * value};
}

Size3 training_size(const data::Geometry& stored, const data::Geometry& native,
                    const Experiment& experiment) {
  const data::PrepareOptions& options = experiment.preprocess;
  if (options.recipe == data::Recipe::nnunet) return data::most_voxels_as_nnunet(stored, options);
  Size3 size = options.by_spacing() ? data::size_at(native, options.spacing) : options.resolution;
  if (options.slices == data::Slices::axial) size[2] = native.size[2];
  return size;
}

}  // namespace

PredictionForecast forecast_prediction(const std::vector<TrainedRun>& given, const fs::path& input,
                                       const PredictOptions& how) {
  const auto [runs, trained] = verified(given, how);
  const Experiment& experiment = runs.front().experiment;
  const data::Dataset dataset = data::open_for_prediction(trained.front(), experiment.data, input);
  const std::int64_t outputs = output_count(trained.front(), experiment.training);
  const auto channels = static_cast<std::int64_t>(dataset.modalities.size());
  Predictor predictor(runs.front(), trained.front(), how);
  const std::vector<Member> members = members_of(runs);
  const bool together = predict_together(runs, how);
  predictor.use_members(together ? members : std::vector<Member>{members.front()});

  PredictionForecast forecast;
  forecast.cases = dataset.cases.size();
  forecast.networks = members.size();
  for (const data::CaseFiles& files : dataset.cases) {
    const data::Geometry stored = data::read_header(files.first_channel()).geometry;
    const data::Geometry native = data::canonical(stored);
    const Size3 size = training_size(stored, native, experiment);
    const CaseBytes bytes = case_bytes(native, size, channels, outputs);
    Scratch scratch = scratch_for(experiment.memory, {});
    std::int64_t host = bytes.prepared, disk = 0;
    if (how.probabilities) {
      (scratch.takes(bytes.probabilities) ? host : disk) += bytes.probabilities;
      host += 2 * bytes.probabilities / outputs;  // an output that is written
    }
    const PredictionCost cost = predictor.cost(size, scratch);
    host += cost.host_bytes;
    // The next case is read meanwhile.
    host = dataset.cases.size() > 1 ? host + bytes.while_read : std::max(host, bytes.while_read);
    forecast.device_bytes = cost.device_bytes;
    forecast.host_bytes = std::max(forecast.host_bytes, host);
    forecast.disk_bytes = std::max(forecast.disk_bytes, disk + cost.disk_bytes);
    forecast.case_seconds =
        std::max(forecast.case_seconds, cost.seconds * static_cast<double>(together ? 1 : forecast.networks));
    forecast.passes = std::max(forecast.passes, cost.passes);
  }
  if (runs.front().previous.empty()) return forecast;
  const PredictionForecast previous = forecast_prediction(runs.front().previous, input, how);
  forecast.networks += previous.networks;
  forecast.passes += previous.passes;
  forecast.case_seconds += previous.case_seconds;
  forecast.device_bytes += previous.device_bytes;
  forecast.host_bytes = std::max(forecast.host_bytes, previous.host_bytes);
  return forecast;
}

}  // namespace voxswap::pipeline
