#include "pipeline/predict/case_scores.h"

#include "data/volumes/label_resampling.h"
#include "pipeline/cases/patches.h"
#include "pipeline/predict/evaluate.h"

namespace voxswap::pipeline {

namespace {

// Ground truth and prediction on a common grid.
struct Compared {
  data::LabelMap truth, prediction;
};

// Grids given as a number have that side; for images and slices (`by_plane`) only in the plane.
Compared compared_on(const std::string& at, const data::Volume& volume, const data::PreparedCase& prepared,
                     const Prediction& prediction, bool by_plane) {
  if (at == "native") return {volume.truth, prediction.native};
  if (at == "training") {
    return {{prepared.training_geometry(), prepared.truth}, prediction.on_training_grid};
  }
  const std::int64_t side = std::stoll(at);
  const Size3 grid = {side, side, by_plane ? prepared.size[2] : side};
  return {data::resample_nearest(data::crop(volume.truth, prepared.box), grid),
          data::resample_nearest(prediction.on_training_grid, grid)};
}

}  // namespace

std::vector<DiceRow> case_scores(const Experiment& experiment, std::int64_t repeat,
                                 const data::Dataset& dataset, const data::CaseFiles& files,
                                 const data::Volume& volume, const data::PreparedCase& prepared,
                                 const Prediction& prediction) {
  std::vector<DiceRow> rows;
  for (const std::string& at : experiment.evaluate.at) {
    const Compared grids = compared_on(at, volume, prepared, prediction, input_size(experiment)[2] == 1);
    std::vector<DiceRow> found =
        score(files.id, grids.truth, grids.prediction, dataset.regions, experiment.evaluate);
    for (std::size_t i = 0; i < found.size(); ++i) {
      DiceRow row = files.is_annotated(dataset.regions[i].second) ? std::move(found[i]) : DiceRow();
      row.case_id = files.id;
      row.region = dataset.regions[i].first;
      row.run = experiment.name;
      row.repeat = repeat;
      row.resolution = resolution_text(experiment.preprocess.resolution);
      row.evaluated_at = at;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace voxswap::pipeline
