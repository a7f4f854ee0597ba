// Writing a DICOM series.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Writes a series into an empty folder: whole numbers from 0 to 65535, a slice per file, the same bytes each
// time. `uid` ("3.1") tells series apart.
void write_dicom(const fs::path& folder, const Image& image, const std::string& description,
                 const std::string& uid);
std::vector<std::string> dicom_names(std::int64_t slices);  // the files that it writes

}  // namespace voxswap::data
