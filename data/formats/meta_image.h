// MetaImage headers (.mha, .mhd).
#pragma once

#include <filesystem>
#include <string_view>

#include "data/formats/raw_image.h"

namespace voxswap::data {

// `begin`: the first bytes of the file, the whole header among them. Throws Exit::bad_data naming the file.
RawImage parse_meta_image(const std::filesystem::path& path, std::string_view begin);

}  // namespace voxswap::data
