// What layouts look for in folders: entries by name and by pattern.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"

namespace voxswap::data {

// What a folder is called where it stands: a link has a name of its own.
std::string folder_name(const fs::path& folder);
// The names of the folder's entries, sorted, without hidden ones.
std::vector<std::string> entries(const fs::path& folder);
// `stem`.nii.gz or `stem`.nii, whichever is there; `stem`.nii.gz when neither is.
fs::path nifti_file(const fs::path& folder, const std::string& stem);
// The file name without .nii.gz or .nii; empty for other files.
std::string nifti_stem(const std::string& name);
bool fits_pattern(const std::string& text, const std::string& pattern);  // * and ?, upper or lower case

}  // namespace voxswap::data
