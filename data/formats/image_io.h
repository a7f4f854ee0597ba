// Reads files into grids. Each format has a reader (nifti_voxels, raw_voxels, dicom); geometry is normalised
// here, for all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// All of these throw Exit::bad_data naming the file if it is missing, damaged or of unknown format.
ImageHeader read_header(const fs::path& path);

// Looks at the number of volumes of a file before they are read; throws to refuse it.
using CheckVolumes = std::function<void(std::int64_t volumes)>;

// `component`: a volume of a 4D file, or -1 for a 3D file.
Image read_image(const fs::path& path, int component = -1, const CheckVolumes& check = {});
// All volumes, decompressed once.
std::vector<Image> read_images(const fs::path& path, const CheckVolumes& check = {});

// Values within 1e-3 of an integer are rounded (label maps are sometimes stored as float or scaled).
LabelMap read_label_map(const fs::path& path);

}  // namespace voxswap::data
