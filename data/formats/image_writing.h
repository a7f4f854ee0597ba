// Writes grids to files; the extension chooses the format.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Written whole and renamed into place; compressed when the name says so.
void write_image(const fs::path& path, const Image& image);
void write_label_map(const fs::path& path, const LabelMap& labels);
// What a NIfTI file of labels of this grid has before its voxels, which take two bytes each if `wide`, else
// one. `scratch`: a NIfTI file that is overwritten.
std::string nifti_label_header(const fs::path& scratch, const Geometry& geometry, bool wide);
// Several images of one grid as a 4D file (the Decathlon's layout).
void write_images_4d(const fs::path& path, const std::vector<Image>& images);

}  // namespace voxswap::data
