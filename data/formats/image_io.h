// Files to grids. Each format has its reader (nifti_voxels, raw_voxels, dicom); geometry is fixed here, at
// the border, once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// All of these throw Exit::bad_data naming the file when it is missing, damaged or of no known format.
ImageHeader read_header(const fs::path& path);

// `component`: which volume of a 4D file, or -1 for a 3D file.
Image read_image(const fs::path& path, int component = -1);
std::vector<Image> read_images(const fs::path& path);  // every volume, unpacked once

// Values within 1e-3 of a whole number are rounded (real label maps are stored as float, or scaled).
LabelMap read_label_map(const fs::path& path);

}  // namespace voxswap::data
