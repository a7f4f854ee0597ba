// The text header of an NRRD or MetaImage file: type of the voxels, their file and position, and their
// compression.
#pragma once

#include <cstdint>

#include "base/filesystem.h"
#include "data/formats/image_header.h"

namespace voxswap::data {

struct RawImage {
  ImageHeader image;
  fs::path file;                // that holds the voxels: the image itself, or one beside it
  std::size_t offset = 0;       // of the first voxel in it
  bool from_end = false;        // the voxels are the last bytes of the file, whatever comes before
  bool packed = false;          // by gzip or zlib
  bool swapped = false;         // of the other byte order
  std::int64_t components = 1;  // of the volumes, these many lie side by side in a voxel
};

}  // namespace voxswap::data
