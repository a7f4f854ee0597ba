// Selects post-processing on cases with ground truth: nnU-Net's largest component, and BraTS's rule that few
// voxels of enhancing tumour are none (Isensee et al. 2021), for every region, and with sizes that are
// searched.
#pragma once

#include <functional>
#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/cases/options.h"
#include "pipeline/predict/postprocessing.h"

namespace voxswap::pipeline {

struct TruthAndPrediction {
  data::LabelMap truth, prediction;  // on one grid
};

// Reads each of `count` cases once for every set of regions that share no label, and once more. A step is
// taken where the mean Dice over regions and cases grows by 0.0005 or more, no region's falls, and more cases
// gain than lose; among several of a region, the one that gains most. Without such steps there are none. Dice
// of a region that is empty in both is 1, in one of them 0.
Postprocessing find_postprocessing(std::size_t count,
                                   const std::function<TruthAndPrediction(std::size_t)>& read,
                                   const data::Regions& regions);

// On the validation predictions of finished runs, each with its repeats, of one data set. Cases that are in
// several runs count as often. Throws Exit::bad_data where a prediction or a truth is missing.
Postprocessing find_postprocessing(const std::vector<RunOptions>& runs, const data::Dataset& dataset);

// Writes what is found into `folder` for prediction to read, and tells of it.
void write_postprocessing(const std::vector<RunOptions>& runs, const data::Dataset& dataset,
                          const fs::path& folder);

}  // namespace voxswap::pipeline
