// NRRD headers (.nrrd, .nhdr).
#pragma once

#include <string_view>

#include "base/filesystem.h"
#include "data/formats/raw_image.h"

namespace voxswap::data {

// `begin`: the first bytes of the file, the whole header among them. Throws Exit::bad_data naming the file.
RawImage parse_nrrd(const fs::path& path, std::string_view begin);

}  // namespace voxswap::data
