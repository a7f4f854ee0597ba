// Files in the folder of a data set that belong to no case: a series without a known sequence, a label map
// without an image, an empty folder. They are listed, because nobody would notice an overlooked image.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// In the order of their paths. Looks at names, and into folders for DICOM files; reads no image.
std::vector<Unused> unused_in(const Dataset& dataset);

// The same thing said of several: "labelsTr/a.nii.gz and 3 others".
struct UnusedGroup {
  std::string severity, what, why;
  std::size_t count = 0;
};
std::vector<UnusedGroup> grouped(const std::vector<Unused>& unused, const fs::path& root);

}  // namespace voxswap::data
