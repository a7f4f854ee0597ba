// Helpers of layouts to find entries in folders by name and pattern.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// The name of a folder as given: for a link, the link's name.
std::string folder_name(const fs::path& folder);
// The names of the folder's entries, sorted, without hidden files. Throws NotUtf8.
std::vector<std::string> entries(const fs::path& folder);
// `stem`.nii.gz or `stem`.nii, whichever exists; `stem`.nii.gz if neither does.
fs::path nifti_file(const fs::path& folder, const std::string& stem);
// The file name without .nii.gz or .nii; empty for other files.
std::string nifti_stem(const std::string& name);
bool fits_pattern(const std::string& text, const std::string& pattern);  // * and ?, case-insensitive

// Normalised names of channels, labels and regions. The default regions for labels: the three tumour regions
// for labels of a brain tumour, else one region per label.
Regions default_regions(const Labels& labels);
// For layouts that do not name labels: the values in the first label maps, or in all. Logs a warning.
Labels observed_labels(const Dataset& dataset, const DatasetOptions& options);
// The common name of an MRI sequence: t1n, T1w -> t1; t1c, t1gd -> t1ce; t2w -> t2; t2f -> flair; others in
// snake_case.
std::string modality_name(const std::string& written);

}  // namespace voxswap::data
