// Numbers and lines in text headers (NRRD, MetaImage), read strictly.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// The next line without its end ("\n" or "\r\n"); nullopt at the end of the text. Advances `text`.
std::optional<std::string> next_line(std::string_view& text);

// The words separated by whitespace.
std::vector<std::string> words_of(const std::string& text);

// All words as numbers; nullopt if one is not a number. `nan` counts as a number.
std::optional<std::vector<double>> numbers_of(const std::string& text);

// Sizes of up to 16 axes, each at least 1, with a product of at most 1e12. Throws Exit::bad_data naming the
// file.
std::vector<std::int64_t> extents_of(const fs::path& path, const std::string& text);

// The header of an image, the same for all formats.
struct ImageHeader {
  Geometry geometry;
  std::int64_t volumes = 1;           // 1 for a 3D file, more for a 4D file
  std::string element;                // stored element type: "int16"
  std::vector<std::string> oddities;  // ambiguities, and how they were resolved
};

// The volumes from `first` up to but excluding `first + count`.
struct VolumeRange {
  std::int64_t first = 0, count = 0;
};
// Chooses the volumes to read when a file's header is known; throws to refuse the file.
using ChooseVolumes = std::function<VolumeRange(const ImageHeader& header)>;

}  // namespace voxswap::data
