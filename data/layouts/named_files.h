// Images of any folder whose names end in their channel: P01/t1.nii.gz, P01_t1.nii.gz, P01-T1w.nii.gz. What
// `voxswap predict` takes beside the layouts, and what messages say of a folder of no known layout.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// The cases in `root` and below that have these channels, in their order, but not in folders to skip. Of a
// case that lacks some but has at least two, the files that are missing are named as the others are.
using Skips = std::function<bool(const fs::path& folder)>;
std::vector<CaseFiles> list_named_files(const fs::path& root, const std::vector<std::string>& channels,
                                        const Skips& skips);

// What is in a folder that holds no cases as expected: the end of a sentence, with what to set if the names
// of the files say it.
std::string what_is_in(const DatasetOptions& options);

}  // namespace voxswap::data
