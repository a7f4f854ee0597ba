// Images with text headers: NRRD and MetaImage. The headers say where voxels are and how they are compressed;
// reading them is the same for both. Read without libraries, which trust any header: one that declares two
// thousand million axes keeps MetaIO busy for hours.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// REQUIRES: is_raw_image(path) (formats.h).
ImageHeader raw_header(const fs::path& path);
// The volumes `first` to `first + count` (not included). Memory is taken for what the file really holds.
std::vector<Image> raw_volumes(const fs::path& path, std::int64_t first, std::int64_t count);

// The text header of an NRRD or MetaImage file: type of the voxels, their file and position, and their
// compression.
struct RawImage {
  ImageHeader image;
  fs::path file;                // that holds the voxels: the image itself, or one beside it
  std::size_t offset = 0;       // of the first voxel in it
  bool from_end = false;        // the voxels are the last bytes of the file, whatever comes before
  bool packed = false;          // by gzip or zlib
  bool swapped = false;         // of the other byte order
  std::int64_t components = 1;  // of the volumes, these many lie side by side in a voxel
};

// NRRD headers (.nrrd, .nhdr).
// `begin`: the first bytes of the file, the whole header among them. Throws Exit::bad_data naming the file.
RawImage parse_nrrd(const fs::path& path, std::string_view begin);

// MetaImage headers (.mha, .mhd).
// `begin`: the first bytes of the file, the whole header among them. Throws Exit::bad_data naming the file.
RawImage parse_meta_image(const fs::path& path, std::string_view begin);

}  // namespace voxswap::data
