// The table of layouts: how the files of a data set are arranged; one source each.
//
// A layout says where a file should be, whether it is there or not; that files exist, that channels are
// selected and that labels are overridden is looked after once, in open_dataset.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/layouts/dataset.h"

namespace voxswap::data {

constexpr const char* truth_key = "truth";  // of data.files: the pattern of the ground truth

struct Layout {
  const char* name;
  std::string looks_like;  // for messages: what a folder of this layout holds
  // Why this folder is of the layout, as the end of a sentence; nothing when it is not.
  std::optional<std::string> (*recognise)(const DatasetOptions& options);
  // All its cases, with the modalities, labels and regions that the layout itself knows.
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
