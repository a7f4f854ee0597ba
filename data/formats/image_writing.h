// Writes grids to files; the extension chooses the format.
#pragma once

#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Written whole and renamed into place; compressed when the name says so.
void write_image(const fs::path& path, const Image& image);
void write_label_map(const fs::path& path, const LabelMap& labels);
// Several images of one grid as a 4D file (the Decathlon's layout).
void write_images_4d(const fs::path& path, const std::vector<Image>& images);

}  // namespace voxswap::data
