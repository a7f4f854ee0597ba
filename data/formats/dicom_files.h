// Which files of a folder are DICOM files: told by their content, not by their names.
#pragma once

#include <filesystem>
#include <vector>

namespace voxswap::data {

std::vector<std::filesystem::path> dicom_files(const std::filesystem::path& folder);  // sorted
bool is_dicom_folder(const std::filesystem::path& folder);  // holds at least one DICOM file itself

}  // namespace voxswap::data
