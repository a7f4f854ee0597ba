#include "experiments/training_grid.h"

#include <algorithm>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "data/cases/read_case.h"
#include "data/layouts/open_dataset.h"
#include "data/volumes/spline.h"
#include "experiments/value_types.h"
#include "net/networks/networks.h"
#include "pipeline/cases/split.h"

namespace voxswap::experiments {

namespace {

CaseSizes sizes_of(const std::vector<data::Geometry>& boxes, const Spacing& spacing) {
  std::array<std::vector<std::int64_t>, 3> sides;
  for (const data::Geometry& box : boxes) {
    const Size3 size = data::size_at(box, data::spacing_for(spacing, box.spacing));
    for (std::size_t axis = 0; axis < 3; ++axis) sides[axis].push_back(size[axis]);
  }
  CaseSizes sizes;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::sort(sides[axis].begin(), sides[axis].end());
    sizes.median[axis] = sides[axis][sides[axis].size() / 2];
    sizes.largest[axis] = sides[axis].back();
    const std::size_t count = sides[axis].size();
    sizes.usual[axis] = sides[axis][count - 1 - (count < 3 ? 0 : std::max<std::size_t>(1, count / 20))];
  }
  return sizes;
}

// Without a crop, the headers are sufficient.
CaseSizes sizes_from_files(const pipeline::Experiment& experiment, const data::Dataset& dataset) {
  if (experiment.preprocess.crop == data::Crop::none)
    return sizes_of(data::grids_of(dataset), experiment.preprocess.spacing);
  const pipeline::Fingerprint fingerprint =
      pipeline::take_fingerprint(experiment.data, pipeline::fingerprint_folder(experiment.cache));
  if (fingerprint.cases.empty())
    fail(Exit::bad_data, "{}: none of its cases can be read: {}", experiment.data.root.string(),
         fingerprint.unreadable.front().why);
  return case_sizes(fingerprint, experiment.preprocess);
}

}  // namespace

CaseSizes case_sizes(const pipeline::Fingerprint& fingerprint, const data::PrepareOptions& options) {
  std::vector<data::Geometry> boxes;
  for (const pipeline::CaseFingerprint& one : fingerprint.cases) {
    data::Geometry box = one.grid;
    // The fingerprint's background is the value of the corners, or 0 if they differ. With another background,
    // the whole image is an upper bound.
    const bool same = options.corner_background || (options.background == 0 && !one.background_in_corners);
    if (options.crop == data::Crop::foreground && same) box.size = one.foreground;
    boxes.push_back(box);
  }
  return sizes_of(boxes, options.spacing);
}

void resolve_resolution(pipeline::Experiment& experiment, const CaseSizes& sizes) {
  if (!experiment.preprocess.automatic_resolution) return;
  const net::Along multiples = net::side_multiples(experiment.network);
  Size3& size = experiment.preprocess.resolution;
  size = experiment.training.patch ? sizes.median : sizes.largest;
  for (std::size_t axis = 0; axis < 3; ++axis)
    size[axis] = (size[axis] + multiples[axis] - 1) / multiples[axis] * multiples[axis];
  experiment.preprocess.automatic_resolution = false;
}

void resolve_grid(LoadedExperiment& experiment) {
  data::PrepareOptions& preprocess = experiment.preprocess;
  if (!preprocess.automatic_spacing && !preprocess.automatic_resolution) return;
  const data::Dataset dataset = pipeline::open_dataset(experiment);
  if (preprocess.automatic_spacing) {
    preprocess.spacing = data::target_spacing(data::grids_of(dataset));
    preprocess.automatic_spacing = false;
    log::info("{}: {} mm, from the cases", key::preprocess_spacing,
              value_types::spacing_text(preprocess.spacing));
  }
  if (preprocess.automatic_resolution) {
    resolve_resolution(experiment, sizes_from_files(experiment, dataset));
    const auto& [x, y, z] = preprocess.resolution;
    log::info("{}: [{}, {}, {}], from {}", key::preprocess_resolution, x, y, z,
              experiment.training.patch ? "the median case" : "the largest case");
  }
  write_settings(experiment);
}

}  // namespace voxswap::experiments
