// Writes a data set of any layout in nnU-Net's: imagesTr/CASE_0000.nii.gz, labelsTr/CASE.nii.gz, imagesTs for
// cases without ground truth, and dataset.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/outputs.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// nnU-Net counts labels 1, 2, 3, …: what the data set's values become, in the order of its labels.
std::map<int, int> nnunet_values(const Dataset& dataset);

// dataset.json; `trained`: cases in imagesTr. With `as_regions` what is trained on are the data set's
// regions, which may hold one another, from the largest to the smallest: each leaves its mark with a label
// that no later one has. Throws Exit::usage where a region has none.
std::string nnunet_description(const Dataset& dataset, std::size_t trained, bool as_regions);

// Reads every case and writes it on its own grid. Throws Exit::usage for pictures, and before anything is
// written for files that are there already.
void write_nnunet(const Dataset& dataset, const fs::path& out, bool as_regions, Outputs& outputs);

}  // namespace voxswap::data
