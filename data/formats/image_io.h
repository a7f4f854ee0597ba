// Reads files into grids. Each format has a reader (nifti_voxels, raw_voxels, dicom); geometry is normalised
// here, for all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// All of these throw Exit::bad_data naming the file if it is missing, damaged or of unknown format.
ImageHeader read_header(const fs::path& path);

// `component`: a volume of a 4D file, or -1 for a 3D file.
Image read_image(const fs::path& path, int component = -1);
std::vector<Image> read_images(const fs::path& path);  // all volumes, decompressed once

// Values within 1e-3 of an integer are rounded (label maps are sometimes stored as float or scaled).
LabelMap read_label_map(const fs::path& path);

}  // namespace voxswap::data
