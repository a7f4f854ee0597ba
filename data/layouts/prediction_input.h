// The input of `voxswap predict`: images like those that the network was trained on, in any layout.
#pragma once

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// The cases of `input`: a data set (of the training set's layout or another that is recognised), a folder of
// bare scans named as that layout names them, the folder of one case inside a data set, or one file or DICOM
// folder that holds all channels. `trained` gives channels, labels and regions, `options` are those that it
// was opened with, or others for these scans. Truths are left out. Cases may lack a channel: reading them
// fails. Throws Exit::bad_data.
Dataset open_for_prediction(const Dataset& trained, const DatasetOptions& options, const fs::path& input);

}  // namespace voxswap::data
