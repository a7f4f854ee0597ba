// Images with text headers: NRRD and MetaImage. The headers give position, type and compression of the
// voxels; reading the voxels is shared. No library is used, because they trust any header: a declaration of
// two billion axes keeps MetaIO busy for hours.
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
// Memory use is limited by the actual content.
std::vector<Image> raw_volumes(const fs::path& path, const ChooseVolumes& choose);

// The text header of an NRRD or MetaImage file: voxel type, and file, position and compression of the voxels.
struct RawImage {
  ImageHeader image;
  fs::path file;                // contains the voxels: the image itself or a separate file
  std::size_t offset = 0;       // of the first voxel in it
  bool from_end = false;        // the voxels are the last bytes of the file
  bool packed = false;          // by gzip or zlib
  bool swapped = false;         // in the other byte order
  std::int64_t components = 1;  // number of volumes that are interleaved per voxel
};

// NRRD headers (.nrrd, .nhdr). `begin`: the first bytes of the file, with the complete header. Throws
// Exit::bad_data naming the file.
RawImage parse_nrrd(const fs::path& path, std::string_view begin);

// MetaImage headers (.mha, .mhd). `begin`: the first bytes of the file, with the complete header. Throws
// Exit::bad_data naming the file.
RawImage parse_meta_image(const fs::path& path, std::string_view begin);

}  // namespace voxswap::data
