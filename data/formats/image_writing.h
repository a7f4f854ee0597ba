// Writes grids to files; the extension chooses the format.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Written to a temporary file and renamed; compressed if the extension requires it.
// `like`: a file on the same grid, whose statement of the position is repeated if both are NIfTI
// (nifti_placement.h); without it, sform and qform have code 1.
void write_image(const fs::path& path, const Image& image, const fs::path& like = {});
void write_label_map(const fs::path& path, const LabelMap& labels, const fs::path& like = {});
// The header of a NIfTI label map on this grid, with two bytes per voxel if `wide`, else one. `scratch`: a
// NIfTI file that is overwritten.
std::string nifti_label_header(const fs::path& scratch, const Geometry& geometry, bool wide,
                               const fs::path& like);
// Several images on one grid as a 4D file (as in the Decathlon).
void write_images_4d(const fs::path& path, const std::vector<Image>& images);

}  // namespace voxswap::data
