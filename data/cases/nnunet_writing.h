// Writes a data set of any layout in nnU-Net's layout: imagesTr/CASE_0000.nii.gz, labelsTr/CASE.nii.gz,
// imagesTs for cases without ground truth, and dataset.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/outputs.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// nnU-Net needs consecutive labels 1, 2, 3, …: the new value of each label, in the data set's order.
std::map<int, int> nnunet_values(const Dataset& dataset);

// dataset.json; `trained`: number of cases in imagesTr. With `as_regions`, the training targets are the data
// set's regions, which may overlap, from the largest to the smallest; each is represented by a label that no
// later region contains. Throws Exit::usage if a region has no such label.
std::string nnunet_description(const Dataset& dataset, std::size_t trained, bool as_regions);

// Reads every case and writes it on its own grid. Throws Exit::usage for 2D images, and if output files
// exist, before writing anything.
void write_nnunet(const Dataset& dataset, const fs::path& out, bool as_regions, Outputs& outputs);

}  // namespace voxswap::data
