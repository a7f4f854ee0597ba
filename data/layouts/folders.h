// What layouts look for in folders: entries by name and by pattern.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// What a folder is called where it stands: a link has a name of its own.
std::string folder_name(const fs::path& folder);
// The names of the folder's entries, sorted, without hidden ones. Throws NotUtf8.
std::vector<std::string> entries(const fs::path& folder);
// `stem`.nii.gz or `stem`.nii, whichever is there; `stem`.nii.gz when neither is.
fs::path nifti_file(const fs::path& folder, const std::string& stem);
// The file name without .nii.gz or .nii; empty for other files.
std::string nifti_stem(const std::string& name);
bool fits_pattern(const std::string& text, const std::string& pattern);  // * and ?, upper or lower case

// Names of channels, labels and regions, normalised.
// The regions that go with labels: the tumour's three when the labels are a tumour's, else one per label.
Regions default_regions(const Labels& labels);
// For layouts that say nothing of labels: the values that occur in the first label maps, or in all, told in a
// warning.
Labels observed_labels(const Dataset& dataset, const DatasetOptions& options);
// One name for each MRI sequence: t1n, T1w -> t1; t1c, t1gd -> t1ce; t2w -> t2; t2f -> flair; others in
// snake_case.
std::string modality_name(const std::string& written);

}  // namespace voxswap::data
