// The header of a NIfTI file: type, grid and position of its voxels.
//
// Parsed without the NIfTI library, which trusts damaged headers. The position follows nifti1.h: the sform if
// its code is above 0 and its axes are orthogonal, else the qform if its code is above 0, else only voxel
// sizes (axes of the array, origin 0). NIfTI's axes point right, anterior and superior; ours left, posterior
// and superior.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/formats/nifti_placement.h"

namespace voxswap::data {

inline constexpr std::size_t most_nifti_header_bytes = 540;  // of NIfTI-2; NIfTI-1 has 348

struct NiftiHeader {
  bool swapped = false;             // written in the other byte order
  std::size_t offset = 0;           // of the first voxel
  double slope = 1, intercept = 0;  // value = slope * stored + intercept
  ImageHeader image;
  NiftiPlacement placement;

  std::size_t voxels() const { return static_cast<std::size_t>(image.geometry.count()); }
  std::size_t promised_bytes() const;  // size of the whole file, decompressed
};

// `begin`: the first decompressed bytes of the file, up to most_nifti_header_bytes. Throws Exit::bad_data
// naming the file if it is damaged or not a NIfTI file.
NiftiHeader parse_nifti_header(const fs::path& path, std::string_view begin);

}  // namespace voxswap::data
