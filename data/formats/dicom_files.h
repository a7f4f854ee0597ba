// Finds the DICOM files of a folder, by content, not by name.
#pragma once

#include <vector>

#include "base/filesystem.h"

namespace voxswap::data {

std::vector<fs::path> dicom_files(const fs::path& folder);  // sorted
bool is_dicom_folder(const fs::path& folder);               // holds at least one DICOM file itself

}  // namespace voxswap::data
