// Images in any folder whose names end in their channel: P01/t1.nii.gz, P01_t1.nii.gz, P01-T1w.nii.gz.
// `voxswap predict` accepts them besides the layouts, and messages about folders of unknown layout use them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// The cases in `root` and below with these channels, in this order, except in folders to skip. A case may
// lack channels if it has at least two; the missing files are then named like the others.
using Skips = std::function<bool(const fs::path& folder)>;
std::vector<CaseFiles> list_named_files(const fs::path& root, const std::vector<std::string>& channels,
                                        const Skips& skips);

// Describes a folder without the expected cases: the end of a sentence, with the setting to use if file names
// reveal it.
std::string what_is_in(const DatasetOptions& options);

}  // namespace voxswap::data
