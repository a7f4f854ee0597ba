// How the files of a data set are arranged: one row per known arrangement, and what the layouts share.
//
// A layout says where a file should be, whether it is there or not; that files exist, that channels are
// selected and that labels are overridden is looked after once, in dataset.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace voxswap {

struct Layout {
  const char* name;
  const char* looks_like;  // for messages: what a folder of this layout holds
  // Why this folder is of the layout, as the end of a sentence; nothing when it is not.
  std::optional<std::string> (*recognise)(const DatasetOptions& options);
  // All its cases, with the modalities, labels and regions that the layout itself knows.
  Dataset (*list)(const DatasetOptions& options);
};

std::span<const Layout> layouts();

// open_dataset without the check that the files are there: for `voxswap check`, which tells every missing
// one.
Dataset list_dataset(const DatasetOptions& options);
// What is wrong with the file of a channel, or with the truth, before it is read: it is not there, is no file,
// or it is not clear which one it is. Empty when all is well.
struct FileTrouble {
  std::string what, fix;
  explicit operator bool() const { return !what.empty(); }
};
FileTrouble channel_trouble(const Dataset& dataset, const CaseFiles& files, std::size_t channel);
FileTrouble truth_trouble(const CaseFiles& files);

// The regions that go with labels: the tumour's three when the labels are a tumour's, else one per label.
Regions default_regions(const Labels& labels);
// For layouts that say nothing of labels: the values that occur in the first label maps, told in a warning.
Labels observed_labels(const Dataset& dataset);
// One name for each MRI sequence: t1n, T1w -> t1; t1c, t1gd -> t1ce; t2w -> t2; t2f -> flair; others in
// snake_case.
std::string modality_name(const std::string& written);
std::string snake_case(const std::string& text);  // "Non-enhancing tumor" -> "non_enhancing_tumor"

// What a folder is called where it stands: a link has a name of its own.
std::string folder_name(const std::filesystem::path& folder);
// The names of the folder's entries, sorted, without hidden ones.
std::vector<std::string> entries(const std::filesystem::path& folder);
// `stem`.nii.gz or `stem`.nii, whichever is there; `stem`.nii.gz when neither is.
std::filesystem::path nifti_file(const std::filesystem::path& folder, const std::string& stem);
// The file name without .nii.gz or .nii; empty for other files.
std::string nifti_stem(const std::string& name);
bool fits_pattern(const std::string& text, const std::string& pattern);  // * and ?, upper or lower case

std::optional<std::string> recognise_brats(const DatasetOptions& options);
Dataset list_brats(const DatasetOptions& options);
std::optional<std::string> recognise_nnunet(const DatasetOptions& options);
Dataset list_nnunet(const DatasetOptions& options);
std::optional<std::string> recognise_dicom(const DatasetOptions& options);
Dataset list_dicom(const DatasetOptions& options);
std::optional<std::string> recognise_msd(const DatasetOptions& options);
Dataset list_msd(const DatasetOptions& options);
std::optional<std::string> recognise_files(const DatasetOptions& options);
Dataset list_files(const DatasetOptions& options);

}  // namespace voxswap
