// The input of `voxswap predict`: images like the training images, in any layout.
#pragma once

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// The cases of `input`: a data set (in the training set's layout or another recognised one), a folder of bare
// images named as in that layout, the folder of one case inside a data set, or one file or DICOM folder with
// all channels. `trained` gives channels, labels and regions; `options` are those of the training set,
// possibly changed for this input. Ground truths are dropped. Cases may lack a channel: reading them fails.
// Throws Exit::bad_data.
Dataset open_for_prediction(const Dataset& trained, const DatasetOptions& options, const fs::path& input);

}  // namespace voxswap::data
