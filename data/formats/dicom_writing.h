// Writing a DICOM series.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Writes a series into an empty folder: integers from 0 to 65535, one slice per file, deterministic. `uid`
// ("3.1") identifies the series.
void write_dicom(const fs::path& folder, const Image& image, const std::string& description,
                 const std::string& uid);
std::vector<std::string> dicom_names(std::int64_t slices);  // names of the files that it writes

}  // namespace voxswap::data
