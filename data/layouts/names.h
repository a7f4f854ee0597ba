// Names of channels, labels and regions, normalised.
#pragma once

#include <string>

#include "data/layouts/dataset.h"

namespace voxswap::data {

// The regions that go with labels: the tumour's three when the labels are a tumour's, else one per label.
Regions default_regions(const Labels& labels);
// For layouts that say nothing of labels: the values that occur in the first label maps, told in a warning.
Labels observed_labels(const Dataset& dataset);
// One name for each MRI sequence: t1n, T1w -> t1; t1c, t1gd -> t1ce; t2w -> t2; t2f -> flair; others in
// snake_case.
std::string modality_name(const std::string& written);

}  // namespace voxswap::data
