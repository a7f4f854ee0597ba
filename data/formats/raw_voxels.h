// Images with text headers: NRRD and MetaImage. The headers say where voxels are and how they are compressed;
// reading them is the same for both. Read without libraries, which trust any header: one that declares two
// thousand million axes keeps MetaIO busy for hours.
#pragma once

#include <vector>

#include "base/filesystem.h"
#include "data/formats/image_header.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// REQUIRES: is_raw_image(path) (formats.h).
ImageHeader raw_header(const fs::path& path);
// The volumes `first` to `first + count` (not included). Memory is taken for what the file really holds.
std::vector<Image> raw_volumes(const fs::path& path, std::int64_t first, std::int64_t count);

}  // namespace voxswap::data
