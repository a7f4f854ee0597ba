// Numbers and lines in text headers (NRRD, MetaImage), read strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// The next line without its end ("\n" or "\r\n"); nothing at the end of the text. Advances `text`.
std::optional<std::string> next_line(std::string_view& text);

// The words between blanks.
std::vector<std::string> words_of(const std::string& text);

// All words as numbers; nothing when one is none. `nan` counts as a number.
std::optional<std::vector<double>> numbers_of(const std::string& text);

// Extents of up to 16 axes, each at least 1, together at most 1e12. Throws Exit::bad_data naming the file.
std::vector<std::int64_t> extents_of(const fs::path& path, const std::string& text);

// The header of an image, the same for every format, before its voxels are read.
struct ImageHeader {
  Geometry geometry;
  std::int64_t volumes = 1;           // 1 for a 3D file, more for a 4D file
  std::string element;                // how a voxel is stored: "int16"
  std::vector<std::string> oddities;  // what was taken as the file's meaning though it could mean otherwise
};

}  // namespace voxswap::data
