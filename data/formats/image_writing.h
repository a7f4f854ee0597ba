// Writes grids to files; the extension chooses the format.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Written to a temporary file and renamed; compressed if the extension requires it.
void write_image(const fs::path& path, const Image& image);
void write_label_map(const fs::path& path, const LabelMap& labels);
// The header of a NIfTI label map on this grid, with two bytes per voxel if `wide`, else one. `scratch`: a
// NIfTI file that is overwritten.
std::string nifti_label_header(const fs::path& scratch, const Geometry& geometry, bool wide);
// Several images on one grid as a 4D file (as in the Decathlon).
void write_images_4d(const fs::path& path, const std::vector<Image>& images);

}  // namespace voxswap::data
