// The table of layouts: each describes how the files of a data set are arranged; one source file each.
//
// A layout returns where files should be, whether they exist or not. open_dataset.cpp checks for all layouts
// that files exist, selects channels and overrides labels.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/layouts/dataset.h"

namespace voxswap::data {

constexpr const char* truth_key = "truth";  // in data.files: the pattern of the ground truth

struct Layout {
  const char* name;
  std::string looks_like;  // for messages: the contents of a folder of this layout
  // Why the folder has this layout, as the end of a sentence; nullopt if it has not.
  std::optional<std::string> (*recognise)(const DatasetOptions& options);
  // All cases, with the modalities, labels and regions that the layout defines.
  Dataset (*list)(const DatasetOptions& options);
};

std::span<const Layout> layouts();

std::optional<std::string> recognise_brats(const DatasetOptions& options);
Dataset list_brats(const DatasetOptions& options);
std::optional<std::string> recognise_nnunet(const DatasetOptions& options);
Dataset list_nnunet(const DatasetOptions& options);
std::optional<std::string> recognise_bids(const DatasetOptions& options);
Dataset list_bids(const DatasetOptions& options);
std::optional<std::string> recognise_dicom(const DatasetOptions& options);
Dataset list_dicom(const DatasetOptions& options);
std::optional<std::string> recognise_msd(const DatasetOptions& options);
Dataset list_msd(const DatasetOptions& options);
std::optional<std::string> recognise_masks(const DatasetOptions& options);
Dataset list_masks(const DatasetOptions& options);
std::optional<std::string> recognise_classes(const DatasetOptions& options);
Dataset list_classes(const DatasetOptions& options);
std::optional<std::string> recognise_files(const DatasetOptions& options);
Dataset list_files(const DatasetOptions& options);

}  // namespace voxswap::data
