// What the layouts of 2D images share (data/formats/raster.h): cases with one plane, and names of colour
// channels.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// The names of the pictures in a folder, sorted.
std::vector<std::string> pictures_in(const fs::path& folder);

CaseFiles picture_case(const std::string& id, const fs::path& picture);

// The data set is of images: its channels are grey, or red, green and blue, as the first readable picture
// has them (or what `options` knows them by), and every case gets as many.
void name_colours(Dataset& dataset, const DatasetOptions& options);

}  // namespace voxswap::data
