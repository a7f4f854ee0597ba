// NRRD and MetaImage files, through ITK's readers used without its templates: the raw buffer is converted
// once, for every element type. Everything ITK has to say becomes one message of ours.
#pragma once

#include <filesystem>
#include <vector>

#include "data/image_io.h"

namespace voxswap {

ImageHeader itk_header(const std::filesystem::path& path);
// The volumes `first` to `first + count` (not included).
std::vector<Image> itk_volumes(const std::filesystem::path& path, std::int64_t first, std::int64_t count);

}  // namespace voxswap
