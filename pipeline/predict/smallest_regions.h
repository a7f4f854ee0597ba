// How small a region ever is in the ground truth, which tells predictions of a few false voxels from a region
// that is there.
#pragma once

#include <functional>
#include <vector>

#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "pipeline/predict/postprocessing.h"

namespace voxswap::pipeline {

// Minimum number of labelled cases that contain the region: if a new case is like n labelled ones, its region
// is smaller than the smallest of these with probability 1 / (n + 1).
constexpr std::size_t enough_labelled = 20;

// For each region that lies within another one and is in enough of the label maps: a step that gives it to
// the region around it where its total volume is below half of the smallest one, mm^3. Regions that lie in no
// other one are not removed, since nothing would be left of a finding. `read`: called for 0 to count - 1,
// from several threads.
std::vector<PostStep> steps_for_smallest(std::size_t count,
                                         const std::function<data::LabelMap(std::size_t)>& read,
                                         const data::Regions& regions);

// From the training and validation cases of a run, at most 200 of them.
std::vector<PostStep> steps_for_smallest(const Experiment& run, const data::Dataset& dataset);

}  // namespace voxswap::pipeline
