// Shared by the layouts of 2D images (data/decoders/raster.h): cases with one plane, and names of colour
// channels.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// The names of the images in a folder, sorted.
std::vector<std::string> pictures_in(const fs::path& folder);

CaseFiles picture_case(const std::string& id, const fs::path& picture);

// Marks the data set as 2D images. Its channels are grey, or red, green and blue, as in the first readable
// image (or as named in `options`); every case gets as many.
void name_colours(Dataset& dataset, const DatasetOptions& options);

}  // namespace voxswap::data
