// Images whose headers are text: NRRD and MetaImage. Their headers say where voxels lie in a file and how
// they are packed; reading them is the same for both. Read without libraries, which believe any header: one
// that promises two thousand million axes keeps MetaIO busy for hours.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "data/image_io.h"

namespace voxswap {

struct RawImage {
  ImageHeader image;
  std::filesystem::path file;   // that holds the voxels: the image itself, or one beside it
  std::size_t offset = 0;       // of the first voxel in it
  bool from_end = false;        // the voxels are the last bytes of the file, whatever comes before
  bool packed = false;          // by gzip or zlib
  bool swapped = false;         // of the other byte order
  std::int64_t components = 1;  // of the volumes, these many lie side by side in a voxel
};

// `begin`: the first bytes of the file, the whole header among them. They throw Exit::bad_data naming the
// file.
RawImage parse_nrrd(const std::filesystem::path& path, std::string_view begin);
RawImage parse_meta_image(const std::filesystem::path& path, std::string_view begin);

ImageHeader raw_header(const std::filesystem::path& path);
// The volumes `first` to `first + count` (not included). Memory is taken for what the file really holds.
std::vector<Image> raw_volumes(const std::filesystem::path& path, std::int64_t first, std::int64_t count);

}  // namespace voxswap
